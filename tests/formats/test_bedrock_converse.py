"""The format bedrock-converse: the contract, recorded bodies, and what the API refuses."""

from __future__ import annotations

from typing import Any

import pytest
from formats.wire import wire_histories

from offloadkit.formats.bedrock_converse import BedrockConverse
from offloadkit.results import CallView, Content, Media, Place
from offloadkit.testing import FormatContract

FORMAT = BedrockConverse()
USE = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"q": 1}}}
IMAGE = {"image": {"format": "png", "source": {"bytes": "AAAA"}}}
POINT = {"cachePoint": {"type": "default"}}
REASONING = {"reasoningContent": {"reasoningText": {"text": "thought", "signature": "s"}}}
HIT = {"searchResult": {"title": "t", "source": "s", "content": [{"text": "hit"}]}}
PAPER = {"document": {"name": "n", "format": "txt", "source": {"text": "paper"}}}


def result(*blocks: Any, **fields: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": "t1", "content": list(blocks), **fields}}


def asks(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def answers(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


HISTORIES: dict[str, list[Any]] = {
    "text": [
        answers({"text": "q"}, IMAGE, POINT),
        asks(REASONING, USE),
        answers(result({"text": "found"}, status="success"), POINT),
        asks({"text": "done"}),
    ],
    "several-results": [
        asks(USE, USE),
        answers(result({"text": "a"}, status="error"), result({"text": "b"}), {"text": "go on"}),
    ],
    "blocks": [asks(USE), answers(result({"text": "a"}, IMAGE, PAPER, HIT, {"new": {"x": 1}}))],
    "json": [
        asks(USE),
        answers(result({"json": {"rows": [1]}}), result({"text": "a"}, {"json": {"b": 1}}, IMAGE)),
    ],
    "media-alone": [
        asks(USE),
        answers(result(IMAGE, {"video": {"format": "mp4", "source": {"s3Location": {}}}})),
    ],
    "raw-bytes": [asks(USE), answers(result({"image": {"format": "png", "source": {"bytes": b"\0\0\0"}}}))],
    "empty": [asks(USE), answers(result(), {"toolResult": {"toolUseId": "t1"}})],
}


class TestContract(FormatContract):
    @pytest.fixture
    def format(self) -> BedrockConverse:
        return FORMAT

    @pytest.fixture(params=list(HISTORIES))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return HISTORIES[request.param]


class TestContractOnRecordedBodies(FormatContract):
    @pytest.fixture
    def format(self) -> BedrockConverse:
        return FORMAT

    @pytest.fixture(params=wire_histories("bedrock-converse", "messages"))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


def content_of(name: str, result_index: int = 0) -> Content:
    return FORMAT.views(HISTORIES[name])[1].results[result_index].content


def test_a_call_is_read_with_its_name_and_arguments() -> None:
    assert FORMAT.views(HISTORIES["text"])[1].calls == (CallView(Place(1, 1), "t1", "f", {"q": 1}),)


def test_calls_of_the_servers_own_tools_are_left_alone() -> None:
    server = {"toolUse": {**USE["toolUse"], "type": "server_tool_use"}}

    assert FORMAT.views([asks(server)])[0].calls == ()


def test_results_are_read_with_their_status() -> None:
    results = FORMAT.views(HISTORIES["several-results"])[1].results

    assert [(one.place, one.call_id, one.is_error) for one in results] == [
        (Place(1, 0), "t1", True),
        (Place(1, 1), "t1", False),
    ]


def test_reasoning_does_not_count() -> None:
    assert FORMAT.views(HISTORIES["text"])[1].texts == ()


def test_texts_and_media_outside_results_are_read() -> None:
    view = FORMAT.views(HISTORIES["text"])[0]

    assert (view.texts, view.media) == (("q",), (Media("image", "AAAA", "image/png"),))


def test_all_texts_of_a_result_are_found_where_they_stand() -> None:
    content = content_of("blocks")

    assert [text for _, text in content.texts] == ["a", "paper", "t", "s", "hit"]
    assert content.media == (Media("image", "AAAA", "image/png"), Media("other"))


def test_a_result_with_json_is_shown_as_json() -> None:
    assert (content_of("json").texts, content_of("json", 1).texts) == ((), ())


def test_json_leaves_with_the_text_and_media_stay_when_asked() -> None:
    assert FORMAT.join(content_of("json", 1), "new", keep_media=True) == [{"text": "new"}, IMAGE]


def test_the_content_stays_a_list_of_blocks() -> None:
    assert FORMAT.join(content_of("several-results"), "new", keep_media=False) == [{"text": "new"}]


def test_clearing_drops_media_and_keeps_blocks_of_unknown_kinds() -> None:
    assert FORMAT.join(content_of("blocks"), "new", keep_media=False) == [{"text": "new"}, {"new": {"x": 1}}]


def test_the_text_that_a_tool_returns_stays_text() -> None:
    assert FORMAT.join(FORMAT.split("long"), "new", keep_media=False) == "new"


def test_bytes_are_read_as_base64() -> None:
    assert content_of("raw-bytes").media == (Media("image", "AAAA", "image/png"),)


@pytest.mark.parametrize(
    ("form", "media_type"), [("pdf", "application/pdf"), ("md", "text/markdown"), (None, "")]
)
def test_a_document_has_the_media_type_of_its_format(form: str | None, media_type: str) -> None:
    document = {"document": {"name": "n", "format": form, "source": {"bytes": "AAAA"}}}

    assert FORMAT.split([document]).media == (Media("document", "AAAA", media_type),)


def test_cache_points_beside_a_result_that_changes_are_the_same_objects() -> None:
    history = HISTORIES["text"]

    cleared = FORMAT.replace(history, {Place(2, 0): [{"text": "new"}]})

    assert cleared[2]["content"][1] is history[2]["content"][1]


@pytest.mark.parametrize(
    "value", [[{"id": 1}, {"id": 2}], [{"text": "a", "id": 1}], {"text": "a"}, [1], None]
)
def test_data_have_no_texts_of_their_own(value: Any) -> None:
    assert FORMAT.split(value) == Content(value)
