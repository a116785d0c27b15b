"""Contents that are text or a list of typed blocks: how they are taken apart and put together again.

Shared by the formats that write contents in this way; see `offloadkit.formats.blocks` for the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from offloadkit.formats.access import get, indexed, type_of
from offloadkit.formats.blocks import UNKNOWN, Part, read_block
from offloadkit.results import Content, Media

__all__ = ["join_blocks", "outside_parts", "result_content", "split_blocks"]

TEXT_TYPES: Final = frozenset({"text", "input_text"})
CACHE_MARKS: Final = ("cache_control", "prompt_cache_breakpoint")


def split_blocks(value: Any) -> Content:
    """Take apart what a program returned: text, a list of blocks, or any other value, which has no texts.

    A list counts as one of blocks when all its items are, and at least one is of a known type; everything
    else is data, to be shown as JSON.
    """
    content = result_content(value)
    known = bool(content.texts) or any(media.kind != "other" for media in content.media)
    return content if known else Content(content.value)


def result_content(value: Any) -> Content:
    """Take apart what a message holds as a result; there a list is one of blocks, of known types or not."""
    value = _plain(value)
    if isinstance(value, str):
        return Content(value, (((), value),))
    parts = list(enumerate(_parts(value)))
    texts = tuple(((index, *path), text) for index, part in parts for path, text in part.texts)
    return Content(value, texts, tuple(part.media for _, part in parts if part.media))


def join_blocks(content: Content, text: str, *, keep_media: bool, text_type: str = "text") -> Any:
    """Return a content that shows ``text`` in place of all texts: plain text where nothing else stays.

    Blocks of unknown types stay in any case, media where asked, both behind the text. Of the cache marks on
    blocks that go, the last one stays on the text; one on a text goes before one on media, so that the same
    mark stays whether the media leave now or later. The text is of the type that texts had there, else of
    ``text_type``.
    """
    if not isinstance(content.value, list) or not (content.texts or content.media):
        return text
    blocks = list(zip(content.value, _parts(content.value), strict=True))
    texts = [block for block, part in blocks if part.texts]
    media = [block for block, part in blocks if part.media and part is not UNKNOWN and not keep_media]
    stays = [block for block, part in blocks if part is UNKNOWN or (part.media and keep_media)]
    marks = _cache_marks([*media, *texts])
    if not stays and not marks:
        return text
    types = [type_of(block) for block in texts]
    written = next((found for found in types if found in TEXT_TYPES), text_type)
    return [{"type": written, "text": text, **marks}, *stays]


def outside_parts(content: Any) -> tuple[tuple[str, ...], tuple[Media, ...]]:
    """Return the texts and the media of a content that is no tool result.

    Blocks of other types count nothing, among them thinking, signatures and what a server's own tools found.
    """
    if isinstance(content, str):
        return (content,), ()
    parts = [part for _, block in indexed(content) if (part := read_block(block))]
    texts = tuple(text for part in parts for _, text in part.texts)
    return texts, tuple(part.media for part in parts if part.media and part is not UNKNOWN)


def _parts(value: Any) -> list[Part]:
    """Return what the blocks of a list are; nothing when it is no list of blocks."""
    if not isinstance(value, list):
        return []
    parts = [read_block(block) if isinstance(block, dict | str) else None for block in value]
    read = [part for part in parts if part is not None]
    return read if len(read) == len(parts) else []


def _cache_marks(blocks: Sequence[Any]) -> dict[str, Any]:
    """Return of each kind of cache mark the last one on these blocks."""
    found = ((name, get(block, name)) for block in blocks if isinstance(block, dict) for name in CACHE_MARKS)
    return {name: mark for name, mark in found if isinstance(mark, dict)}


def _plain(value: Any) -> Any:
    """Return the value with SDK models as the dictionaries that they are on the wire, where they are."""
    if isinstance(value, list) and any(hasattr(item, "model_dump") for item in value):
        return [_plain(item) for item in value]
    if not hasattr(value, "model_dump"):
        return value
    try:
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    except (TypeError, ValueError):
        return value
