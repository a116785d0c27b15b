"""The size of an image, read from its first bytes."""

from __future__ import annotations

import struct
from typing import Final

__all__ = ["image_size"]

_JPEG_SIZE_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE_MARKERS: Final = frozenset({0x01, *range(0xD0, 0xD9)})


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels of a PNG, JPEG, GIF or WebP image, or None.

    Args:
        data: The image, or its beginning. 32 bytes do, but for a JPEG whose size stands behind its metadata.
    """
    try:
        width, height = _size_fields(data)
    except struct.error:
        return None
    return (width, height) if width and height else None


def _size_fields(data: bytes) -> tuple[int, int]:
    """Return the fields that hold the size; zeros when there are none. Raises `struct.error` when cut off."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _two(">II", data, 16)
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _two("<HH", data, 6)
    if data.startswith(b"\xff\xd8"):
        return _jpeg_fields(data)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp_fields(data)
    return 0, 0


def _two(form: str, data: bytes, offset: int) -> tuple[int, int]:
    first, second = struct.unpack_from(form, data, offset)
    return first, second


def _jpeg_fields(data: bytes) -> tuple[int, int]:
    position = 2
    while position + 1 < len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker in _JPEG_SIZE_MARKERS:
            height, width = _two(">HH", data, position + 5)
            return width, height
        position += _jpeg_step(data, position)
    return 0, 0


def _jpeg_step(data: bytes, position: int) -> int:
    """Return how far the next marker is; any number of 0xFF bytes may stand before one."""
    marker = data[position + 1]
    if marker == 0xFF:
        return 1
    if marker in _JPEG_BARE_MARKERS:
        return 2
    return 2 + max(2, int.from_bytes(data[position + 2 : position + 4], "big"))


def _webp_fields(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L" and data[20:21] == b"\x2f":
        (bits,) = struct.unpack_from("<I", data, 21)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = _two("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return 0, 0
