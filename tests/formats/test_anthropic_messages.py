"""The format anthropic-messages: the contract, recorded bodies, SDK objects, and what the API refuses."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import Message
from formats.wire import wire_histories

from offloadkit.formats.anthropic_messages import AnthropicMessages
from offloadkit.results import Media, Place
from offloadkit.testing import FormatContract

FORMAT = AnthropicMessages()
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
USE = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}}
MARK = {"type": "ephemeral"}


def result(content: Any = None, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t1", **fields}
    return block if content is None else {**block, "content": content}


SDK_CONTENT = Message.model_validate(
    {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "I search"}, USE],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
).content

HISTORIES: dict[str, list[Any]] = {
    "text": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "…", "signature": "s"}, USE]},
        {"role": "user", "content": [result("found"), {"type": "text", "text": "and then?"}]},
        {"role": "assistant", "content": "done"},
    ],
    "several-results": [
        {"role": "assistant", "content": [USE, {**USE, "id": "t2"}]},
        {"role": "user", "content": [result("one"), result("two", is_error=True), result()]},
    ],
    "blocks": [
        {"role": "assistant", "content": [USE]},
        {
            "role": "user",
            "content": [
                result(
                    [
                        {"type": "text", "text": "a", "cache_control": MARK},
                        IMAGE,
                        {
                            "type": "document",
                            "source": {"type": "text", "media_type": "text/plain", "data": "paper"},
                        },
                        {"type": "search_result", "title": "t", "content": [{"type": "text", "text": "hit"}]},
                        {"type": "tool_reference", "tool_name": "x"},
                    ],
                    cache_control=MARK,
                ),
            ],
        },
    ],
    "server-tools": [
        {
            "role": "assistant",
            "content": [
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s",
                    "content": [{"type": "web_search_result"}],
                },
                USE,
            ],
        },
        {"role": "user", "content": [result([])]},
    ],
    "sdk-objects": [
        {"role": "assistant", "content": SDK_CONTENT},
        {"role": "user", "content": [result("found")]},
    ],
}


class TestContract(FormatContract):
    @pytest.fixture
    def format(self) -> AnthropicMessages:
        return FORMAT

    @pytest.fixture(params=HISTORIES.values(), ids=HISTORIES)
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


class TestContractOnRecordedBodies(TestContract):
    @pytest.fixture(params=wire_histories("anthropic-messages", "messages"))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


def test_every_result_of_a_message_is_read() -> None:
    results = FORMAT.views(HISTORIES["several-results"])[1].results

    assert [(r.place, r.call_id, r.is_error) for r in results] == [
        (Place(1, 0), "t1", False),
        (Place(1, 1), "t1", True),
        (Place(1, 2), "t1", False),
    ]


def test_calls_are_read_from_dictionaries_and_sdk_objects_alike() -> None:
    for name, place in (("text", Place(1, 1)), ("sdk-objects", Place(0, 1))):
        (call,) = [call for view in FORMAT.views(HISTORIES[name]) for call in view.calls]

        assert (call.place, call.call_id, call.tool, call.arguments) == (place, "t1", "search", {"q": "x"})


def test_thinking_does_not_count() -> None:
    assert FORMAT.views(HISTORIES["text"])[1].texts == ()


def test_all_texts_of_a_result_are_found_where_they_stand() -> None:
    content = FORMAT.views(HISTORIES["blocks"])[1].results[0].content

    assert [text for _, text in content.texts] == ["a", "paper", "hit"]
    assert content.media == (Media("image", "AAAA", "image/png"), Media("other"))


def test_results_of_the_servers_own_tools_are_left_alone() -> None:
    assert FORMAT.views(HISTORIES["server-tools"])[0].results == ()


def test_an_inner_cache_mark_stays_on_the_text_that_stays_and_the_outer_one_where_it_was() -> None:
    history = HISTORIES["blocks"]
    (view,) = FORMAT.views(history)[1].results

    cleared = FORMAT.replace(history, {view.place: FORMAT.join(view.content, "new", keep_media=False)})

    assert cleared[1]["content"][0] == result(
        [{"type": "text", "text": "new", "cache_control": MARK}], cache_control=MARK
    )


def test_an_assistant_message_is_never_rebuilt_when_a_result_changes() -> None:
    history = HISTORIES["text"]

    cleared = FORMAT.replace(history, {Place(2, 0): "new"})

    assert cleared[1] is history[1]
    assert cleared[2]["content"][1] is history[2]["content"][1]
