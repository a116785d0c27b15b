"""An MCP tool result as Python prints it: the text inside, as what it is.

Agents that call ``str()`` on the result object store one line full of escapes.
"""

from __future__ import annotations

import re
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, counted

__all__ = ["recognise", "render"]

_BEGINNING: Final = re.compile(
    r"(?:(?:\w+=\S{1,40} ){0,3}content=)?\[?TextContent\(type='text', text=(?P<quote>['\"])"
)
_ESCAPE: Final = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>000[0-9a-fA-F]{5})|(?P<letter>.))", re.DOTALL
)
_MAX_CHARACTERS: Final = 1_000_000
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r"}
_ERROR: Final = re.compile(r"isError=(?:True|False)\s*\Z")


def recognise(document: Document) -> bool:
    """Say whether the text begins as such a printed result does."""
    return document.start == 0 and _BEGINNING.match(document.text) is not None


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write what it is and hand on the text inside."""
    found = _BEGINNING.match(document.text)
    if found is None:
        return None
    quote = found["quote"]
    literal = re.compile(rf"(?:[^\\{quote}]++|\\.)*+", re.DOTALL).match(document.text, found.end())
    written = literal[0] if literal else ""
    part = "" if len(written) <= _MAX_CHARACTERS else f", of which the first {_MAX_CHARACTERS} are shown"
    sheet.title(f"{_words(document.text)}, text of {counted(len(written), 'character')}{part}:")
    inner = _ESCAPE.sub(_unescaped, written[:_MAX_CHARACTERS])
    return Draft("", f"offset=1, column={found.end() + 1}", inner=inner)


def _words(text: str) -> str:
    """Return what it is, and whether it says that the tool failed."""
    error = _ERROR.search(text[-40:])
    return "MCP result printed by Python" + (f", {error[0].strip()}" if error else "")


def _unescaped(escape: re.Match[str]) -> str:
    code = escape["x"] or escape["u"] or escape["U"]
    return chr(int(code, 16)) if code else _LETTERS.get(escape["letter"], escape["letter"])
