"""The format openai-chat: the contract, recorded bodies, SDK objects, and what servers really send."""

from __future__ import annotations

from typing import Any

import pytest
from formats.wire import wire_histories
from openai.types.chat import ChatCompletionMessage

from offloadkit.formats.openai_chat import OpenAIChat
from offloadkit.results import Content, Media, Place
from offloadkit.testing import FormatContract

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
FORMAT = OpenAIChat()

HISTORIES: dict[str, list[Any]] = {
    "text": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "result", "extra": {"kept": True}},
        {"role": "assistant", "content": "done"},
    ],
    "parallel-calls": [
        {"role": "assistant", "content": "two", "tool_calls": [CALL, {**CALL, "id": "c2"}]},
        {"role": "tool", "tool_call_id": "c2", "content": "second"},
        {"role": "tool", "tool_call_id": "c1", "content": "first"},
    ],
    "blocks": [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [
                {"type": "text", "text": "one", "prompt_cache_breakpoint": {"mode": "explicit"}},
                IMAGE,
                {"type": "text", "text": "two"},
                {"type": "unknown", "x": 1},
            ],
        },
    ],
    "absent-and-empty": [
        {"role": "assistant", "tool_calls": [CALL, {**CALL, "id": ""}]},
        {"role": "tool", "tool_call_id": "c1", "content": None},
        {"role": "tool", "tool_call_id": "", "content": []},
        {"role": "tool", "tool_call_id": "orphan", "content": ""},
    ],
    "functions-of-2023": [
        {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": "{}"}},
        {"role": "function", "name": "search", "content": "result"},
    ],
    "custom-tool": [
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a b c"},
    ],
    "sdk-objects": [
        ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [CALL]}),
        {"role": "tool", "tool_call_id": "c1", "content": "result"},
    ],
}


class TestContract(FormatContract):
    @pytest.fixture
    def format(self) -> OpenAIChat:
        return FORMAT

    @pytest.fixture(params=HISTORIES.values(), ids=HISTORIES)
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


class TestContractOnRecordedBodies(TestContract):
    @pytest.fixture(params=wire_histories("openai-chat", "messages"))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


def test_a_result_is_read_with_its_id_and_text() -> None:
    view = FORMAT.views(HISTORIES["text"])[2].results[0]

    assert (view.place, view.call_id, view.tool) == (Place(2), "c1", None)
    assert view.content == Content("result", (((), "result"),))


def test_a_call_is_read_with_its_name_and_arguments() -> None:
    (call,) = FORMAT.views(HISTORIES["text"])[1].calls

    assert (call.place, call.call_id, call.tool, call.arguments) == (
        Place(1, 0),
        "c1",
        "search",
        '{"q": "x"}',
    )


def test_the_result_of_2023_carries_the_name_of_its_function() -> None:
    assert FORMAT.views(HISTORIES["functions-of-2023"])[1].results[0].tool == "search"


def test_every_assistant_message_starts_a_turn() -> None:
    assert [view.starts_turn for view in FORMAT.views(HISTORIES["text"])] == [False, True, False, True]


def test_the_picture_of_a_data_url_is_read() -> None:
    assert FORMAT.split([IMAGE]).media == (Media("image", "AAAA", "image/png"),)


def test_a_cache_mark_moves_to_the_block_that_stays() -> None:
    content = FORMAT.views(HISTORIES["blocks"])[1].results[0].content

    joined = FORMAT.join(content, "new", keep_media=False)

    assert joined == [{"type": "text", "text": "new", "prompt_cache_breakpoint": {"mode": "explicit"}}]


def test_pictures_stay_behind_the_new_text_when_asked() -> None:
    content = FORMAT.views(HISTORIES["blocks"])[1].results[0].content

    joined = FORMAT.join(content, "new", keep_media=True)

    assert [block["type"] for block in joined] == ["text", "image_url", "unknown"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "tool_calls": None},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": None}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": None}}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {}}}],
        },
    ],
)
def test_odd_calls_are_read_and_come_back_unchanged(message: Any) -> None:
    views = FORMAT.views([message])

    assert views[0].starts_turn
    assert FORMAT.replace([message], {})[0] is message


def test_the_text_of_reasoning_does_not_count() -> None:
    message = {"role": "assistant", "content": "said", "reasoning_content": "thought"}

    assert FORMAT.views([message])[0].texts == ("said",)


def test_a_list_of_rows_is_a_json_value_not_a_list_of_blocks() -> None:
    assert FORMAT.split([{"id": 1, "type": "commit"}]) == Content([{"id": 1, "type": "commit"}])
