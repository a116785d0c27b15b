"""Which keys there are: most stores of py-key-value cannot tell.

The keys stand in 64 entries, each key in the one that its checksum says. An entry is read, changed and
written again, and the caller sees to it that nobody in this process does that at the same moment.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

__all__ = ["Index"]

_SHARDS: Final = 64
_COLLECTION: Final = "offloadkit_index"


class Index:
    """The keys of one store."""

    def __init__(self, store: Any) -> None:
        """Make an index over ``store``, without any I/O."""
        self._store = store

    async def keys(self, prefix: str) -> list[str]:
        """Return every key that begins with ``prefix``, in order."""
        names = [_name(shard) for shard in range(_SHARDS)]
        entries = await self._store.get_many(names, collection=_COLLECTION)
        return sorted(key for entry in entries for key in _keys(entry) if key.startswith(prefix))

    async def add(self, key: str) -> None:
        """Enter a key."""
        await self._change(_shard(key), lambda keys: keys | {key})

    async def remove(self, keys: Iterable[str]) -> None:
        """Strike keys out."""
        by_shard: defaultdict[int, set[str]] = defaultdict(set)
        for key in keys:
            by_shard[_shard(key)].add(key)
        for shard, gone in by_shard.items():
            await self._change(shard, lambda found, gone=gone: found - gone)

    async def _change(self, shard: int, change: Any) -> None:
        found = _keys(await self._store.get(_name(shard), collection=_COLLECTION))
        changed = change(found)
        if changed != found:
            await self._store.put(_name(shard), {"keys": sorted(changed)}, collection=_COLLECTION)


def _shard(key: str) -> int:
    return zlib.crc32(key.encode()) % _SHARDS


def _name(shard: int) -> str:
    return f"shard-{shard:02}"


def _keys(entry: Mapping[str, Any] | None) -> set[str]:
    return set() if entry is None else set(entry["keys"])
