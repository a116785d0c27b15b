"""A small correct backend with every capability: what the mutants are made from.

One file an object in one folder, named by the hash of its key: a line of JSON, then the data. It is slow at
listing and has no room for tricks, so that there is little to get wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NoReturn

from offloadkit.backend import (
    AlreadyExists,
    BackendError,
    Caps,
    NotFound,
    Page,
    Stat,
    TooLarge,
    check_range,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One object as it is stored."""

    key: str
    data: bytes
    meta: bytes
    expires_at: float | None
    created_at: float

    def to_bytes(self) -> bytes:
        head = {
            "key": self.key,
            "meta": self.meta.hex(),
            "expires_at": self.expires_at,
            "created_at": self.created_at,
        }
        return json.dumps(head).encode() + b"\n" + self.data

    @classmethod
    def from_bytes(cls, stored: bytes) -> Record:
        line, _, data = stored.partition(b"\n")
        head = json.loads(line)
        return cls(**{**head, "meta": bytes.fromhex(head["meta"]), "data": data})

    def stat(self) -> Stat:
        return Stat(self.key, len(self.data), self.meta, self.expires_at, self.created_at)


class ReferenceBackend:
    """Keeps every promise. Mutants override a method, or one of the steps below the methods."""

    caps: Caps = Caps(persistent=True, shared=True, ordered=True, max_object_bytes=2 * 2**20)
    password: ClassVar[str] = "correct horse"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._closed = False
        self._secret = self.password

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        self._check_open()
        self._check_size(key, data, meta)
        self._create(Record(key=key, data=data, meta=meta, expires_at=expires_at, created_at=time.time()))

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        self._check_open()
        check_range(start, length)
        data = self._load(key).data
        return data[start:] if length is None else data[start : start + length]

    def stat(self, key: str) -> Stat:
        self._check_open()
        return self._load(key).stat()

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        self._check_open()
        found = [record.stat() for record in self._matching(prefix) if record.key > (cursor or "")]
        more = len(found) > limit
        return Page(tuple(found[:limit]), found[limit - 1].key if more else None)

    def delete(self, keys: Iterable[str]) -> None:
        self._check_open()
        for key in keys:
            self._remove(key)

    def close(self) -> None:
        self._closed = True

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        self._check_open()
        self._replace(replace(self._load(key), expires_at=expires_at))

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        self._check_open()
        over = [
            record for record in self._records() if record.expires_at is not None and record.expires_at < now
        ]
        for record in over[:limit]:
            self._remove(record.key)
        return len(over[:limit])

    def local_path(self, key: str) -> str | None:
        self._check_open()
        path = self._path(key)
        return str(path) if path.exists() else None

    def ping(self) -> None:
        self._check_open()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a backend is not pickled")

    def _check_open(self) -> None:
        if self._closed:
            raise BackendError("the backend is closed; open another one")

    def _check_size(self, key: str, data: bytes, meta: bytes) -> None:
        if self.caps.max_object_bytes is not None and len(data) > self.caps.max_object_bytes:
            raise TooLarge(f"{len(data)} bytes are more than {self.caps.max_object_bytes}", key=key)

    def _path(self, key: str) -> Path:
        return self._folder / hashlib.sha256(key.encode()).hexdigest()

    def _load(self, key: str) -> Record:
        try:
            return Record.from_bytes(self._path(key).read_bytes())
        except FileNotFoundError as error:
            raise NotFound(f"no object has the key {key!r}", key=key) from error

    def _create(self, record: Record) -> None:
        temporary = self._write_temporary(record)
        try:
            os.link(temporary, self._path(record.key))
        except FileExistsError as error:
            raise AlreadyExists(f"the key {record.key!r} is taken", key=record.key) from error
        finally:
            temporary.unlink()

    def _replace(self, record: Record) -> None:
        self._write_temporary(record).replace(self._path(record.key))

    def _write_temporary(self, record: Record) -> Path:
        temporary = self._folder / f".{uuid.uuid4().hex}"
        temporary.write_bytes(record.to_bytes())
        return temporary

    def _remove(self, key: str) -> None:
        self._path(key).unlink(missing_ok=True)

    def _matching(self, prefix: str) -> Iterable[Record]:
        return [record for record in self._records() if record.key.startswith(prefix)]

    def _records(self) -> Iterable[Record]:
        """Return every object by ascending key; those that vanish while this looks are left out."""
        found = []
        for path in self._folder.iterdir():
            try:
                found += [] if path.name.startswith(".") else [Record.from_bytes(path.read_bytes())]
            except FileNotFoundError:
                continue
        return sorted(found, key=lambda record: record.key)
