"""Where an answer begins: offset and column, as a model gives them, against what is there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from offloadkit.reading.frame import count, next_call
from offloadkit.reading.setting import Setting
from offloadkit.reading.spans import Spans
from offloadkit.reading.stored import ReadRequest, StoredText

__all__ = ["Position", "find_start"]

_TAIL_LINES = 10


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text.

    Attributes:
        byte: Its byte.
        line: Its line, from 1.
        column: Its character in the line, from 1.
        line_start: The byte where the line begins.
        note: What is to be said of the arguments that led here, or "".
    """

    byte: int
    line: int
    column: int
    line_start: int
    note: str = ""


def find_start(stored: StoredText, request: ReadRequest, setting: Setting, spans: Spans) -> Position | str:
    """Return where to begin, or words that say why there is no such place."""
    lines = stored.index.lines
    if lines == 0:
        return f"The stored result {stored.ref} is empty: 0 lines, 0 bytes."
    if request.limit is not None and request.limit < 1:
        return f"limit={request.limit} shows nothing; {_has(stored)}. Leave limit out or give 1 or more."
    line, note = _first_line(request.offset, lines)
    if line > lines:
        tail = next_call(setting.tool_name, stored.ref, request, offset=-min(lines, _TAIL_LINES), column=None)
        return f"offset={line} lies past the end: {_has(stored)}. {tail} shows the last ones."
    byte = stored.index.line_start(line, spans.read)
    column = request.column if request.column is not None else 1
    if column == 1:
        return Position(byte, line, 1, byte, note)
    if column < 1:
        return Position(byte, line, 1, byte, note or " (characters count from 1)")
    return _in_line(stored, Position(byte, line, column, byte, note), spans)


def _first_line(offset: int | None, lines: int) -> tuple[int, str]:
    if offset is None:
        return 1, ""
    if offset == 0:
        return 1, " (lines count from 1)"
    if offset < -lines:
        return 1, " (there are no more)"
    return (offset if offset > 0 else lines + 1 + offset), ""


def _in_line(stored: StoredText, place: Position, spans: Spans) -> Position | str:
    """Move from the start of a line to a character in it; its newline counts as its last one."""
    index = stored.index
    before = index.characters_until(place.byte, spans.read)
    end = index.line_start(place.line + 1, spans.read)
    number = before + place.column - 1
    byte = index.character_start(number, spans.read)
    if byte < end:
        return replace(place, byte=byte)
    newline = 0 if place.line == index.lines and index.unfinished else 1
    characters = index.characters_until(end, spans.read) - before - newline
    return (
        f"column={place.column} lies past the end: line {place.line:,} has {count(characters, 'character')}."
    )


def _has(stored: StoredText) -> str:
    return f"the result {stored.ref} has {count(stored.index.lines, 'line')}"
