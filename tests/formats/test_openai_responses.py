"""The format openai-responses: the contract, recorded bodies, SDK objects, and where turns begin."""

from __future__ import annotations

from typing import Any

import pytest
from formats.wire import wire_histories
from openai.types.responses import ResponseFunctionToolCall, ResponseReasoningItem

from offloadkit.formats.openai_responses import OpenAIResponses
from offloadkit.results import CallView, Media, Place, name_results
from offloadkit.testing import FormatContract

FORMAT = OpenAIResponses()
CALL = {"type": "function_call", "id": "fc", "call_id": "c1", "name": "search", "arguments": '{"q": "x"}'}
CUSTOM_CALL = {"type": "custom_tool_call", "id": "ctc", "call_id": "c2", "name": "sh", "input": "ls"}
REASONING = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gAAA"}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"}
BREAKPOINT = {"mode": "explicit"}


def text(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "input_text", "text": value, **fields}


def answers(output: Any, call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output, **fields}


def said(value: str) -> dict[str, Any]:
    blocks = [{"type": "output_text", "text": value, "annotations": []}]
    return {"type": "message", "role": "assistant", "id": "msg", "content": blocks}


def user(content: Any = "q") -> dict[str, Any]:
    return {"role": "user", "content": content}


HISTORIES: dict[str, list[Any]] = {
    "text": [
        user(),
        REASONING,
        CALL,
        answers("found", status="completed"),
        said("done"),
        user([text("more"), IMAGE]),
    ],
    "parallel-calls": [user(), CALL, {**CALL, "call_id": "c2"}, answers("two", "c2"), answers("one")],
    "blocks": [
        CALL,
        answers([text("a", prompt_cache_breakpoint=BREAKPOINT), IMAGE, text("b"), {"type": "new"}]),
    ],
    "media-alone": [CALL, answers([IMAGE, {"type": "input_file", "file_id": "f"}])],
    "custom-tool": [CUSTOM_CALL, {"type": "custom_tool_call_output", "call_id": "c2", "output": "a b"}],
    "empty": [CALL, answers(""), answers([]), {"type": "function_call_output", "call_id": "gone"}],
    "other-items": [
        {"type": "local_shell_call", "call_id": "l", "action": {}},
        {"type": "local_shell_call_output", "id": "l", "output": "left alone"},
        {"type": "web_search_call", "id": "w", "status": "completed"},
        {"type": "item_reference", "id": "x"},
        {"id": "y"},
        {"type": "item_of_next_year", "output": "left alone"},
        CALL,
        answers("found"),
    ],
    "sdk-objects": [
        ResponseReasoningItem.model_validate(REASONING),
        ResponseFunctionToolCall.model_validate(CALL),
        answers("found"),
    ],
}


class TestContract(FormatContract):
    @pytest.fixture
    def format(self) -> OpenAIResponses:
        return FORMAT

    @pytest.fixture(params=list(HISTORIES))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return HISTORIES[request.param]


class TestContractOnRecordedBodies(FormatContract):
    @pytest.fixture
    def format(self) -> OpenAIResponses:
        return FORMAT

    @pytest.fixture(params=wire_histories("openai-responses", "input"))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


def turns(items: list[Any]) -> list[int]:
    return [index for index, view in enumerate(FORMAT.views(items)) if view.starts_turn]


@pytest.mark.parametrize("call", [CALL, ResponseFunctionToolCall.model_validate(CALL)])
def test_a_call_is_read_from_dictionaries_and_objects_alike(call: Any) -> None:
    assert FORMAT.views([call])[0].calls == (CallView(Place(0), "c1", "search", '{"q": "x"}'),)


def test_a_call_of_a_custom_tool_has_its_input_as_arguments() -> None:
    assert FORMAT.views([CUSTOM_CALL])[0].calls == (CallView(Place(0), "c2", "sh", "ls"),)


def test_the_first_item_of_an_answer_starts_a_turn() -> None:
    assert turns(HISTORIES["text"]) == [1, 4]


def test_parallel_calls_share_a_turn() -> None:
    assert turns(HISTORIES["parallel-calls"]) == [1]


def test_what_a_server_may_have_added_does_not_end_an_answer() -> None:
    assert turns([REASONING, {"type": "tool_search_output"}, CALL, answers("x"), {"type": "new"}, CALL]) == [
        0,
        5,
    ]


def test_results_belong_to_the_calls_with_their_ids() -> None:
    calls = name_results(FORMAT.views(HISTORIES["parallel-calls"]))

    assert {place.message: call.place.message for place, call in calls.items()} == {3: 2, 4: 1}


def test_a_result_may_name_its_tool() -> None:
    assert FORMAT.views([answers("x", name="search")])[0].results[0].tool == "search"


def test_texts_and_pictures_of_messages_are_read() -> None:
    views = FORMAT.views(HISTORIES["text"])

    assert views[4].texts == ("done",)
    assert (views[5].texts, views[5].media) == (("more",), (Media("image", "AAAA", "image/png"),))


def test_reasoning_does_not_count() -> None:
    reasoning = {**REASONING, "content": [{"type": "reasoning_text", "text": "thought"}]}

    assert FORMAT.views([reasoning])[0].texts == ()


def test_results_of_other_kinds_of_calls_are_left_alone() -> None:
    assert [len(view.results) for view in FORMAT.views(HISTORIES["other-items"])] == [0, 0, 0, 0, 0, 0, 0, 1]


def test_the_text_beside_pictures_is_an_input_text_with_the_cache_mark() -> None:
    content = FORMAT.views(HISTORIES["blocks"])[1].results[0].content

    joined = FORMAT.join(content, "new", keep_media=True)

    assert joined == [text("new", prompt_cache_breakpoint=BREAKPOINT), IMAGE, {"type": "new"}]


def test_arguments_are_put_into_a_copy_of_an_sdk_object() -> None:
    call = ResponseFunctionToolCall.model_validate(CALL)

    (emptied,) = FORMAT.replace([call], {}, {Place(0): "{}"})

    assert (type(emptied), emptied.arguments, call.arguments) == (
        ResponseFunctionToolCall,
        "{}",
        CALL["arguments"],
    )
