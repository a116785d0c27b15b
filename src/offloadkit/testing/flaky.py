"""A backend that fails, waits or cuts short where a test tells it to.

To see what a program does when its store fails on the second write, and again after the third took effect::

    flaky = FlakyBackend(
        MemoryBackend(),
        Fault("put", calls=(2,), error=Unavailable("the store is away")),
        Fault("put", calls=(3,), error=Unavailable("the answer was lost"), after=True),
    )
    ...
    assert flaky.count("put") == 4

Nothing here sleeps. A call waits for whatever ``wait`` waits for, usually a `threading.Event`.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from offloadkit.backend import Backend, Caps, Page, Stat

Result = TypeVar("Result")

__all__ = ["Call", "Fault", "FlakyBackend"]

_OPTIONAL_METHODS = ("local_path", "ping", "set_expiry", "sweep")
_METHODS = frozenset({"put", "read", "stat", "list", "delete", "close", *_OPTIONAL_METHODS})


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a backend's method.

    Attributes:
        method: Its name.
        number: Which call of this method it is, from 1.
        keys: The keys that it names: one, those to delete, the prefix of a listing, or none.
    """

    method: str
    number: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, and at which calls. Given neither ``calls`` nor ``when``, at every one.

    Attributes:
        method: The method it belongs to.
        calls: Numbers of the calls of that method it strikes, from 1; ``range(3, 6)`` will do.
        when: Decides for a call whether it is struck; with ``calls``, both have to agree.
        wait: Called first, and the call goes on when it returns: the ``wait`` of a `threading.Event`.
        error: Raised in place of a result.
        after: Wait and raise after the call took effect: an answer that came late, or was lost.
        cut: A `read` returns only this many bytes of what it should.
    """

    method: str
    calls: Collection[int] | None = None
    when: Callable[[Call], bool] | None = None
    wait: Callable[[], object] | None = None
    error: Exception | None = None
    after: bool = False
    cut: int | None = None

    def __post_init__(self) -> None:
        if self.method not in _METHODS:
            raise ValueError(f"no backend has a method {self.method!r}; known are {sorted(_METHODS)}")
        if self.cut is not None and self.method != "read":
            raise ValueError(f"only 'read' returns bytes that can be cut, {self.method!r} does not")

    def strikes(self, call: Call) -> bool:
        """Say whether this call goes wrong."""
        return (
            call.method == self.method
            and (self.calls is None or call.number in self.calls)
            and (self.when is None or self.when(call))
        )

    def strike(self, *, after: bool) -> None:
        """Wait and raise, if this is the moment for it."""
        if self.after is not after:
            return
        if self.wait is not None:
            self.wait()
        if self.error is not None:
            raise self.error.with_traceback(None)


class FlakyBackend:
    """Passes every call on to a backend, and injects the faults it was given. Safe to use from many threads.

    It has those optional methods that the backend has. Without faults it keeps every promise that the backend
    keeps.
    """

    def __init__(self, backend: Backend, *faults: Fault) -> None:
        self._backend = backend
        self._faults = faults
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        for method in _OPTIONAL_METHODS:
            if hasattr(backend, method):
                setattr(self, method, partial(self._call_optional, method))

    @property
    def caps(self) -> Caps:
        """Those of the backend."""
        return self._backend.caps

    def inject(self, *faults: Fault) -> None:
        """Replace the faults by these; none: the store has recovered. Counts go on."""
        self._faults = faults

    def count(self, method: str) -> int:
        """Return how often a method was called, failed calls included."""
        return self._counts[method]

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        store = partial(self._backend.put, key, data, meta=meta, expires_at=expires_at)
        self._call("put", (key,), store)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        data, faults = self._call("read", (key,), partial(self._backend.read, key, start, length))
        cuts = [fault.cut for fault in faults if fault.cut is not None]
        return data[: min(cuts)] if cuts else data

    def stat(self, key: str) -> Stat:
        return self._call("stat", (key,), partial(self._backend.stat, key))[0]

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        page = partial(self._backend.list, prefix, cursor=cursor, limit=limit)
        return self._call("list", (prefix,), page)[0]

    def delete(self, keys: Iterable[str]) -> None:
        named = tuple(keys)
        self._call("delete", named, partial(self._backend.delete, named))

    def close(self) -> None:
        self._call("close", (), self._backend.close)

    def _call_optional(self, method: str, *arguments: Any, **options: Any) -> Any:
        keys = tuple(argument for argument in arguments[:1] if isinstance(argument, str))
        return self._call(method, keys, partial(getattr(self._backend, method), *arguments, **options))[0]

    def _call(
        self, method: str, keys: tuple[str, ...], effect: Callable[[], Result]
    ) -> tuple[Result, tuple[Fault, ...]]:
        """Return the result of ``effect`` and the faults that struck the call."""
        with self._lock:
            self._counts[method] += 1
            call = Call(method, self._counts[method], keys)
        faults = tuple(fault for fault in self._faults if fault.strikes(call))
        for fault in faults:
            fault.strike(after=False)
        result = effect()
        for fault in faults:
            fault.strike(after=True)
        return result, faults
