"""A fixed number of slots that threads take and give back, first come, first served.

A semaphore would let a thread that gives back and takes again go before those that wait: a writer
beside busy readers of one connection then waits for a minute (measured).
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

__all__ = ["Slots"]

_T = TypeVar("_T")


class _Waiter(Generic[_T]):
    """A thread in the queue. ``ready`` is released once ``item`` is there."""

    item: _T

    def __init__(self) -> None:
        self.ready = threading.Lock()
        self.ready.acquire()


class Slots(Generic[_T]):
    """Items, each of which one thread holds at a time; the one given back last goes first.

    Without contention no lock is taken: adding to a list and taking from it are atomic. Whoever gives back
    looks for waiters afterwards, whoever begins to wait looks for items afterwards, so that no item and
    waiter miss each other.
    """

    def __init__(self, items: Iterable[_T]) -> None:
        self._free = list(items)
        self._waiting: deque[_Waiter[_T]] = deque()
        self._mutex = threading.Lock()

    def take(self, seconds: float) -> _T:
        """Take an item; wait for one at most ``seconds``. Raises `TimeoutError`."""
        try:
            return self._free.pop()
        except IndexError:
            return self._wait(seconds)

    def give_back(self, item: _T) -> None:
        """Give an item back, to the thread that has waited longest if there is one."""
        self._free.append(item)
        if self._waiting:
            self._hand_over()

    def take_free(self) -> list[_T]:
        """Take all items that nobody holds, without waiting."""
        taken: list[_T] = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._free.pop())
        return taken

    def _wait(self, seconds: float) -> _T:
        waiter: _Waiter[_T] = _Waiter()
        self._waiting.append(waiter)
        try:
            self._hand_over()
            if waiter.ready.acquire(timeout=max(seconds, 0)) or not self._withdraw(waiter):
                return waiter.item
        except BaseException:
            if not self._withdraw(waiter):
                self.give_back(waiter.item)
            raise
        raise TimeoutError

    def _hand_over(self) -> None:
        with self._mutex, contextlib.suppress(IndexError):
            while self._waiting:
                item = self._free.pop()
                waiter = self._waiting.popleft()
                waiter.item = item
                waiter.ready.release()

    def _withdraw(self, waiter: _Waiter[_T]) -> bool:
        """Leave the queue. False if an item was handed over at the last moment."""
        with self._mutex:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
                return True
            return False
