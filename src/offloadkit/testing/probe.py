"""What `check_backend` looks at, one function a promise.

A function returns a remark, usually "", and raises `AssertionError` with what it saw where the promise is
broken. They raise it by name, since ``python -O`` leaves out the statement.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from offloadkit.backend import AlreadyExists, Backend, NotFound, SupportsPing, SupportsSetExpiry
from offloadkit.testing.driving import at_once, listed
from offloadkit.testing.scratch import CHUNK_BYTES, Scratch, difference, pattern

_CREATORS = 8
_RACES = 3
_TIMED_ROUNDS = 7
_TIMED_BYTES = 64 * 1024
_PAGE_BYTES = 4096
_EXPIRY_TOLERANCE_SECONDS = 0.001
_META = bytes(range(256)) * 4


@dataclass(frozen=True, slots=True)
class Probe:
    """A backend under test, the keys used on it, and the times that were taken, in seconds."""

    backend: Backend
    scratch: Scratch = field(default_factory=Scratch)
    seconds: dict[str, float] = field(default_factory=dict)


Promise = Callable[[Probe], str]


def _expect(kept: object, otherwise: str) -> None:
    if not kept:
        raise AssertionError(otherwise)


def _expect_same(what: str, found: object, expected: bytes) -> None:
    wrong = difference(found, expected)
    _expect(not wrong, f"{what}: {wrong}")


def _expect_error(expected: type[Exception], what: str, call: Callable[[], object]) -> None:
    try:
        call()
    except expected:
        return
    raise AssertionError(f"{what} went through, {expected.__name__} was expected")


def _answers(probe: Probe) -> str:
    if not isinstance(probe.backend, SupportsPing):
        return "the backend has no ping"
    probe.backend.ping()
    return ""


def _round_trip(probe: Probe) -> str:
    for size in (0, 1000, CHUNK_BYTES + 1):
        key = probe.scratch.key(f"size-{size}")
        probe.backend.put(key, pattern(size), meta=_META)
        _expect_same(f"an object of {size} bytes", probe.backend.read(key), pattern(size))
        stat = probe.backend.stat(key)
        _expect(
            (stat.key, stat.size) == (key, size),
            f"stat of {size} bytes gave {stat.size} bytes of {stat.key!r}",
        )
        _expect_same(f"metadata of {len(_META)} bytes", stat.meta, _META)
    return ""


def _ranges(probe: Probe) -> str:
    key, data = probe.scratch.key("ranges"), pattern(CHUNK_BYTES + 10)
    probe.backend.put(key, data)
    for start, length in (
        (0, 1),
        (5, 0),
        (CHUNK_BYTES - 2, 5),
        (len(data) - 3, 9),
        (len(data), 1),
        (2**40, 1),
    ):
        found = probe.backend.read(key, start, length)
        _expect_same(f"{length} bytes from {start} of {len(data)}", found, data[start : start + length])
    _expect_error(ValueError, "a read from byte -1", lambda: probe.backend.read(key, -1))
    return ""


def _missing(probe: Probe) -> str:
    key = probe.scratch.key("missing")
    _expect_error(NotFound, "a read of a missing key", lambda: probe.backend.read(key))
    _expect_error(NotFound, "a read of no bytes of a missing key", lambda: probe.backend.read(key, 0, 0))
    _expect_error(NotFound, "a stat of a missing key", lambda: probe.backend.stat(key))
    return ""


def _create_once(probe: Probe) -> str:
    key = probe.scratch.key("once")
    probe.backend.put(key, b"first", meta=b"first")
    again = lambda: probe.backend.put(key, b"second", meta=b"second")  # noqa: E731
    _expect_error(AlreadyExists, "a put under a taken key", again)
    _expect_same("an object after a refused put", probe.backend.read(key), b"first")
    _expect_same("metadata after a refused put", probe.backend.stat(key).meta, b"first")
    return ""


def _one_winner(probe: Probe) -> str:
    if not probe.backend.caps.atomic_create:
        return "caps.atomic_create is False: several creators of one key may succeed"
    for number in range(_RACES):
        key = probe.scratch.key(f"race-{number}")
        winners = [thread for thread, won in enumerate(_race(probe.backend, key)) if won]
        _expect(len(winners) == 1, f"{len(winners)} of {_CREATORS} threads created one key")
        _expect_same("the winner's object", probe.backend.read(key), bytes([winners[0]]) * 1000)
    return ""


def _race(backend: Backend, key: str) -> list[bool]:
    def create(thread: int) -> bool:
        try:
            backend.put(key, bytes([thread]) * 1000)
        except AlreadyExists:
            return False
        return True

    return at_once(create, _CREATORS)


def _listing(probe: Probe) -> str:
    folder = probe.scratch.prefix + "list/"
    keys = {probe.scratch.key("list/" + name) for name in ("a", "a/b", "ab", "a_b", "a.b", "b")}
    for key in sorted(keys):
        probe.backend.put(key, b"data")
    for prefix, limit in (
        (folder, 1),
        (folder, 4),
        (folder + "a", 1000),
        (folder + "a_", 1000),
        (folder + "c", 2),
    ):
        found = {item.key for item in listed(probe.backend, prefix, limit=limit)}
        expected = {key for key in keys if key.startswith(prefix)}
        _expect(
            found == expected,
            f"pages of {limit} gave {len(found)} keys, {len(expected)} begin with the prefix",
        )
    return ""


def _expiry(probe: Probe) -> str:
    key, expires_at = probe.scratch.key("expiry"), round(time.time()) + 3600.25
    probe.backend.put(key, b"data", expires_at=expires_at)
    _expect_expiry(probe, key, expires_at)
    if not isinstance(probe.backend, SupportsSetExpiry):
        return "the backend has no set_expiry"
    probe.backend.set_expiry(key, expires_at + 60)
    _expect_expiry(probe, key, expires_at + 60)
    probe.backend.set_expiry(key, None)
    _expect(probe.backend.stat(key).expires_at is None, "an expiry that was taken away is still there")
    return ""


def _expect_expiry(probe: Probe, key: str, expected: float) -> None:
    found = probe.backend.stat(key).expires_at
    right = found is not None and abs(found - expected) <= _EXPIRY_TOLERANCE_SECONDS
    _expect(right, f"an expiry of {expected} came back as {found}")


def _deletion(probe: Probe) -> str:
    key, neighbour = probe.scratch.key("gone"), probe.scratch.key("gone-not")
    for each in (key, neighbour):
        probe.backend.put(each, b"data")
    probe.backend.delete([probe.scratch.key("missing"), key])
    _expect_error(NotFound, "a read of a deleted key", lambda: probe.backend.read(key))
    _expect_same("the neighbour of a deleted key", probe.backend.read(neighbour), b"data")
    return ""


def _times(probe: Probe) -> str:
    rounds = [_one_round(probe, number) for number in range(_TIMED_ROUNDS)]
    for operation in rounds[0]:
        probe.seconds[operation] = statistics.median(times[operation] for times in rounds)
    return ""


def _one_round(probe: Probe, number: int) -> dict[str, float]:
    backend, key = probe.backend, probe.scratch.key(f"timed-{number}")
    operations: dict[str, Callable[[], object]] = {
        "put": lambda: backend.put(key, pattern(_TIMED_BYTES), meta=_META),
        "read": lambda: backend.read(key, _PAGE_BYTES, _PAGE_BYTES),
        "stat": lambda: backend.stat(key),
        "list": lambda: backend.list(key),
        "delete": lambda: backend.delete([key]),
    }
    return {name: _seconds_of(operation) for name, operation in operations.items()}


def _seconds_of(operation: Callable[[], object]) -> float:
    start = time.perf_counter()
    operation()
    return time.perf_counter() - start


def clean_up(probe: Probe) -> str:
    """Delete every key that was handed out, and look whether that was all."""
    probe.backend.delete(sorted(probe.scratch.keys))
    left = len(listed(probe.backend, probe.scratch.prefix))
    _expect(not left, f"{left} objects below {probe.scratch.prefix!r} could not be deleted")
    return ""


PROMISES: dict[str, Promise] = {
    "answers a ping": _answers,
    "gives back data and metadata": _round_trip,
    "reads ranges": _ranges,
    "says what is missing": _missing,
    "creates a key once": _create_once,
    "has one winner in a race": _one_winner,
    "lists by prefix, page by page": _listing,
    "keeps the expiry": _expiry,
    "deletes what it is told to": _deletion,
    "can be timed": _times,
}
