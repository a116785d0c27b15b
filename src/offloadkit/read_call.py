"""How a call of the read tool is written in a sentence, and read off it again.

``read_offloaded(ref="…", offset=121)``: the tool's name, then arguments with their values as JSON. Pages and
placeholders take their calls from here, so that a model meets one spelling everywhere.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["parse_call", "render_call"]

_NAME: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)\(")
_ARGUMENT: Final = re.compile(r"\s*([a-z_]+)\s*=\s*")
_BETWEEN: Final = re.compile(r"\s*(?:,|(?=\)))")
_UNPRINTABLE: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")


def render_call(tool_name: str, ref: str | None, **arguments: Any) -> str:
    """Return the call as one line of text; arguments that are None are left out."""
    named = {"ref": ref, **arguments}
    written = [f"{name}={_quoted(value)}" for name, value in named.items() if value is not None]
    return f"{tool_name}({', '.join(written)})"


def parse_call(text: str) -> tuple[str, dict[str, Any]] | None:
    """Return tool name and arguments of the first call in a text that names a reference.

    Without one the first call of any kind; None when there is none.
    """
    first: tuple[str, dict[str, Any]] | None = None
    for found in _NAME.finditer(text):
        arguments = _parse_arguments(text, found.end())
        if arguments is not None and "ref" in arguments:
            return found[1], arguments
        if arguments is not None and first is None:
            first = found[1], arguments
    return first


def _quoted(value: Any) -> str:
    """Write a value as JSON on one line, other scripts as they are."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _parse_arguments(text: str, position: int) -> dict[str, Any] | None:
    arguments: dict[str, Any] = {}
    decoder = json.JSONDecoder()
    while not text.startswith(")", position):
        name = _ARGUMENT.match(text, position)
        if name is None:
            return None
        try:
            arguments[name[1]], position = decoder.raw_decode(text, name.end())
        except (ValueError, RecursionError):
            return None
        between = _BETWEEN.match(text, position)
        if between is None:
            return None
        position = between.end()
    return arguments
