"""The format anthropic-messages: the contract, recorded bodies, SDK objects, and what the API refuses."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from anthropic.types import Message
from formats.wire import wire_histories

from offloadkit.formats.anthropic_messages import AnthropicMessages
from offloadkit.results import CallView, Content, Media, Place
from offloadkit.testing import FormatContract

FORMAT = AnthropicMessages()
MARK = {"type": "ephemeral"}
LONG_MARK = {"type": "ephemeral", "ttl": "1h"}
USE = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}}
THINKING = {"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
REFERENCE = {"type": "tool_reference", "tool_name": "x"}
PAPER = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "paper"}}
HIT = {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "hit"}]}


def text(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **fields}


def result(content: Any = None, use_id: str = "t1", **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": use_id, **fields}
    return block if content is None else {**block, "content": content}


def asks(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def answers(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def sdk_message(*blocks: dict[str, Any]) -> Message:
    return Message.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": list(blocks),
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


HISTORIES: dict[str, list[Any]] = {
    "text": [
        {"role": "user", "content": "q"},
        asks(THINKING, USE),
        answers(result("found"), text("and then?")),
        {"role": "assistant", "content": "done"},
    ],
    "several-results": [
        asks(USE, {**USE, "id": "t2"}, {**USE, "id": ""}),
        answers(result("one"), result("two", "t2", is_error=True), result(None, ""), IMAGE, text("go on")),
    ],
    "blocks": [
        asks(USE),
        answers(result([text("a", cache_control=MARK), IMAGE, PAPER, HIT, REFERENCE], cache_control=MARK)),
    ],
    "marks-on-media": [
        asks(USE),
        answers(result([text("a", cache_control=LONG_MARK), {**IMAGE, "cache_control": MARK}])),
    ],
    "media-alone": [asks(USE), answers(result([{**IMAGE, "cache_control": MARK}]))],
    "unknown-blocks-alone": [asks(USE), answers(result([REFERENCE, {"type": "browser_state", "tabs": []}]))],
    "server-tools": [
        asks(
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": [{"type": "web_search_result"}],
            },
            USE,
        ),
        answers(result([])),
    ],
    "system-message": [{"role": "system", "content": [text("be brief")]}, asks(USE), answers(result("x"))],
    "tuples": [
        {"role": "assistant", "content": (USE,)},
        {"role": "user", "content": (result("x"), text("y"))},
    ],
    "sdk-objects": [sdk_message(text("I search"), USE), answers(result("found"))],
    "sdk-blocks": [asks(*sdk_message(text("I search"), USE).content), answers(result("found"))],
}


class TestContract(FormatContract):
    @pytest.fixture
    def format(self) -> AnthropicMessages:
        return FORMAT

    @pytest.fixture(params=list(HISTORIES))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return HISTORIES[request.param]


class TestContractOnRecordedBodies(FormatContract):
    @pytest.fixture
    def format(self) -> AnthropicMessages:
        return FORMAT

    @pytest.fixture(params=wire_histories("anthropic-messages", "messages"))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


def content_of(name: str) -> Content:
    return FORMAT.views(HISTORIES[name])[1].results[0].content


def test_every_result_of_a_message_is_read() -> None:
    results = FORMAT.views(HISTORIES["several-results"])[1].results

    assert [(one.place, one.call_id, one.is_error) for one in results] == [
        (Place(1, 0), "t1", False),
        (Place(1, 1), "t2", True),
        (Place(1, 2), "", False),
    ]


@pytest.mark.parametrize("name", ["sdk-objects", "sdk-blocks"])
def test_a_call_is_read_from_sdk_objects(name: str) -> None:
    assert FORMAT.views(HISTORIES[name])[0].calls == (CallView(Place(0, 1), "t1", "search", {"q": "x"}),)


def test_a_call_is_read_from_a_dictionary() -> None:
    assert FORMAT.views(HISTORIES["text"])[1].calls == (CallView(Place(1, 1), "t1", "search", {"q": "x"}),)


def test_thinking_does_not_count() -> None:
    thinking = {"type": "thinking", "thinking": "a long thought", "signature": "s"}

    assert FORMAT.views([asks(thinking, text("said"))])[0].texts == ("said",)


def test_texts_and_media_beside_results_are_read() -> None:
    view = FORMAT.views(HISTORIES["several-results"])[1]

    assert (view.texts, view.media) == (("go on",), (Media("image", "AAAA", "image/png"),))


def test_all_texts_of_a_result_are_found_where_they_stand() -> None:
    content = content_of("blocks")

    assert [text for _, text in content.texts] == ["a", "paper", "t", "s", "hit"]
    assert content.media == (Media("image", "AAAA", "image/png"), Media("other"))


def test_results_of_the_servers_own_tools_are_left_alone() -> None:
    assert FORMAT.views(HISTORIES["server-tools"])[0].results == ()


def test_a_result_outside_a_user_message_is_left_alone() -> None:
    assert FORMAT.views([asks(result("x"))])[0].results == ()


def test_an_inner_cache_mark_moves_to_the_text_and_the_outer_one_stays() -> None:
    cleared = FORMAT.replace(
        HISTORIES["blocks"], {Place(1): FORMAT.join(content_of("blocks"), "new", keep_media=False)}
    )

    assert cleared[1]["content"] == [result([text("new", cache_control=MARK), REFERENCE], cache_control=MARK)]


def test_the_mark_of_a_text_goes_before_that_of_media() -> None:
    joined = FORMAT.join(content_of("marks-on-media"), "new", keep_media=False)

    assert joined == [text("new", cache_control=LONG_MARK)]


def test_the_mark_of_media_that_go_moves_to_the_text() -> None:
    assert FORMAT.join(content_of("media-alone"), "new", keep_media=False) == [
        text("new", cache_control=MARK)
    ]


def test_a_result_without_marks_and_media_becomes_plain_text() -> None:
    assert FORMAT.join(FORMAT.split([text("a"), HIT, PAPER]), "new", keep_media=True) == "new"


def test_an_assistant_message_is_never_rebuilt_when_a_result_changes() -> None:
    history = HISTORIES["text"]

    cleared = FORMAT.replace(history, {Place(2, 0): "new"})

    assert cleared[1] is history[1]


def test_blocks_beside_a_result_that_changes_are_the_same_objects() -> None:
    history = HISTORIES["several-results"]

    cleared = FORMAT.replace(history, {Place(1, 0): "new"})

    assert [new is old for new, old in zip(cleared[1]["content"], history[1]["content"], strict=True)] == [
        False,
        *([True] * 4),
    ]


def test_thinking_beside_a_call_whose_arguments_change_is_the_same_object() -> None:
    history = HISTORIES["text"]

    emptied = FORMAT.replace(history, {}, {Place(1, 1): {}})

    assert emptied[1]["content"] == [THINKING, {**USE, "input": {}}]
    assert emptied[1]["content"][0] is THINKING


def test_arguments_are_put_into_a_copy_of_an_sdk_object() -> None:
    message = sdk_message(text("I search"), USE)
    before = copy.deepcopy(message)

    (emptied,) = FORMAT.replace([message], {}, {Place(0, 1): {}})

    assert FORMAT.views([emptied])[0].calls[0].arguments == {}
    assert type(emptied) is Message
    assert message == before


@pytest.mark.parametrize("block", [None, 5, "text", {}, {"type": None}, {"type": ["tool_result"]}, object()])
def test_odd_blocks_are_passed_over(block: Any) -> None:
    (view,) = FORMAT.views([answers(block, result("x"), block)])

    assert [one.place for one in view.results] == [Place(0, 1)]


@pytest.mark.parametrize("messages", [None, 5, "text", {"messages": []}])
def test_what_is_no_list_of_messages_has_no_views(messages: Any) -> None:
    assert FORMAT.views(messages) == []
