"""Emptied call arguments: what stands in a call whose result was cleared (`Policy.clear_tool_inputs`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from offloadkit.content import EncodedContent, encode
from offloadkit.guard import GuardedArchive
from offloadkit.history import arguments_text
from offloadkit.placeholder import Placeholder, seal
from offloadkit.references import is_reference
from offloadkit.results import CallView, Content, Place
from offloadkit.tokens import TokenCounter

__all__ = ["emptied_reference", "empty_inputs"]

MARK: Final = "offloaded_arguments"


def empty_inputs(calls: Iterable[CallView], guard: GuardedArchive, counter: TokenCounter) -> dict[Place, Any]:
    """Store the arguments of these calls and return what stands in their place, for those that shrink."""
    marks = {call.place: _emptied(call.arguments, guard, counter) for call in calls}
    return {place: mark for place, mark in marks.items() if mark is not None}


def emptied_reference(arguments: Any, session: str) -> str | None:
    """Return the reference in arguments that were emptied in this session, else None.

    The seal tells them from arguments that a model wrote after their example.
    """
    if isinstance(arguments, str):
        if not arguments.startswith('{"' + MARK):
            return None
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    if not isinstance(arguments, dict):
        return None
    ref = arguments.get(MARK)
    sealed = isinstance(ref, str) and is_reference(ref) and arguments == _mark(ref, session)
    return ref if sealed else None


def _mark(ref: str, session: str) -> dict[str, str]:
    return {MARK: ref, "seal": seal(session, f"{MARK} {ref}")}


def _emptied(arguments: Any, guard: GuardedArchive, counter: TokenCounter) -> Any:
    """Return JSON of the same kind as ``arguments``, text or object; None when they stay."""
    session = guard.archive.session
    encoded = None if emptied_reference(arguments, session) is not None else _encode(arguments)
    if encoded is None:
        return None
    ref = guard.archive.reference(encoded)
    mark: Any = _mark(ref, session)
    if isinstance(arguments, str):
        mark = json.dumps(mark)
    units = counter.units(encoded.text)
    if counter.units(arguments_text(mark)) >= units:
        return None
    return mark if guard.save(encoded, Placeholder(ref, counter.tokens(units), encoded.lines)) else None


def _encode(arguments: Any) -> EncodedContent | None:
    if isinstance(arguments, str):
        return encode(Content(arguments, (((), arguments),)))
    return encode(Content(arguments)) if isinstance(arguments, dict) else None
