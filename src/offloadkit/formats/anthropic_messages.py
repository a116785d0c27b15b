"""Anthropic messages: ``anthropic-messages``.

Calls are ``tool_use`` blocks of an assistant message, results ``tool_result`` blocks of the user message
after it. Results of the server's own tools stand in assistant messages and are left alone. Thinking and
signatures never change and do not count, as in the reference design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offloadkit.formats.access import answer_of, get, indexed, list_of, type_of, with_value, word
from offloadkit.formats.content_blocks import join_blocks, outside_parts, result_content, split_blocks
from offloadkit.results import CallView, Content, MessageView, Place, ResultView

__all__ = ["AnthropicMessages"]

OWN_BLOCKS: Final = frozenset(
    {
        *("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "search_result"),
        *("server_tool_use", "mcp_tool_use", "container_upload", "compaction"),
    }
)
OWN_ENDING: Final = "_tool_result"
FOREIGN_ROLES: Final = frozenset({"tool", "function"})
FOREIGN_BLOCKS: Final = frozenset(
    {
        *("image_url", "input_audio", "file", "refusal", "video_url"),
        *("input_text", "input_image", "input_file", "output_text"),
    }
)


class AnthropicMessages:
    """Messages of the Messages API."""

    name = "anthropic-messages"

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
        for field, values in (("content", results), ("input", arguments or {})):
            for place, value in values.items():
                path = ("content", place.block, field)
                changed[place.message] = with_value(changed[place.message], path, value)
        return changed

    def split(self, value: Any) -> Content:
        """Take apart what a tool returned; see `offloadkit.formats.content_blocks.split_blocks`."""
        return split_blocks(value)

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return a content that shows ``text``; see `offloadkit.formats.content_blocks.join_blocks`."""
        return join_blocks(content, text, keep_media=keep_media)


def _recognises(message: Any) -> bool | None:
    role = word(message, "role")
    if role is None or role in FOREIGN_ROLES or get(message, "parts") is not None:
        return False
    if get(message, "tool_calls") or get(message, "function_call"):
        return False
    return answer_of(_recognises_block(block) for block in list_of(get(message, "content")))


def _recognises_block(block: Any) -> bool | None:
    block_type = type_of(block)
    if block_type is None:
        return None if isinstance(block, str) else False
    if block_type in FOREIGN_BLOCKS:
        return False
    is_image = block_type == "image" and type_of(get(block, "source")) is not None
    return True if is_image or block_type in OWN_BLOCKS or block_type.endswith(OWN_ENDING) else None


def _view(message: Any, index: int) -> MessageView:
    content, role = get(message, "content"), word(message, "role")
    texts, media = outside_parts(content)
    return MessageView(
        starts_turn=role == "assistant",
        texts=texts,
        media=media,
        calls=tuple(_calls(content, index)) if role == "assistant" else (),
        results=tuple(_results(content, index)) if role == "user" else (),
    )


def _calls(content: Any, index: int) -> Iterator[CallView]:
    for position, block in indexed(content):
        if type_of(block) == "tool_use":
            place = Place(index, position)
            yield CallView(place, word(block, "id"), word(block, "name"), get(block, "input"))


def _results(content: Any, index: int) -> Iterator[ResultView]:
    for position, block in indexed(content):
        if type_of(block) == "tool_result":
            yield ResultView(
                place=Place(index, position),
                call_id=word(block, "tool_use_id"),
                tool=None,
                content=result_content(get(block, "content")),
                is_error=get(block, "is_error") is True,
            )
