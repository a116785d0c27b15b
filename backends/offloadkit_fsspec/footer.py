"""Metadata and expiry behind the data, in the same object: for stores that keep nothing beside the bytes.

    data · metadata, filled up to 1,024 bytes · size, times, checksum, magic

Every footer has the same length. So a listing tells the size of the data, one read of a few bytes more than
were asked for tells where the data ends, and `cat` and `grep` still find it at the start of the file. What
has no whole footer at its end was cut off while it was written: it is no object.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import Final

from offloadkit.backend import MAX_META_BYTES, Stat

__all__ = ["FOOTER_BYTES", "footer_of", "stat_from"]

_FIELDS: Final = struct.Struct(">QddH")
_END: Final = struct.Struct(">I8s")
_MAGIC: Final = b"offload1"

FOOTER_BYTES: Final = MAX_META_BYTES + _FIELDS.size + _END.size


def footer_of(stat: Stat) -> bytes:
    """Return what stands behind the data of an object."""
    fields = _FIELDS.pack(stat.size, _number(stat.created_at), _number(stat.expires_at), len(stat.meta))
    body = stat.meta.ljust(MAX_META_BYTES, b"\0") + fields
    return body + _END.pack(zlib.crc32(body), _MAGIC)


def stat_from(key: str, footer: bytes) -> Stat | None:
    """Read a footer; None when it is none, or damaged."""
    if len(footer) != FOOTER_BYTES:
        return None
    body, end = footer[: -_END.size], footer[-_END.size :]
    if end != _END.pack(zlib.crc32(body), _MAGIC):
        return None
    size, created_at, expires_at, meta_length = _FIELDS.unpack(body[MAX_META_BYTES:])
    return Stat(key, size, body[:meta_length], _time(expires_at), _time(created_at))


def _number(seconds: float | None) -> float:
    return math.nan if seconds is None else seconds


def _time(number: float) -> float | None:
    return None if math.isnan(number) else number
