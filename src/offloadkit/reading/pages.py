"""A page of a stored text, by line and by character.

A page ends after a line where that leaves it at least half full, and inside a line otherwise. The next call
names the first character that was not shown, so following the calls gives every byte once.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from offloadkit.reading.frame import fenced, fitting_style, heads, next_call
from offloadkit.reading.position import Position, find_start
from offloadkit.reading.setting import Setting
from offloadkit.reading.spans import Spans
from offloadkit.reading.stored import ReadRequest, StoredText

__all__ = ["text_page"]

_SOFT_CUT_CHARACTERS: Final = 80
_SEPARATORS: Final = " ,;>}\t"
_JOINERS: Final = "\u200d\ufe0f"


def text_page(stored: StoredText, request: ReadRequest, setting: Setting, *, of: str = "") -> str:
    """Return the page that begins at the request's offset and column.

    Args:
        stored: The text.
        request: What to show of it.
        setting: The bounds of the answer.
        of: Words that stand before the lines shown in the header, for a text that was made from a result.
    """
    spans = Spans(stored.fetch, stored.size)
    start = find_start(stored, request, setting, spans)
    if isinstance(start, str):
        return setting.words(start)
    window, complete = _window(stored, request.limit, start, setting.page_bytes, spans)
    draft = _Draft(
        stored, request, setting, start, window, _line_characters(stored, start, window, spans), of
    )
    style, shown = _fit(draft)
    if shown < len(window) or not complete:
        tidy = _tidy_cut(window, shown)
        shown = tidy if setting.holds(draft.text(tidy, style)) else shown
    return draft.text(shown, style)


def _window(
    stored: StoredText, limit: int | None, start: Position, most: int, spans: Spans
) -> tuple[str, bool]:
    """Return what may be shown at most, and whether it ends where the text or the request does."""
    text = spans.text(start.byte, most)
    at_end = stored.size - start.byte <= most
    if limit is None or text.count("\n") < limit:
        return text, at_end
    end = 0
    for _ in range(limit):
        end = text.index("\n", end) + 1
    return text[:end], True


def _line_characters(stored: StoredText, start: Position, window: str, spans: Spans) -> int:
    """Return how many characters the line has that the page begins in, its newline not counted."""
    newline = window.find("\n")
    if newline >= 0:
        return start.column - 1 + newline
    index = stored.index
    end = index.line_start(start.line + 1, spans.read)
    unfinished = start.line == index.lines and index.unfinished
    rest = index.characters_until(end, spans.read) - index.characters_until(start.byte, spans.read)
    return start.column - 1 + rest - (0 if unfinished else 1)


@dataclass(frozen=True, slots=True)
class _Draft:
    """The answer for any number of characters shown."""

    stored: StoredText
    request: ReadRequest
    setting: Setting
    start: Position
    window: str
    line_characters: int
    of: str

    def text(self, shown: int, style: int) -> str:
        content = self.window[:shown]
        head = heads(self.stored, self.of + self._range(content), self.setting)[style]
        return fenced(head, content, self._tail(content), self.stored.ref)

    def _after(self, content: str) -> tuple[int, int]:
        """Return line and column of the first character that is not shown."""
        newlines = content.count("\n")
        if newlines == 0:
            return self.start.line, self.start.column + len(content)
        return self.start.line + newlines, len(content) - content.rfind("\n")

    def _range(self, content: str) -> str:
        line, column = self._after(content)
        last = line - 1 if content.endswith("\n") else line
        total = f"{self.stored.index.lines:,}{self.start.note}"
        whole_start = self.start.column == 1
        whole_end = content.endswith("\n") or self._finished(content)
        if last == self.start.line:
            shown = f"line {last:,} of {total}"
            if whole_start and whole_end:
                return shown
            end = self.start.column + len(content.removesuffix("\n")) - 1
            return f"{shown}, characters {self.start.column:,}-{end:,} of {self.line_characters:,}"
        begun = "" if whole_start else f", from character {self.start.column:,} of line {self.start.line:,}"
        ended = "" if whole_end else f", to character {column - 1:,} of line {last:,}"
        return f"lines {self.start.line:,}-{last:,} of {total}{begun}{ended}"

    def _finished(self, content: str) -> bool:
        shown = len(content.encode("utf-8", "surrogatepass"))
        return self.start.byte + shown == self.stored.size

    def _tail(self, content: str) -> str:
        if self._finished(content):
            return "End of the result."
        line, column = self._after(content)
        call = next_call(
            self.setting.tool_name,
            self.stored.ref,
            self.request,
            offset=line,
            column=column if column > 1 else None,
        )
        return f"Next: {call}"


def _fit(draft: _Draft) -> tuple[int, int]:
    """Return the style of the header, and how many characters can be shown under it."""
    style = fitting_style(draft.setting, lambda style: draft.text(1, style))
    shown = draft.setting.largest(lambda count: draft.text(count, style), len(draft.window))
    return style, max(shown, 1)


def _tidy_cut(text: str, shown: int) -> int:
    """Return a better place to cut up to ``shown``: after a line, a separator, or at least a grapheme."""
    line = text.rfind("\n", 0, shown) + 1
    if line * 2 >= shown:
        return line
    floor = max(shown - _SOFT_CUT_CHARACTERS, line)
    soft = max(text.rfind(separator, floor, shown) for separator in _SEPARATORS) + 1
    if soft > floor:
        return soft
    cut = shown
    while floor < cut < len(text) and _belongs_together(text[cut - 1], text[cut]):
        cut -= 1
    return cut if cut > floor else shown


def _belongs_together(before: str, after: str) -> bool:
    return after in _JOINERS or before == "\u200d" or unicodedata.combining(after) != 0
