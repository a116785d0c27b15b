"""Histories that broke other systems keep the contract and what the providers demand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from formats.contract_runs import contract_tests, run_contract
from formats.pairing import anthropic_faults, bedrock_faults, gemini_faults, openai_chat_faults

from offloadkit.formats import Format, detect, format_named
from offloadkit.results import name_results
from offloadkit.testing.formats import with_text

Cases = dict[str, dict[str, Any]]

HISTORIES = {
    "messages": [
        *("PAIR-01", "PAIR-03", "PAIR-05", "PAIR-06", "PAIR-08", "PAIR-13", "PAIR-15", "PAIR-16", "PAIR-18"),
        *("PAIR-20", "PAIR-21", "PAIR-23", "FMT-01", "FMT-05", "FMT-10", "FMT-11", "FMT-13", "TOK-06"),
        *("TOK-10", "TOK-13", "FMT-08"),
    ],
    "contents": ["PAIR-10", "PAIR-11", "FMT-03", "FMT-06"],
}
FAULTS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "openai-chat": openai_chat_faults,
    "anthropic-messages": anthropic_faults,
    "gemini": gemini_faults,
    "bedrock-converse": bedrock_faults,
}
IDS = [(case_id, key) for key, case_ids in HISTORIES.items() for case_id in case_ids]


def history(cases: Cases, case_id: str, key: str = "messages") -> list[Any]:
    messages: list[Any] = cases[case_id]["input"][key]
    return messages


def faults(message_format: Format, messages: list[Any]) -> list[Any]:
    return list(FAULTS[message_format.name](messages))


@pytest.mark.parametrize(("case_id", "key"), IDS)
@pytest.mark.parametrize("name", contract_tests())
def test_the_contract_holds(cases: Cases, case_id: str, key: str, name: str) -> None:
    messages = history(cases, case_id, key)

    run_contract(name, detect(messages), messages)


@pytest.mark.parametrize(("case_id", "key"), IDS)
def test_clearing_every_result_adds_no_fault(cases: Cases, case_id: str, key: str) -> None:
    messages = history(cases, case_id, key)
    message_format = detect(messages)

    assert faults(message_format, with_text(message_format, messages)) == faults(message_format, messages)


@pytest.mark.parametrize(
    "case_id", ["PAIR-05", "PAIR-06", "PAIR-13", "PAIR-15", "PAIR-16", "PAIR-18", "PAIR-20"]
)
def test_each_result_is_attributed_to_a_call_of_its_own(cases: Cases, case_id: str) -> None:
    views = format_named("openai-chat").views(history(cases, case_id))
    results = [result.place for view in views for result in view.results]

    calls = name_results(views)

    assert list(calls) == results
    assert len({call.place for call in calls.values()}) == len(results)


def test_interleaved_results_belong_to_the_calls_with_their_ids(cases: Cases) -> None:
    """PAIR-05."""
    views = format_named("openai-chat").views(history(cases, "PAIR-05"))

    assert [call.call_id for call in name_results(views).values()] == ["x1", "x2"]


def test_two_calls_with_one_id_keep_their_own_arguments(cases: Cases) -> None:
    """PAIR-13."""
    views = format_named("openai-chat").views(history(cases, "PAIR-13"))

    assert [call.arguments for call in name_results(views).values()] == ['{"x":1}', '{"x":2}']


def test_results_stay_before_the_text_of_their_message(cases: Cases) -> None:
    """FMT-01."""
    message_format = format_named("anthropic-messages")

    cleared = with_text(message_format, history(cases, "FMT-01"))

    assert [block["type"] for block in cleared[2]["content"]] == ["tool_result", "text"]


def test_an_emptied_thinking_block_passes_through(cases: Cases) -> None:
    """FMT-05."""
    messages = history(cases, "FMT-05")

    assert with_text(format_named("anthropic-messages"), messages)[0] is messages[0]


@pytest.mark.parametrize("case_id", ["FMT-10", "FMT-11"])
def test_arguments_stay_whole_when_results_change(cases: Cases, case_id: str) -> None:
    messages = history(cases, case_id)

    cleared = with_text(format_named("openai-chat"), messages)

    assert cleared[1] is messages[1]
    assert json.loads(cleared[1]["tool_calls"][0]["function"]["arguments"])


def test_odd_calls_are_counted_and_come_back_unchanged(cases: Cases) -> None:
    """TOK-10."""
    messages = history(cases, "TOK-10")

    views = format_named("openai-chat").views(messages)

    assert [len(view.calls) for view in views] == [0, 1, 1, 1]
    assert [call.arguments for view in views for call in view.calls] == [None, None, {"a": 1}]


def test_a_list_of_blocks_counts_by_its_texts(cases: Cases) -> None:
    """TOK-13."""
    (view,) = format_named("openai-chat").views(history(cases, "TOK-13"))

    assert [text for _, text in view.results[0].content.texts] == ["a b c", "d e f"]


def test_pictures_are_seen_with_their_data(cases: Cases) -> None:
    """TOK-06."""
    (view,) = format_named("openai-chat").views(history(cases, "TOK-06"))

    assert len(view.media) == 20
    assert all(media.kind == "image" and len(media.data) == 80_000 for media in view.media)


@pytest.mark.parametrize("case_id", ["PAIR-10", "PAIR-11", "FMT-03", "FMT-06"])
def test_a_gemini_response_is_always_an_object(cases: Cases, case_id: str) -> None:
    cleared = with_text(format_named("gemini"), history(cases, case_id, "contents"))

    responses = [
        part["functionResponse"]["response"] for part in cleared[-1]["parts"] if "functionResponse" in part
    ]
    assert all(isinstance(response, dict) for response in responses)


def test_parts_with_a_thought_signature_are_returned_unchanged(cases: Cases) -> None:
    """FMT-06."""
    contents = history(cases, "FMT-06", "contents")

    assert with_text(format_named("gemini"), contents)[0] is contents[0]


def test_a_bedrock_result_keeps_its_shape_and_status(cases: Cases) -> None:
    """FMT-08."""
    cleared = with_text(format_named("bedrock-converse"), history(cases, "FMT-08"))

    result = cleared[2]["content"][0]["toolResult"]
    assert (result["toolUseId"], result["status"]) == ("b1", "success")
    assert [list(block) for block in result["content"]] == [["text"]]
