"""The format gemini: the contract, recorded bodies, responses with media, and results without ids."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from formats.wire import wire_histories

from offloadkit.formats.gemini import Gemini
from offloadkit.results import CallView, Content, Media, Place, name_results
from offloadkit.testing import FormatContract

FORMAT = Gemini()
SIGNED_CALL = {"functionCall": {"name": "f", "args": {"n": 1}}, "thoughtSignature": "c2ln"}
CALL = {"functionCall": {"name": "f", "args": {"n": 2}}}
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def answer(response: Any, **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": "f", "response": response, **fields}}


HISTORIES: dict[str, list[Any]] = {
    "text": [
        user({"text": "q"}, PICTURE),
        model(SIGNED_CALL),
        user(answer({"result": "found"})),
        model({"text": "ok"}),
    ],
    "parallel-calls": [model(SIGNED_CALL, CALL), user(answer({"result": "one"}), answer({"output": "two"}))],
    "json": [
        model(CALL),
        user(answer({"items": [1, 2]}), answer({"result": {"a": 1}}), answer({"result": "a", "b": 1})),
    ],
    "errors": [model(CALL), user(answer({"error": "failed"}), answer({"error": {"code": 5}}))],
    "media": [
        model(CALL),
        user(answer({"result": "a"}, parts=[PICTURE, {"new": 1}]), answer({}, parts=[PICTURE])),
    ],
    "empty": [
        model(CALL),
        user(answer({}), answer(None), answer({}, parts=[])),
        user({"functionResponse": {"name": "f"}}),
    ],
    "looks-like-both": [model(CALL), user(answer({"response": {"result": "a"}, "parts": [1]}))],
    "snake-case": [
        model({"function_call": {"id": "x", "name": "f", "args": {}}}),
        user(
            {"function_response": {"id": "x", "name": "f", "response": {"result": "a"}, "parts": [PICTURE]}}
        ),
    ],
    "server-tools": [
        model({"executableCode": {"code": "1"}}, {"codeExecutionResult": {"output": "left alone"}}, CALL),
        user(answer({"result": "a"})),
    ],
}


class TestContract(FormatContract):
    @pytest.fixture
    def format(self) -> Gemini:
        return FORMAT

    @pytest.fixture(params=list(HISTORIES))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return HISTORIES[request.param]


class TestContractOnRecordedBodies(FormatContract):
    @pytest.fixture
    def format(self) -> Gemini:
        return FORMAT

    @pytest.fixture(params=wire_histories("gemini", "contents"))
    def history(self, request: pytest.FixtureRequest) -> Any:
        return request.param


def content_of(name: str, result: int = 0) -> Content:
    return FORMAT.views(HISTORIES[name])[1].results[result].content


def test_a_call_is_read_in_camel_case_and_in_snake_case() -> None:
    assert FORMAT.views(HISTORIES["text"])[1].calls == (CallView(Place(1), None, "f", {"n": 1}),)
    assert FORMAT.views(HISTORIES["snake-case"])[0].calls == (CallView(Place(0), "x", "f", {}),)


def test_a_call_is_read_from_objects() -> None:
    call = SimpleNamespace(id=None, name="f", args={})
    part = SimpleNamespace(text=None, thought=None, function_call=call)

    assert FORMAT.views([SimpleNamespace(role="model", parts=[part])])[0].calls == (
        CallView(Place(0), None, "f", {}),
    )


def test_results_without_ids_answer_the_calls_in_their_order() -> None:
    calls = name_results(FORMAT.views(HISTORIES["parallel-calls"]))

    assert {place.block: call.arguments for place, call in calls.items()} == {0: {"n": 1}, 1: {"n": 2}}


def test_the_text_of_a_response_stands_under_its_usual_key() -> None:
    assert content_of("parallel-calls", 1) == Content({"output": "two"}, ((("output",), "two"),))


@pytest.mark.parametrize("result", [0, 1, 2])
def test_a_response_with_more_in_it_is_data(result: int) -> None:
    assert content_of("json", result).texts == ()


@pytest.mark.parametrize("result", [0, 1])
def test_an_error_is_read_and_stays_one(result: int) -> None:
    assert FORMAT.views(HISTORIES["errors"])[1].results[result].is_error
    assert FORMAT.join(content_of("errors", result), "new", keep_media=False) == {"error": "new"}


@pytest.mark.parametrize(("result", "key"), [(0, "result"), (1, "output")])
def test_the_new_text_stands_under_the_same_key(result: int, key: str) -> None:
    assert FORMAT.join(content_of("parallel-calls", result), "new", keep_media=False) == {key: "new"}


def test_data_become_a_response_object() -> None:
    assert FORMAT.join(content_of("json"), "new", keep_media=False) == {"result": "new"}


def test_the_text_that_a_tool_returns_stays_text() -> None:
    assert FORMAT.join(FORMAT.split("long"), "new", keep_media=False) == "new"


def test_media_beside_a_response_are_read() -> None:
    assert content_of("media", 1).media == (Media("image", "AAAA", "image/png"),)


def test_clearing_takes_the_media_away_and_leaves_unknown_parts() -> None:
    history = HISTORIES["media"]
    contents = {Place(1, n): FORMAT.join(content_of("media", n), "new", keep_media=False) for n in (0, 1)}

    cleared = FORMAT.replace(history, contents)

    assert cleared[1]["parts"] == [
        answer({"result": "new"}, parts=[{"new": 1}]),
        answer({"result": "new"}, parts=[]),
    ]


def test_data_of_the_url_alphabet_are_read_as_base64() -> None:
    part = {"inline_data": {"mime_type": "image/png", "data": "-_-_"}}

    assert FORMAT.views([user(part)])[0].media == (Media("image", "+/+/", "image/png"),)


def test_bytes_of_an_sdk_object_are_read_as_base64() -> None:
    part = {"inline_data": SimpleNamespace(mime_type="application/pdf", data=b"\0\0\0")}

    assert FORMAT.views([user(part)])[0].media == (Media("document", "AAAA", "application/pdf"),)


def test_media_named_by_a_uri_have_no_data() -> None:
    part = {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/a.mp4"}}

    assert FORMAT.views([user(part)])[0].media == (Media("video", "", "video/mp4"),)


def test_thoughts_do_not_count() -> None:
    assert FORMAT.views([model({"text": "thought", "thought": True}, {"text": "said"})])[0].texts == ("said",)


def test_several_model_contents_in_a_row_are_one_turn() -> None:
    contents = [
        user({"text": "q"}),
        model({"text": "a"}),
        model(CALL),
        user(answer({})),
        model({"text": "b"}),
    ]

    assert [view.starts_turn for view in FORMAT.views(contents)] == [False, True, False, False, True]


def test_model_contents_are_never_rebuilt_when_a_result_changes() -> None:
    history = HISTORIES["parallel-calls"]

    assert FORMAT.replace(history, {Place(1, 0): {"result": "new"}})[0] is history[0]
