"""The contract holds on generated histories."""

from __future__ import annotations

from typing import Any

import pytest
from formats.contract_runs import contract_tests, run_contract
from formats.histories import anthropic_histories, openai_chat_histories
from hypothesis import given, settings

from offloadkit.formats import detect, format_named


@pytest.mark.parametrize("name", contract_tests())
@settings(max_examples=40)
@given(history=openai_chat_histories())
def test_the_contract_holds_for_openai_chat(name: str, history: list[Any]) -> None:
    run_contract(name, format_named("openai-chat"), history)


@pytest.mark.parametrize("name", contract_tests())
@settings(max_examples=40)
@given(history=anthropic_histories())
def test_the_contract_holds_for_anthropic_messages(name: str, history: list[Any]) -> None:
    run_contract(name, format_named("anthropic-messages"), history)


@given(openai_chat_histories())
def test_openai_chat_is_detected(history: list[Any]) -> None:
    assert detect(history).name == "openai-chat"


@given(anthropic_histories())
def test_anthropic_messages_are_detected_when_they_hold_a_call(history: list[Any]) -> None:
    has_calls = any(view.calls for view in format_named("anthropic-messages").views(history))

    assert not has_calls or detect(history).name == "anthropic-messages"
