"""How many tokens the definitions of an agent's tools take."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from offloadkit.tokens.counter import TokenCounter

__all__ = ["tool_definition_tokens"]


def tool_definition_tokens(definitions: Iterable[Any], counter: TokenCounter) -> int:
    """Return the tokens of tool definitions: those of their compact JSON text, added and rounded once.

    No provider says how it writes definitions into the prompt. OpenAI shortens the schema, Anthropic sends it
    with a system text of its own (a few hundred tokens, by model); `calibrate` takes up either.

    Args:
        definitions: Each as it is sent: a JSON object.
        counter: What to count by.
    """
    return counter.tokens(sum(counter.units(_compact_json(definition)) for definition in definitions))


def _compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
