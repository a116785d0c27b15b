"""Deleting objects one by one, where the store knows no other way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from offloadkit.errors import BackendError, NotFound, Unavailable

__all__ = ["delete_each"]

_THREADS: Final = 8


def delete_each(keys: Sequence[str], remove: Callable[[str], object]) -> dict[str, BackendError]:
    """Call ``remove`` for each key, several at a time; return what failed.

    A missing object is no failure. After the store has once not answered, no further key is tried.
    """
    outage: list[BackendError] = []

    def attempt(key: str) -> BackendError | None:
        if outage:
            return outage[0]
        try:
            remove(key)
        except NotFound:
            return None
        except BackendError as error:
            if isinstance(error, Unavailable):
                outage.append(error)
            return error
        return None

    with ThreadPoolExecutor(_THREADS) as pool:
        errors = list(pool.map(attempt, keys))
    return {key: error for key, error in zip(keys, errors, strict=True) if error is not None}
