"""Objects in the memory of this process.

``memory://`` is a store of its own; ``memory://name`` is one store for all who use that name, for as long as
the process lives. After a fork the child goes on with a copy, and neither side sees what the other does.

This is the backend to start from when you write your own: all of the contract, and nothing else.
"""

from __future__ import annotations

import heapq
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar, Self, TypeAlias

from offloadkit.backend import Caps, Page, Stat, check_range
from offloadkit.errors import AlreadyExists, BackendError, NotFound, StorageFull, TooLarge
from offloadkit.url import BackendURL, Option

__all__ = ["MemoryBackend"]

Objects: TypeAlias = dict[str, tuple[bytes, Stat]]

_named: dict[str, Objects] = {}
_lock = threading.Lock()  # one for all stores: no call holds it for long, and a fork can wait for it
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class MemoryBackend:
    """A store in this process."""

    options: ClassVar[tuple[Option, ...]] = (
        Option(
            name="max_bytes",
            kind="bytes",
            help="The most that all objects may hold together, without metadata.",
        ),
    )

    def __init__(self, name: str = "", *, max_bytes: int | None = None) -> None:
        """Make an instance.

        Args:
            name: The store to share within the process, or "" for one of its own.
            max_bytes: The most that all objects may hold together, without metadata; None for no limit.
        """
        self.caps = Caps(persistent=False, shared=False, ordered=True, max_object_bytes=max_bytes)
        self._name = name
        self._max_bytes = max_bytes
        self._objects: Objects | None = _named.setdefault(name, {}) if name else {}

    @classmethod
    def from_url(cls, url: BackendURL) -> Self:
        """Make an instance for ``memory://[name][?max_bytes=64MiB]``."""
        url.allow_only("netloc")
        return cls(url.netloc, max_bytes=url.options["max_bytes"])

    def __repr__(self) -> str:
        """Show the name, never what is stored."""
        return f"MemoryBackend({self._name!r})"

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object. Raises `AlreadyExists`, `TooLarge` or `StorageFull`."""
        stat = Stat(key, len(data), bytes(meta), expires_at, created_at=time.time())
        with self._opened() as objects:
            if key in objects:
                raise AlreadyExists(f"{key} is there already", key=key)
            self._check_room(objects, stat)
            objects[key] = (bytes(data), stat)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return ``length`` bytes (None: all) from byte ``start``. Raises `NotFound`."""
        check_range(start, length)
        with self._opened() as objects:
            data, _ = _find(objects, key)
        return data[start : None if length is None else start + length]

    def stat(self, key: str) -> Stat:
        """Describe an object. Raises `NotFound`."""
        with self._opened() as objects:
            _, stat = _find(objects, key)
        return stat

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page, in ascending order of keys. The cursor is the last key of the page before."""
        with self._opened() as objects:
            matching = (key for key in objects if key.startswith(prefix) and key > (cursor or ""))
            keys = heapq.nsmallest(limit + 1, matching)
            items = tuple(objects[key][1] for key in keys[:limit])
        return Page(items, cursor=keys[limit - 1] if len(keys) > limit else None)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; a missing one is no error."""
        doomed = tuple(keys)
        with self._opened() as objects:
            for key in doomed:
                objects.pop(key, None)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        """Set or (None) remove the expiry. Raises `NotFound`."""
        with self._opened() as objects:
            data, stat = _find(objects, key)
            objects[key] = (data, replace(stat, expires_at=expires_at))

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        """Delete at most ``limit`` objects that expired before ``now``; return how many."""
        with self._opened() as objects:
            expired = [key for key, (_, stat) in objects.items() if _has_expired(stat, now)][:limit]
            for key in expired:
                del objects[key]
        return len(expired)

    def close(self) -> None:
        """Let go of the store; twice is fine. One without a name is gone then."""
        self._objects = None

    @contextmanager
    def _opened(self) -> Iterator[Objects]:
        with _lock:
            if self._objects is None:
                raise BackendError("this memory backend is closed")
            yield self._objects

    def _check_room(self, objects: Objects, new: Stat) -> None:
        if self._max_bytes is None:
            return
        if new.size > self._max_bytes:
            raise TooLarge(f"{new.size} bytes are more than max_bytes={self._max_bytes}", key=new.key)
        held = sum(stat.size for _, stat in objects.values())
        if held + new.size > self._max_bytes:
            raise StorageFull(
                f"{new.size} bytes do not fit: {held} of max_bytes={self._max_bytes} are in use", key=new.key
            )


def _find(objects: Objects, key: str) -> tuple[bytes, Stat]:
    try:
        return objects[key]
    except KeyError:
        raise NotFound(f"no object {key}", key=key) from None


def _has_expired(stat: Stat, now: float) -> bool:
    return stat.expires_at is not None and stat.expires_at < now
