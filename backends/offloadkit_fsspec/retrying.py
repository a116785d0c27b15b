"""Trying again what failed for a passing reason."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from offloadkit.errors import Unavailable

__all__ = ["with_retries"]

_Result = TypeVar("_Result")


def with_retries(
    work: Callable[[], _Result], retries: int, *, sleep: Callable[[float], object] = time.sleep
) -> _Result:
    """Return ``work()``; after `Unavailable` try again up to ``retries`` times.

    The waits grow from 0.1 to at most 5 seconds, each shortened at random so that clients that failed
    together do not come back together.
    """
    for attempt in range(retries):
        try:
            return work()
        except Unavailable:
            sleep(min(0.1 * 2**attempt, 5.0) * random.uniform(0.5, 1.0))  # noqa: S311  no secret depends on it
    return work()
