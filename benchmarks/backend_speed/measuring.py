"""Timing: everybody does the same with the same bytes, and they take turns in an order that changes."""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from backend_speed.clients import Client, Payload, Peer, Timed

__all__ = ["OPERATIONS", "Medians", "measure"]

OPERATIONS = ("put", "read", "range")
RANGE_BYTES = 4_096
RANGES_IN_A_ROW = 10
READ_OBJECTS = 3
"""Objects of each size that are read: few enough for the cache of a database as it is installed."""

Medians = Mapping[tuple[str, int, str], float]
"""Median seconds by client, bytes of the object, and operation."""

_METHODS = {"put": "put", "read": "read", "range": "read_range"}


def calls_in_a_row(size: int) -> int:
    """Return how many calls a client makes before it is the next one's turn: fewer with large objects."""
    return 10 if size <= 100_000 else 4 if size <= 1_000_000 else 1


class _Stopwatch:
    """Lets clients call in turns, and keeps how long each call took."""

    def __init__(self, clients: Mapping[str, Client]) -> None:
        self._clients = clients
        self._times: defaultdict[tuple[str, int, str], list[float]] = defaultdict(list)
        self._random = random.Random(0)

    def round(
        self, size: int, operation: str, calls: Sequence[tuple[object, ...]], expected: int = -1
    ) -> None:
        """Have each client in turn make all of ``calls``, the clients in another order each time.

        Args:
            size: Bytes of the object.
            operation: One of `OPERATIONS`.
            calls: The arguments of each call.
            expected: How many bytes each of them has to return; -1 where it returns nothing.

        Raises:
            ValueError: Somebody returned another number of bytes.
        """
        for name in self._random.sample(list(self._clients), len(self._clients)):
            times = self._times[name, size, operation]
            for arguments in calls:
                seconds, result = _timed(self._clients[name], _METHODS[operation], *arguments)
                times.append(seconds)
                if expected >= 0 and len(result) != expected:
                    raise ValueError(f"{name} returned {len(result)} bytes, not {expected}")

    def medians(self) -> Medians:
        """Return the medians, the clients in the order in which they were given."""
        sizes = dict.fromkeys(size for _, size, _ in self._times)
        return {
            (name, size, operation): statistics.median(self._times[name, size, operation])
            for name in self._clients
            for size in sizes
            for operation in OPERATIONS
        }


def measure(clients: Mapping[str, Client], sizes: Sequence[int], rounds: int, session: str) -> Medians:
    """Return the median seconds of every client, size and operation.

    One round with small objects goes before and is not counted: then connections are open, tables made and
    statements prepared.

    Args:
        clients: By name.
        sizes: Bytes of the objects.
        rounds: How often it is each client's turn.
        session: What all keys begin with.
    """
    _measure(clients, sizes[:1], 1, f"{session}/warm-up")
    return _measure(clients, sizes, rounds, f"{session}/counted")


def _measure(clients: Mapping[str, Client], sizes: Sequence[int], rounds: int, prefix: str) -> Medians:
    watch = _Stopwatch(clients)
    kept: dict[int, Sequence[str]] = {}
    for size in sizes:
        keys = [f"{prefix}-{size}-{number:06x}" for number in range(rounds * calls_in_a_row(size))]
        _put(watch, size, keys)
        kept[size] = keys[:READ_OBJECTS]
    for size in sizes:
        _read(watch, size, kept[size], rounds)
    _read_ranges(watch, kept, rounds)
    return watch.medians()


def _put(watch: _Stopwatch, size: int, keys: Sequence[str]) -> None:
    text = _text(size)
    payload = Payload(text.encode(), text)
    row = calls_in_a_row(size)
    for begin in range(0, len(keys), row):
        watch.round(size, "put", [(key, payload) for key in keys[begin : begin + row]])


def _read(watch: _Stopwatch, size: int, keys: Sequence[str], rounds: int) -> None:
    turns = itertools.cycle(keys)
    for _ in range(rounds):
        calls = [(key,) for key in itertools.islice(turns, calls_in_a_row(size))]
        watch.round(size, "read", calls, expected=size)


def _read_ranges(watch: _Stopwatch, kept: Mapping[int, Sequence[str]], rounds: int) -> None:
    """Read ranges of all sizes in turns, since they are compared with each other too."""
    place = random.Random(0)
    for _ in range(rounds):
        for size, keys in kept.items():
            length = min(RANGE_BYTES, max(1, size // 4))
            starts = [place.randrange(size - length + 1) for _ in range(RANGES_IN_A_ROW)]
            calls = [(keys[start % len(keys)], start, length) for start in starts]
            watch.round(size, "range", calls, expected=length)


def _text(size: int) -> str:
    """Return text that looks like a log and in which no two lines are the same."""
    digits = random.Random(size)
    line = "2026-12-01 12:00:00 INFO request {:012} served\n"
    count = size // len(line.format(0)) + 1
    return "".join(line.format(digits.randrange(10**12)) for _ in range(count))[:size]


def _timed(client: Client, method: str, *arguments: object) -> Timed:
    call = getattr(client, method)
    if isinstance(client, Peer):
        timed: Timed = call(*arguments)
        return timed
    begin = time.perf_counter()
    result = call(*arguments)
    return time.perf_counter() - begin, result
