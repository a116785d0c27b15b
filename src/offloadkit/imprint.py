"""Imprints of messages: each equals (`==`) its message for as long as that is unchanged, in place or not.

An imprint has the shape of its message, so that a whole history is compared by one `==` of two lists, which
runs in C. It keeps no long text: of such a text only where it stands in memory and its hash, which Python
computes once a text (64 bits, keyed at random in each process). A text that is equal but another object
counts as changed. So does all that cannot be watched for changes from outside. That costs time, never truth.
"""

from __future__ import annotations

import dataclasses
import hashlib
import marshal
from collections.abc import Collection
from typing import Any, Final

__all__ = ["imprint"]

LONGEST_HELD: Final = 64
"""Characters of the longest text that an imprint holds itself: names, ids, roles, types."""

_DEEPEST: Final = 12


def imprint(message: Any, data: Collection[int] = ()) -> Any:
    """Return the imprint of a message.

    Args:
        message: The message, of any type.
        data: The `id` of each value in it where the order of keys matters: arguments and contents, which are
            written as JSON.
    """
    return _imprint(message, data, 0)


def _imprint(value: Any, data: Collection[int], depth: int) -> Any:
    kind = type(value)
    if value is None:
        return None
    if kind is str or kind is bytes:
        return value if len(value) <= LONGEST_HELD else _Text(value)
    if id(value) in data:
        return _Data.of(value)
    if depth > _DEEPEST:
        return _Unknown()
    if kind is dict:
        return {key: _imprint(item, data, depth + 1) for key, item in value.items()}
    if kind is list or kind is tuple:
        return kind(_imprint(item, data, depth + 1) for item in value)
    if kind in {bool, int, float}:
        return _Number(value)
    if _keeps_its_fields_in_dict(value):
        return _Model(kind, _imprint(_fields(value), data, depth + 1))
    return _Unknown()


class _Unknown:
    """Equals nothing."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False


class _Text:
    """Equals one text object, or one of bytes."""

    __slots__ = ("_address", "_hash", "_kind")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str | bytes) -> None:
        self._address = id(text)
        self._hash = hash(text)
        self._kind = type(text)

    def __eq__(self, other: object) -> bool:
        return self._address == id(other) and type(other) is self._kind and self._hash == hash(other)


class _Number:
    """Equals a number of the same type that is written alike; 1, 1.0 and True are three things in JSON."""

    __slots__ = ("_kind", "_written")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, number: float) -> None:
        self._kind = type(number)
        self._written = repr(number)

    def __eq__(self, other: object) -> bool:
        return type(other) is self._kind and repr(other) == self._written


class _Data:
    """Equals a value that would be written as the same bytes, keys in the same order."""

    __slots__ = ("_digest",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, digest: bytes) -> None:
        self._digest = digest

    @classmethod
    def of(cls, value: Any) -> _Data | _Unknown:
        digest = _digest(value)
        return _Unknown() if digest is None else cls(digest)

    def __eq__(self, other: object) -> bool:
        return _digest(other) == self._digest


class _Model:
    """Equals an SDK model of the same type with the same fields."""

    __slots__ = ("_fields", "_kind")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, kind: type, fields: Any) -> None:
        self._kind = kind
        self._fields = fields

    def __eq__(self, other: object) -> bool:
        return type(other) is self._kind and bool(self._fields == _fields(other))


def _keeps_its_fields_in_dict(value: Any) -> bool:
    return hasattr(value, "__dict__") and (
        hasattr(value, "__pydantic_fields_set__")
        or (dataclasses.is_dataclass(value) and not isinstance(value, type))
    )


def _fields(model: Any) -> tuple[dict[str, Any], Any]:
    """Return the fields of a model, and those that pydantic was given beyond them."""
    return vars(model), getattr(model, "__pydantic_extra__", None)


def _digest(value: Any) -> bytes | None:
    """Return a digest of a value of plain types; None when it holds anything else."""
    try:
        # Version 0 writes the same bytes whether texts are interned or shared.
        written = marshal.dumps(value, 0)
    except ValueError:
        return None
    return hashlib.blake2b(written, digest_size=16).digest()
