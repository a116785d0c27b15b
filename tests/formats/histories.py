"""Strategies for legal histories: parallel calls, odd ids, block lists, media, absent contents."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Message = dict[str, Any]
Block = dict[str, Any]
Texts = st.SearchStrategy[str]

# Providers repeat ids within a conversation, and some servers leave them empty.
IDS = st.sampled_from(["call_1", "call_2", "call_3", "toolu_01", ""])
TOOLS = st.sampled_from(["search", "fetch", "kept", "excluded", "read_offloaded"])
ARGUMENTS = st.dictionaries(st.sampled_from(["path", "q"]), st.text(max_size=30), max_size=2)
SAID = st.text(max_size=30).map(lambda text: f"{text}.")
RESULT_TEXTS = st.text(max_size=50)
CALLS = st.lists(st.tuples(IDS, TOOLS, ARGUMENTS), max_size=3)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@st.composite
def openai_chat_histories(draw: st.DrawFn, texts: Texts = RESULT_TEXTS) -> list[Message]:
    """Histories of the format openai-chat whose results hold ``texts``."""
    said = _openai_said()
    messages = [{"role": draw(st.sampled_from(["system", "developer", "user"])), "content": draw(SAID)}]
    for calls in draw(st.lists(CALLS, max_size=5)):
        messages.append(draw(_openai_assistant(calls)))
        results = [
            {"role": "tool", "tool_call_id": call[0], "content": draw(_openai_result(texts))}
            for call in calls
        ]
        messages += (
            draw(st.permutations(results)) if len({call[0] for call in calls}) == len(calls) else results
        )
        if not calls or draw(st.booleans()):
            messages.append({"role": "user", "content": draw(said)})
    return messages


@st.composite
def _openai_assistant(draw: st.DrawFn, calls: list[tuple[str, str, dict[str, str]]]) -> Message:
    if not calls:
        return {"role": "assistant", "content": draw(SAID)}
    made = [
        {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        for call_id, tool, arguments in calls
    ]
    return {"role": "assistant", "content": draw(st.none() | SAID), "tool_calls": made}


def _openai_result(texts: Texts) -> st.SearchStrategy[Any]:
    parts = st.lists(_text_blocks(texts, "prompt_cache_breakpoint", {"mode": "explicit"}), max_size=3)
    return st.one_of(texts, parts, st.none())


def _openai_said() -> st.SearchStrategy[Any]:
    image = st.just({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}})
    text = SAID.map(lambda said: {"type": "text", "text": said})
    return st.one_of(SAID, st.lists(st.one_of(text, image), min_size=1, max_size=2))


@st.composite
def anthropic_histories(draw: st.DrawFn, texts: Texts = RESULT_TEXTS) -> list[Message]:
    """Histories of the format anthropic-messages whose results hold ``texts``."""
    messages: list[Message] = [{"role": "user", "content": draw(SAID)}]
    for calls in draw(st.lists(CALLS, max_size=5)):
        thinking = {"type": "thinking", "thinking": "…", "signature": "sig"}
        said = [thinking] if draw(st.booleans()) else []
        said += [{"type": "text", "text": draw(SAID)}] if not calls or draw(st.booleans()) else []
        uses = [{"type": "tool_use", "id": i, "name": tool, "input": args} for i, tool, args in calls]
        messages.append({"role": "assistant", "content": [*said, *uses]})
        results = [draw(_anthropic_result(call[0], texts)) for call in calls]
        after = [{"type": "text", "text": draw(SAID)}] if not calls or draw(st.booleans()) else []
        messages.append({"role": "user", "content": [*results, *after]})
    return messages


@st.composite
def _anthropic_result(draw: st.DrawFn, call_id: str, texts: Texts) -> Block:
    blocks = st.lists(_anthropic_blocks(texts), max_size=3)
    fields = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "content": st.one_of(texts, blocks),
                "is_error": st.booleans(),
                "cache_control": st.just({"type": "ephemeral"}),
            },
        )
    )
    return {"type": "tool_result", "tool_use_id": call_id, **fields}


def _anthropic_blocks(texts: Texts) -> st.SearchStrategy[Block]:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    marks = {"cache_control": {"type": "ephemeral"}}
    return st.one_of(
        _text_blocks(texts, "cache_control", {"type": "ephemeral"}),
        st.sampled_from([image, {**image, **marks}, {"type": "tool_reference", "tool_name": "search"}]),
        texts.map(
            lambda text: {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": text},
            }
        ),
        texts.map(
            lambda text: {
                "type": "search_result",
                "source": "s",
                "title": "t",
                "content": [{"type": "text", "text": text}],
            }
        ),
    )


def _text_blocks(texts: Texts, mark: str, value: Block) -> st.SearchStrategy[Block]:
    return st.builds(
        lambda text, marked: {"type": "text", "text": text, **({mark: value} if marked else {})},
        texts,
        st.booleans(),
    )
