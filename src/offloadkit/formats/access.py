"""Reading and copying messages that are dictionaries, SDK models, or both in one list.

Nothing here raises on odd messages: what is not there, or is of another type than it should be, reads as
None or as empty. Nothing is ever changed in place.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

__all__ = [
    "EACH",
    "Path",
    "answer_of",
    "follow",
    "get",
    "indexed",
    "list_of",
    "texts_at",
    "type_of",
    "with_value",
    "word",
]

Path = tuple[str | int, ...]
"""The keys and indices that lead to a value; the empty path leads to the whole."""

EACH: Final = "*"
"""In a path to look along: every item of the list that stands there."""


def get(item: Any, name: str) -> Any:
    """Return a field of a dictionary or of an object, or None."""
    if isinstance(item, dict | Mapping):  # the first is the usual case and quicker to check
        return item.get(name)
    return getattr(item, name, None)


def word(item: Any, name: str) -> str | None:
    """Return a field that is text, such as an id or a name, or None."""
    found = get(item, name)
    return found if isinstance(found, str) else None


def type_of(block: Any) -> str | None:
    """Return the ``type`` that a block says it has, or None; text in a list of blocks has none."""
    return None if isinstance(block, str) else word(block, "type")


def list_of(value: Any) -> Sequence[Any]:
    """Return the list or tuple that a value is, else an empty one. A one-way iterator is not used up."""
    return value if isinstance(value, list | tuple) else ()


def indexed(value: Any) -> Iterator[tuple[int, Any]]:
    """Yield the items of a list with their indices; what is no list has none."""
    return enumerate(list_of(value))


def follow(item: Any, path: Path) -> Any:
    """Return what stands at a path, or None."""
    for step in path:
        item = list_of(item)[step] if isinstance(step, int) else get(item, step)
    return item


def texts_at(item: Any, *paths: Path) -> tuple[tuple[Path, str], ...]:
    """Return the texts that stand at those paths, in order, each with its own path."""
    return tuple(found for path in paths for found in _texts_along(item, path, ()))


def with_value(item: Any, path: Path, value: Any) -> Any:
    """Return ``item`` with ``value`` at ``path``: a copy of the containers on the way, the rest as it is.

    Where the same object already stands there, this is ``item`` itself.
    """
    if not path:
        return value
    step = path[0]
    old = item[step] if isinstance(step, int) else get(item, step)
    new = with_value(old, path[1:], value)
    if new is old:
        return item
    return _with_item(item, step, new) if isinstance(step, int) else _with_field(item, step, new)


def answer_of(answers: Iterable[bool | None]) -> bool | None:
    """Return what the messages of a list say together: one against is enough, else one for it."""
    together: bool | None = None
    for answer in answers:
        if answer is False:
            return False
        together = together or answer
    return together


def _texts_along(item: Any, path: Path, way: Path) -> Iterator[tuple[Path, str]]:
    if not path:
        if isinstance(item, str):
            yield way, item
    elif path[0] == EACH:
        for index, inner in indexed(item):
            yield from _texts_along(inner, path[1:], (*way, index))
    else:
        yield from _texts_along(get(item, str(path[0])), path[1:], (*way, path[0]))


def _with_item(items: Sequence[Any], index: int, item: Any) -> Sequence[Any]:
    changed = [*items[:index], item, *items[index + 1 :]]
    return tuple(changed) if isinstance(items, tuple) else changed


def _with_field(item: Any, name: str, value: Any) -> Any:
    if item is None:
        return {name: value}
    if hasattr(item, "model_copy"):
        return item.model_copy(update={name: value})
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return dataclasses.replace(item, **{name: value})
    changed = copy.copy(item)
    if isinstance(item, Mapping):
        changed[name] = value
    else:
        setattr(changed, name, value)
    return changed
