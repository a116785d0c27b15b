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


@st.composite
def openai_responses_histories(draw: st.DrawFn, texts: Texts = RESULT_TEXTS) -> list[Message]:
    """Histories of the format openai-responses whose results hold ``texts``."""
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
    blocks = st.lists(
        texts.map(lambda text: {"type": "input_text", "text": text}) | st.just(image), max_size=3
    )
    items: list[Message] = [{"role": "user", "content": draw(SAID)}]
    for calls in draw(st.lists(CALLS, max_size=5)):
        items += draw(st.sampled_from([[], [{"type": "reasoning", "id": "rs", "summary": []}]]))
        items += [
            {"type": "function_call", "call_id": call_id, "name": tool, "arguments": json.dumps(arguments)}
            for call_id, tool, arguments in calls
        ]
        items += [
            {"type": "function_call_output", "call_id": call[0], "output": draw(st.one_of(texts, blocks))}
            for call in calls
        ]
        items.append(
            {"type": "message", "role": draw(st.sampled_from(["user", "assistant"])), "content": draw(SAID)}
        )
    return items


@st.composite
def gemini_histories(draw: st.DrawFn, texts: Texts = RESULT_TEXTS) -> list[Message]:
    """Histories of the format gemini whose results hold ``texts``; most have no ids."""
    responses = st.one_of(
        st.builds(lambda key, text: {key: text}, st.sampled_from(["result", "output", "error"]), texts),
        st.builds(lambda text: {"rows": [text], "count": 1}, texts),
        st.just({}),
    )
    picture = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    media = st.sampled_from([{}, {"parts": [picture]}])
    contents: list[Message] = [{"role": "user", "parts": [{"text": draw(SAID)}]}]
    for calls in draw(st.lists(CALLS, max_size=5)):
        said = [{"text": draw(SAID)}] if not calls or draw(st.booleans()) else []
        uses = [{"functionCall": {"name": tool, "args": arguments}} for _, tool, arguments in calls]
        contents.append({"role": "model", "parts": [*said, *uses]})
        answers = [
            {"functionResponse": {"name": call[1], "response": draw(responses), **draw(media)}}
            for call in calls
        ]
        next_said: list[Block] = [{"text": draw(SAID)}]
        contents.append({"role": "user", "parts": answers or next_said})
    return contents


@st.composite
def bedrock_converse_histories(draw: st.DrawFn, texts: Texts = RESULT_TEXTS) -> list[Message]:
    """Histories of the format bedrock-converse whose results hold ``texts``."""
    blocks = st.one_of(
        texts.map(lambda text: {"text": text}),
        texts.map(lambda text: {"json": {"rows": [text]}}),
        st.just({"image": {"format": "png", "source": {"bytes": PIXEL}}}),
    )
    messages: list[Message] = [{"role": "user", "content": [{"text": draw(SAID)}]}]
    for calls in draw(st.lists(CALLS, max_size=5)):
        said = [{"text": draw(SAID)}] if not calls or draw(st.booleans()) else []
        uses = [
            {"toolUse": {"toolUseId": i, "name": tool, "input": arguments}} for i, tool, arguments in calls
        ]
        messages.append({"role": "assistant", "content": [*said, *uses]})
        status = st.sampled_from([{}, {"status": "error"}, {"status": "success"}])
        results = [
            {
                "toolResult": {
                    "toolUseId": call[0],
                    "content": draw(st.lists(blocks, max_size=3)),
                    **draw(status),
                }
            }
            for call in calls
        ]
        messages.append({"role": "user", "content": results or [{"text": draw(SAID)}]})
    return messages


def _text_blocks(texts: Texts, mark: str, value: Block) -> st.SearchStrategy[Block]:
    return st.builds(
        lambda text, marked: {"type": "text", "text": text, **({mark: value} if marked else {})},
        texts,
        st.booleans(),
    )
