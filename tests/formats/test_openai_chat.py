"""The format openai-chat: the contract, recorded bodies, SDK objects, and what servers really send."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import pytest
from formats.wire import wire_histories
from openai.types.chat import ChatCompletionMessage

from offloadkit.formats.openai_chat import OpenAIChat
from offloadkit.results import CallView, Content, Media, Place
from offloadkit.testing import FormatContract

FORMAT = OpenAIChat()
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
CUSTOM_CALL = {"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
BREAKPOINT = {"mode": "explicit"}


def text(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **fields}


def asks(*calls: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def answers(content: Any, call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def sdk_message(*calls: dict[str, Any]) -> ChatCompletionMessage:
    return ChatCompletionMessage.model_validate(asks(*calls))


@dataclass(frozen=True)
class DataMessage:
    """What a framework of its own may put into the list."""

    role: str
    content: Any = None
    tool_call_id: str | None = None
    tool_calls: list[Any] = field(default_factory=list)


HISTORIES: dict[str, list[Any]] = {
    "text": [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": [text("q"), IMAGE]},
        asks(CALL),
        answers("result", extra={"kept": True}),
        {"role": "assistant", "content": "done", "refusal": None, "annotations": []},
    ],
    "parallel-calls": [
        asks(CALL, {**CALL, "id": "c2"}, content="two"),
        answers("second", "c2"),
        answers("first"),
    ],
    "blocks": [
        asks(CALL),
        answers(
            [text("one", prompt_cache_breakpoint=BREAKPOINT), IMAGE, text("two"), {"type": "new", "x": 1}]
        ),
    ],
    "marks-on-media": [
        asks(CALL),
        answers(
            [
                text("one", cache_control={"type": "ephemeral", "ttl": "1h"}),
                {**IMAGE, "cache_control": {"type": "ephemeral"}},
            ]
        ),
    ],
    "media-alone": [asks(CALL), answers([IMAGE, {"type": "file", "file": {"file_id": "f"}}])],
    "unknown-blocks-alone": [asks(CALL), answers([{"type": "new", "x": "y" * 90}])],
    "texts-without-blocks": [asks(CALL), answers(["one", "two", text("three")])],
    "data-where-text-belongs": [asks(CALL), answers({"rows": [1, 2]}), answers([{"id": 1}, {"id": 2}])],
    "absent-and-empty": [
        {"role": "assistant", "tool_calls": [CALL, {**CALL, "id": ""}]},
        answers(None),
        answers([], ""),
        answers("", "orphan"),
        {"role": "tool", "tool_call_id": "c1"},
    ],
    "functions-of-2023": [
        {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": "{}"}},
        {"role": "function", "name": "search", "content": "result"},
    ],
    "custom-tool": [asks(CUSTOM_CALL, CALL), answers("a b c"), answers("d")],
    "tuples": [{**asks(), "tool_calls": (CALL,)}, answers((text("one"),))],
    "sdk-objects": [sdk_message(CALL, CUSTOM_CALL), answers("result"), {"role": "user", "content": "next"}],
    "dataclasses": [DataMessage("assistant", tool_calls=[CALL]), DataMessage("tool", "result", "c1")],
}


class TestContract(FormatContract):
    @pytest.fixture
    def format(self) -> OpenAIChat:
        return FORMAT

    @pytest.fixture(params=list(HISTORIES))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return HISTORIES[request.param]


class TestContractOnRecordedBodies(FormatContract):
    @pytest.fixture
    def format(self) -> OpenAIChat:
        return FORMAT

    @pytest.fixture(params=wire_histories("openai-chat", "messages"))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


def calls_of(message: Any) -> tuple[CallView, ...]:
    return FORMAT.views([message])[0].calls


def content_of(name: str) -> Content:
    return FORMAT.views(HISTORIES[name])[1].results[0].content


def test_a_result_is_read_with_its_id_and_text() -> None:
    result = FORMAT.views(HISTORIES["text"])[3].results[0]

    assert (result.place, result.call_id, result.tool) == (Place(3), "c1", None)
    assert result.content == Content("result", (((), "result"),))


@pytest.mark.parametrize(
    "message", [asks(CALL), sdk_message(CALL), DataMessage("assistant", tool_calls=[CALL])]
)
def test_a_call_is_read_from_dictionaries_and_objects_alike(message: Any) -> None:
    assert calls_of(message) == (CallView(Place(0), "c1", "search", '{"q": "x"}'),)


@pytest.mark.parametrize("message", [asks(CUSTOM_CALL), sdk_message(CUSTOM_CALL)])
def test_a_call_of_a_custom_tool_has_its_input_as_arguments(message: Any) -> None:
    assert calls_of(message) == (CallView(Place(0), "c1", "sh", "ls"),)


def test_a_call_of_2023_is_read() -> None:
    (call,) = calls_of(HISTORIES["functions-of-2023"][0])

    assert (call.call_id, call.tool, call.arguments) == (None, "search", "{}")


def test_a_result_of_2023_carries_the_name_of_its_function() -> None:
    assert FORMAT.views(HISTORIES["functions-of-2023"])[1].results[0].tool == "search"


@pytest.mark.parametrize("flag", [{"is_error": True}, {"status": "error"}])
def test_the_error_flags_that_frameworks_add_are_read(flag: dict[str, Any]) -> None:
    assert FORMAT.views([answers("x", **flag)])[0].results[0].is_error


def test_every_assistant_message_starts_a_turn() -> None:
    starts = [view.starts_turn for view in FORMAT.views(HISTORIES["text"])]

    assert starts == [False, False, True, False, True]


def test_texts_and_pictures_outside_results_are_read() -> None:
    view = FORMAT.views(HISTORIES["text"])[1]

    assert (view.texts, view.media) == (("q",), (Media("image", "AAAA", "image/png"),))


def test_a_refusal_counts_as_text() -> None:
    as_field = {"role": "assistant", "content": None, "refusal": "no"}
    as_part = {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}

    assert [view.texts for view in FORMAT.views([as_field, as_part])] == [("no",), ("no",)]


def test_reasoning_does_not_count() -> None:
    message = {"role": "assistant", "content": "said", "reasoning_content": "thought"}

    assert FORMAT.views([message])[0].texts == ("said",)


def test_arguments_are_put_into_a_copy_of_an_sdk_object() -> None:
    message = sdk_message(CALL, CUSTOM_CALL)
    before = copy.deepcopy(message)

    (emptied,) = FORMAT.replace([message], {}, {Place(0, 0): "{}", Place(0, 1): "x"})

    assert [call.arguments for call in calls_of(emptied)] == ["{}", "x"]
    assert type(emptied) is ChatCompletionMessage
    assert message == before


def test_a_call_that_stays_is_the_same_object_beside_one_that_changes() -> None:
    message = asks(CALL, {**CALL, "id": "c2"})

    (emptied,) = FORMAT.replace([message], {}, {Place(0, 1): "{}"})

    assert emptied["tool_calls"][0] is message["tool_calls"][0]


def test_pictures_stay_behind_the_new_text_when_asked() -> None:
    joined = FORMAT.join(content_of("blocks"), "new", keep_media=True)

    assert joined == [text("new", prompt_cache_breakpoint=BREAKPOINT), IMAGE, {"type": "new", "x": 1}]


def test_clearing_drops_pictures_and_keeps_blocks_of_unknown_types() -> None:
    joined = FORMAT.join(content_of("blocks"), "new", keep_media=False)

    assert joined == [text("new", prompt_cache_breakpoint=BREAKPOINT), {"type": "new", "x": 1}]


def test_a_content_of_texts_alone_becomes_plain_text() -> None:
    assert FORMAT.join(content_of("texts-without-blocks"), "new", keep_media=True) == "new"


@pytest.mark.parametrize(
    "call",
    [
        {"id": "1", "type": "function", "function": None},
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": None}},
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}},
        {"id": 7, "function": {"name": ["f"]}},
        None,
        "call",
    ],
)
def test_an_odd_call_is_one_call_all_the_same(call: Any) -> None:
    assert len(calls_of(asks(call, CALL))) == 2


@pytest.mark.parametrize("calls", [None, "calls", 5, {}])
def test_what_is_no_list_of_calls_is_no_call(calls: Any) -> None:
    assert calls_of({"role": "assistant", "content": "x", "tool_calls": calls}) == ()


@pytest.mark.parametrize("messages", [None, 5, "text", {"messages": []}])
def test_what_is_no_list_of_messages_has_no_views(messages: Any) -> None:
    assert FORMAT.views(messages) == []
