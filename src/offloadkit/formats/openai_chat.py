"""OpenAI chat completions, and the many APIs that are compatible with them: ``openai-chat``.

Calls stand in an assistant message under ``tool_calls``; each result is a message of the role ``tool``. The
functions of 2023 (``function_call``, role ``function``) are read as well. Refusals count as text; reasoning
that some servers add does not, as in the reference design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offloadkit.formats.access import (
    Path,
    answer_of,
    follow,
    get,
    indexed,
    list_of,
    type_of,
    with_value,
    word,
)
from offloadkit.formats.content_blocks import join_blocks, outside_parts, result_content, split_blocks
from offloadkit.results import CallView, Content, MessageView, Place, ResultView

__all__ = ["OpenAIChat"]

RESULT_ROLES: Final = frozenset({"tool", "function"})
ITEM_TYPE: Final = "message"
OWN_BLOCKS: Final = frozenset({"image_url", "input_audio", "file", "refusal", "video_url"})
FOREIGN_BLOCKS: Final = frozenset({"tool_use", "tool_result", "input_text", "input_image", "output_text"})


class OpenAIChat:
    """Messages of chat completions."""

    name = "openai-chat"

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
        """Return the messages with these contents, and these arguments as JSON text, put into copies."""
        changed = list(messages)
        for place, content in results.items():
            changed[place.message] = with_value(changed[place.message], ("content",), content)
        for place, text in (arguments or {}).items():
            path = _arguments_path(changed[place.message], place.block)
            changed[place.message] = with_value(changed[place.message], path, text)
        return changed

    def split(self, value: Any) -> Content:
        """Take apart what a tool returned; see `offloadkit.formats.content_blocks.split_blocks`."""
        return split_blocks(value)

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return a content that shows ``text``; see `offloadkit.formats.content_blocks.join_blocks`."""
        return join_blocks(content, text, keep_media=keep_media)


def _recognises(message: Any) -> bool | None:
    role = word(message, "role")
    if role is None or get(message, "parts") is not None or type_of(message) == ITEM_TYPE:
        return False
    if role in RESULT_ROLES:
        return True
    types = {type_of(block) for block in list_of(get(message, "content")) if not isinstance(block, str)}
    if None in types or types & FOREIGN_BLOCKS:
        return False
    calls = get(message, "tool_calls") or get(message, "function_call")
    return True if calls or types & OWN_BLOCKS else None


def _view(message: Any, index: int) -> MessageView:
    role = word(message, "role")
    if role in RESULT_ROLES:
        return MessageView(starts_turn=False, results=(_result(message, index),))
    texts, media = outside_parts(get(message, "content"))
    refusal = word(message, "refusal")
    return MessageView(
        starts_turn=role == "assistant",
        texts=texts if refusal is None else (*texts, refusal),
        media=media,
        calls=tuple(_calls(message, index)),
    )


def _result(message: Any, index: int) -> ResultView:
    return ResultView(
        place=Place(index),
        call_id=word(message, "tool_call_id"),
        tool=word(message, "name") or None,
        content=result_content(get(message, "content")),
        is_error=get(message, "is_error") is True or get(message, "status") == "error",
    )


def _calls(message: Any, index: int) -> Iterator[CallView]:
    for block, call in indexed(get(message, "tool_calls")):
        function = follow(message, _arguments_path(message, block)[:-1])
        arguments = follow(message, _arguments_path(message, block))
        yield CallView(Place(index, block), word(call, "id"), word(function, "name"), arguments)
    function = get(message, "function_call")
    if function is not None and not list_of(get(message, "tool_calls")):
        yield CallView(Place(index), None, word(function, "name"), get(function, "arguments"))


def _arguments_path(message: Any, block: int) -> Path:
    calls = list_of(get(message, "tool_calls"))
    if not calls:
        return ("function_call", "arguments")
    if get(calls[block], "custom") is not None:
        return ("tool_calls", block, "custom", "input")
    return ("tool_calls", block, "function", "arguments")
