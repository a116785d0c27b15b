"""Removing expired objects where a listing does not tell the expiry: each object is asked for it."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from offloadkit.backend import Backend, Stat
from offloadkit.errors import NotFound

__all__ = ["Sweep"]

_THREADS: Final = 8


class Sweep:
    """A walk over all objects, one part of it per call.

    A call looks at pages until one of them held something expired, so that a sweep of many calls asks each
    object once. A call that has nothing left to look at returns 0, and the next one begins anew.
    """

    def __init__(self) -> None:
        """Make a sweep that has not begun."""
        self._cursor: str | None = None
        self._at_end = False

    @property
    def has_begun(self) -> bool:
        """Whether the next call goes on where one before it stopped."""
        return self._at_end or self._cursor is not None

    def step(self, backend: Backend, now: float, limit: int) -> int:
        """Delete at most ``limit`` objects that expired before ``now``; return how many."""
        if self._at_end:
            self._at_end = False
            return 0
        while True:
            page = backend.list("", cursor=self._cursor, limit=limit)
            expired = _expired(backend, (item.key for item in page.items), now)
            backend.delete(expired)
            self._cursor = page.cursor
            if expired:
                self._at_end = page.cursor is None
                return len(expired)
            if page.cursor is None:
                return 0


def _expired(backend: Backend, keys: Iterable[str], now: float) -> list[str]:
    with ThreadPoolExecutor(_THREADS) as pool:
        found = [stat for stat in pool.map(partial(_stat_or_none, backend), keys) if stat is not None]
    return [stat.key for stat in found if stat.expires_at is not None and stat.expires_at < now]


def _stat_or_none(backend: Backend, key: str) -> Stat | None:
    try:
        return backend.stat(key)
    except NotFound:
        return None
