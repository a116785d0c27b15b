r"""What stands behind the payload in an object's file, and how it is read back.

A file is the payload, untouched, and then one line of ASCII, so that ``cat`` and ``grep`` still work::

    \n{"size":5,"created_at":1.5,"meta":"eyJ9"} SLOT SLOT LENGTH CHECK offloadkit1\n

LENGTH is that of the whole footer, CHECK covers it, the JSON and the key: a file that was cut off, filled
with zeros by a crash or moved to another name has no valid footer. The expiry alone may change. It has two
slots, each a sequence number, a time and a check of both; the valid one with the higher number counts and
the other one is written next. So a reader meets the old expiry or the new one, even after a crash in between.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import re
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["TAIL_BYTES", "Footer", "decode", "encode", "next_slot"]

TAIL_BYTES: Final = 2048  # the longest footer, with 1,024 bytes of metadata in base64, has about 1,600

_SLOT: Final = re.compile(rb"([0-9]{10}) +(never|[-+.0-9einfa]+) ([0-9a-f]{16})")
_SLOT_BYTES: Final = 10 + 1 + 24 + 1 + 16
_END: Final = re.compile(
    rb" (.{%d}) (.{%d}) ([0-9]{5}) ([0-9a-f]{16}) offloadkit1\n" % (_SLOT_BYTES, _SLOT_BYTES), re.DOTALL
)
_END_BYTES: Final = 1 + _SLOT_BYTES + 1 + _SLOT_BYTES + 1 + 5 + 1 + 16 + len(" offloadkit1\n")


class Footer(NamedTuple):
    """What a footer says.

    Attributes:
        size: Bytes of the payload.
        meta: The object's metadata.
        created_at: Seconds since 1970.
        expires_at: Seconds since 1970, or None for never.
        sequence: How often the expiry was set, the first time included.
    """

    size: int
    meta: bytes
    created_at: float
    expires_at: float | None
    sequence: int


def encode(key: str, *, size: int, meta: bytes, created_at: float, expires_at: float | None) -> bytes:
    """Return the footer of a new object."""
    text = binascii.b2a_base64(meta, newline=False).decode("ascii")
    facts = json.dumps({"size": size, "created_at": created_at, "meta": text}, separators=(",", ":")).encode()
    length = b"%05d" % (1 + len(facts) + _END_BYTES)
    slots = b"%s %s" % (_slot(key, 0, None), _slot(key, 1, expires_at))
    return b"\n%s %s %s %s offloadkit1\n" % (facts, slots, length, _check(key, length + facts))


def decode(key: str, tail: bytes, file_bytes: int) -> Footer | None:
    """Read the footer of the object ``key``, or return None where there is no valid one.

    Args:
        key: The key under which the file was found.
        tail: The last `TAIL_BYTES` of the file, or all of it.
        file_bytes: Size of the whole file.
    """
    end = _END.fullmatch(tail[-_END_BYTES:])
    if end is None or not _END_BYTES < int(end[3]) <= len(tail):
        return None
    return _decode(key, tail[-int(end[3]) :], file_bytes)


@lru_cache(maxsize=512)
def _decode(key: str, footer: bytes, file_bytes: int) -> Footer | None:
    """Read one footer; those of the objects that an agent reads in pages are the same again and again."""
    end = _END.fullmatch(footer[-_END_BYTES:])
    if end is None:
        return None
    facts = footer[1:-_END_BYTES]
    if end[4] != _check(key, end[3] + facts):
        return None
    fields = json.loads(facts)
    if fields["size"] != file_bytes - int(end[3]):
        return None
    sequence, expires_at = _latest(key, end[1], end[2])
    meta = binascii.a2b_base64(fields["meta"])
    return Footer(fields["size"], meta, fields["created_at"], expires_at, sequence)


def next_slot(key: str, footer: Footer, expires_at: float | None) -> tuple[int, bytes]:
    """Return what sets another expiry: where to write, in bytes before the end of the file, and what."""
    sequence = footer.sequence + 1
    before_end = _END_BYTES - 1 - (sequence % 2) * (_SLOT_BYTES + 1)
    return before_end, _slot(key, sequence, expires_at)


def _slot(key: str, sequence: int, expires_at: float | None) -> bytes:
    value = b"%010d %24s" % (sequence, b"never" if expires_at is None else repr(float(expires_at)).encode())
    return b"%s %s" % (value, _check(key, value))


def _latest(key: str, *slots: bytes) -> tuple[int, float | None]:
    """Return number and time of the valid slot with the highest number: they begin with it."""
    for slot in sorted(slots, reverse=True):
        found = _SLOT.fullmatch(slot)
        if found is not None and found[3] == _check(key, slot[: -len(found[3]) - 1]):
            return int(found[1]), None if found[2] == b"never" else float(found[2])
    return 0, None


def _check(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + data).hexdigest()[:16].encode()
