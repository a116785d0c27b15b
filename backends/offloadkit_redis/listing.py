"""One page of a listing: SCAN on one node after the other.

SCAN takes the size of a page as a hint, and may return more. What does not fit is handed on in the cursor: to
ask for the same place again and pass over what was returned would lose keys when the table of the server is
resized in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from offloadkit.backend import Stat
from offloadkit.errors import BackendError
from offloadkit_redis.connection import Client
from offloadkit_redis.names import Names
from offloadkit_redis.records import unpack

__all__ = ["Position", "describe", "scan"]

_COUNT: Final = 1_000
_LAST: Final = -1


@dataclass(frozen=True, slots=True)
class Position:
    """Where a listing stands.

    Attributes:
        node: The node that is asked next, of a cluster; else "".
        scan: SCAN's own cursor on that node, or -1 when nothing is left to ask.
        pending: What was found and not yet handed out: the ends of keys, without the prefix of the listing.
    """

    node: str = ""
    scan: int = 0
    pending: tuple[str, ...] = ()

    @classmethod
    def parse(cls, cursor: str | None) -> Position:
        """Return the position that a cursor stands for. Raises `BackendError` when it is none of ours."""
        if cursor is None:
            return cls()
        node, separator, rest = cursor.partition("|")
        scan, _, pending = rest.partition("|")
        if not separator or not scan.removeprefix("-").isdecimal():
            raise BackendError("the cursor is not one that this backend returned")
        return cls(node, int(scan), tuple(pending.split(",")[:-1]))

    def cursor(self) -> str | None:
        """Return the position as a cursor, or None at the end."""
        if self.scan == _LAST and not self.pending:
            return None
        return f"{self.node}|{self.scan}|" + "".join(f"{end}," for end in self.pending)


def scan(client: Client, names: Names, prefix: str, position: Position) -> tuple[list[str], Position]:
    """Return the keys that wait at a position, or that one more SCAN finds, and the position behind them."""
    if position.pending:
        return [prefix + end for end in position.pending], Position(position.node, position.scan)
    pattern = names.pattern(prefix)
    if not hasattr(client, "get_primaries"):
        cursor, found = client.scan(position.scan, match=pattern, count=_COUNT)
        return [names.key_of(name) for name in found], Position("", int(cursor) or _LAST)
    nodes = {node.name: node for node in client.get_primaries()}
    name = position.node or min(nodes)
    if name not in nodes:
        raise BackendError("the nodes of the cluster have changed; begin the listing again")
    cursors, found = client.scan(position.scan, match=pattern, count=_COUNT, target_nodes=nodes[name])
    keys = [names.key_of(record) for record in found]
    if cursors[name]:
        return keys, Position(name, int(cursors[name]))
    following = min((other for other in nodes if other > name), default="")
    return keys, Position(following, 0 if following else _LAST)


def describe(client: Client, names: Names, keys: Sequence[str]) -> list[Stat]:
    """Return what is known of those keys that are still there, in one round trip."""
    pipeline = client.pipeline(transaction=False)
    for key in keys:
        pipeline.get(names.record(key))
        pipeline.exists(names.data(key))
    answers = pipeline.execute() if keys else []
    return [
        stat_of(key, packed)
        for key, packed, there in zip(keys, answers[::2], answers[1::2], strict=True)
        if packed is not None and there
    ]


def stat_of(key: str, packed: bytes) -> Stat:
    """Return the description that a record holds. Raises `Corrupt`."""
    record = unpack(packed, key)
    return Stat(key, record.size, record.meta, record.expires_at, record.created_at)
