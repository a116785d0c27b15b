"""OpenAI chat completions, and the many APIs that are compatible with them: ``openai-chat``.

Calls stand in an assistant message under ``tool_calls``, each result is a message of the role ``tool``. The
functions of 2023 (``function_call``, role ``function``) are read as well. Refusals count as text; reasoning
that some servers add does not, as in the reference design.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offloadkit.formats.access import blocks, get, with_value
from offloadkit.formats.content_blocks import join_blocks, outside_parts, split_blocks
from offloadkit.results import CallView, Content, MessageView, Place, ResultView

__all__ = ["OpenAIChat"]

RESULT_ROLES: Final = frozenset({"tool", "function"})
OWN_ROLES: Final = frozenset({"tool", "function", "system", "developer"})
OWN_BLOCKS: Final = frozenset({"image_url", "input_audio", "file", "refusal", "video_url"})
FOREIGN_BLOCKS: Final = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"}
)
LEGACY_CALL: Final = -1


class OpenAIChat:
    """Messages of chat completions."""

    name = "openai-chat"

    def recognises(self, messages: Sequence[Any]) -> bool | None:
        """Say whether these messages are of this format; None when nothing speaks for or against it."""
        answer: bool | None = None
        for message in messages:
            if not isinstance(get(message, "role"), str) or get(message, "parts") is not None:
                return False
            types = {get(block, "type") for _, block in blocks(get(message, "content"))}
            if types & FOREIGN_BLOCKS or any(not isinstance(kind, str) for kind in types - {None}):
                return False
            if None in types and not _is_text_list(get(message, "content")):
                return False
            if get(message, "role") in OWN_ROLES or types & OWN_BLOCKS or any(_calls(message, 0)):
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
        for place, value in results.items():
            changed[place.message] = with_value(changed[place.message], ("content",), value)
        for place, value in (arguments or {}).items():
            message = changed[place.message]
            changed[place.message] = with_value(message, _arguments_path(message, place.block), value)
        return changed

    def split(self, value: Any) -> Content:
        """Take the content of a tool result apart."""
        return split_blocks(value)

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return a legal content that shows ``text``."""
        return join_blocks(content, text, keep_media=keep_media)


def _view(message: Any, index: int) -> MessageView:
    role = get(message, "role")
    if role in RESULT_ROLES:
        return MessageView(starts_turn=False, results=(_result(message, index),))
    texts, media = outside_parts(get(message, "content"))
    refusal = get(message, "refusal")
    if isinstance(refusal, str):
        texts = (*texts, refusal)
    return MessageView(role == "assistant", texts, media, tuple(_calls(message, index)))


def _result(message: Any, index: int) -> ResultView:
    call_id, name = get(message, "tool_call_id"), get(message, "name")
    return ResultView(
        place=Place(index),
        call_id=call_id if isinstance(call_id, str) else None,
        tool=name if isinstance(name, str) and name else None,
        content=split_blocks(get(message, "content")),
        is_error=get(message, "status") == "error" or get(message, "is_error") is True,
    )


def _calls(message: Any, index: int) -> Iterator[CallView]:
    for block, call in blocks(get(message, "tool_calls")):
        call_id = get(call, "id")
        yield CallView(
            place=Place(index, block),
            call_id=call_id if isinstance(call_id, str) else None,
            tool=get(_called(call), "name"),
            arguments=get(_called(call), "input" if _is_custom(call) else "arguments"),
        )
    legacy = get(message, "function_call")
    if legacy is not None:
        yield CallView(Place(index, LEGACY_CALL), None, get(legacy, "name"), get(legacy, "arguments"))


def _called(call: Any) -> Any:
    return get(call, "custom") if _is_custom(call) else get(call, "function")


def _is_custom(call: Any) -> bool:
    return get(call, "custom") is not None


def _is_text_list(content: Any) -> bool:
    return all(isinstance(block, str) for _, block in blocks(content) if get(block, "type") is None)


def _arguments_path(message: Any, block: int) -> tuple[str | int, ...]:
    if block == LEGACY_CALL:
        return ("function_call", "arguments")
    if _is_custom(get(message, "tool_calls")[block]):
        return ("tool_calls", block, "custom", "input")
    return ("tool_calls", block, "function", "arguments")
