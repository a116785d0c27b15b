"""What the suites store: keys of their own that are deleted afterwards, and bytes that show every mistake."""

from __future__ import annotations

import hashlib
import uuid
from functools import lru_cache

CHUNK_BYTES = 256 * 1024

NAMES = (
    "a",
    "a/b",
    "a/b/c",
    "a/b0",
    "a0",
    "ab",
    "a.b",
    "a_b",
    "a-b",
    "axb",
    "a..b",
    "a.meta",
    "a.tmp",
    "b",
    "-",
    "_",
    "0",
)
"""Legal names that a layout may confuse: an object and a folder of one name, neighbours of ``/`` in the
alphabet, wildcards of SQL, the names of side files."""

PREFIXES = ("", "a", "a/", "a/b", "a/b/", "ab", "a.", "a_", "a-", "a-b", "b", "c")


class Scratch:
    """The keys of one test, under a prefix that no other test has.

    Attributes:
        prefix: 22 characters, with a slash at the end.
        keys: Every key handed out so far: what has to be deleted at the end.
    """

    def __init__(self) -> None:
        self.prefix = f"contract-{uuid.uuid4().hex[:12]}/"
        self.keys: set[str] = set()

    def key(self, name: str = "object") -> str:
        """Return the key of this name and remember it."""
        key = self.prefix + name
        self.keys.add(key)
        return key


@lru_cache(maxsize=8)
def pattern(size: int) -> bytes:
    """Return ``size`` bytes without a period, the same each time: a shifted range never looks right."""
    return hashlib.shake_128(b"offloadkit").digest(size)


def difference(found: object, expected: bytes) -> str:
    """Say in one line how ``found`` differs from ``expected``, or return "" when it does not.

    Shown in place of the bytes: a comparison of two megabytes is no readable failure.
    """
    if type(found) is not bytes:
        return f"{type(found).__name__} instead of bytes"
    if found == expected:
        return ""
    if len(found) != len(expected):
        return f"{len(found)} bytes instead of {len(expected)}"
    first = next(index for index, byte in enumerate(found) if byte != expected[index])
    return f"byte {first} of {len(expected)} is the first that differs"
