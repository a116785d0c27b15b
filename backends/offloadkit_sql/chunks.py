"""How an object is cut into rows, and which part of which rows a range needs. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

__all__ = ["CHUNK_BYTES", "WINDOW_BYTES", "WINDOW_CHUNKS", "rows_of", "window"]

CHUNK_BYTES: Final = 256 * 1024
"""Small enough for every server's packet limit, large enough that 10 MB are 40 rows."""

WINDOW_CHUNKS: Final = 64
"""Rows that one statement returns at most, so that no read outlasts a statement timeout."""

WINDOW_BYTES: Final = WINDOW_CHUNKS * CHUNK_BYTES


def rows_of(
    key: str, data: bytes, *, meta: bytes, created_at: float, expires_at: float | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of an object. The first one also carries what describes it; every row its size."""
    size = len(data)
    first = data if size <= CHUNK_BYTES else data[:CHUNK_BYTES]
    row = {"key": key, "number": 0, "size": size, "created_at": created_at}
    yield {**row, "expires_at": expires_at, "meta": meta, "data": first}
    for number in range(1, -(-size // CHUNK_BYTES)):
        part = data[number * CHUNK_BYTES : (number + 1) * CHUNK_BYTES]
        yield {**row, "number": number, "expires_at": None, "meta": None, "data": part}


def window(start: int, end: int) -> tuple[dict[str, Any], int]:
    """Say what one statement has to ask for, to read from byte ``start`` towards ``end``.

    Returns:
        The parameters, and the byte before which the statement stops. ``first`` and ``last`` are numbers
        of rows, ``head`` is the first byte wanted of the first row, counted from 1, and ``tail`` is how
        many bytes are wanted of the last row. There is no ``last`` when it is the first one.
    """
    first, skipped = divmod(start, CHUNK_BYTES)
    if end <= (first + 1) * CHUNK_BYTES:
        return {"first": first, "head": skipped + 1, "tail": end - start}, end
    stop = min(end, (first + WINDOW_CHUNKS) * CHUNK_BYTES)
    last = (stop - 1) // CHUNK_BYTES
    return {"first": first, "head": skipped + 1, "last": last, "tail": stop - last * CHUNK_BYTES}, stop
