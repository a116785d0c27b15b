"""The text around places that a search found, as lines of ``line:column: text``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from offloadkit.lines import character_boundary
from offloadkit.reading.search import Hit
from offloadkit.reading.spans import Spans, as_text
from offloadkit.reading.stored import StoredText

__all__ = ["Excerpt", "Excerpts"]

_MOST_COLUMNS: Final = 10
_GAP: Final = "--"
_CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line, or a window of a long one, with the places in it.

    Attributes:
        hits: The places, at least one.
        start: The first byte shown.
        end: The byte after the last one shown.
        cut_before: The line begins before it.
        cut_after: The line goes on after it.
    """

    hits: tuple[Hit, ...]
    start: int
    end: int
    cut_before: bool = False
    cut_after: bool = False

    @property
    def line(self) -> int:
        """The line that it shows."""
        return self.hits[0].line

    @property
    def text(self) -> str:
        """What it shows, with a mark where the line is cut."""
        hit = self.hits[0]
        before = hit.before[len(hit.before) - (hit.start - self.start) :]
        shown = as_text(before + hit.following[: self.end - hit.start])
        return f"{_CUT if self.cut_before else ''}{shown}{_CUT if self.cut_after else ''}"

    def takes(self, hit: Hit, width: int) -> bool:
        """Say whether a later place is in view here."""
        return hit.line == self.line and (hit.start < self.end or width == 0)


class Excerpts:
    """Excerpts with lines of context, ready to be written down."""

    def __init__(
        self, stored: StoredText, hits: Sequence[Hit], spans: Spans, *, context: int, width: int, most: int
    ) -> None:
        """Make them for the places, in order; those in view together share one.

        Args:
            stored: The text.
            hits: The places in it, in order.
            spans: Reads the text.
            context: Lines to show before and after each place.
            width: The most bytes to show of one line; 0 shows positions only.
            most: Stop when so many bytes are to be shown.
        """
        self._stored = stored
        self._spans = spans
        self._context = context
        self._width = width
        self._lines: dict[int, str] = {}
        self.items: list[Excerpt] = []
        for hit in hits:
            last = self.items[-1] if self.items else None
            if last is not None and last.takes(hit, width):
                self.items[-1] = Excerpt(
                    (*last.hits, hit), last.start, last.end, last.cut_before, last.cut_after
                )
            elif most > 0:
                self.items.append(_excerpt(hit, width, self._stored.size, after=last.end if last else 0))
                most -= (self.items[-1].end - self.items[-1].start + 1) * (1 + 2 * context)
            else:
                break

    def text(self, count: int) -> str:
        """Return the first so many excerpts as text, each line with its number."""
        shown = self.items[:count]
        hit_lines = {excerpt.line for excerpt in shown}
        rows = {(excerpt.line, excerpt.start): self._row(excerpt) for excerpt in shown}
        for line in {line for excerpt in shown for line in self._near(excerpt.line)} - hit_lines:
            rows[line, 0] = f"{line}- {self._line(line)}"
        return "".join(self._joined(rows))

    def _joined(self, rows: dict[tuple[int, int], str]) -> Iterator[str]:
        before: int | None = None
        for line, start in sorted(rows):
            if self._context and before is not None and line > before + 1:
                yield f"{_GAP}\n"
            yield f"{rows[line, start]}\n"
            before = line

    def _row(self, excerpt: Excerpt) -> str:
        columns = [str(hit.column) for hit in excerpt.hits[: _MOST_COLUMNS if self._width else 1]]
        more = len(excerpt.hits) - len(columns)
        place = f"{excerpt.line}:{','.join(columns)}" + (f",+{more}" if more else "")
        return f"{place}: {excerpt.text}" if self._width else place

    def _near(self, line: int) -> range:
        return range(max(1, line - self._context), min(self._stored.index.lines, line + self._context) + 1)

    def _line(self, number: int) -> str:
        """Return a line of context, cut where it is long."""
        if number not in self._lines:
            start = self._stored.index.line_start(number, self._spans.read)
            line, newline, _ = self._spans.text(start, self._width).partition("\n")
            whole = newline or start + self._width >= self._spans.size
            self._lines[number] = line if whole else f"{line}{_CUT}"
        return self._lines[number]


def _excerpt(hit: Hit, width: int, size: int, *, after: int) -> Excerpt:
    """Show the whole line when it is short enough, else a window around the place, of what is ``after``."""
    if width == 0:
        return Excerpt((hit,), hit.start, hit.start)
    newline = hit.following.find(b"\n", 0, width + 1)
    rest = newline if newline >= 0 else len(hit.following)
    ends = newline >= 0 or hit.start + rest == size
    if ends and hit.start + rest - hit.line_start <= width:
        return Excerpt((hit,), hit.line_start, hit.start + rest)
    shown = min(hit.end - hit.start, width // 2)
    room = min((width - shown) // 2, len(hit.before), hit.start - after)
    before = _whole_characters(hit.before[len(hit.before) - room :])
    length = min(width - len(before), rest)
    if length < len(hit.following):
        length = character_boundary(hit.following, length)
    start, end = hit.start - len(before), hit.start + length
    return Excerpt((hit,), start, end, cut_before=start > hit.line_start, cut_after=length < rest or not ends)


def _whole_characters(data: bytes) -> bytes:
    """Drop what is left of a character that begins before."""
    cut = 0
    while cut < len(data) and data[cut] & 0xC0 == 0x80:
        cut += 1
    return data[cut:]
