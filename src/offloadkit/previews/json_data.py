"""JSON and JSON Lines: the shape of the whole, then the first items of its main array or its longest text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from offloadkit.previews.cleaning import visible
from offloadkit.previews.document import Document
from offloadkit.previews.json_shape import kind_of, shape
from offloadkit.previews.json_text import Parsed, abbreviated, parse
from offloadkit.previews.sheet import Draft, Sheet, counted, joined, part_of

__all__ = ["recognise", "render"]

_SEARCHED_DEPTH: Final = 4
_SEARCHED_KEYS: Final = 200
_FEW_LINES: Final = 3
_LONG_STRING: Final = 300
_MAIN_SHARE: Final = 0.3
_MAX_BESIDE: Final = 12
_LONGEST_PATH: Final = 100
_MAX_ITEMS: Final = 50
_SHORTEST_ITEM: Final = 40
_LEAST_ITEM: Final = 24
_FULL_ITEMS: Final = 4
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Found(NamedTuple):
    """A part of the value with the JMESPath expression that leads to it."""

    path: str
    value: Any


def recognise(document: Document) -> bool:
    """Say whether the text begins like a JSON object, array or string."""
    return bool(
        re.match(r'\s*[\[{]\s*(?:["\[{\]}\d-]|true|false|null|NaN|-?Infinity|\Z)', document.content[:1000])
    )


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write as many levels of the shape as fit, then items or text."""
    parsed = parse(document.content)
    if parsed is None:
        return None
    sheet.title(f"{_words(document, parsed)}: {kind_of(parsed.value)}", document.lead)
    parts = list(_parts(parsed.value, "", 0))
    array, string = _main_array(parts), _main_string(parts, len(document.content))
    if string and (array is None or len(string.value) > _weight(array.value)):
        draft = _with_text(parts, string, sheet)
    else:
        draft = _with_items(parsed.value, parts, array, sheet)
    queryable = parsed.broken_at is None and document.bare and document.addressable
    return draft if queryable else Draft(draft.shown, inner=draft.inner)


def _words(document: Document, parsed: Parsed) -> str:
    words = "JSON Lines" if parsed.lines else "JSON"
    if parsed.broken_at is None:
        return words
    content = document.content
    if parsed.broken_at >= len(content):
        return f"{words}, cut off at its end"
    if document.content_lines < _FEW_LINES:
        return f"{words}, readable up to character {parsed.broken_at} of {len(content)}"
    line = document.number(0) + content.count("\n", 0, parsed.broken_at)
    return f"{words}, readable up to line {line} of {document.line_count}"


def _with_text(parts: list[_Found], string: _Found, sheet: Sheet) -> Draft:
    """Write what stands beside the one long text, which follows as what it is."""
    beside = [f"{part.path}: {_in_short(part.value)}" for part in parts if _stands_beside(part, string)]
    if beside:
        sheet.add("; ".join(beside[:_MAX_BESIDE]))
    sheet.add(f"{string.path} ({counted(len(string.value), 'character')}):")
    return Draft("", _query(string.path), inner=string.value)


def _stands_beside(part: _Found, string: _Found) -> bool:
    """Say whether a part is neither the text, nor around it, nor without interest."""
    around = string.path.startswith((f"{part.path}.", f"{part.path}[")) or part.path in {"", string.path}
    if around or part.value is None or part.path.endswith(".type"):
        return False
    return not isinstance(part.value, dict | list) or "." not in part.path


def _in_short(value: Any) -> str:
    return kind_of(value) if isinstance(value, dict | list) else abbreviated(value)


def _with_items(value: Any, parts: list[_Found], array: _Found | None, sheet: Sheet) -> Draft:
    shape_words = "its shape" if _add_shape(value, sheet, share=0.6 if array else 1.0) else ""
    if array is None:
        return Draft(joined(shape_words), _query(_largest(parts)))
    written = _add_items(array, sheet)
    shown = joined(shape_words, part_of(written, len(array.value), "item"))
    return Draft(shown, _query(f"{array.path}[{written}:]" if written < len(array.value) else array.path))


def _add_shape(value: Any, sheet: Sheet, *, share: float) -> int:
    """Write lines of the shape, all of one level before any of the next; return how many."""
    lines = [line for line in shape(value) if line.depth]
    ranked = sorted(range(len(lines)), key=lambda index: lines[index].depth)
    chosen = sheet.add_ranked([line.text for line in lines], ranked, share=share)
    if chosen and len(chosen) < len(lines):
        sheet.add(f"… {counted(len(lines) - len(chosen), 'more key')}")
    return len(chosen)


def _add_items(array: _Found, sheet: Sheet) -> int:
    """Write the first items, each cut to a fair part of what is left; return how many."""
    written = 0
    part = max(_LEAST_ITEM, sheet.left // _FULL_ITEMS)
    for index, item in enumerate(array.value[:_MAX_ITEMS]):
        text = visible(f"{array.path}[{index}] {abbreviated(item)}")
        fitting = sheet.longest(text, min(part, sheet.left - 2))
        if len(fitting) < min(len(text), _SHORTEST_ITEM):
            break
        written += sheet.add_block(fitting if fitting == text else f"{fitting}…")
    return written


def _parts(value: Any, path: str, depth: int) -> Iterator[_Found]:
    """Yield the value and what it holds, down a few levels of objects and arrays of one item."""
    yield _Found(path, value)
    if depth >= _SEARCHED_DEPTH:
        return
    if isinstance(value, dict):
        for key in list(value)[:_SEARCHED_KEYS]:
            step = key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=visible(key) != key)
            yield from _parts(value[key], f"{path}.{step}" if path else step, depth + 1)
    elif isinstance(value, list) and len(value) == 1:
        yield from _parts(value[0], f"{path}[0]", depth + 1)


def _main_array(parts: list[_Found]) -> _Found | None:
    """Return the array that weighs most, the outermost of equals."""
    arrays = [part for part in parts if isinstance(part.value, list) and len(part.value) > 1]
    return max(arrays, key=lambda part: _weight(part.value), default=None)


def _main_string(parts: list[_Found], size: int) -> _Found | None:
    """Return the string that makes up most of the text."""
    strings = [part for part in parts if isinstance(part.value, str) and len(part.value) > _LONG_STRING]
    longest = max(strings, key=lambda part: len(part.value), default=None)
    return longest if longest and len(longest.value) > _MAIN_SHARE * size else None


def _largest(parts: list[_Found]) -> str:
    inner = [part for part in parts if part.path and "." not in part.path]
    return max(inner, key=lambda part: _weight(part.value)).path if inner else ""


def _weight(value: Any, depth: int = 3) -> int:
    """Estimate the size of a value in characters, by a bounded look at it."""
    if isinstance(value, str):
        return len(value) + 2
    if not isinstance(value, dict | list) or not value:
        return 4
    if depth <= 0:
        return 10 * len(value)
    inner = list(value.values())[:20] if isinstance(value, dict) else value[:20]
    keys = sum(map(len, list(value)[:20])) if isinstance(value, dict) else 0
    return (keys + sum(_weight(item, depth - 1) for item in inner)) * len(value) // len(inner)


def _query(path: str) -> str:
    return f"query={json.dumps(path, ensure_ascii=False)}" if 0 < len(path) <= _LONGEST_PATH else ""
