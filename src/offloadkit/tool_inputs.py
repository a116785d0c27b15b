"""Emptied call arguments: what stands in a call whose result was cleared (`Policy.clear_tool_inputs`)."""

from __future__ import annotations

import json
from typing import Any, Final

from offloadkit.content import EncodedContent, encode
from offloadkit.references import is_reference
from offloadkit.results import Content

__all__ = ["emptied", "emptied_reference", "encode_arguments"]

MARK: Final = "offloaded_arguments"


def encode_arguments(arguments: Any) -> EncodedContent | None:
    """Return the arguments of a call as bytes; None when they could not be restored to an equal value."""
    if isinstance(arguments, str):
        return encode(Content(arguments, (((), arguments),)))
    return encode(Content(arguments)) if isinstance(arguments, dict) else None


def emptied(arguments: Any, ref: str) -> Any:
    """Return what stands in place of ``arguments``: JSON of the same kind, text or object."""
    mark = {MARK: ref}
    return json.dumps(mark) if isinstance(arguments, str) else mark


def emptied_reference(arguments: Any) -> str | None:
    """Return the reference in arguments that `emptied` made, else None."""
    if isinstance(arguments, str):
        if not arguments.startswith('{"' + MARK):
            return None
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    if not isinstance(arguments, dict) or len(arguments) != 1:
        return None
    ref = arguments.get(MARK)
    return ref if isinstance(ref, str) and is_reference(ref) else None
