"""Listing a tree of folders in the order of keys, from any point on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from offloadkit_fsspec.paths import key_part, path_of
from offloadkit_fsspec.publishing import is_abandoned

__all__ = ["abandoned", "walk"]

Entries: TypeAlias = Sequence[Mapping[str, Any]]


def walk(
    ls: Callable[[str], Entries], root: str, *, prefix: str = "", after: str = "", begin: str = ""
) -> Iterator[tuple[str, int]]:
    """Yield key and bytes of each file, ascending, without opening a folder that holds nothing of interest.

    Args:
        ls: Returns name, type and size of what is in a folder; nothing for a folder that is not there.
        root: The folder that all keys are relative to.
        prefix: What keys begin with.
        after: The last key not to be yielded, or "".
        begin: Where the walk begins: "" or a key that ends with a slash.
    """
    folder = path_of(root, begin).rstrip("/")
    for part, size in sorted(_parts(ls(folder))):
        key = begin + part
        if part.endswith("/"):
            is_ahead = key > after or after.startswith(key)
            if is_ahead and (key.startswith(prefix) or prefix.startswith(key)):
                yield from walk(ls, root, prefix=prefix, after=after, begin=key)
        elif key > after and key.startswith(prefix):
            yield key, size


def abandoned(ls: Callable[[str], Entries], folder: str, now: float) -> Iterator[str]:
    """Yield the path of every temporary file in a tree whose writer ended long before ``now``."""
    for entry in ls(folder):
        name = _name(entry)
        if entry["type"] == "directory" and key_part(name, is_folder=True):
            yield from abandoned(ls, f"{folder}/{name}", now)
        elif is_abandoned(name, now):
            yield f"{folder}/{name}"


def _parts(entries: Entries) -> Iterator[tuple[str, int]]:
    for entry in entries:
        part = key_part(_name(entry), is_folder=entry["type"] == "directory")
        if part is not None:
            yield part, entry["size"] or 0


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry["name"]).rstrip("/").rpartition("/")[2]
