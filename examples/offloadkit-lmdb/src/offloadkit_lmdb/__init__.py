"""Objects in an LMDB file: ``lmdb:///var/lib/agent/results.lmdb``."""

import functools
import os
import struct
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Self

import lmdb

from offloadkit.backend import Caps, Page, Stat, check_range
from offloadkit.errors import AlreadyExists, BackendError, NotFound, StorageFull
from offloadkit.url import BackendURL, Option

HEAD = struct.Struct(">Hd")  # bytes of metadata, expiry or 0; then come the metadata and the data
_opening = threading.Lock()
_environment = functools.cache(functools.partial(lmdb.open, subdir=False))  # LMDB opens a file only once


class LMDBBackend:
    options = (Option(name="map_size", kind="bytes", default=2**30, help="What the file may grow to."),)
    caps = Caps(persistent=True, shared=True, ordered=True, fork="refused")

    def __init__(self, path: str, map_size: int = 2**30) -> None:
        self._path, self._map_size = path, map_size
        self._pid: int | None = os.getpid()

    @classmethod
    def from_url(cls, url: BackendURL) -> Self:
        url.allow_only("path")
        return cls(url.path, url.options["map_size"])

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        value = HEAD.pack(len(meta), expires_at or 0) + meta + data
        with self._transaction(write=True) as transaction:
            if not transaction.put(key.encode(), value, overwrite=False):
                raise AlreadyExists(f"{key} is there already", key=key)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        check_range(start, length)
        with self._transaction() as transaction:
            data = _object(key, transaction.get(key.encode()))[1]
            return bytes(data[start : None if length is None else start + length])

    def stat(self, key: str) -> Stat:
        with self._transaction() as transaction:
            return _object(key, transaction.get(key.encode()))[0]

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        with self._transaction() as transaction, transaction.cursor() as place:
            found = iter(place) if place.set_range((cursor or prefix).encode()) else ()
            stats = [_object(bytes(name).decode(), value)[0] for name, value in islice(found, limit + 1)]
        items = [stat for stat in stats if stat.key.startswith(prefix)]
        return Page(tuple(items[:limit]), cursor=items[limit].key if len(items) > limit else None)

    def delete(self, keys: Iterable[str]) -> None:
        with self._transaction(write=True) as transaction:
            for key in keys:
                transaction.delete(key.encode())

    def close(self) -> None:
        self._pid = None

    @contextmanager
    def _transaction(self, *, write: bool = False) -> Iterator[Any]:
        if self._pid != os.getpid():
            raise BackendError(f"{self._path} was closed, or opened before this process was forked")
        try:
            with _opening:
                environment = _environment(self._path, self._map_size)
            with environment.begin(write=write, buffers=True) as transaction:
                yield transaction
        except lmdb.Error as error:
            kind = StorageFull if isinstance(error, lmdb.MapFullError) else BackendError
            raise kind(f"{self._path} cannot be used: {type(error).__name__}") from error


def _object(key: str, value: memoryview | None) -> tuple[Stat, memoryview]:
    if value is None:
        raise NotFound(f"no object {key}", key=key)
    meta_length, expires_at = HEAD.unpack_from(value)
    meta, data = value[HEAD.size :][:meta_length], value[HEAD.size + meta_length :]
    return Stat(key, len(data), bytes(meta), expires_at or None), data
