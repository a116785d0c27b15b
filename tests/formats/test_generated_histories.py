"""The contract holds on generated histories."""

from __future__ import annotations

from typing import Any

import pytest
from formats.contract_runs import contract_tests, run_contract
from formats.histories import (
    anthropic_histories,
    bedrock_converse_histories,
    gemini_histories,
    openai_chat_histories,
    openai_responses_histories,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from offloadkit.formats import FORMATS, detect, format_named

HISTORIES: dict[str, st.SearchStrategy[list[Any]]] = {
    "openai-chat": openai_chat_histories(),
    "openai-responses": openai_responses_histories(),
    "anthropic-messages": anthropic_histories(),
    "gemini": gemini_histories(),
    "bedrock-converse": bedrock_converse_histories(),
}


@pytest.mark.parametrize("name", HISTORIES)
@settings(max_examples=30)
@given(data=st.data())
def test_the_contract_holds(name: str, data: st.DataObject) -> None:
    history = data.draw(HISTORIES[name])

    for test in contract_tests():
        run_contract(test, format_named(name), history)


@pytest.mark.parametrize("name", HISTORIES)
@given(data=st.data())
def test_a_history_with_calls_is_detected(name: str, data: st.DataObject) -> None:
    history = data.draw(HISTORIES[name])
    has_calls = any(view.calls for view in format_named(name).views(history))

    assert not has_calls or detect(history).name == name


def test_every_format_has_generated_histories() -> None:
    assert set(HISTORIES) == set(FORMATS)
