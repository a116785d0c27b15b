"""Reading pieces of a stored text that lie close together with few requests to the store."""

from __future__ import annotations

from collections import deque
from typing import Final

from offloadkit.errors import Corrupt
from offloadkit.lines import BLOCK_BYTES, Fetch, character_boundary

__all__ = ["SEARCH_AHEAD_BYTES", "Spans"]

SEARCH_AHEAD_BYTES: Final = 16 * BLOCK_BYTES
_REMEMBERED: Final = 8


class Spans:
    """Reads a stored text in whole blocks and remembers the last few of what it read. For one call.

    Attributes:
        size: Bytes of the text.
        ahead: How many bytes the store is asked for at least.
    """

    def __init__(self, fetch: Fetch, size: int, *, ahead: int = BLOCK_BYTES) -> None:
        """Make a reader; see the attributes."""
        self.size = size
        self._fetch = fetch
        self.ahead = ahead
        self._spans: deque[tuple[int, bytes]] = deque(maxlen=_REMEMBERED)

    def read(self, start: int, length: int) -> bytes:
        """Return the bytes ``[start, start + length)``, clamped to the text.

        Raises:
            Corrupt: The store returned fewer bytes than the text has.
        """
        end = min(start + length, self.size)
        parts: list[bytes] = []
        while start < end:
            begin, data = self._span_at(start, end)
            parts.append(data[start - begin : end - begin])
            start = begin + len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def text(self, start: int, length: int) -> str:
        """Return the characters wholly in ``[start, start + length)``; ``start`` begins a character."""
        data = self.read(start, length + 1)
        return as_text(data[: character_boundary(data, length)])

    def _span_at(self, position: int, end: int) -> tuple[int, bytes]:
        """Return the first byte and the data of a span that holds ``position``."""
        for begin, data in self._spans:
            if begin <= position < begin + len(data):
                return begin, data
        begin = position - position % BLOCK_BYTES
        stop = min(max(end + -end % BLOCK_BYTES, begin + self.ahead), self.size)
        data = self._fetch(begin, stop - begin)
        if len(data) != stop - begin:
            raise Corrupt(f"a stored result ends {stop - begin - len(data)} bytes before its end")
        self._spans.appendleft((begin, data))
        return begin, data


def as_text(data: bytes) -> str:
    """Return the text of UTF-8 bytes; what the store damaged shows as U+FFFD."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")
