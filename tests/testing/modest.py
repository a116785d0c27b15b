"""A correct backend that declares nothing: a dictionary behind a lock, without optional methods."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable

from offloadkit.backend import AlreadyExists, BackendError, Caps, NotFound, Page, Stat, check_range


class ModestBackend:
    """Keeps the six methods' promises for one process, and no more. Its cursors lead through empty pages."""

    caps = Caps(persistent=False, shared=False, atomic_create=False, fork="refused")

    def __init__(self) -> None:
        self._objects: dict[str, tuple[bytes, Stat]] | None = {}
        self._lock = threading.Lock()
        self._process = os.getpid()

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        objects = self._open()
        with self._lock:
            if key in objects:
                raise AlreadyExists(f"the key {key!r} is taken", key=key)
            objects[key] = (data, Stat(key, len(data), meta, expires_at))

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        check_range(start, length)
        data, _ = self._find(key)
        return data[start:] if length is None else data[start : start + length]

    def stat(self, key: str) -> Stat:
        return self._find(key)[1]

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        objects = self._open()
        with self._lock:
            keys = sorted(key for key in objects if key > (cursor or ""))[:limit]
            items = tuple(Stat(key, len(objects[key][0])) for key in keys if key.startswith(prefix))
        return Page(items, keys[-1] if keys else None)

    def delete(self, keys: Iterable[str]) -> None:
        objects = self._open()
        for key in keys:
            with self._lock:
                objects.pop(key, None)

    def close(self) -> None:
        self._objects = None

    def _find(self, key: str) -> tuple[bytes, Stat]:
        try:
            return self._open()[key]
        except KeyError as error:
            raise NotFound(f"no object has the key {key!r}", key=key) from error

    def _open(self) -> dict[str, tuple[bytes, Stat]]:
        if self._objects is None:
            raise BackendError("the backend is closed; open another one")
        if os.getpid() != self._process:
            raise BackendError("the backend was opened in the parent process; open another one")
        return self._objects
