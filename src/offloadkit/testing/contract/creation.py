"""An object is created once, by one creator, whole or not at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from offloadkit.backend import AlreadyExists, Backend, NotFound
from offloadkit.testing.contract.setting import Setting
from offloadkit.testing.driving import at_once, listed
from offloadkit.testing.scratch import CHUNK_BYTES, Scratch, difference, pattern

_CREATORS = 8
_RACES = 8
_WATCHED = 4
_WHOLE = pattern(CHUNK_BYTES + 1)
_EXPIRES_AT = 4_000_000_000.25


def _race(instances: Sequence[Backend], key: str) -> list[int]:
    """Let creators put different objects under one key at the same moment; return the winners' numbers."""

    def create(number: int) -> bool:
        try:
            instances[number % len(instances)].put(key, bytes([number]) * 5000, meta=bytes([number]))
        except AlreadyExists:
            return False
        return True

    return [number for number, won in enumerate(at_once(create, _CREATORS)) if won]


class CreationContract(Setting):
    """Create-only puts, races for a key, and what is visible of a put on the way."""

    def test_a_taken_key_is_refused(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"first")
        with pytest.raises(AlreadyExists) as caught:
            backend.put(key, b"second")
        assert caught.value.key == key

    def test_the_same_object_again_is_refused(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data", meta=b"meta")
        with pytest.raises(AlreadyExists):
            backend.put(key, b"data", meta=b"meta")

    def test_an_empty_object_takes_its_key(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"")
        with pytest.raises(AlreadyExists):
            backend.put(key, b"second")
        assert not difference(backend.read(key), b"")

    @pytest.mark.parametrize("size", [3, CHUNK_BYTES + 1])
    def test_a_refused_put_leaves_the_data(self, backend: Backend, scratch: Scratch, size: int) -> None:
        key = scratch.key()
        backend.put(key, b"first object")
        with pytest.raises(AlreadyExists):
            backend.put(key, pattern(size))
        assert not difference(backend.read(key), b"first object")
        assert backend.stat(key).size == len(b"first object")

    def test_a_refused_put_leaves_the_metadata(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data", meta=b"first")
        with pytest.raises(AlreadyExists):
            backend.put(key, b"data", meta=b"second")
        assert not difference(backend.stat(key).meta, b"first")

    @pytest.mark.parametrize("later", [None, 7200.25])
    def test_a_refused_put_leaves_the_expiry(
        self, backend: Backend, scratch: Scratch, later: float | None
    ) -> None:
        key, now = scratch.key(), round(time.time())
        backend.put(key, b"data", expires_at=now + 3600.25)
        with pytest.raises(AlreadyExists):
            backend.put(key, b"data", expires_at=None if later is None else now + later)
        assert self.same_time(backend.stat(key).expires_at, now + 3600.25)

    def test_one_of_many_threads_creates_a_key(self, backend: Backend, scratch: Scratch) -> None:
        self.need(backend, "atomic_create")
        for number in range(_RACES):
            key = scratch.key(f"race-{number}")
            self._check_winner(backend, key, _race([backend], key))

    def test_one_of_two_instances_creates_a_key(
        self, backend: Backend, scratch: Scratch, another: Callable[[], Backend]
    ) -> None:
        self.need(backend, "atomic_create")
        self.need(backend, "shared")
        instances = (backend, another())
        for number in range(_RACES):
            key = scratch.key(f"race-{number}")
            self._check_winner(backend, key, _race(instances, key))

    def test_an_object_appears_whole(self, backend: Backend, scratch: Scratch) -> None:
        self.need_room(backend, len(_WHOLE))
        for number in range(_WATCHED):
            key = scratch.key(f"whole-{number}")
            put = partial(backend.put, key, _WHOLE, meta=b"meta", expires_at=_EXPIRES_AT)
            self._watch(backend, key, put, vanishes=False)

    def test_an_object_disappears_whole(self, backend: Backend, scratch: Scratch) -> None:
        self.need_room(backend, len(_WHOLE))
        for number in range(_WATCHED):
            key = scratch.key(f"whole-{number}")
            backend.put(key, _WHOLE, meta=b"meta", expires_at=_EXPIRES_AT)
            self._watch(backend, key, partial(backend.delete, [key]), vanishes=True)

    def _check_winner(self, backend: Backend, key: str, winners: list[int]) -> None:
        assert len(winners) == 1
        assert not difference(backend.read(key), bytes([winners[0]]) * 5000)
        assert not difference(backend.stat(key).meta, bytes([winners[0]]))

    def _watch(self, backend: Backend, key: str, change: Callable[[], object], *, vanishes: bool) -> None:
        """Look at an object from two threads while a third one changes it."""
        done = threading.Event()

        def change_or_look(thread: int) -> None:
            if thread:
                while not done.is_set():
                    self._look(backend, key, vanishes=vanishes)
                return
            try:
                change()
            finally:
                done.set()

        at_once(change_or_look, 3)

    def _look(self, backend: Backend, key: str, *, vanishes: bool) -> None:
        """Expect the object to be missing or whole; once one method saw it, the next one sees it, too."""
        seen = bool(listed(backend, key))
        try:
            stat = backend.stat(key)
            seen = True
            data = backend.read(key)
        except NotFound:
            assert vanishes or not seen, "one method told of the object, the next one did not find it"
            return
        assert (stat.size, stat.meta) == (len(_WHOLE), b"meta")
        assert self.same_time(stat.expires_at, _EXPIRES_AT)
        assert not difference(data, _WHOLE)
