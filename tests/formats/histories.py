"""Strategies for legal histories: parallel calls, odd ids, block lists, media, absent contents."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Messages = list[dict[str, Any]]

IDS = st.sampled_from(["call_1", "call_2", "call_3", "toolu_01", ""])
TOOLS = st.sampled_from(["search", "fetch", "kept", "excluded", "read_offloaded"])
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ARGUMENTS = st.dictionaries(st.sampled_from(["path", "q"]), st.text(max_size=30), max_size=2)
SAID = st.text(max_size=30)


@st.composite
def openai_chat_histories(draw: st.DrawFn, texts: st.SearchStrategy[str] | None = None) -> Messages:
    """Histories of the format openai-chat."""
    result_texts = texts if texts is not None else st.text(max_size=50)
    parts = st.lists(_texts(result_texts, "prompt_cache_breakpoint"), min_size=1, max_size=3)
    contents = st.one_of(result_texts, parts, st.just([]))
    messages: Messages = [
        {"role": draw(st.sampled_from(["system", "developer", "user"])), "content": draw(SAID)}
    ]
    for _ in range(draw(st.integers(0, 5))):
        calls = draw(st.lists(st.tuples(IDS, TOOLS, ARGUMENTS), max_size=3))
        said = draw(st.one_of(st.none(), SAID))
        assistant: dict[str, Any] = {"role": "assistant", "content": said}
        if calls:
            assistant["tool_calls"] = [_openai_call(*call) for call in calls]
        messages.append(assistant)
        messages += [{"role": "tool", "tool_call_id": one[0], "content": draw(contents)} for one in calls]
        if draw(st.booleans()):
            messages.append({"role": "user", "content": draw(st.one_of(SAID, _openai_user()))})
    return messages


def _openai_call(call_id: str, tool: str, arguments: dict[str, str]) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


def _openai_user() -> st.SearchStrategy[list[dict[str, Any]]]:
    image = st.just({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}})
    return st.lists(st.one_of(SAID.map(lambda text: {"type": "text", "text": text}), image), max_size=2)


@st.composite
def anthropic_histories(draw: st.DrawFn, texts: st.SearchStrategy[str] | None = None) -> Messages:
    """Histories of the format anthropic-messages."""
    result_texts = texts if texts is not None else st.text(max_size=50)
    messages: Messages = [{"role": "user", "content": draw(SAID)}]
    for _ in range(draw(st.integers(0, 5))):
        calls = draw(st.lists(st.tuples(IDS, TOOLS, ARGUMENTS), max_size=3))
        thinking = {"type": "thinking", "thinking": "…", "signature": "sig"}
        said = [thinking] if draw(st.booleans()) else []
        said += [{"type": "text", "text": text} for text in draw(st.lists(SAID, max_size=1))]
        uses = [{"type": "tool_use", "id": i, "name": tool, "input": args} for i, tool, args in calls]
        messages.append({"role": "assistant", "content": [*said, *uses]})
        results = [draw(_anthropic_result(one[0], result_texts)) for one in calls]
        after = [{"type": "text", "text": draw(SAID)}] if draw(st.booleans()) else []
        messages.append({"role": "user", "content": [*results, *after]})
    return messages


@st.composite
def _anthropic_result(draw: st.DrawFn, call_id: str, texts: st.SearchStrategy[str]) -> dict[str, Any]:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    blocks = st.lists(st.one_of(_texts(texts, "cache_control"), st.just(image)), max_size=3)
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id}
    content = draw(st.one_of(st.none(), texts, blocks))
    if content is not None:
        block["content"] = content
    if draw(st.booleans()):
        block["is_error"] = draw(st.booleans())
    if draw(st.booleans()):
        block["cache_control"] = {"type": "ephemeral"}
    return block


def _texts(texts: st.SearchStrategy[str], mark: str) -> st.SearchStrategy[dict[str, Any]]:
    marks = st.sampled_from([{}, {mark: {"type": "ephemeral"}}])
    return st.tuples(texts, marks).map(lambda pair: {"type": "text", "text": pair[0], **pair[1]})
