"""The backend: synchronous calls from any thread, carried out one by one in the loop of the store."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, ClassVar, NoReturn, Self, TypeVar

from key_value.aio.protocols.key_value import AsyncKeyValue

from offloadkit.backend import Caps, Page, Stat, check_range
from offloadkit.errors import BackendError
from offloadkit.loop_thread import LoopThread
from offloadkit.url import BackendURL, Option
from offloadkit_keyvalue.faults import error_for
from offloadkit_keyvalue.objects import Objects
from offloadkit_keyvalue.stores import store_maker

__all__ = ["KeyValueBackend"]

_Result = TypeVar("_Result")


class KeyValueBackend:
    """Objects in one store of py-key-value. Safe to use from many threads; not after a fork.

    Several processes may read each other's objects. Where they write at the same moment, the index may lose a
    key: its object can be read, and is not listed. So ``caps`` promises neither sharing nor one winner.
    """

    options: ClassVar[tuple[Option, ...]] = ()

    def __init__(
        self,
        store: AsyncKeyValue | Callable[[], AsyncKeyValue],
        *,
        persistent: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make a backend, without any I/O.

        Args:
            store: The store, or what makes it when it is first needed. Nothing else may use it from then on:
                it belongs to the event loop of this backend, and is closed with it.
            persistent: Whether it outlives the process.
            clock: Returns the seconds since 1970, for `Stat.created_at`.
        """
        self.caps = Caps(
            persistent=persistent, shared=False, atomic_create=False, ordered=True, fork="refused"
        )
        self._store = store
        self._clock = clock
        self._pid = os.getpid()
        self._opening = threading.Lock()
        self._thread: LoopThread | None = None
        self._objects: Objects | None = None
        self._closed = False

    @classmethod
    def from_url(cls, url: BackendURL) -> Self:
        """Make a backend for ``keyvalue+memory://`` or ``keyvalue+filetree:///path``."""
        return cls(store_maker(url), persistent=url.engine != "memory")

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object. Raises `AlreadyExists`."""
        stat = Stat(key, len(data), meta, expires_at, self._clock())
        self._run(key, lambda objects: objects.put(stat, data))

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return ``length`` bytes (None: all) from byte ``start``, cut from the whole. Raises `NotFound`."""
        check_range(start, length)
        data = self._run(key, lambda objects: objects.read(key))
        return data[start : None if length is None else start + length]

    def stat(self, key: str) -> Stat:
        """Describe an object. Raises `NotFound`."""
        return self._run(key, lambda objects: objects.stat(key))

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page, in ascending order of keys. The cursor is the last key of the page."""
        return self._run(None, lambda objects: objects.list(prefix, cursor or "", limit))

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; a missing one is no error."""
        doomed = tuple(keys)
        self._run(None, lambda objects: objects.delete(doomed))

    def close(self) -> None:
        """Close the store and end its loop; twice is fine."""
        with self._opening:
            thread, self._thread, self._closed = self._thread, None, True
        if thread is not None and self._objects is not None and self._pid == os.getpid():
            thread.close(self._objects.close())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._place}>"

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would share the event loop, and a pickle would hold what the store holds."""
        raise TypeError("a key-value backend is neither copied nor pickled; make it again instead")

    @property
    def _place(self) -> str:
        return "a key-value store" if callable(self._store) else type(self._store).__name__

    def _run(self, key: str | None, work: Callable[[Objects], Coroutine[Any, Any, _Result]]) -> _Result:
        thread, objects = self._open()
        try:
            return thread.run(work(objects))
        except BackendError:
            raise
        except Exception as error:
            raise error_for(error, key=key, place=self._place) from error

    def _open(self) -> tuple[LoopThread, Objects]:
        with self._opening:
            if self._closed or self._pid != os.getpid():
                raise BackendError(f"{self._place} was closed, or opened before this process was forked")
            if self._thread is None or self._objects is None:
                self._thread = LoopThread()
                self._objects = Objects(self._store() if callable(self._store) else self._store)
            return self._thread, self._objects
