"""Listing, deleting and sweeping stored objects over any backend: bounded work at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from offloadkit.backend import Backend, NotFound, Stat, SupportsSweep

__all__ = ["delete_objects", "objects", "sweep"]

BATCH_OBJECTS = 1000


def objects(backend: Backend, prefix: str) -> Iterator[Stat]:
    """Yield every object whose key begins with ``prefix``, each once, page by page."""
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = backend.list(prefix, cursor=cursor)
        for stat in page.items:
            if stat.key in seen:
                continue
            if not backend.caps.ordered:
                seen.add(stat.key)
            yield stat
        cursor = page.cursor
        if cursor is None:
            return


def delete_objects(backend: Backend, prefix: str) -> Iterator[Stat]:
    """Delete every object whose key begins with ``prefix`` and yield what was deleted, page by page.

    Raises:
        PartialDelete: Some could not be deleted.
    """
    for batch in _batches(objects(backend, prefix), BATCH_OBJECTS):
        backend.delete([stat.key for stat in batch])
        yield from batch


def sweep(backend: Backend, now: float) -> Iterator[int]:
    """Delete every object that expired before ``now`` and yield how many went, batch by batch.

    ``now`` is in seconds since 1970. Several sweeps at once are safe.
    """
    if isinstance(backend, SupportsSweep):
        while (deleted := backend.sweep(now, limit=BATCH_OBJECTS)) > 0:
            yield deleted
        return
    described = (stat if stat.meta else _described(backend, stat) for stat in objects(backend, ""))
    expired = (stat for stat in described if stat.expires_at is not None and stat.expires_at < now)
    for batch in _batches(expired, BATCH_OBJECTS):
        backend.delete([stat.key for stat in batch])
        yield len(batch)


def _described(backend: Backend, stat: Stat) -> Stat:
    """Ask for what a listing may leave out."""
    try:
        return backend.stat(stat.key)
    except NotFound:
        return stat


def _batches(stats: Iterable[Stat], size: int) -> Iterator[list[Stat]]:
    iterator = iter(stats)
    while batch := list(islice(iterator, size)):
        yield batch
