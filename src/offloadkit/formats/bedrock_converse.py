"""Messages of the Bedrock Converse API, and of Strands: ``bedrock-converse``.

Every block is a dictionary with one key that says what it is. Calls are ``toolUse`` blocks of an assistant
message, results ``toolResult`` blocks of the user message after it, with a list of blocks as content. Cache
points are blocks of their own and never move. Reasoning never changes and does not count, nor do tools that
the server runs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offloadkit.formats.access import (
    EACH,
    Path,
    answer_of,
    follow,
    get,
    indexed,
    list_of,
    texts_at,
    with_value,
    word,
)
from offloadkit.formats.blocks import UNKNOWN, Part
from offloadkit.results import CallView, Content, Media, MessageView, Place, ResultView

__all__ = ["BedrockConverse"]

MEDIA_KINDS: Final = ("image", "document", "video", "audio")
MEDIA_SOURCES: Final = ("bytes", "s3Location")
TEXT_FORMATS: Final = {"txt": "plain", "md": "markdown", "csv": "csv", "html": "html"}
TEXT_PATHS: Final[tuple[Path, ...]] = (
    ("text",),
    ("searchResult", "title"),
    ("searchResult", "source"),
    ("searchResult", "content", EACH, "text"),
    ("document", "context"),
    ("document", "source", "text"),
    ("document", "source", "content", EACH, "text"),
    ("citationsContent", "content", EACH, "text"),
    ("guardContent", "text", "text"),
)
OWN_BLOCKS: Final = frozenset(
    {
        *("text", "toolUse", "toolResult", "searchResult", "cachePoint", "reasoningContent"),
        *("guardContent", "citationsContent", *MEDIA_KINDS),
    }
)
JSON_PART: Final = Part()
"""Neither text nor media: it leaves with the texts."""


class BedrockConverse:
    """Messages of the Converse API."""

    name = "bedrock-converse"

    def recognises(self, messages: Sequence[Any]) -> bool | None:
        """Say whether these messages are of this format."""
        return answer_of(_recognises(message) for message in list_of(messages))

    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        """Return the facts of each message. Every assistant message starts a turn."""
        return [_view(message, index) for index, message in indexed(messages)]

    def replace(
        self,
        messages: Sequence[Any],
        results: Mapping[Place, Any],
        arguments: Mapping[Place, Any] | None = None,
    ) -> list[Any]:
        """Return the messages with these contents, and these arguments as objects, put into copies."""
        changed = list(messages)
        for way, values in ((("toolResult", "content"), results), (("toolUse", "input"), arguments or {})):
            for place, value in values.items():
                path: Path = ("content", place.block, *way)
                changed[place.message] = with_value(changed[place.message], path, value)
        return changed

    def split(self, value: Any) -> Content:
        """Take apart what a tool returned: text, a list of blocks, or any other value, which has no texts."""
        content = _result_content(value)
        known = bool(content.texts) or any(media.kind != "other" for media in content.media)
        return content if known else Content(value)

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return a list of blocks that shows ``text``; text that stood alone stays text.

        Blocks of unknown kinds stay in any case, media where asked, both behind the text.
        """
        if isinstance(content.value, str):
            return text
        blocks = zip(content.value, _parts(content.value), strict=True) if content.media else ()
        stays = [block for block, part in blocks if part is UNKNOWN or (part.media and keep_media)]
        return [{"text": text}, *stays]


def _recognises(message: Any) -> bool | None:
    blocks = get(message, "content")
    if word(message, "role") is None or not isinstance(blocks, list | tuple):
        return False
    return answer_of(_recognises_block(block) for block in blocks)


def _recognises_block(block: Any) -> bool | None:
    if not isinstance(block, Mapping) or "type" in block:
        return False
    return True if len(block) == 1 and set(block) <= OWN_BLOCKS else None


def _view(message: Any, index: int) -> MessageView:
    blocks, role = get(message, "content"), word(message, "role")
    parts = [_read(block) for _, block in indexed(blocks)]
    return MessageView(
        starts_turn=role == "assistant",
        texts=tuple(text for part in parts for _, text in part.texts),
        media=tuple(part.media for part in parts if part.media and part is not UNKNOWN),
        calls=tuple(_calls(blocks, index)) if role == "assistant" else (),
        results=tuple(_results(blocks, index)) if role == "user" else (),
    )


def _calls(blocks: Any, index: int) -> Iterator[CallView]:
    for position, block in indexed(blocks):
        use = get(block, "toolUse")
        if use is not None and get(use, "type") != "server_tool_use":
            place = Place(index, position)
            yield CallView(place, word(use, "toolUseId"), word(use, "name"), get(use, "input"))


def _results(blocks: Any, index: int) -> Iterator[ResultView]:
    for position, block in indexed(blocks):
        result = get(block, "toolResult")
        if result is not None:
            yield ResultView(
                place=Place(index, position),
                call_id=word(result, "toolUseId"),
                tool=None,
                content=_result_content(get(result, "content")),
                is_error=get(result, "status") == "error",
            )


def _result_content(value: Any) -> Content:
    """Take apart the content of a result. One that holds JSON is shown as JSON, its texts with it."""
    if isinstance(value, str):
        return Content(value, (((), value),))
    parts = _parts(value)
    media = tuple(part.media for part in parts if part.media)
    if any(part is JSON_PART for part in parts):
        return Content(value, (), media)
    texts = (((index, *path), text) for index, part in enumerate(parts) for path, text in part.texts)
    return Content(value, tuple(texts), media)


def _parts(value: Any) -> list[Part]:
    """Return what the blocks of a list are; nothing when it is no list of blocks."""
    are_blocks = isinstance(value, list) and all(
        isinstance(block, dict) and len(block) == 1 for block in value
    )
    return [_read(block) for block in value] if are_blocks else []


def _read(block: Any) -> Part:
    if get(block, "json") is not None:
        return JSON_PART
    for kind in MEDIA_KINDS:
        source = get(get(block, kind), "source")
        if any(get(source, name) is not None for name in MEDIA_SOURCES):
            return Part(media=_media(kind, get(block, kind)))
    texts = texts_at(block, *TEXT_PATHS)
    return Part(texts) if texts else UNKNOWN


def _media(kind: str, held: Any) -> Media:
    data, form = follow(held, ("source", "bytes")), word(held, "format")
    if kind == "document":
        media_type = f"text/{TEXT_FORMATS[form]}" if form in TEXT_FORMATS else f"application/{form}"
    else:
        media_type = f"{kind}/{form}"
    encoded = b64encode(data).decode("ascii") if isinstance(data, bytes) else data
    return Media(kind, encoded if isinstance(encoded, str) else "", media_type if form else "")
