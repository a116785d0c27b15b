"""JSON read from a text that may be several lines of JSON, or cut off at its end; and written in short."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from offloadkit.previews.values import quoted, range_of

__all__ = ["Parsed", "abbreviated", "parse"]

MAX_CHARACTERS: Final = 20_000_000
_MAX_COMPLETED: Final = 1_000_000
_MAX_LINES: Final = 500_000
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+(?P<closed>"?)|[\[\]{},]', re.DOTALL)
_HALF_ESCAPE: Final = re.compile(r"(?<!\\)(?P<whole>(?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_LEAST_READABLE: Final = 1_000
_KEY: Final = 40
_MAX_KEYS: Final = 30


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value and how it was written.

    Attributes:
        value: The value; for JSON Lines the list of all lines' values.
        lines: True for JSON Lines.
        broken_at: Where the text ceases to be JSON, in characters, with ``value`` standing before; else None.
    """

    value: Any
    lines: bool = False
    broken_at: int | None = None


def parse(text: str) -> Parsed | None:
    """Read ``text`` as JSON, as JSON Lines, or as JSON that breaks off; None when it is none of them."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        return Parsed(json.loads(text))
    except json.JSONDecodeError as error:
        broken_at = error.pos
    except ValueError:
        return None
    return _parse_lines(text) or _parse_broken(text, broken_at)


def abbreviated(value: Any, *, depth: int = 3, items: int = 3, width: int = 60) -> str:
    """Return a value in one line like JSON, with long strings, arrays and deep levels shortened."""
    if isinstance(value, str):
        return quoted(value, width)
    if isinstance(value, list):
        return _abbreviated_list(value, depth - 1, items, width)
    if isinstance(value, dict):
        return _abbreviated_object(value, depth - 1, items, width)
    if isinstance(value, int) and not isinstance(value, bool):
        return range_of([value])
    return json.dumps(value)


def _abbreviated_list(value: list[Any], depth: int, items: int, width: int) -> str:
    if depth < 0 and value:
        return "[…]"
    shown = [abbreviated(item, depth=depth, items=items, width=width) for item in value[:items]]
    if len(value) > items:
        shown.append(f"… {len(value) - items} more")
    return "[" + ", ".join(shown) + "]"


def _abbreviated_object(value: dict[str, Any], depth: int, items: int, width: int) -> str:
    if depth < 0 and value:
        return "{…}"
    pairs = [
        f"{quoted(key, _KEY)}: {abbreviated(item, depth=depth, items=items, width=width)}"
        for key, item in islice(value.items(), _MAX_KEYS)
    ]
    if len(value) > _MAX_KEYS:
        pairs.append(f"… {len(value) - _MAX_KEYS} more")
    return "{" + ", ".join(pairs) + "}"


def _parse_lines(text: str) -> Parsed | None:
    lines = [line for line in text.split("\n") if line.strip()]
    if not 2 <= len(lines) <= _MAX_LINES or not lines[0].lstrip().startswith(("{", "[")):
        return None
    values = []
    for line in lines:
        try:
            values.append(json.loads(line))
        except ValueError:
            if len(values) < len(lines) - 1 or len(values) < 2:
                return None
            return Parsed(values, lines=True, broken_at=text.rfind(line))
    return Parsed(values, lines=True)


def _parse_broken(text: str, broken_at: int) -> Parsed | None:
    """Read the beginning of a text that was cut off at its end or in its middle."""
    for until in (min(len(text), _MAX_COMPLETED), min(broken_at, _MAX_COMPLETED)):
        for candidate, readable in _completions(text[:until]):
            if readable < min(_LEAST_READABLE, len(text) // 4):
                continue
            try:
                return Parsed(json.loads(candidate), broken_at=readable)
            except ValueError:
                continue
    return None


def _completions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the text with what is open closed, after its last string or element, and where that ends."""
    stack: list[str] = []
    safe, safe_depth, in_string = 0, 0, False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark[0] == '"':
            in_string = not token["closed"]
        elif mark in "[{":
            stack.append("]" if mark == "[" else "}")
        elif mark == ",":
            safe, safe_depth = token.start(), len(stack)
        elif not stack or stack.pop() != mark:
            return
        else:
            safe, safe_depth = token.end(), len(stack)
    if in_string:
        yield _HALF_ESCAPE.sub(r"\g<whole>", text) + '"' + "".join(reversed(stack)), len(text)
    if safe_depth:
        yield text[:safe] + "".join(reversed(stack[:safe_depth])), safe
