"""How the suites call a backend: page by page, from many threads at the same moment, method by method."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from offloadkit.backend import (
    Backend,
    Page,
    Stat,
    SupportsLocalPath,
    SupportsPing,
    SupportsSetExpiry,
    SupportsSweep,
)

Result = TypeVar("Result")

MOST_PAGES = 10_000
LONG_AGO = 1_000_000_000.0
"""In September 2001, in seconds since 1970: what expired then belongs to a suite, also in a shared store."""


def pages(backend: Backend, prefix: str, *, limit: int = 1000) -> Iterator[Page]:
    """Yield every page of a listing.

    Raises:
        AssertionError: A page is larger than ``limit``, or the listing goes round in a circle.
    """
    seen: set[str] = set()
    cursor: str | None = None
    while True:
        page = backend.list(prefix, cursor=cursor, limit=limit)
        if len(page.items) > limit:
            raise AssertionError(f"a page holds {len(page.items)} items, its limit is {limit}")
        yield page
        cursor = page.cursor
        if cursor is None:
            return
        if cursor in seen or len(seen) == MOST_PAGES:
            raise AssertionError(f"the listing does not end: {len(seen)} pages, then a cursor that was there")
        seen.add(cursor)


def listed(backend: Backend, prefix: str, *, limit: int = 1000) -> list[Stat]:
    """Return every item of a listing, in the order of its pages. Raises like `pages`."""
    return [item for page in pages(backend, prefix, limit=limit) for item in page.items]


def at_once(work: Callable[[int], Result], threads: int) -> list[Result]:
    """Call ``work(0)``, ``work(1)``, … in that many threads, released together; return their results."""
    start = threading.Barrier(threads)

    def released(number: int) -> Result:
        start.wait(timeout=30)
        return work(number)

    with ThreadPoolExecutor(threads) as pool:
        return [future.result() for future in [pool.submit(released, number) for number in range(threads)]]


def every_method(backend: Backend, *, taken: str, free: str) -> dict[str, Callable[[], object]]:
    """Return one call of each method but ``close``, the optional ones that are there included.

    Args:
        backend: The backend to call.
        taken: A key that holds an object.
        free: A key that holds none.
    """
    calls: dict[str, Callable[[], object]] = {
        "put": lambda: backend.put(free, b"late"),
        "read": lambda: backend.read(taken),
        "stat": lambda: backend.stat(taken),
        "list": lambda: backend.list(taken),
        "delete": lambda: backend.delete([taken]),
    }
    if isinstance(backend, SupportsSetExpiry):
        calls["set_expiry"] = lambda: backend.set_expiry(taken, None)
    if isinstance(backend, SupportsSweep):
        calls["sweep"] = lambda: backend.sweep(LONG_AGO)
    if isinstance(backend, SupportsLocalPath):
        calls["local_path"] = lambda: backend.local_path(taken)
    if isinstance(backend, SupportsPing):
        calls["ping"] = backend.ping
    return calls
