"""A format is recognised when it can be, and asked for when it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from formats.wire import wire_histories

from offloadkit.errors import FormatError
from offloadkit.formats import FORMATS, detect, format_named


@pytest.mark.parametrize("messages", wire_histories("openai-chat", "messages"))
def test_recorded_openai_chat_bodies_are_recognised(messages: list[Any]) -> None:
    assert detect(messages).name == "openai-chat"


@pytest.mark.parametrize("messages", wire_histories("anthropic-messages", "messages"))
def test_recorded_anthropic_bodies_are_recognised(messages: list[Any]) -> None:
    assert detect(messages).name == "anthropic-messages"


def test_plain_texts_are_of_any_format() -> None:
    assert (
        detect([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]).name
        == "openai-chat"
    )
    assert detect([]).name == "openai-chat"


@pytest.mark.parametrize(
    "messages",
    [
        "text",
        5,
        {"role": "user"},
        [1, 2],
        [None],
        [{"content": "no role"}],
        [{"role": "user", "parts": [{"text": "gemini"}]}],
        [{"role": "user", "content": [{"toolResult": {"toolUseId": "x", "content": []}}]}],
        [
            {"role": "tool", "tool_call_id": "c", "content": "openai"},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
        ],
    ],
)
def test_what_is_of_no_known_format_is_refused(messages: Any) -> None:
    with pytest.raises(FormatError):
        detect(messages)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_found_by_its_name(name: str) -> None:
    assert format_named(name).name == name


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FormatError, match="openai-chat, anthropic-messages"):
        format_named("nosuch")
