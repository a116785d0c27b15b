"""Puts the originals back into a reduced history."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from offloadkit.archive import Archive
from offloadkit.errors import NotFound
from offloadkit.events import Event, Restored, RestoreMissed
from offloadkit.formats import Format
from offloadkit.placeholder import parse, seal_holds
from offloadkit.results import MessageView, Place
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
    placeholders = _placeholders(views)
    sealed = {place: ref for place, (ref, text) in placeholders.items() if seal_holds(text, archive.session)}
    results = _load_all(sealed, archive, emit)
    arguments = _load_all(_argument_references(views, archive.session), archive, emit)
    missed = [ref for place, (ref, _) in placeholders.items() if place not in results]
    for ref in missed:
        emit(RestoreMissed(session=archive.session, ref=ref))
    if missed:
        _log.warning(
            "session %r: %d texts that look like placeholders do not open here and stay; the first is %s",
            archive.session,
            len(missed),
            missed[0],
        )
    return message_format.replace(messages, results, arguments)


def _placeholders(views: Sequence[MessageView]) -> dict[Place, tuple[str, str]]:
    """Return the reference and the text of each result that has the form of a placeholder."""
    found: dict[Place, tuple[str, str]] = {}
    for result in (result for view in views for result in view.results):
        texts = result.content.texts
        shape = parse(texts[0][1]) if len(texts) == 1 else None
        if shape is not None:
            found[result.place] = (shape.placeholder.ref, texts[0][1])
    return found


def _argument_references(views: Sequence[MessageView], session: str) -> dict[Place, str]:
    calls = [call for view in views for call in view.calls]
    found = {call.place: emptied_reference(call.arguments, session) for call in calls}
    return {place: ref for place, ref in found.items() if ref is not None}


def _load_all(
    references: Mapping[Place, str], archive: Archive, emit: Callable[[Event], None]
) -> dict[Place, Any]:
    loaded: dict[Place, Any] = {}
    for place, ref in references.items():
        try:
            loaded[place] = archive.load(ref)
        except NotFound:
            continue
        emit(Restored(session=archive.session, ref=ref))
    return loaded
