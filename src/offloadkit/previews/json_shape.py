"""The shape of JSON values: keys, types, lengths and ranges, all items of an array described at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from offloadkit.previews.sheet import counted
from offloadkit.previews.values import describe_scalars, quoted, range_of

__all__ = ["ShapeLine", "kind_of", "shape"]

_MAX_DEPTH: Final = 6
_MAX_VALUES: Final = 1_000
_MAX_KEYS: Final = 200
_MAP_KEYS: Final = 25


class ShapeLine(NamedTuple):
    """One line of a shape.

    Attributes:
        depth: How deep it stands; the whole value has 0.
        text: The line, indented.
    """

    depth: int
    text: str


def shape(value: Any) -> list[ShapeLine]:
    """Describe a JSON value line by line, the whole first."""
    return list(_describe("", [value], 0, ""))


def kind_of(value: Any) -> str:
    """Return the type of a JSON value with its size, in words."""
    if isinstance(value, dict):
        return f"object of {counted(len(value), 'key')}"
    if isinstance(value, list):
        part = f", the first {_MAX_VALUES} described" if len(value) > _MAX_VALUES else ""
        return f"array of {_item_words(value[:_MAX_VALUES], str(len(value)))}{part}"
    return describe_scalars([value])


def _describe(label: str, values: Sequence[Any], depth: int, note: str) -> Iterator[ShapeLine]:
    objects = [value for value in values if isinstance(value, dict)]
    arrays = [value for value in values if isinstance(value, list)]
    scalars = [value for value in values if not isinstance(value, dict | list)]
    items = list(islice(chain.from_iterable(arrays), _MAX_VALUES))
    parts = [
        describe_scalars(scalars) if scalars else "",
        _array_words(arrays, items) if arrays else "",
        _object_words(objects) if objects else "",
    ]
    yield ShapeLine(
        depth, f"{'  ' * (depth - 1)}{label}: {' or '.join(part for part in parts if part)}{note}"
    )
    if depth < _MAX_DEPTH:
        inner = [item for item in items if isinstance(item, dict)]
        yield from _describe_keys(objects + inner, depth + 1)
        if any(isinstance(item, list) for item in items):
            yield from _describe("items", [item for item in items if isinstance(item, list)], depth + 1, "")


def _describe_keys(objects: Sequence[dict[str, Any]], depth: int) -> Iterator[ShapeLine]:
    if _are_maps(objects):
        values = list(islice(chain.from_iterable(value.values() for value in objects), _MAX_VALUES))
        yield from _describe("each", values, depth, "")
        return
    present = Counter(key for value in objects for key in islice(value, _MAX_KEYS))
    for key, number in islice(_in_order(present), _MAX_KEYS):
        values = [value[key] for value in objects if key in value]
        note = f" (in {number} of {len(objects)})" if number < len(objects) else ""
        yield from _describe(_name(key), values, depth, note)


def _in_order(present: Counter[str]) -> list[tuple[str, int]]:
    """Return the keys as they first appeared: that order is the author's own."""
    return list(present.items())


def _are_maps(objects: Sequence[dict[str, Any]]) -> bool:
    """Say whether the keys are data rather than names: many, all leading to containers of one type."""
    if not objects or min(map(len, objects)) < _MAP_KEYS:
        return False
    types = {
        type(value) for value in islice(chain.from_iterable(value.values() for value in objects), _MAX_VALUES)
    }
    return types in ({dict}, {list})


def _array_words(arrays: Sequence[list[Any]], items: Sequence[Any]) -> str:
    return f"array of {_item_words(items, range_of([len(array) for array in arrays]))}"


def _item_words(items: Sequence[Any], number: str) -> str:
    if items and not any(isinstance(item, dict | list) for item in items):
        return f"{number}: {describe_scalars(items)}"
    kinds = {
        "object" if isinstance(item, dict) else "array" if isinstance(item, list) else "value"
        for item in items
    }
    noun = kinds.pop() if len(kinds) == 1 else "item"
    return f"{number} {noun}" if number == "1" else f"{number} {noun}s"


def _object_words(objects: Sequence[dict[str, Any]]) -> str:
    number = range_of([len(value) for value in objects])
    words = "object of 1 key" if number == "1" else f"object of {number} keys"
    if not _are_maps(objects):
        return words
    return f"{words} ({', '.join(_name(key) for key in islice(objects[0], 3))}, …)"


def _name(key: str) -> str:
    return (
        quoted(key, 40)[1:-1]
        if key.isprintable() and ":" not in key and key.strip() == key
        else quoted(key, 40)
    )
