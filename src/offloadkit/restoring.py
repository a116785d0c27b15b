"""Puts the originals back into a reduced history."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from offloadkit.archive import Archive
from offloadkit.errors import NotFound
from offloadkit.events import Event, Restored, RestoreMissed
from offloadkit.formats import Format
from offloadkit.placeholder import parse
from offloadkit.results import MessageView, Place, ResultView
from offloadkit.tool_inputs import emptied_reference

__all__ = ["restore"]

_log = logging.getLogger("offloadkit")


def restore(
    message_format: Format, messages: Sequence[Any], archive: Archive, emit: Callable[[Event], None]
) -> list[Any]:
    """Return the messages with the originals of all placeholders, previews and emptied arguments.

    Raises:
        BackendError: The store failed, or what it holds fails its checksum.
    """
    views = message_format.views(messages)
    results = _load_all(_result_references(views), archive, emit)
    arguments = _load_all(_argument_references(views), archive, emit)
    return message_format.replace(messages, results, arguments)


def _result_references(views: Sequence[MessageView]) -> dict[Place, str]:
    results = [result for view in views for result in view.results]
    return {result.place: ref for result in results if (ref := _reference_in(result)) is not None}


def _reference_in(result: ResultView) -> str | None:
    texts = result.content.texts
    found = parse(texts[0][1]) if len(texts) == 1 else None
    return None if found is None else found.placeholder.ref


def _argument_references(views: Sequence[MessageView]) -> dict[Place, str]:
    calls = [call for view in views for call in view.calls]
    return {call.place: ref for call in calls if (ref := emptied_reference(call.arguments)) is not None}


def _load_all(
    references: dict[Place, str], archive: Archive, emit: Callable[[Event], None]
) -> dict[Place, Any]:
    loaded: dict[Place, Any] = {}
    for place, ref in references.items():
        try:
            loaded[place] = archive.load(ref)
        except NotFound:
            _log.warning("session %r: %s does not open; the text that names it stays", archive.session, ref)
            emit(RestoreMissed(session=archive.session, ref=ref))
        else:
            emit(Restored(session=archive.session, ref=ref))
    return loaded
