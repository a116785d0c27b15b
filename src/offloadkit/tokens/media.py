"""How many tokens the parts of a message take that are no text.

Providers publish rules, which differ by model and change. These are the ones of the providers that charge
most, so that a history full of media is never taken for a small one:

* **Images**: width x height / 750, after the long edge is brought down to 1,568 pixels, at most 1,600
  (Anthropic, "Vision"). An image whose size cannot be read counts 1,600. OpenAI's older rule, 85 tokens and
  170 for each tile of 512 pixels, gives 765 for 1,024 x 1,024 where this gives 1,399.
* **Documents**: 2,400 a page (Anthropic, "PDF support": about 7,000 tokens for three pages). Pages are
  counted in the file where it shows them, else it has one for each 50 KB (ours: no provider has such a rule).
  Text files count as text.
* **Audio**: 32 a second, **video** 300 (Google, "Understand and count tokens"). The duration is that of the
  WAV header, else of the size at 16 KB a second for audio (128 kbit/s) and 125 KB for video.
* **Anything else**, and whatever is named by a URL or an id only: 1,600; a document 2,400.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from typing import Final

from offloadkit.results import Media
from offloadkit.tokens.counter import TokenCounter, units_for
from offloadkit.tokens.image_size import image_size

__all__ = ["image_tokens", "media_tokens", "media_units"]

_UNKNOWN_TOKENS: Final = 1_600

_IMAGE_MAX_TOKENS: Final = 1_600
_IMAGE_MAX_EDGE: Final = 1_568
_IMAGE_PIXELS_PER_TOKEN: Final = 750
_IMAGE_HEAD_CHARACTERS: Final = 65_536

_PAGE_TOKENS: Final = 2_400
_PAGE_BYTES: Final = 50_000
_PDF_READ_CHARACTERS: Final = 1_000_000
_PDF_PAGE: Final = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_TEXT_BYTES_PER_TOKEN: Final = 3.5

_AUDIO_TOKENS: Final = 32
_AUDIO_BYTES: Final = 16_000
_VIDEO_TOKENS: Final = 300
_VIDEO_BYTES: Final = 125_000


def media_units(media: Media, counter: TokenCounter) -> int:
    """Return the size of ``media`` in the units of ``counter``; never 0."""
    return units_for(media_tokens(media), counter)


def media_tokens(media: Media) -> int:
    """Return the tokens of ``media`` by the rules of this module; at least 1."""
    if media.kind == "image":
        return _image(media)
    if media.kind == "document":
        return _document(media)
    if media.kind == "audio" and media.data:
        return _seconds(media, _AUDIO_BYTES) * _AUDIO_TOKENS
    if media.kind == "video" and media.data:
        return _seconds(media, _VIDEO_BYTES) * _VIDEO_TOKENS
    return _UNKNOWN_TOKENS


def image_tokens(width: int, height: int) -> int:
    """Return the tokens of an image of so many pixels."""
    longest = max(width, height)
    pixels = width * height
    if longest > _IMAGE_MAX_EDGE:
        pixels = pixels * _IMAGE_MAX_EDGE**2 // longest**2
    return min(_IMAGE_MAX_TOKENS, max(1, -(-pixels // _IMAGE_PIXELS_PER_TOKEN)))


def _image(media: Media) -> int:
    size = image_size(_decoded(media.data, _IMAGE_HEAD_CHARACTERS))
    return image_tokens(*size) if size else _UNKNOWN_TOKENS


def _document(media: Media) -> int:
    size = _decoded_size(media.data)
    if media.media_type.startswith("text/") and size:
        return max(1, int(size / _TEXT_BYTES_PER_TOKEN))
    pages = len(_PDF_PAGE.findall(_decoded(media.data, len(media.data)))) if _shows_pages(media) else 0
    return max(1, pages or -(-size // _PAGE_BYTES)) * _PAGE_TOKENS


def _shows_pages(media: Media) -> bool:
    return len(media.data) <= _PDF_READ_CHARACTERS and _payload(media.data, 8).startswith("JVBERi0")


def _seconds(media: Media, bytes_a_second: int) -> int:
    head = _decoded(media.data, 64)
    if head.startswith(b"RIFF") and head[8:16] == b"WAVEfmt ":
        bytes_a_second = int.from_bytes(head[28:32], "little") or bytes_a_second
    return max(1, -(-_decoded_size(media.data) // bytes_a_second))


def _payload(data: str, characters: int) -> str:
    """Return the first base64 characters, those of a data URL without what stands before them."""
    start = data.find(",", 0, 256) + 1 if data.startswith("data:") else 0
    return data[start : start + characters]


def _decoded(data: str, characters: int) -> bytes:
    """Decode the first ``characters`` of base64 text; what is no base64 gives b""."""
    text = "".join(_payload(data, characters).split())
    try:
        return a2b_base64(text[: len(text) // 4 * 4])
    except (Error, ValueError):
        return b""


def _decoded_size(data: str) -> int:
    return len(data) * 3 // 4 - data[-2:].count("=")
