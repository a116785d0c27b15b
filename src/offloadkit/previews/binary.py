"""Bytes that stand as text: their type, their size, and the dimensions of images."""

from __future__ import annotations

import base64
import re
import struct
from typing import Final

from offloadkit.previews.cleaning import visible, visible_head
from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, counted

__all__ = ["recognise", "render"]

_SHOWN_CHARACTERS: Final = 60
_DECODED_CHARACTERS: Final = 262_144
_RUN: Final = re.compile(r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{40,}\r?\n?){3,}")
_REST: Final = re.compile(r"[A-Za-z0-9+/_\-\s]*={0,2}(?P<after>[\s\"')\]}>.,;]{0,80})")
_SEARCHED_CHARACTERS: Final = 2_000
_LEAST_DISTINCT: Final = 20
_MOST_AROUND: Final = 400
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"BM", "BMP image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"7z\xbc\xaf", "7z archive"),
    (b"\x7fELF", "ELF program"),
    (b"MZ", "Windows program"),
    (b"\x00asm", "WebAssembly module"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"SQLite format 3", "SQLite database"),
    (b"wOF", "web font"),
)
_RIFF: Final = {b"WEBP": "WebP image", b"WAVE": "WAV audio", b"AVI ": "AVI video"}


def recognise(document: Document) -> bool:
    """Say whether the text is base64 after a few words at most, or holds many control characters."""
    beginning = document.content[:_SEARCHED_CHARACTERS]
    odd = len(_UNPRINTABLE.findall(beginning))
    return odd > 0.1 * len(beginning) or _base64_span(document.content) is not None


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Name type and size; show what stands before the data, and its first characters."""
    body = document.content
    span = _base64_span(body)
    if span is None:
        kind = _type(body[:64].encode("latin-1", "replace"))
        sheet.title(f"Binary data as text, {counted(len(body), 'character')}{_comma(kind)}", document.lead)
        sheet.add(visible_head(body, _SHOWN_CHARACTERS).replace("\n", "\\n"))
        return Draft("its type, size and first characters")
    start, stop = span
    data = re.sub(r"\s", "", body[start:stop])
    size = len(data.rstrip("=")) * 3 // 4
    sheet.title(f"Base64 text of {counted(size, 'byte')}{_comma(_type(_decoded(data)))}")
    before = " ".join(visible(body[:start]).split())
    if before:
        sheet.add(before)
    sheet.add(f"{data[:_SHOWN_CHARACTERS]}…")
    return Draft("its type and size")


def _base64_span(text: str) -> tuple[int, int] | None:
    """Return where base64 text begins and ends that makes up all but a few characters of ``text``."""
    run = _RUN.search(text, 0, _SEARCHED_CHARACTERS)
    if run is None or run.start() > 0.2 * len(text):
        return None
    rest = _REST.match(text, run.start())
    if not _looks_random(run[0][:400]) or rest is None or len(text) - rest.end() > _MOST_AROUND:
        return None
    return run.start(), rest.start("after")


def _looks_random(text: str) -> bool:
    """Say whether many different characters of all three classes stand in a text, as in base64."""
    classes = (str.isdigit, str.isupper, str.islower)
    return len(set(text)) >= _LEAST_DISTINCT and all(any(map(is_of, text)) for is_of in classes)


def _decoded(data: str) -> bytes:
    part = data[:_DECODED_CHARACTERS].translate(str.maketrans("-_", "+/"))
    return base64.b64decode(part[: len(part) // 4 * 4], validate=False)


def _comma(words: str) -> str:
    return f", {words}" if words else ""


def _type(data: bytes) -> str:
    """Return what the first bytes say that the data is, or ""."""
    if data[4:8] == b"ftyp":
        return "MP4 media"
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "RIFF data")
    name = next((name for magic, name in _MAGIC if data.startswith(magic)), "")
    size = _dimensions(data)
    return f"{name} of {size[0]}x{size[1]} pixels" if size else name


def _dimensions(data: bytes) -> tuple[int, int] | None:
    if data.startswith(b"\x89PNG") and len(data) >= 24:
        width, height = struct.unpack_from(">II", data, 16)
        return width, height
    if data.startswith(b"GIF8") and len(data) >= 10:
        width, height = struct.unpack_from("<HH", data, 6)
        return width, height
    return _jpeg_dimensions(data) if data.startswith(b"\xff\xd8") else None


def _jpeg_dimensions(data: bytes) -> tuple[int, int] | None:
    """Walk the segments of a JPEG file to the one that begins a frame."""
    position = 2
    while position + 9 <= len(data) and data[position] == 0xFF:
        marker, length = data[position + 1], int.from_bytes(data[position + 2 : position + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack_from(">HH", data, position + 5)
            return width, height
        position += 2 + length
    return None
