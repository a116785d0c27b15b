"""Input items of OpenAI's Responses API and of the Agents SDK: ``openai-responses``.

Calls and results are items of their own (``function_call``, ``custom_tool_call`` and their ``_output``). What
one answer of the model consists of is a run of items: reasoning, messages, calls, hosted tools. The first of
a run starts a turn. Results of hosted tools, of shells, patches and computers are left alone; they and
reasoning count nothing. A request with ``previous_response_id`` or ``conversation`` holds new items only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from offloadkit.formats.access import answer_of, get, indexed, list_of, type_of, with_value, word
from offloadkit.formats.content_blocks import join_blocks, outside_parts, result_content, split_blocks
from offloadkit.results import CallView, Content, MessageView, Place, ResultView

__all__ = ["OpenAIResponses"]

ARGUMENT_FIELDS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
RESULT_TYPES: Final = frozenset({"function_call_output", "custom_tool_call_output"})
OUTPUT_ENDING: Final = "_call_output"
CALL_ENDING: Final = "_call"
MODEL_TYPES: Final = frozenset(
    {"reasoning", "compaction", "program", "mcp_list_tools", "mcp_approval_request"},
)
OTHER_TYPES: Final = frozenset(
    {
        *("item_reference", "mcp_approval_response", "compaction_trigger", "additional_tools"),
        *("tool_search_output", "program_output"),
    }
)
FOREIGN_TYPES: Final = frozenset({"human", "ai", "system", "tool", "function", "chat", "AIMessageChunk"})
FOREIGN_ROLES: Final = frozenset({"tool", "function"})
FOREIGN_BLOCKS: Final = frozenset(
    {*("text", "tool_use", "tool_result", "thinking", "image", "document"), *("image_url", "file")}
)


class OpenAIResponses:
    """Input items of the Responses API."""

    name = "openai-responses"

    def recognises(self, messages: Sequence[Any]) -> bool | None:
        """Say whether these items are of this format."""
        return answer_of(_recognises(item) for item in list_of(messages))

    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        """Return the facts of each item. The first item of each answer of the model starts a turn."""
        views: list[MessageView] = []
        in_answer = False
        for index, item in indexed(messages):
            by_model = _is_by_model(item)
            views.append(_view(item, index, starts_turn=by_model is True and not in_answer))
            in_answer = in_answer if by_model is None else by_model
        return views

    def replace(
        self,
        messages: Sequence[Any],
        results: Mapping[Place, Any],
        arguments: Mapping[Place, Any] | None = None,
    ) -> list[Any]:
        """Return the items with these outputs, and these arguments as JSON text, put into copies."""
        changed = list(messages)
        for place, output in results.items():
            changed[place.message] = with_value(changed[place.message], ("output",), output)
        for place, text in (arguments or {}).items():
            path = (ARGUMENT_FIELDS[type_of(changed[place.message]) or ""],)
            changed[place.message] = with_value(changed[place.message], path, text)
        return changed

    def split(self, value: Any) -> Content:
        """Take apart what a tool returned; see `offloadkit.formats.content_blocks.split_blocks`."""
        return split_blocks(value)

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return an output that shows ``text``; see `offloadkit.formats.content_blocks.join_blocks`."""
        return join_blocks(content, text, keep_media=keep_media, text_type="input_text")


def _recognises(item: Any) -> bool | None:
    item_type, role = type_of(item), word(item, "role")
    if role is None:
        return _recognises_type(item_type, has_id=word(item, "id") is not None)
    if role in FOREIGN_ROLES or get(item, "parts") is not None:
        return False
    if get(item, "tool_calls") or get(item, "function_call"):
        return False
    blocks = answer_of(_recognises_block(block) for block in list_of(get(item, "content")))
    is_item = item_type == "message" and isinstance(get(item, "content"), str)
    return True if blocks is None and is_item else blocks


def _recognises_type(item_type: str | None, *, has_id: bool) -> bool | None:
    """Judge an item without a role. New types of items appear every few months, and speak for nothing."""
    if item_type is None:
        return None if has_id else False
    if item_type in FOREIGN_TYPES:
        return False
    known = item_type in MODEL_TYPES | OTHER_TYPES or item_type.endswith((CALL_ENDING, OUTPUT_ENDING))
    return True if known else None


def _recognises_block(block: Any) -> bool | None:
    block_type = type_of(block)
    if block_type is None or block_type in FOREIGN_BLOCKS:
        return False
    return True if block_type.startswith(("input_", "output_")) else None


def _is_by_model(item: Any) -> bool | None:
    """Say whether an item comes from the model or from the program; None when a server may have added it."""
    role, item_type = word(item, "role"), type_of(item) or ""
    if role is not None:
        return role == "assistant"
    if item_type.endswith(OUTPUT_ENDING) or item_type == "mcp_approval_response":
        return False
    return True if item_type in MODEL_TYPES or item_type.endswith(CALL_ENDING) else None


def _view(item: Any, index: int, *, starts_turn: bool) -> MessageView:
    item_type = type_of(item)
    if item_type in ARGUMENT_FIELDS:
        arguments = get(item, ARGUMENT_FIELDS[item_type])
        call = CallView(Place(index), word(item, "call_id"), word(item, "name"), arguments)
        return MessageView(starts_turn, calls=(call,))
    if item_type in RESULT_TYPES:
        return MessageView(starts_turn, results=(_result(item, index),))
    texts, media = outside_parts(get(item, "content")) if word(item, "role") is not None else ((), ())
    return MessageView(starts_turn, texts, media)


def _result(item: Any, index: int) -> ResultView:
    return ResultView(
        place=Place(index),
        call_id=word(item, "call_id"),
        tool=word(item, "name") or None,
        content=result_content(get(item, "output")),
    )
