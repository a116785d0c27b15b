"""A backend that fails, waits or cuts short where a test tells it to.

To see what a program does when its second write fails, and the third takes effect but its answer is lost::

    flaky = FlakyBackend(MemoryBackend())
    flaky.fail("put", call=2)
    flaky.fail("put", call=3, after=True)
    ...
    assert flaky.calls["put"] == 4

Nothing here sleeps: a delayed call waits for what it was told to wait for, usually a `threading.Event`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from offloadkit.backend import Backend, Caps, Page, Stat, Unavailable

__all__ = ["Call", "FlakyBackend"]

Result = TypeVar("Result")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault:
    method: str
    call: int | Collection[int] | None
    when: Callable[[Call], bool] | None
    after: bool = False
    action: Callable[[], object] | None = None
    keep_bytes: int | None = None

    def strikes(self, call: Call) -> bool:
        numbers = (self.call,) if isinstance(self.call, int) else self.call
        return (
            call.method == self.method
            and (numbers is None or call.number in numbers)
            and (self.when is None or self.when(call))
        )

    def act(self, *, after: bool) -> None:
        if self.action is not None and self.after is after:
            self.action()


class FlakyBackend:
    """Passes every call on to a backend, and injects the faults it was told. Safe to use from many threads.

    It has those optional methods that the backend has. Without faults it keeps every promise that the backend
    keeps.

    Each fault belongs to a ``method`` and strikes all its calls, or those with the number or numbers ``call``
    (from 1, ``range(3, 6)`` will do), or those for which ``when`` says so; given both, they have to agree.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._faults: tuple[_Fault, ...] = ()
        # Counted without a lock: a child forked while another thread holds one would wait for ever.
        self._made: list[str] = []
        self._numbers = {method: itertools.count(1) for method in _METHODS}
        for method in _OPTIONAL_METHODS:
            if hasattr(backend, method):
                setattr(self, method, partial(self._pass_optional, method))

    def fail(
        self,
        method: str,
        *,
        call: int | Collection[int] | None = None,
        when: Callable[[Call], bool] | None = None,
        error: Exception | None = None,
        after: bool = False,
    ) -> None:
        """Raise ``error`` (None: `Unavailable`) before the call takes effect, or ``after`` it did."""
        raised = error or Unavailable("the store does not answer: a fault injected by FlakyBackend")
        self._add(_Fault(method=method, call=call, when=when, after=after, action=partial(_raise, raised)))

    def delay(
        self,
        method: str,
        wait: Callable[[], object],
        *,
        call: int | Collection[int] | None = None,
        when: Callable[[Call], bool] | None = None,
        after: bool = False,
    ) -> None:
        """Call ``wait`` before the call takes effect, or ``after`` it did, and go on when it returns."""
        self._add(_Fault(method=method, call=call, when=when, after=after, action=wait))

    def cut(
        self,
        keep_bytes: int,
        *,
        call: int | Collection[int] | None = None,
        when: Callable[[Call], bool] | None = None,
    ) -> None:
        """Let a `read` return only the first ``keep_bytes`` bytes of what it should."""
        self._add(_Fault(method="read", call=call, when=when, keep_bytes=keep_bytes))

    def heal(self) -> None:
        """Forget every fault; the counts go on."""
        self._faults = ()

    @property
    def calls(self) -> Counter[str]:
        """How often each method was called, failed calls included."""
        return Counter(self._made)

    @property
    def caps(self) -> Caps:
        """Those of the backend."""
        return self._backend.caps

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object."""
        store = partial(self._backend.put, key, data, meta=meta, expires_at=expires_at)
        self._pass("put", (key,), store)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return a range of an object, cut where `cut` says so."""
        data, faults = self._pass("read", (key,), partial(self._backend.read, key, start, length))
        for fault in faults:
            data = data[: fault.keep_bytes]
        return data

    def stat(self, key: str) -> Stat:
        """Describe an object."""
        return self._pass("stat", (key,), partial(self._backend.stat, key))[0]

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page of a listing."""
        page = partial(self._backend.list, prefix, cursor=cursor, limit=limit)
        return self._pass("list", (prefix,), page)[0]

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects."""
        named = tuple(keys)
        self._pass("delete", named, partial(self._backend.delete, named))

    def close(self) -> None:
        """Close the backend."""
        self._pass("close", (), self._backend.close)

    def _pass_optional(self, method: str, *arguments: Any, **options: Any) -> Any:
        keys = tuple(argument for argument in arguments[:1] if isinstance(argument, str))
        return self._pass(method, keys, partial(getattr(self._backend, method), *arguments, **options))[0]

    def _pass(
        self, method: str, keys: tuple[str, ...], effect: Callable[[], Result]
    ) -> tuple[Result, tuple[_Fault, ...]]:
        """Return the result of ``effect`` and the faults that struck the call."""
        self._made.append(method)
        call = Call(method, next(self._numbers[method]), keys)
        faults = tuple(fault for fault in self._faults if fault.strikes(call))
        for fault in faults:
            fault.act(after=False)
        result = effect()
        for fault in faults:
            fault.act(after=True)
        return result, faults

    def _add(self, fault: _Fault) -> None:
        if fault.method not in _METHODS:
            raise ValueError(f"no backend has a method {fault.method!r}; known are {sorted(_METHODS)}")
        self._faults = (*self._faults, fault)


def _raise(error: Exception) -> None:
    """Raise one error for the n-th time, without the traceback of the times before."""
    raise error.with_traceback(None)
