"""Who takes turns in the benchmark: a backend of ours, a raw client of the same store, a peer library."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from offloadkit.backend import Backend

__all__ = ["META", "Client", "Ours", "Payload", "Peer", "Timed"]

META = b'{"content_type": "text/plain", "tool": "read_log", "sha256": "%s"}' % (b"0123456789abcdef" * 13)
"""What travels with each object: as many bytes as the archive writes for a result, some 270."""

Timed: TypeAlias = tuple[float, Any]
"""The seconds that a call took, and what it returned."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One object to store: ASCII, so that its characters and its bytes are as many.

    Attributes:
        data: Its bytes, for those who store bytes.
        text: The same as text, for a library that stores JSON.
        expires_at: When it expires, in seconds since 1970.
    """

    data: bytes
    text: str
    expires_at: float = field(default_factory=lambda: time.time() + 86_400)


class Client(Protocol):
    """Whoever can store an object once, and read all or a part of it."""

    def put(self, key: str, payload: Payload, /) -> Any:
        """Store an object with `META` and its expiry, as durably as the store can; fail if it is there."""
        ...

    def read(self, key: str, /) -> Any:
        """Return all of an object."""
        ...

    def read_range(self, key: str, start: int, length: int, /) -> Any:
        """Return a part of an object."""
        ...


class Ours:
    """A backend of offloadkit."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.read: Callable[[str], bytes] = backend.read
        self.read_range: Callable[[str, int, int], bytes] = backend.read
        self.close = backend.close

    def put(self, key: str, payload: Payload) -> None:
        self._backend.put(key, payload.data, meta=META, expires_at=payload.expires_at)


class Peer:
    """A store of py-key-value, which keeps dictionaries of JSON and knows no ranges: it is sliced here.

    It is asynchronous. A call is timed inside its event loop, so that starting the loop is not counted.
    """

    def __init__(self, store: Any, collection: str) -> None:
        self._store = store
        self._collection = collection
        self._loop = asyncio.new_event_loop()

    def put(self, key: str, payload: Payload) -> Timed:
        value = {"meta": META.decode(), "text": payload.text}
        seconds = payload.expires_at - time.time()
        return self._timed(
            lambda: self._store.put(_flat(key), value, collection=self._collection, ttl=seconds)
        )

    def read(self, key: str) -> Timed:
        return self._timed(lambda: self._get(key))

    def read_range(self, key: str, start: int, length: int) -> Timed:
        async def sliced() -> str:
            return (await self._get(key))[start : start + length]

        return self._timed(sliced)

    def close(self) -> None:
        self._loop.run_until_complete(self._wind_up())
        self._loop.close()

    async def _wind_up(self) -> None:
        """Close the store, after ending what an interruption has left: its threads wait for that."""
        unfinished = asyncio.all_tasks() - {asyncio.current_task()}
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        if hasattr(self._store, "close"):  # its store in memory has nothing to close
            await self._store.close()
        await self._loop.shutdown_default_executor()

    async def _get(self, key: str) -> str:
        return str((await self._store.get(_flat(key), collection=self._collection))["text"])

    def _timed(self, call: Callable[[], Coroutine[Any, Any, Any]]) -> Timed:
        async def timed() -> Timed:
            begin = time.perf_counter()
            result = await call()
            return time.perf_counter() - begin, result

        return self._loop.run_until_complete(timed())


def _flat(key: str) -> str:
    """Return a key that its file store takes: one without slashes."""
    return key.replace("/", "-")
