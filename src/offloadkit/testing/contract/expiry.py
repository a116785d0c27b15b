"""The expiry of an object is kept, may be moved, and lets `sweep` find what is over.

No test waits: what has to be expired expired in 2001, so that a sweep of a shared store touches nothing else.
"""

from __future__ import annotations

import time

import pytest

from offloadkit.backend import Backend, NotFound, SupportsSetExpiry, SupportsSweep
from offloadkit.testing.contract.setting import Setting
from offloadkit.testing.driving import LONG_AGO
from offloadkit.testing.scratch import Scratch, difference

_DAY = 86_400


def _later(seconds: float) -> float:
    """Return a time in the future with a quarter of a second, which floats and milliseconds hold exactly."""
    return round(time.time()) + seconds + 0.25


class ExpiryContract(Setting):
    """Expiry at `put`, and by the optional methods ``set_expiry`` and ``sweep``."""

    @pytest.mark.parametrize("days", [1, 400, 36_500])
    def test_the_expiry_is_kept_to_a_fraction_of_a_second(
        self, backend: Backend, scratch: Scratch, days: int
    ) -> None:
        key, expires_at = scratch.key(), _later(days * _DAY)
        backend.put(key, b"data", expires_at=expires_at)
        assert self.same_time(backend.stat(key).expires_at, expires_at)

    def test_an_object_that_will_expire_is_there_until_then(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data", meta=b"meta", expires_at=_later(60))
        assert not difference(backend.read(key), b"data")
        assert not difference(backend.stat(key).meta, b"meta")

    def test_an_expired_object_is_whole_or_reclaimed(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data", meta=b"meta", expires_at=LONG_AGO)
        try:
            found = backend.read(key), backend.stat(key).meta
        except NotFound:
            found = b"data", b"meta"
        assert found == (b"data", b"meta")

    @pytest.mark.parametrize("days", [1, 30])
    def test_the_expiry_moves_either_way(self, backend: Backend, scratch: Scratch, days: int) -> None:
        key, expires_at = scratch.key(), _later(days * _DAY)
        backend.put(key, b"data", expires_at=_later(7 * _DAY))
        self._set_expiry(backend, key, expires_at)
        assert self.same_time(backend.stat(key).expires_at, expires_at)

    def test_an_expiry_can_be_given_later(self, backend: Backend, scratch: Scratch) -> None:
        key, expires_at = scratch.key(), _later(_DAY)
        backend.put(key, b"data")
        self._set_expiry(backend, key, expires_at)
        assert self.same_time(backend.stat(key).expires_at, expires_at)

    def test_an_expiry_can_be_taken_away(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data", expires_at=_later(_DAY))
        self._set_expiry(backend, key, None)
        assert backend.stat(key).expires_at is None

    def test_a_moved_expiry_changes_nothing_else(self, backend: Backend, scratch: Scratch) -> None:
        key, neighbour = scratch.key("a"), scratch.key("a/b")
        for each in (key, neighbour):
            backend.put(each, each.encode(), meta=b"meta", expires_at=_later(_DAY))
        before = backend.stat(key), backend.stat(neighbour)
        self._set_expiry(backend, key, _later(2 * _DAY))
        after = backend.stat(key)
        assert (after.size, after.meta, after.created_at) == (before[0].size, b"meta", before[0].created_at)
        assert not difference(backend.read(key), key.encode())
        assert backend.stat(neighbour) == before[1]

    def test_a_sweep_removes_what_has_expired(self, backend: Backend, scratch: Scratch) -> None:
        keys = [scratch.key(f"over-{number}") for number in range(5)]
        for key in keys:
            backend.put(key, b"data", expires_at=LONG_AGO)
        self._sweep_all(backend, limit=1000)
        assert self._present(backend, keys) == []

    def test_a_sweep_removes_at_most_its_limit(self, backend: Backend, scratch: Scratch) -> None:
        keys = [scratch.key(f"over-{number}") for number in range(5)]
        for key in keys:
            backend.put(key, b"data", expires_at=LONG_AGO)
        self._sweep_all(backend, limit=2)
        assert self._present(backend, keys) == []

    def test_a_sweep_leaves_what_has_not_expired(self, backend: Backend, scratch: Scratch) -> None:
        keys = [scratch.key("never"), scratch.key("later")]
        backend.put(keys[0], b"data")
        backend.put(keys[1], b"data", expires_at=_later(60))
        self._sweep_all(backend, limit=1000)
        assert self._present(backend, keys) == keys

    def test_a_sweep_goes_by_the_moved_expiry(self, backend: Backend, scratch: Scratch) -> None:
        keys = [scratch.key("over"), scratch.key("saved")]
        for key in keys:
            backend.put(key, b"data", expires_at=_later(60))
        self._set_expiry(backend, keys[0], LONG_AGO)
        self._set_expiry(backend, keys[1], None)
        self._sweep_all(backend, limit=1000)
        assert self._present(backend, keys) == keys[1:]

    def _set_expiry(self, backend: Backend, key: str, expires_at: float | None) -> None:
        self.need(backend, "set_expiry")
        assert isinstance(backend, SupportsSetExpiry)
        backend.set_expiry(key, expires_at)

    def _sweep_all(self, backend: Backend, *, limit: int) -> None:
        """Sweep until nothing is left to sweep; each call that says so must be the last one needed."""
        self.need(backend, "sweep")
        assert isinstance(backend, SupportsSweep)
        for _ in range(1000):
            removed = backend.sweep(LONG_AGO + 1, limit=limit)
            assert 0 <= removed <= limit
            if removed == 0:
                return
        pytest.fail("the sweep does not end: 1,000 calls, each of which removed something")

    def _present(self, backend: Backend, keys: list[str]) -> list[str]:
        found = []
        for key in keys:
            try:
                found.append(backend.stat(key).key)
            except NotFound:
                continue
        return found
