"""What the blocks of a content are: texts and where they stand, media, or something else.

OpenAI, Anthropic and MCP write blocks alike: dictionaries with a ``type``. A type alone proves nothing, as
rows of data have types too (``{"type": "file", "name": "a.txt"}`` is a line of a listing); a block is read
only if it is built as its type says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from offloadkit.formats.access import Path, get, indexed, type_of, word
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


def _text_at(*path: str) -> Callable[[Any], Part | None]:
    return lambda block: _part(_texts(block, path))


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


def _search_result(block: Any) -> Part | None:
    inner = _inner_texts(block, ("content",))
    return None if inner is None else _part(_texts(block, ("title",), ("source",)) + inner)


def _document(block: Any) -> Part | None:
    source_type = type_of(get(block, "source"))
    around = _texts(block, ("title",), ("context",))
    if source_type == "text":
        return _part(around + _texts(block, ("source", "data")))
    inner = _inner_texts(block, ("source", "content")) if source_type == "content" else None
    if inner is not None:
        return _part(around + inner)
    return Part(media=inline_media("document", get(block, "source"))) if source_type else None


def _resource(block: Any) -> Part | None:
    texts = _texts(block, ("resource", "text"))
    if texts:
        return Part(texts)
    blob = word(get(block, "resource"), "blob")
    return Part(media=inline_media("document", get(block, "resource"))) if blob else None


def _texts(block: Any, *paths: Path) -> tuple[TextAt, ...]:
    """Return the texts at those paths where there is one."""
    found = ((path, _follow(block, path)) for path in paths)
    return tuple((path, text) for path, text in found if isinstance(text, str))


def _inner_texts(block: Any, path: Path) -> tuple[TextAt, ...] | None:
    """Return the texts of a content inside a block; None when it holds anything else."""
    content = _follow(block, path)
    if isinstance(content, str):
        return ((path, content),)
    texts: list[TextAt] = []
    for index, inner in indexed(content):
        part = read_block(inner)
        if part is None or not part.texts:
            return None
        texts += [((*path, index, *inner_path), text) for inner_path, text in part.texts]
    return tuple(texts)


def _follow(block: Any, path: Path) -> Any:
    for step in path:
        block = get(block, str(step))
    return block


def _part(texts: tuple[TextAt, ...]) -> Part | None:
    return Part(texts) if texts else None


def _is_record(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "model_dump")


_READERS: Final[dict[str, Callable[[Any], Part | None]]] = {
    "text": _text_at("text"),
    "input_text": _text_at("text"),
    "output_text": _text_at("text"),
    "refusal": _text_at("refusal"),
    "compaction": _text_at("content"),
    "search_result": _search_result,
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
