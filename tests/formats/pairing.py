"""What the providers refuse: calls without their results right after them, and results without their call."""

from __future__ import annotations

from collections import Counter
from typing import Any

Fault = tuple[int, str]


def openai_chat_faults(messages: list[dict[str, Any]]) -> list[Fault]:
    """Return where the results of an assistant message are not exactly the messages that follow it."""
    faults: list[Fault] = []
    open_ids: Counter[str] = Counter()
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if not open_ids[message["tool_call_id"]]:
                faults.append((index, "a result without its call"))
            open_ids[message["tool_call_id"]] -= 1
            continue
        if +open_ids:
            faults.append((index, "a call without its result"))
        open_ids = Counter(call["id"] for call in message.get("tool_calls") or ())
    return [*faults, *([(len(messages), "a call without its result")] if +open_ids else [])]


def anthropic_faults(messages: list[dict[str, Any]]) -> list[Fault]:
    """Return where a user message does not begin with exactly the results of the message before it."""
    faults: list[Fault] = []
    asked: list[str] = []
    for index, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if Counter(answered) != Counter(asked):
            faults.append((index, "not the results of the message before"))
        if any(block["type"] != "tool_result" for block in blocks[: len(answered)]):
            faults.append((index, "results are not first"))
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
    return [*faults, *([(len(messages), "a call without its result")] if asked else [])]


def gemini_faults(contents: list[dict[str, Any]]) -> list[Fault]:
    """Return where the responses are not as many, and of the same names, as the calls before them."""
    faults: list[Fault] = []
    asked: list[str] = []
    for index, content in enumerate(contents):
        answered = [p["functionResponse"]["name"] for p in content["parts"] if "functionResponse" in p]
        if answered != asked:
            faults.append((index, "not the responses to the content before"))
        asked = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
    return faults


def bedrock_faults(messages: list[dict[str, Any]]) -> list[Fault]:
    """Return where a user message does not hold exactly the results of the message before it."""
    faults: list[Fault] = []
    asked: list[str] = []
    for index, message in enumerate(messages):
        answered = [b["toolResult"]["toolUseId"] for b in message["content"] if "toolResult" in b]
        if Counter(answered) != Counter(asked):
            faults.append((index, "not the results of the message before"))
        asked = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
    return faults
