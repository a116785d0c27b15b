"""What the blocks of a content are: texts and where they stand, media, or something else.

OpenAI, Anthropic and MCP write blocks alike: dictionaries with a ``type``. A type alone proves nothing, as
rows of data have types too (``{"type": "file", "name": "a.txt"}`` is a line of a listing); a block is read
only if it is built as its type says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from offloadkit.formats.access import EACH, Path, follow, get, list_of, texts_at, type_of, word
from offloadkit.results import Media

__all__ = ["UNKNOWN", "Part", "inline_media", "read_block"]

TextAt = tuple[Path, str]
DATA_FIELDS: Final = ("data", "file_data", "base64", "blob", "url", "image_url", "file_url")
MEDIA_TYPE_FIELDS: Final = ("media_type", "mime_type", "mimeType")


class Part(NamedTuple):
    """What one block is.

    Attributes:
        texts: Its texts in order, each with the path that leads to it inside the block.
        media: What it is when it is no text.
    """

    texts: tuple[TextAt, ...] = ()
    media: Media | None = None


UNKNOWN: Final = Part(media=Media("other"))
"""A block of a type that is not known here. It always stays where it is."""


def read_block(block: Any) -> Part | None:
    """Return what a block is; None when it is no block at all, such as a number."""
    if isinstance(block, str):
        return Part((((), block),))
    block_type = type_of(block)
    if block_type is None:
        return None
    read = _READERS.get(block_type)
    return (read(block) if read else None) or UNKNOWN


def inline_media(kind: str, carrier: Any) -> Media:
    """Return the media that a text or a dictionary carries: base64, a data URL, or a URL or id only."""
    if isinstance(carrier, str):
        return _media(kind, carrier, "")
    data = next((found for name in DATA_FIELDS if (found := word(carrier, name))), "")
    media_type = next((found for name in MEDIA_TYPE_FIELDS if (found := word(carrier, name))), "")
    return _media(kind, data, media_type)


def _media(kind: str, data: str, media_type: str) -> Media:
    if data.startswith("data:"):
        head, _, data = data.partition(",")
        return Media(kind, data, media_type or head.removeprefix("data:").partition(";")[0])
    return Media(kind, "" if "://" in data[:16] else data, media_type)


def _text_at(*paths: Path) -> Callable[[Any], Part | None]:
    """Return a reader of the texts at those paths."""

    def read(block: Any) -> Part | None:
        texts = texts_at(block, *paths)
        return Part(texts) if texts else None

    return read


def _media_in(kind: str, name: str) -> Callable[[Any], Part | None]:
    """Return a reader of media that stand under ``name``: a dictionary, or a URL as text."""

    def read(block: Any) -> Part | None:
        carrier = get(block, name)
        plain_url = isinstance(carrier, str) and name.endswith("_url")
        return Part(media=inline_media(kind, carrier)) if plain_url or _is_record(carrier) else None

    return read


def _media_itself(kind: str, *needed: str) -> Callable[[Any], Part | None]:
    """Return a reader of media that stand in the block itself, which has one of the fields ``needed``."""
    return lambda block: (
        Part(media=inline_media(kind, block)) if any(word(block, name) for name in needed) else None
    )


def _image(block: Any) -> Part | None:
    if type_of(get(block, "source")) is not None:
        return Part(media=inline_media("image", get(block, "source")))
    return _media_itself("image", *MEDIA_TYPE_FIELDS)(block)


def _audio(block: Any) -> Part | None:
    carrier = get(block, "input_audio")
    if not _is_record(carrier):
        return None
    media_type = f"audio/{word(carrier, 'format') or 'mpeg'}"
    return Part(media=replace(inline_media("audio", carrier), media_type=media_type))


def _document(block: Any) -> Part | None:
    source_type = type_of(get(block, "source"))
    if source_type is None:
        return None
    texts = texts_at(block, ("source", "data")) if source_type == "text" else _texts_of_nested(block)
    if not texts:
        return Part(media=inline_media("document", get(block, "source")))
    return Part(texts_at(block, ("title",), ("context",)) + texts)


def _texts_of_nested(block: Any) -> tuple[TextAt, ...]:
    """Return the texts of a content inside a document; none when it holds anything else, such as pictures."""
    inner = follow(block, ("source", "content"))
    texts = texts_at(block, ("source", "content"), ("source", "content", EACH, "text"))
    return texts if isinstance(inner, str) or len(texts) == len(list_of(inner)) else ()


def _resource(block: Any) -> Part | None:
    blob = word(get(block, "resource"), "blob")
    if blob is None:
        return _text_at(("resource", "text"))(block)
    return Part(media=inline_media("document", get(block, "resource")))


def _is_record(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "model_dump")


_READERS: Final[dict[str, Callable[[Any], Part | None]]] = {
    "text": _text_at(("text",)),
    "input_text": _text_at(("text",)),
    "output_text": _text_at(("text",)),
    "refusal": _text_at(("refusal",)),
    "compaction": _text_at(("content",)),
    "search_result": _text_at(("title",), ("source",), ("content", EACH, "text")),
    "document": _document,
    "resource": _resource,
    "image": _image,
    "image_url": _media_in("image", "image_url"),
    "input_image": _media_itself("image", "image_url", "file_id"),
    "file": _media_in("document", "file"),
    "input_file": _media_itself("document", "file_data", "file_url", "file_id"),
    "input_audio": _audio,
    "audio": _media_itself("audio", *MEDIA_TYPE_FIELDS),
    "video": _media_itself("video", *MEDIA_TYPE_FIELDS),
    "video_url": _media_in("video", "video_url"),
}
