"""What the second string of an object holds: when it was made and expires, how large it is, its metadata.

Redis keeps expiries in whole milliseconds and no time of creation; both are kept here as they were given.
"""

from __future__ import annotations

import math
import os
import struct
import time
from dataclasses import dataclass, field
from typing import Final

from offloadkit.errors import Corrupt

__all__ = ["Record", "expiry_milliseconds", "unpack"]

_HEADER: Final = struct.Struct("!B8sddQ")
_VERSION: Final = 1
_LATEST_SECONDS: Final = 2.0**40
"""Some 35,000 years: further off, an expiry no longer fits the server's number of milliseconds."""


@dataclass(frozen=True, slots=True)
class Record:
    """All that is kept of an object beside its data.

    Attributes:
        size: Bytes of data.
        meta: As given to ``put``.
        expires_at: Seconds since 1970, or None for never.
        created_at: Seconds since 1970, by the clock of the process that made it.
        stamp: Eight random bytes, by which a ``put`` knows the object it made itself.
    """

    size: int
    meta: bytes
    expires_at: float | None
    created_at: float = field(default_factory=time.time)
    stamp: bytes = field(default_factory=lambda: os.urandom(8))

    def pack(self) -> bytes:
        """Return the record as bytes: a header of 33, then the metadata."""
        expires_at = math.nan if self.expires_at is None else self.expires_at
        return _HEADER.pack(_VERSION, self.stamp, self.created_at, expires_at, self.size) + self.meta


def unpack(packed: bytes, key: str) -> Record:
    """Return the record that ``packed`` holds. Raises `Corrupt` when it holds none."""
    if len(packed) < _HEADER.size or packed[0] != _VERSION:
        raise Corrupt("the record of an object was not written by this backend, or by a newer one", key=key)
    _, stamp, created_at, expires_at, size = _HEADER.unpack_from(packed)
    known_expiry = None if math.isnan(expires_at) else expires_at
    return Record(size, packed[_HEADER.size :], known_expiry, created_at, stamp)


def expiry_milliseconds(expires_at: float | None) -> int | None:
    """Return the first millisecond at which the server may reclaim an object, or None for never."""
    if expires_at is None:
        return None
    return max(1, math.ceil(min(expires_at, _LATEST_SECONDS) * 1000))
