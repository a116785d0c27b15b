"""Small histories for tests, written by hand."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]


def call(call_id: str | None, tool: str = "fetch", arguments: str = "{}") -> dict[str, Any]:
    """Return one tool call of the OpenAI chat format."""
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": arguments}}


def asks(*calls: dict[str, Any]) -> Message:
    """Return an assistant message that calls tools."""
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answers(call_id: str | None, content: Any) -> Message:
    """Return a tool result."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def user(text: str = "go on") -> Message:
    """Return a user message."""
    return {"role": "user", "content": text}


def session(turns: int, content: str = "log " * 500, tool: str = "fetch") -> list[Message]:
    """Return a session of ``turns`` calls, each with its own result."""
    messages = [user("a long job")]
    for turn in range(turns):
        messages += [asks(call(f"c{turn}", tool)), answers(f"c{turn}", f"{turn}: {content}")]
    return messages
