"""Finding the places of a text or a pattern in a stored text, a piece at a time.

A stored text is never decoded as a whole: literal text is found in its bytes, patterns by RE2, whose time is
linear in the text whatever the pattern.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Protocol

from offloadkit.lines import BLOCK_BYTES, count_characters
from offloadkit.reading.position import Position
from offloadkit.reading.spans import SEARCH_AHEAD_BYTES, Spans

__all__ = ["AROUND_BYTES", "Finder", "Found", "Hit", "Literal", "Pattern", "compile_pattern", "find"]

MOST_COUNTED: Final = 100_000
"""Places of a pattern are counted up to here; each costs a few microseconds."""

MOST_SECONDS: Final = 3.0
"""A pattern is given up after so long. Measured: usual ones run at 300 MB/s, the worst at 0.12 MB/s."""

MOST_MATCHED_BYTES: Final = 16 * 1024
"""A match of a pattern that is longer may be cut, so that a piece of one long line can be searched alone."""

AROUND_BYTES: Final = 600
"""How much of a long line is kept on each side of a place."""

_PIECES: Final = 16
_MULTI_LINE: Final = b"(?m)"
_MOST_WORDS: Final = 100


@dataclass(frozen=True, slots=True)
class Hit:
    """One place.

    Attributes:
        start: Its first byte.
        end: The byte after its last one.
        line: Its line, from 1.
        column: Its first character in that line, from 1.
        line_start: The byte where that line begins.
        before: What stands before it in its line, the last `AROUND_BYTES` of it.
        following: What stands from its start on, `AROUND_BYTES` and one more where there is so much.
    """

    start: int
    end: int
    line: int
    column: int
    line_start: int
    before: bytes = b""
    following: bytes = b""


@dataclass(slots=True)
class Found:
    """What a search found.

    Attributes:
        count: How many places there are.
        rest: Line and column from which on nothing was searched, when the search was given up.
        hits: The first of them.
        regions: For pieces of the text, in order: the first place in it, and how many there are.
    """

    count: int = 0
    rest: tuple[int, int] | None = None
    hits: list[Hit] = field(default_factory=list)
    regions: list[tuple[Hit, int]] = field(default_factory=list)


class Finder(Protocol):
    """Finds places in bytes.

    Attributes:
        reach: How many bytes past a piece belong to a place that begins in it, at most.
        pieces: The fewest and the most bytes to search at once.
        stopped: True when it gave up.
    """

    reach: int
    pieces: tuple[int, int]
    stopped: bool

    def places(self, data: bytes, position: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield start and end of each place in ``data`` that begins in ``[position, stop)``."""
        ...

    def count(self, data: bytes, position: int, stop: int) -> tuple[int, int]:
        """Return how many those are, and where to go on."""
        ...


class Literal:
    """Finds a text. Places do not overlap."""

    pieces = (4 * 1024, SEARCH_AHEAD_BYTES)
    stopped = False

    def __init__(self, text: str) -> None:
        """Make a finder of a text that is not empty."""
        self._needle = text.encode("utf-8", "surrogatepass")
        self.reach = len(self._needle) - 1
        self._overlaps = any(
            self._needle.endswith(self._needle[:size]) for size in range(1, len(self._needle))
        )

    def places(self, data: bytes, position: int, stop: int) -> Iterator[tuple[int, int]]:
        """See `Finder`."""
        while 0 <= (start := data.find(self._needle, position)) < stop:
            position = start + len(self._needle)
            yield start, position

    def count(self, data: bytes, position: int, stop: int) -> tuple[int, int]:
        """See `Finder`."""
        if not self._overlaps:
            return data.count(self._needle, position, stop + self.reach), stop
        return _counted(self.places(data, position, stop), position)


class Pattern:
    """Finds what a compiled RE2 pattern matches, within lines."""

    pieces = (BLOCK_BYTES, 2 * BLOCK_BYTES)
    reach = MOST_MATCHED_BYTES

    def __init__(self, pattern: Any, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Make a finder of what `compile_pattern` returned, for one search that begins now."""
        self.stopped = False
        self._pattern = pattern
        self._clock = clock
        self._deadline = clock() + MOST_SECONDS
        self._counted = 0

    def places(self, data: bytes, position: int, stop: int) -> Iterator[tuple[int, int]]:
        """See `Finder`. Empty matches inside a character are none."""
        while position < stop and not self.stopped and (match := self._pattern.search(data, position)):
            start, end = match.span()
            if start >= stop:
                break
            position = max(end, start + 1)
            if start < end or data[start] & 0xC0 != 0x80:
                self._counted += 1
                yield start, end
            self._look_at_bounds()
        self._look_at_bounds()

    def count(self, data: bytes, position: int, stop: int) -> tuple[int, int]:
        """See `Finder`."""
        return _counted(self.places(data, position, stop), position)

    def _look_at_bounds(self) -> None:
        self.stopped = self.stopped or self._counted >= MOST_COUNTED or self._clock() > self._deadline


def _counted(places: Iterator[tuple[int, int]], position: int) -> tuple[int, int]:
    number = 0
    for start, end in places:
        number, position = number + 1, max(end, start + 1)
    return number, position


def compile_pattern(regex: str) -> Any:
    """Return a compiled pattern, or words that say what is wrong with it."""
    import re2  # noqa: PLC0415  loaded by those who search for a pattern

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    try:
        return re2.compile(_MULTI_LINE + regex.encode(), options)
    except UnicodeEncodeError:
        return "regex holds half a surrogate pair, which no pattern can; write the whole character."
    except re2.error as error:
        said = error.args[0].replace(_MULTI_LINE, b"", 1).decode("utf-8", "replace")
        reason = re.sub(r"\s+", " ", said)[:_MOST_WORDS]
        return (
            f"regex is not valid RE2 syntax: {reason}. RE2 has no lookaround and no backreferences. "
            "For a plain text use search instead."
        )


def find(spans: Spans, finder: Finder, start: Position, *, keep: int) -> Found:
    """Return the places from ``start`` on.

    Args:
        spans: The text.
        finder: What to look for.
        start: Where to begin.
        keep: How many of the first places to return.
    """
    end = spans.size
    search = _Search(spans, finder, start, keep)
    smallest, largest = finder.pieces
    size = min(max(-(-(end - start.byte) // _PIECES), smallest), largest)
    for begin in range(start.byte, end, size):
        stop = min(begin + size, end)
        base = max(begin - 1, 0)
        search.piece(base, min(stop + finder.reach, end), begin, stop)
        if finder.stopped:
            search.give_up(end)
            break
    return search.found


class _Search:
    """A search on its way through a text, piece by piece."""

    def __init__(self, spans: Spans, finder: Finder, start: Position, keep: int) -> None:
        self.found = Found()
        self._spans = spans
        self._finder = finder
        self._keep = keep
        self._walk = _Walk(start)
        self._position = start.byte

    def piece(self, base: int, reach: int, begin: int, stop: int) -> None:
        """Add the places that begin in ``[begin, stop)``, looking at the bytes ``[base, reach)``."""
        data = self._spans.read(base, reach - base)
        position = max(self._position, begin) - base
        kept = max(self._keep - len(self.found.hits), 1)
        hits = []
        for start, end in islice(self._finder.places(data, position, stop - base), kept):
            hits.append(self._hit(base, data, start, end))
            position = max(end, start + 1)
        if hits:
            rest, position = self._finder.count(data, position, stop - base)
            self._add(hits, rest)
        self._position = base + position
        searched = self._position if hits and self._finder.stopped else stop
        self._walk.advance(data[self._walk.byte - base : searched - base])

    def give_up(self, end: int) -> None:
        """Note what of the text was not searched."""
        if self._walk.byte < end:
            self.found.rest = (self._walk.line, self._walk.column)

    def _hit(self, base: int, data: bytes, start: int, end: int) -> Hit:
        walk = self._walk
        walk.advance(data[walk.byte - base : start])
        near = max(walk.line_start, walk.byte - AROUND_BYTES)
        around = self._spans.read(near, walk.byte + AROUND_BYTES + 1 - near)
        before, following = around[: walk.byte - near], around[walk.byte - near :]
        return Hit(base + start, base + end, walk.line, walk.column, walk.line_start, before, following)

    def _add(self, hits: list[Hit], rest: int) -> None:
        self.found.regions.append((hits[0], len(hits) + rest))
        self.found.count += len(hits) + rest
        self.found.hits += hits[: self._keep - len(self.found.hits)]


class _Walk:
    """Keeps line and column while it goes forward through a text."""

    def __init__(self, start: Position) -> None:
        self.byte = start.byte
        self.line = start.line
        self.column = start.column
        self.line_start = start.line_start

    def advance(self, passed: bytes) -> None:
        """Go over the bytes that follow."""
        newline = passed.rfind(b"\n") + 1
        if newline:
            self.line += passed.count(b"\n")
            self.line_start = self.byte + newline
            self.column = 1
        self.column += count_characters(passed[newline:] if newline else passed)
        self.byte += len(passed)
