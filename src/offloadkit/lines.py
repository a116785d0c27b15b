r"""Where the lines and characters of a stored text begin, without reading all of it.

A `LineIndex` holds, for every 64 KiB block of the text's UTF-8 bytes, how many lines and characters stand
before it: 8 bytes a block. Any line or character is then found by reading the one block that it begins in.
A line ends at ``\n`` and nowhere else. Losing an index costs speed only: `LineIndex.rebuild` makes it again.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, Self

__all__ = ["BLOCK_BYTES", "Fetch", "LineIndex", "character_boundary", "count_characters"]

BLOCK_BYTES: Final = 64 * 1024
Fetch = Callable[[int, int], bytes]
"""Returns ``length`` bytes from byte ``start``."""

_MAGIC: Final = b"oli1"
_HEAD: Final = struct.Struct("<4s?Q")
_CHECKSUM: Final = struct.Struct("<I")
_BLOCKS_A_FETCH: Final = 16
_CONTINUATION_BYTES: Final = bytes(range(0x80, 0xC0))
_STEP_BYTES: Final = 64


def count_characters(data: bytes) -> int:
    """Return how many characters begin in ``data``, a piece of UTF-8 text cut anywhere."""
    return len(data) if data.isascii() else len(data.translate(None, _CONTINUATION_BYTES))


def character_boundary(data: bytes, position: int) -> int:
    """Return the last position up to ``position`` where a character of ``data`` begins or the data ends."""
    while 0 < position < len(data) and data[position] & 0xC0 == 0x80:
        position -= 1
    return position


@dataclass(frozen=True, slots=True)
class LineIndex:
    r"""A sparse index over the UTF-8 bytes of one text.

    Attributes:
        size: Bytes of the text.
        unfinished: True when the last line has no ``\n``.
        newlines_before: How many ``\n`` stand before each block, and in all.
        characters_before: How many characters begin before each block, and in all.
    """

    size: int
    unfinished: bool
    newlines_before: tuple[int, ...]
    characters_before: tuple[int, ...]

    @classmethod
    def build(cls, data: bytes) -> Self:
        """Return the index of a text."""
        return cls._of_blocks(data[start : start + BLOCK_BYTES] for start in range(0, len(data), BLOCK_BYTES))

    @classmethod
    def rebuild(cls, fetch: Fetch, size: int) -> Self:
        """Return the index of a stored text of ``size`` bytes, reading it a megabyte at a time."""
        return cls._of_blocks(_fetched_blocks(fetch, size))

    @classmethod
    def _of_blocks(cls, blocks: Iterable[bytes]) -> Self:
        newlines, characters = [0], [0]
        size, unfinished = 0, False
        for block in blocks:
            newlines.append(newlines[-1] + block.count(b"\n"))
            characters.append(characters[-1] + count_characters(block))
            size += len(block)
            unfinished = not block.endswith(b"\n")
        return cls(size, unfinished, tuple(newlines), tuple(characters))

    def to_bytes(self) -> bytes:
        """Return the index as bytes: 17 and 8 for each block."""
        counts = [*_differences(self.newlines_before), *_differences(self.characters_before)]
        body = _HEAD.pack(_MAGIC, self.unfinished, self.size) + struct.pack(f"<{len(counts)}I", *counts)
        return body + _CHECKSUM.pack(zlib.crc32(body))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` made. Raises `ValueError` for anything else."""
        body, checksum = data[: -_CHECKSUM.size], data[-_CHECKSUM.size :]
        if len(body) < _HEAD.size or checksum != _CHECKSUM.pack(zlib.crc32(body)):
            raise ValueError("a damaged line index")
        magic, unfinished, size = _HEAD.unpack_from(body)
        blocks = -(-size // BLOCK_BYTES)
        if magic != _MAGIC or len(body) != _HEAD.size + 8 * blocks:
            raise ValueError("a line index of another version or of another text")
        counts = struct.unpack_from(f"<{2 * blocks}I", body, _HEAD.size)
        newlines, characters = counts[:blocks], counts[blocks:]
        if any(ended > begun for ended, begun in zip(newlines, characters, strict=True)):
            raise ValueError("a line index that no text can have")
        return cls(size, unfinished, _sums(newlines), _sums(characters))

    @property
    def lines(self) -> int:
        r"""How many lines the text has; one that does not end in ``\n`` counts, the empty text has none."""
        return self.newlines_before[-1] + self.unfinished

    @property
    def characters(self) -> int:
        """How many characters the text has."""
        return self.characters_before[-1]

    def line_start(self, line: int, fetch: Fetch) -> int:
        """Return the byte where a line begins, counted from 1; the size for lines past the last."""
        ended = line - 1
        if ended <= 0:
            return 0
        if ended > self.newlines_before[-1]:
            return self.size
        block = bisect_left(self.newlines_before, ended) - 1
        start = block * BLOCK_BYTES
        data = fetch(start, min(BLOCK_BYTES, self.size - start))
        return start + _after_newline(data, ended - self.newlines_before[block])

    def line_at(self, position: int, fetch: Fetch) -> int:
        """Return the number of the line that the byte at ``position`` belongs to, from 1."""
        block, rest = divmod(position, BLOCK_BYTES)
        return self.newlines_before[block] + fetch(position - rest, rest).count(b"\n") + 1

    def character_start(self, number: int, fetch: Fetch) -> int:
        """Return the byte where a character begins, counted from 0; the size for any past the last."""
        if number >= self.characters:
            return self.size
        block = bisect_right(self.characters_before, number) - 1
        start = block * BLOCK_BYTES
        data = fetch(start, min(BLOCK_BYTES, self.size - start))
        return start + _start_of_character(data, number - self.characters_before[block])

    def characters_until(self, position: int, fetch: Fetch) -> int:
        """Return how many characters begin before the byte at ``position``."""
        block, rest = divmod(position, BLOCK_BYTES)
        return self.characters_before[block] + (count_characters(fetch(position - rest, rest)) if rest else 0)


def _fetched_blocks(fetch: Fetch, size: int) -> Iterator[bytes]:
    step = _BLOCKS_A_FETCH * BLOCK_BYTES
    for start in range(0, size, step):
        data = fetch(start, min(step, size - start))
        for offset in range(0, len(data), BLOCK_BYTES):
            yield data[offset : offset + BLOCK_BYTES]


def _differences(sums: tuple[int, ...]) -> list[int]:
    return [after - before for before, after in pairwise(sums)]


def _sums(counts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(accumulate(counts, initial=0))


def _after_newline(block: bytes, number: int) -> int:
    """Return the position after the newline of this number in the block, from 1."""
    low, high = 0, len(block)
    while high - low > _STEP_BYTES:
        middle = (low + high) // 2
        before = block.count(b"\n", low, middle)
        if before >= number:
            high = middle
        else:
            low, number = middle, number - before
    for _ in range(number):
        low = block.index(b"\n", low) + 1
    return low


def _start_of_character(block: bytes, number: int) -> int:
    """Return the position of the character of this number among those that begin in the block, from 0."""
    if block.isascii():
        return number
    low, high = 0, len(block)
    while high - low > _STEP_BYTES:
        middle = (low + high) // 2
        before = count_characters(block[low:middle])
        if before > number:
            high = middle
        else:
            low, number = middle, number - before
    starts = (position for position in range(low, high) if block[position] & 0xC0 != 0x80)
    return next(start for skipped, start in enumerate(starts) if skipped == number)
