"""Contents that are text or a list of blocks with a ``type``: how they are taken apart and put together.

OpenAI, Anthropic, MCP and most frameworks write blocks in this way; they differ in the types alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from offloadkit.formats.access import Path, blocks, get
from offloadkit.results import Content, Media

__all__ = ["join_blocks", "media_of", "outside_parts", "split_blocks"]

TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})
CACHE_MARKS: Final = ("cache_control", "prompt_cache_breakpoint")
_KINDS: Final = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "document": "document",
    "file": "document",
    "input_file": "document",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
}

KNOWN_TYPES: Final = TEXT_TYPES | {"search_result"} | set(_KINDS)


def split_blocks(value: Any) -> Content:
    """Take a content apart: text, a list of blocks, or any JSON value, which then has no texts of its own.

    A list is one of blocks if it holds a block of a type known here; its other blocks then count as media.
    """
    if isinstance(value, str):
        return Content(value, (((), value),))
    if not any(_is_block(item) for _, item in blocks(value)):
        return Content(_plain(value))
    texts: list[tuple[Path, str]] = []
    media: list[Media] = []
    for index, block in blocks(value):
        found = list(_texts(block, (index,)))
        texts += found
        if not found and get(block, "type") is not None:
            media.append(media_of(block))
    return Content(_plain(value), tuple(texts), tuple(media))


def join_blocks(content: Content, text: str, *, keep_media: bool, text_type: str = "text") -> Any:
    """Return ``text`` as a content, before the media where those are kept; cache marks stay."""
    if not isinstance(content.value, list):
        return text
    in_texts = {path[0] for path, _ in content.texts}
    others = [block for index, block in enumerate(content.value) if index not in in_texts]
    kept = others if keep_media and content.media else []
    marks = _cache_marks([block for block in content.value if block not in kept])
    if not kept and not marks:
        return text
    return [{"type": text_type, "text": text, **marks}, *kept]


def outside_parts(content: Any) -> tuple[tuple[str, ...], tuple[Media, ...]]:
    """Return the texts and the media of a content that is no tool result."""
    if isinstance(content, str):
        return (content,), ()
    texts: list[str] = []
    media: list[Media] = []
    for _, block in blocks(content):
        found = [text for _, text in _texts(block, ())]
        texts += found
        if not found and get(block, "type") in _KINDS:
            media.append(media_of(block))
    return tuple(texts), tuple(media)


def media_of(block: Any) -> Media:
    """Return what a block that is no text holds: its kind, its data and its media type."""
    block_type = get(block, "type")
    kind = _KINDS.get(block_type, "other") if isinstance(block_type, str) else "other"
    for inner in _carriers(block):
        data = get(inner, "data") or get(inner, "file_data") or get(inner, "base64")
        if isinstance(data, str):
            return _media(kind, data, _media_type(inner))
        url = inner if isinstance(inner, str) else get(inner, "url")
        if isinstance(url, str) and url.startswith("data:"):
            return _media(kind, url, "")
    return Media(kind)


def _is_block(item: Any) -> bool:
    block_type = get(item, "type")
    return isinstance(item, str) or (isinstance(block_type, str) and block_type in KNOWN_TYPES)


def _texts(block: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a block that a reader would want to see."""
    if isinstance(block, str):
        yield path, block
        return
    block_type, text = get(block, "type"), get(block, "text")
    if block_type in TEXT_TYPES and isinstance(text, str):
        yield (*path, "text"), text
    elif block_type == "search_result":
        for index, inner in blocks(get(block, "content")):
            yield from _texts(inner, (*path, "content", index))
    elif block_type == "document":
        source = get(block, "source")
        data = get(source, "data")
        if get(source, "type") == "text" and isinstance(data, str):
            yield (*path, "source", "data"), data


def _carriers(block: Any) -> list[Any]:
    names = ("source", "image_url", "input_audio", "file", "video_url", "audio")
    return [*(inner for name in names if (inner := get(block, name)) is not None), block]


def _media(kind: str, data: str, media_type: str) -> Media:
    if data.startswith("data:"):
        head, _, data = data.partition(",")
        media_type = media_type or head.removeprefix("data:").partition(";")[0]
    return Media(kind, data, media_type)


def _media_type(carrier: Any) -> str:
    for name in ("media_type", "mime_type", "mimeType"):
        if isinstance(found := get(carrier, name), str):
            return found
    form = get(carrier, "format")
    return f"audio/{form}" if isinstance(form, str) else ""


def _cache_marks(dropped: list[Any]) -> dict[str, Any]:
    """Return the last cache mark of each kind among blocks that go."""
    marks: dict[str, Any] = {}
    for block in dropped:
        marks |= {name: mark for name in CACHE_MARKS if (mark := get(block, name)) is not None}
    return marks


def _plain(value: Any) -> Any:
    """Return the value with SDK models as the dictionaries they stand for."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, list | tuple):
        plain = [_plain(item) for item in value]
        same = isinstance(value, list) and all(new is old for new, old in zip(plain, value, strict=True))
        return value if same else plain
    return value
