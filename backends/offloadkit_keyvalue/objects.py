"""Objects in one store, within its event loop: data, description and index of each, in the right order.

The description is written last and deleted first. So whoever finds it finds the data too, and an object that
was being written when the process ended is not there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from offloadkit.backend import Page, Stat
from offloadkit.errors import AlreadyExists, NotFound
from offloadkit_keyvalue.entries import data_entry, data_of, entry_name, stat_entry, stat_of
from offloadkit_keyvalue.index import Index

__all__ = ["Objects"]

_DATA: Final = "offloadkit_data"
_STATS: Final = "offloadkit_stats"


class Objects:
    """What the backend does, as coroutines. One change is made at a time."""

    def __init__(self, store: Any) -> None:
        """Make the objects of ``store``, without any I/O."""
        self._store = store
        self._index = Index(store)
        self._changing = asyncio.Lock()

    async def put(self, stat: Stat, data: bytes) -> None:
        """Store an object. Raises `AlreadyExists`."""
        name = entry_name(stat.key)
        async with self._changing:
            if await self._store.get(name, collection=_STATS) is not None:
                raise AlreadyExists(f"{stat.key} is there already", key=stat.key)
            await self._store.put(name, data_entry(data), collection=_DATA)
            await self._index.add(stat.key)
            await self._store.put(name, stat_entry(stat), collection=_STATS)

    async def stat(self, key: str) -> Stat:
        """Describe an object. Raises `NotFound`."""
        entry = await self._store.get(entry_name(key), collection=_STATS)
        if entry is None:
            raise NotFound(f"no object {key}", key=key)
        return stat_of(key, entry)

    async def read(self, key: str) -> bytes:
        """Return all data of an object. Raises `NotFound`."""
        await self.stat(key)
        entry = await self._store.get(entry_name(key), collection=_DATA)
        if entry is None:
            raise NotFound(f"no object {key}", key=key)
        return data_of(key, entry)

    async def list(self, prefix: str, after: str, limit: int) -> Page:
        """Return one page of the keys after ``after``."""
        keys = [key for key in await self._index.keys(prefix) if key > after]
        names = [entry_name(key) for key in keys[:limit]]
        entries = await self._store.get_many(names, collection=_STATS) if names else []
        items = tuple(
            stat_of(key, entry) for key, entry in zip(keys, entries, strict=False) if entry is not None
        )
        return Page(items, cursor=keys[limit - 1] if len(keys) > limit else None)

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; a missing one is no error."""
        names = [entry_name(key) for key in keys]
        async with self._changing:
            for collection in (_STATS, _DATA) if names else ():
                await self._store.delete_many(names, collection=collection)
            await self._index.remove(keys)

    async def close(self) -> None:
        """Close the store, if it is one that is closed."""
        close = getattr(self._store, "close", None)
        if close is not None:
            await close()
