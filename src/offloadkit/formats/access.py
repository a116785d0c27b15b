"""Reading and copying messages that are dictionaries, SDK models, or both in one list."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["blocks", "get", "with_value"]

Path = tuple[str | int, ...]


def get(item: Any, name: str) -> Any:
    """Return a field of a dictionary or of an object, or None."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def blocks(content: Any) -> Iterator[tuple[int, Any]]:
    """Yield the blocks of a content with their indices; a content that is no list has none."""
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        yield from enumerate(content)


def with_value(item: Any, path: Path, value: Any) -> Any:
    """Return a copy of ``item`` with ``value`` at ``path``, copying only the containers on the way to it."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        changed = list(item)
        changed[step] = with_value(item[step], rest, value)
        return changed
    return _with_field(item, step, with_value(get(item, step), rest, value))


def _with_field(item: Any, name: str, value: Any) -> Any:
    if isinstance(item, Mapping):
        changed = copy.copy(item)
        changed[name] = value  # type: ignore[index]
        return changed
    if hasattr(item, "model_copy"):
        return item.model_copy(update={name: value})
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return dataclasses.replace(item, **{name: value})
    changed = copy.copy(item)
    setattr(changed, name, value)
    return changed
