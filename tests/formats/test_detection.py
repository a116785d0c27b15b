"""A format is recognised when it can be, and asked for when it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from formats.wire import wire_histories

from offloadkit.errors import FormatError
from offloadkit.formats import FORMATS, check_messages, detect, format_named

USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
OPENAI_RESULT = {"role": "tool", "tool_call_id": "c", "content": "x"}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


RECORDED = [
    pytest.param(name, *parameter.values, id=f"{name}-{parameter.id}", marks=parameter.marks)
    for name in FORMATS
    for parameter in wire_histories(
        name, {"openai-responses": "input", "gemini": "contents"}.get(name, "messages")
    )
]


@pytest.mark.parametrize(("name", "messages"), RECORDED)
def test_recorded_bodies_are_recognised(name: str, messages: list[Any]) -> None:
    assert detect(messages).name == name


@pytest.mark.parametrize(("name", "messages"), RECORDED)
def test_every_single_message_of_a_recorded_body_may_be_of_its_format(name: str, messages: list[Any]) -> None:
    assert all(format_named(name).recognises([message]) is not False for message in messages)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [user("q"), {"role": "assistant", "content": "a"}],
        [{"role": "system", "content": "s"}, {"role": "developer", "content": "d"}, user("q")],
        [user([{"type": "text", "text": "q"}]), {"role": "assistant", "content": None}],
    ],
)
def test_plain_texts_are_of_any_format_and_taken_for_openai_chat(messages: list[Any]) -> None:
    assert detect(messages).name == "openai-chat"


@pytest.mark.parametrize(
    "message",
    [
        OPENAI_RESULT,
        {"role": "tool", "tool_call_id": "c", "content": [{"rows": "without a type"}]},
        {"role": "function", "name": "f", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": []}], "tool_calls": [CALL]},
        user([{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}]),
        user([{"type": "file", "file": {"file_id": "f"}}]),
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
    ],
)
def test_one_message_of_openai_chat_is_enough(message: dict[str, Any]) -> None:
    assert detect([user("q"), message]).name == "openai-chat"


@pytest.mark.parametrize(
    "message",
    [
        USE,
        RESULT,
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "s"}]},
        {"role": "assistant", "content": [{"type": "web_fetch_tool_result", "tool_use_id": "s"}]},
        user([{"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}]),
        user([{"type": "document", "source": {"type": "file", "file_id": "f"}}]),
    ],
)
def test_one_anthropic_message_is_enough(message: dict[str, Any]) -> None:
    assert detect([user("q"), message]).name == "anthropic-messages"


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "x"},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "web_search_call", "id": "w"},
        {"type": "item_reference", "id": "m"},
        {"type": "message", "role": "user", "content": "q"},
        {"role": "user", "content": [{"type": "input_text", "text": "q"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
    ],
)
def test_one_item_of_openai_responses_is_enough(item: dict[str, Any]) -> None:
    assert detect([user("q"), item, {"id": "msg_1"}]).name == "openai-responses"


@pytest.mark.parametrize(
    "content",
    [
        {"role": "user", "parts": [{"text": "q"}]},
        {"parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "model", "parts": []},
    ],
)
def test_contents_with_parts_are_gemini(content: dict[str, Any]) -> None:
    assert detect([content]).name == "gemini"


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "q"}]},
        {"role": "user", "parts": [{"type": "text", "text": "q"}]},
        {"type": "human", "content": "q"},
        {"type": "ai", "content": "a", "tool_calls": []},
    ],
)
def test_messages_of_other_frameworks_are_not_taken_for_known_ones(message: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match="message 0 is of no known format"):
        detect([message])


@pytest.mark.parametrize(
    "block",
    [{"text": "q"}, {"toolResult": {"toolUseId": "t", "content": []}}, {"cachePoint": {"type": "default"}}],
)
def test_blocks_that_their_key_names_are_bedrock(block: dict[str, Any]) -> None:
    assert detect([user([block])]).name == "bedrock-converse"


def test_a_system_message_does_not_speak_against_anthropic() -> None:
    assert detect([{"role": "system", "content": "s"}, USE, RESULT]).name == "anthropic-messages"


def test_an_answer_of_the_anthropic_sdk_is_no_item_of_openai_responses() -> None:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "a"}]}

    assert detect([user("q"), answer]).name == "anthropic-messages"


def test_formats_that_both_claim_the_messages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "twin", "openai_chat:OpenAIChat")

    with pytest.raises(FormatError, match="could be openai-chat or twin; pass format="):
        detect([OPENAI_RESULT])


def test_formats_in_one_list_are_named_with_their_first_messages() -> None:
    with pytest.raises(
        FormatError, match=r"openai-chat from message 1 on, anthropic-messages from message 2 on.*format="
    ):
        detect([user("q"), OPENAI_RESULT, RESULT])


@pytest.mark.parametrize(
    "message",
    [1, None, "text", {"content": "no role"}, {"role": None}, {"role": ["user"]}, object()],
)
def test_a_message_of_no_format_is_pointed_at(message: Any) -> None:
    with pytest.raises(FormatError, match=r"message 1 .*openai-chat, .*bedrock-converse.*format="):
        detect([user("q"), message])


@pytest.mark.parametrize("messages", ["text", b"bytes", 5, None, {"role": "user"}, iter([])])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(FormatError, match="messages are a list"):
        check_messages(messages)


def test_a_request_body_is_refused_with_what_to_pass_instead() -> None:
    with pytest.raises(FormatError, match="pass the list inside it"):
        detect({"messages": []})  # type: ignore[arg-type]


def test_no_error_shows_content() -> None:
    with pytest.raises(FormatError) as caught:
        detect([user("secret"), {"role": "user", "content": [{"secret": "secret"}]}])

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_found_by_its_name(name: str) -> None:
    assert format_named(name).name == name


def test_a_format_is_made_once() -> None:
    assert format_named("openai-chat") is format_named("openai-chat")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FormatError, match=r"'nosuch'; known: openai-chat, .*, bedrock-converse"):
        format_named("nosuch")
