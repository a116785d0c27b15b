"""References and keys: what names a stored result, built from the session and the content alone."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final

__all__ = ["is_reference", "key_segment", "name_of_segment", "reference_for"]

MAX_SEGMENT_CHARACTERS: Final = 64
_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-")
_DEVICE_NAMES: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))]
)


def reference_for(session: str, digest: bytes) -> str:
    """Return the reference of a content in a session: 80 bits, as 16 characters of ``a-z2-7``."""
    name = session.encode("utf-8", "surrogatepass")
    bound = hashlib.sha256(len(name).to_bytes(8, "big") + name + digest).digest()
    return base64.b32encode(bound[:10]).decode("ascii").lower()


def is_reference(ref: str) -> bool:
    """Say whether a text has the form of a reference."""
    return re.fullmatch(r"[a-z2-7]{16}", ref) is not None


def key_segment(name: str) -> str:
    """Return one key segment for any text; different texts give different segments.

    ``[a-z0-9-]`` stand for themselves and every other byte becomes ``_`` and two hex digits. Names that
    would be too long, and the empty one, become ``_-`` and a hash, which no short name leads to.
    """
    data = name.encode("utf-8", "surrogatepass")
    plain = "".join(chr(byte) if byte in _PLAIN else f"_{byte:02x}" for byte in data)
    if plain in _DEVICE_NAMES:
        plain = f"_{data[0]:02x}{plain[1:]}"
    if 0 < len(plain) <= MAX_SEGMENT_CHARACTERS:
        return plain
    return "_-" + base64.b32encode(hashlib.sha256(data).digest()).decode("ascii").lower().rstrip("=")


def name_of_segment(segment: str) -> str:
    """Return the name that `key_segment` made a segment of; a hashed one, and any other text, as it is."""
    if segment.startswith("_-"):
        return segment
    data = re.sub(rb"_([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), segment.encode())
    name = data.decode("utf-8", "surrogatepass") if _is_utf8(data) else segment
    return name if key_segment(name) == segment else segment


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True
