"""A circuit breaker: a store that failed is not asked again for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

__all__ = ["CircuitBreaker"]

MAX_DOUBLINGS: Final = 30


class CircuitBreaker:
    """Counts failures in a row and says when to ask again. Safe to use from many threads.

    After a failure the store is left alone for ``pause`` seconds, after each further one for twice as long,
    up to ``longest_pause``. The first call after a pause is let through alone; its outcome decides.
    """

    def __init__(
        self,
        *,
        pause: float = 1.0,
        longest_pause: float = 60.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Make a closed breaker; ``clock`` returns seconds and is by default ``time.monotonic``."""
        self._pause = pause
        self._longest_pause = longest_pause
        self._clock = clock or time.monotonic
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0

    def allow(self) -> bool:
        """Say whether to ask the store now. After a pause only one caller is let through at a time."""
        with self._lock:
            if self._failures == 0:
                return True
            now = self._clock()
            if now < self._open_until:
                return False
            self._open_until = now + self._pause
            return True

    def failed(self) -> float:
        """Note a failure and return for how many seconds the store is left alone."""
        with self._lock:
            self._failures += 1
            doubled: float = self._pause * 2 ** min(self._failures - 1, MAX_DOUBLINGS)
            pause = min(doubled, self._longest_pause)
            self._open_until = self._clock() + pause
            return pause

    def succeeded(self) -> bool:
        """Note a success and return True if failures came before it."""
        with self._lock:
            recovered = self._failures > 0
            self._failures = 0
            return recovered
