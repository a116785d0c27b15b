"""The four laws, over generated histories of every format and any policy."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from formats.histories import (
    anthropic_histories,
    bedrock_converse_histories,
    gemini_histories,
    openai_chat_histories,
    openai_responses_histories,
)
from hypothesis import given
from hypothesis import strategies as st

from offloadkit import Offloader, Policy, ToolRule
from offloadkit.backend import Backend
from offloadkit.formats import format_named
from offloadkit.registry import open_backend
from offloadkit.testing import FlakyBackend

TEXTS = st.one_of(
    st.text(max_size=40),
    st.text("ab\n", max_size=20).map(lambda text: text * 60),
    st.integers(1, 400).map(lambda lines: "".join(f"{n}: a line\n" for n in range(lines))),
    st.sampled_from(
        ["", "x", "\ud83d", "a\x00b\r\n\x0c\u2028", "日本語のテキスト" * 200, "[Tool result offloaded] x"]
    ),
)
POLICIES = st.builds(
    Policy,
    clearing_token_threshold=st.one_of(st.none(), st.integers(0, 400)),
    keep_recent_tokens=st.integers(0, 300),
    offloading_token_limit=st.one_of(st.none(), st.integers(0, 200)),
    keep_recent_turns=st.integers(0, 2),
    clear_at_least_tokens=st.integers(0, 200),
    batch_token_limit=st.one_of(st.none(), st.integers(0, 300)),
    preview_tokens=st.integers(1, 60),
    clear_tool_inputs=st.booleans(),
    token_counter=st.sampled_from(["bytes", "bytes/4", len]),
    exclude_tools=st.just(("excluded",)),
    tools=st.just({"kept": ToolRule(clear=False)}),
)
HISTORIES = st.one_of(
    st.tuples(st.just("openai-chat"), openai_chat_histories(texts=TEXTS)),
    st.tuples(st.just("anthropic-messages"), anthropic_histories(texts=TEXTS)),
    st.tuples(st.just("openai-responses"), openai_responses_histories(texts=TEXTS)),
    st.tuples(st.just("gemini"), gemini_histories(texts=TEXTS)),
    st.tuples(st.just("bedrock-converse"), bedrock_converse_histories(texts=TEXTS)),
)
History = tuple[str, list[Any]]


def offloader_for(policy: Policy, backend: Backend | None = None) -> Offloader:
    return Offloader(backend or open_backend("memory://"), session="s", policy=policy)


@given(HISTORIES, POLICIES)
def test_nothing_is_lost(history: History, policy: Policy) -> None:
    name, messages = history
    offloader = offloader_for(policy)

    assert offloader.restore(offloader.reduce(messages, format=name), format=name) == messages


@given(HISTORIES, POLICIES)
def test_the_same_history_gives_the_same_bytes(history: History, policy: Policy) -> None:
    name, messages = history

    one, other = (json.dumps(offloader_for(policy).reduce(messages, format=name)) for _ in range(2))

    assert one == other


@given(HISTORIES, POLICIES)
def test_a_reduced_history_reduces_to_itself(history: History, policy: Policy) -> None:
    name, messages = history
    offloader = offloader_for(policy)
    reduced = offloader.reduce(messages, format=name)

    again = offloader.reduce(reduced, format=name)

    assert all(new is old for new, old in zip(again, reduced, strict=True))


@given(HISTORIES, POLICIES)
def test_reducing_before_every_model_call_equals_reducing_at_once(history: History, policy: Policy) -> None:
    name, messages = history
    offloader = offloader_for(policy)
    stepwise: list[Any] = []
    for message in messages:
        if format_named(name).views([*stepwise, message])[-1].starts_turn:
            stepwise = offloader.reduce(stepwise, format=name)
        stepwise.append(message)

    assert offloader.reduce(stepwise, format=name) == offloader.reduce(messages, format=name)


@given(HISTORIES, POLICIES)
def test_the_structure_is_untouched(history: History, policy: Policy) -> None:
    name, messages = history
    before = copy.deepcopy(messages)

    reduced = offloader_for(policy).reduce(messages, format=name)

    assert messages == before
    assert all(new is old for new, old in zip(reduced, messages, strict=True) if new == old)
    assert skeleton(name, reduced) == skeleton(name, messages)


def skeleton(name: str, messages: list[Any]) -> list[Any]:
    """Return all that reduction may not change: roles, texts outside results, calls, ids, errors, order."""
    return [
        (
            view.starts_turn,
            view.texts,
            [(call.place, call.call_id, call.tool) for call in view.calls],
            [(result.place, result.call_id, result.is_error) for result in view.results],
        )
        for view in format_named(name).views(messages)
    ]


@given(HISTORIES, POLICIES)
def test_no_replaced_text_is_blank_and_nothing_grows(history: History, policy: Policy) -> None:
    name, messages = history
    offloader = offloader_for(policy)
    comparison = offloader.compare(messages, format=name)
    reduced = offloader.reduce(messages, format=name)

    assert comparison.tokens_after <= comparison.tokens_before
    views, after = format_named(name).views(messages), format_named(name).views(reduced)
    for old, new in zip(views, after, strict=True):
        for one, other in zip(old.results, new.results, strict=True):
            if other.content.value != one.content.value:
                assert all(text.strip() for _, text in other.content.texts)
                assert other.content.texts


@given(HISTORIES, POLICIES, st.sets(st.integers(1, 12)))
def test_nothing_is_lost_when_writes_fail(history: History, policy: Policy, failing: set[int]) -> None:
    name, messages = history
    backend = open_backend("memory://")
    flaky = FlakyBackend(backend)
    for call in failing:
        flaky.fail("put", call=call)

    reduced = offloader_for(policy, flaky).reduce(messages, format=name)

    assert offloader_for(policy, backend).restore(reduced, format=name) == messages


@given(HISTORIES, POLICIES)
def test_a_reference_opens_only_in_its_session(history: History, policy: Policy) -> None:
    name, messages = history
    backend = open_backend("memory://")
    reduced = Offloader(backend, session="one", policy=policy).reduce(messages, format=name)

    assert Offloader(backend, session="other", policy=policy).restore(reduced, format=name) == reduced


@pytest.mark.parametrize("turns", [1, 40])
def test_a_growing_history_writes_each_result_once(turns: int) -> None:
    flaky = FlakyBackend(open_backend("memory://"))
    offloader = offloader_for(Policy(offloading_token_limit=10), flaky)
    messages: list[Any] = []
    for turn in range(turns):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "t", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": f"{turn} " * 900})
        offloader.reduce(messages)

    assert flaky.calls["put"] == turns
