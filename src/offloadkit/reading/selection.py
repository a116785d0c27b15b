"""What a JMESPath expression selects from a stored JSON text, as a text that is read like any other.

JSON Lines, and any other sequence of JSON values, count as one array of them.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

from offloadkit.lines import LineIndex
from offloadkit.read_call import render_call
from offloadkit.reading.frame import count
from offloadkit.reading.setting import Setting
from offloadkit.reading.spans import as_text
from offloadkit.reading.stored import ReadRequest, StoredText

__all__ = ["ParsedJSON", "Selection", "select"]

MOST_JSON_BYTES: Final = 32 * 1024 * 1024
"""The largest text that is parsed for a query; parsed it takes about ten times as much memory."""

MOST_SELECTED_BYTES: Final = 256 * 1024 * 1024
"""The largest selection that an expression may be able to make, by an estimate from above."""

_CONTAINER_BYTES: Final = 200
_MOST_ESCAPED: Final = 6
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_MOST_WORDS: Final = 120
_EXAMPLES: Final = 'Examples: "items[0]", "items[?id==`7`].name", "keys(@)", "length(@)".'


@dataclass(frozen=True, slots=True)
class Selection:
    """What was selected.

    Attributes:
        text: It as text to read.
        kind: What it is, in words.
    """

    text: StoredText
    kind: str


@dataclass(frozen=True, slots=True)
class ParsedValue:
    """A parsed JSON text.

    Attributes:
        value: Its value.
        size: Bytes of the text.
        items: How many arrays, objects and items in them it has, at most.
    """

    value: Any
    size: int
    items: int


class ParsedJSON:
    """Remembers parsed results for the next query, as long as their texts are small enough together.

    A reference names one content for ever, so what is remembered stays true. Safe to use from many threads.
    """

    def __init__(self, most_bytes: int = 16 * 1024 * 1024) -> None:
        """Make a memory for results of ``most_bytes`` bytes of text in all."""
        self._most = most_bytes
        self._values: OrderedDict[str, ParsedValue] = OrderedDict()
        self._lock = threading.Lock()

    def parse(self, stored: StoredText) -> ParsedValue:
        """Return the value of a stored JSON text; `ValueError` or `RecursionError` when there is none."""
        with self._lock:
            if stored.ref in self._values:
                self._values.move_to_end(stored.ref)
                return self._values[stored.ref]
        text = as_text(stored.fetch(0, stored.size))
        parsed = ParsedValue(parse_values(text), stored.size, sum(text.count(mark) for mark in "[{,"))
        with self._lock:
            self._values[stored.ref] = parsed
            while sum(value.size for value in self._values.values()) > self._most:
                self._values.popitem(last=False)
        return parsed


def select(stored: StoredText, request: ReadRequest, setting: Setting, parsed: ParsedJSON) -> Selection | str:
    """Return what the request's query selects, or words that say what to change."""
    if stored.is_json is False:
        return f"query needs JSON, and {stored.ref} is not; use search or regex."
    if stored.size > MOST_JSON_BYTES:
        return f"{stored.ref} is too large for query ({stored.size:,} bytes); use search or regex."
    try:
        value = parsed.parse(stored)
    except RecursionError:
        return f"{stored.ref} is nested too deeply for query; use search or read it by lines and columns."
    except json.JSONDecodeError as error:
        place = f"line {error.lineno:,}, column {error.colno:,}"
        return f"query needs JSON, and {stored.ref} is not: {place} cannot be read. Use search or regex."
    except ValueError:
        return f"{stored.ref} holds a number of too many digits for query; use search or regex."
    return _evaluate(stored, request, setting, value)


def parse_values(text: str) -> Any:
    """Return the JSON value that a text holds, or the list of them when there are several."""
    decoder = json.JSONDecoder()
    values: list[Any] = []
    position = _after_blank(text, 1 if text.startswith("\ufeff") else 0)
    while position < len(text) or not values:
        value, end = decoder.raw_decode(text, position)
        values.append(value)
        position = _after_blank(text, end)
    return values[0] if len(values) == 1 else values


def _after_blank(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _evaluate(
    stored: StoredText, request: ReadRequest, setting: Setting, parsed: ParsedValue
) -> Selection | str:
    import jmespath  # noqa: PLC0415  loaded by those who query
    from jmespath.exceptions import JMESPathError, JMESPathTypeError  # noqa: PLC0415

    try:
        expression = jmespath.compile(request.query)
        growth = _growth(expression.parsed)
        if growth.times * parsed.size + growth.each * parsed.items > MOST_SELECTED_BYTES:
            return "query could select far more than there is; select fewer things at once."
        selected = expression.search(parsed.value)
        if selected is None:
            return _nothing_selected(stored, setting, parsed.value)
        return _selection(stored, selected, setting)
    except JMESPathTypeError as error:
        expected = ", ".join(error.expected_types)
        function, met = error.function_name, error.actual_type
        return f"query: {function}() takes {expected}; what it met is: {met}. {_EXAMPLES}"
    except JMESPathError as error:
        reason = re.sub(r"\s+", " ", str(error))[:_MOST_WORDS]
        return f"query is not valid JMESPath: {reason} {_EXAMPLES}"
    except (RecursionError, MemoryError):
        return "query or what it selects is nested too deeply; select something smaller."
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        return f"query compares or sorts values of different types; select others. {_EXAMPLES}"


@dataclass(frozen=True, slots=True)
class _Growth:
    """How large a selection can be: ``times`` its input, and ``each`` bytes for every item in that."""

    times: int
    each: int

    def then(self, following: _Growth) -> _Growth:
        times = self.times * following.times
        return _Growth(times, self.each * following.times + following.each * self.times)

    def beside(self, other: _Growth) -> _Growth:
        return _Growth(self.times + other.times, self.each + other.each)


def _growth(node: dict[str, Any]) -> _Growth:
    """Return an upper bound for a part of an expression.

    A multi-select and `merge` can repeat their input once for each child, a literal and a new container stand
    once for each item, `to_string` escapes, and what follows something multiplies with it.
    """
    parts = [_growth(child) for child in node["children"] if isinstance(child, dict)]
    kind, name = node["type"], node.get("value")
    if kind == "literal":
        return _Growth(1, len(json.dumps(name)))
    if kind in ("multi_select_list", "multi_select_dict") or (kind, name) == ("function_expression", "merge"):
        return reduce(_Growth.beside, parts, _Growth(0, _CONTAINER_BYTES))
    grown = reduce(_Growth.then, parts, _Growth(1, 0))
    if kind == "key_val_pair":
        return grown.beside(_Growth(0, len(str(name))))
    if (kind, name) == ("function_expression", "to_string"):
        return grown.then(_Growth(_MOST_ESCAPED, 0))
    return grown


def _nothing_selected(stored: StoredText, setting: Setting, value: Any) -> str:
    shape, ask = "the value is a single one", "@"
    if isinstance(value, dict):
        shape, ask = f"the value is an object with {count(len(value), 'key')}", "keys(@)"
    elif isinstance(value, list):
        shape, ask = f"the value is an array of {count(len(value), 'item')}", "[0]"
    call = render_call(setting.tool_name, stored.ref, query=ask)
    return f"query selects nothing (null); {shape}: {call} shows more."


def _selection(stored: StoredText, value: Any, setting: Setting) -> Selection:
    text = _rendered(value, setting)
    data = text.encode("utf-8", "surrogatepass")
    made = StoredText(
        ref=stored.ref,
        tool=stored.tool,
        size=len(data),
        index=LineIndex.build(data),
        fetch=lambda start, length: data[start : start + length],
        stored_at=stored.stored_at,
        failed=stored.failed,
    )
    return Selection(made, _kind(value))


def _rendered(value: Any, setting: Setting) -> str:
    """Write a value: a text of several lines as it is, else JSON, indented where that fits a page.

    What is larger has one item a line, so that its pages are lines.
    """
    if isinstance(value, str) and "\n" in value:
        return value
    if isinstance(value, list | dict) and value:
        by_item = _by_item(value)
        indented = (
            "" if len(by_item) > setting.page_bytes else json.dumps(value, ensure_ascii=False, indent=1)
        )
        return indented if indented and setting.tokens(indented) * 4 <= setting.page_tokens * 3 else by_item
    return json.dumps(value, ensure_ascii=False)


def _by_item(value: list[Any] | dict[str, Any]) -> str:
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n]"
    rows = (
        f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(item, ensure_ascii=False)}"
        for key, item in value.items()
    )
    return "{\n" + ",\n".join(rows) + "\n}"


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return f"an array of {count(len(value), 'item')}"
    if isinstance(value, dict):
        return f"an object of {count(len(value), 'key')}"
    if isinstance(value, str):
        return "a text"
    return "true or false" if isinstance(value, bool) else "a number"
