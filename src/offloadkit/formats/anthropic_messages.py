"""Anthropic messages: ``anthropic-messages``.

Calls are ``tool_use`` blocks of an assistant message, results ``tool_result`` blocks of the user message
after it. Results of the server's own tools stand in assistant messages and are left alone, and so are
thinking blocks, which do not count either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offloadkit.formats.access import blocks, get, with_value
from offloadkit.formats.content_blocks import join_blocks, outside_parts, split_blocks
from offloadkit.results import CallView, Content, MessageView, Place, ResultView

__all__ = ["AnthropicMessages"]

OWN_BLOCKS: Final = frozenset(
    {
        *("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "search_result"),
        *("server_tool_use", "web_search_tool_result", "container_upload"),
    }
)
FOREIGN_BLOCKS: Final = frozenset({"image_url", "input_audio", "file", "refusal", "video_url"})


class AnthropicMessages:
    """Messages of the Messages API."""

    name = "anthropic-messages"

    def recognises(self, messages: Sequence[Any]) -> bool | None:
        """Say whether these messages are of this format; None when nothing speaks for or against it."""
        answer: bool | None = None
        for message in messages:
            if get(message, "role") not in {"user", "assistant"} or get(message, "parts") is not None:
                return False
            if get(message, "tool_calls") or get(message, "function_call"):
                return False
            for _, block in blocks(get(message, "content")):
                block_type = get(block, "type")
                if not isinstance(block_type, str) or block_type in FOREIGN_BLOCKS:
                    return False
                if block_type in OWN_BLOCKS or get(block, "source") is not None:
                    answer = True
        return answer

    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        """Return the facts of each message."""
        return [_view(message, index) for index, message in enumerate(messages)]

    def replace(
        self,
        messages: Sequence[Any],
        results: Mapping[Place, Any],
        arguments: Mapping[Place, Any] | None = None,
    ) -> list[Any]:
        """Return the messages with these contents and arguments put into copies."""
        changed = list(messages)
        for field, values in (("content", results), ("input", arguments or {})):
            for place, value in values.items():
                path = ("content", place.block, field)
                changed[place.message] = with_value(changed[place.message], path, value)
        return changed

    def split(self, value: Any) -> Content:
        """Take the content of a tool result apart."""
        return split_blocks(value)

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return a legal content that shows ``text``."""
        return join_blocks(content, text, keep_media=keep_media)


def _view(message: Any, index: int) -> MessageView:
    content, is_assistant = get(message, "content"), get(message, "role") == "assistant"
    texts, media = outside_parts(content)
    return MessageView(
        starts_turn=is_assistant,
        texts=texts,
        media=media,
        calls=tuple(_calls(content, index)) if is_assistant else (),
        results=() if is_assistant else tuple(_results(content, index)),
    )


def _calls(content: Any, index: int) -> Iterator[CallView]:
    for position, block in blocks(content):
        if get(block, "type") == "tool_use":
            yield CallView(Place(index, position), get(block, "id"), get(block, "name"), get(block, "input"))


def _results(content: Any, index: int) -> Iterator[ResultView]:
    for position, block in blocks(content):
        if get(block, "type") == "tool_result":
            yield ResultView(
                place=Place(index, position),
                call_id=get(block, "tool_use_id"),
                tool=None,
                content=split_blocks(get(block, "content")),
                is_error=get(block, "is_error") is True,
            )
