"""Many threads, event loops, instances and processes use one store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from offloadkit.backend import Backend, BackendError, NotFound
from offloadkit.testing.contract.forking import in_child
from offloadkit.testing.contract.setting import Setting
from offloadkit.testing.driving import at_once, every_method, listed
from offloadkit.testing.scratch import Scratch, difference, pattern

_THREADS = 8
_CHILDREN = 4


class SharingContract(Setting):
    """What others see, and that they do not disturb each other."""

    def test_many_threads_work_at_once(self, backend: Backend, scratch: Scratch) -> None:
        def work(thread: int) -> None:
            for number in range(12):
                self._live_a_life(backend, scratch.key(f"{thread}-{number}"), thread * 1000 + number)

        at_once(work, _THREADS)

    def test_many_threads_read_one_object(self, backend: Backend, scratch: Scratch) -> None:
        key, data = scratch.key(), pattern(64_000)
        backend.put(key, data)

        def read(thread: int) -> list[str]:
            starts = range(thread * 100, 64_000, 8_000)
            return [
                difference(backend.read(key, start, 4_000), data[start : start + 4_000]) for start in starts
            ]

        assert not [wrong for thread in at_once(read, _THREADS) for wrong in thread if wrong]

    def test_two_event_loops_use_it_one_after_the_other(self, backend: Backend, scratch: Scratch) -> None:
        for loop in ("first", "second"):
            asyncio.run(self._use_in_threads(backend, scratch, loop))

    def test_two_event_loops_use_it_at_once(self, backend: Backend, scratch: Scratch) -> None:
        at_once(lambda loop: asyncio.run(self._use_in_threads(backend, scratch, f"loop-{loop}")), 2)

    def test_objects_outlive_the_instance(
        self, backend: Backend, scratch: Scratch, another: Callable[[], Backend]
    ) -> None:
        self.need(backend, "persistent")
        key, data = scratch.key(), pattern(300_000)
        backend.put(key, data, meta=b"meta", expires_at=4_000_000_000.25)
        backend.close()
        later = another()
        stat = later.stat(key)
        assert (stat.size, stat.meta) == (len(data), b"meta")
        assert self.same_time(stat.expires_at, 4_000_000_000.25)
        assert not difference(later.read(key), data)

    def test_another_instance_sees_what_is_created(
        self, backend: Backend, scratch: Scratch, another: Callable[[], Backend]
    ) -> None:
        self.need(backend, "shared")
        other, key = another(), scratch.key()
        self._expect_missing(other, key)
        assert listed(other, scratch.prefix) == []
        backend.put(key, b"data", meta=b"meta")
        assert not difference(other.read(key), b"data")
        assert other.stat(key).meta == b"meta"
        assert [item.key for item in listed(other, scratch.prefix)] == [key]

    def test_another_instance_sees_what_is_deleted(
        self, backend: Backend, scratch: Scratch, another: Callable[[], Backend]
    ) -> None:
        self.need(backend, "shared")
        other, key = another(), scratch.key()
        backend.put(key, b"data")
        assert not difference(other.read(key), b"data")
        assert [item.key for item in listed(other, scratch.prefix)] == [key]
        backend.delete([key])
        self._expect_missing(other, key)
        assert listed(other, scratch.prefix) == []

    def test_many_instances_use_a_new_location_at_once(
        self, backend: Backend, scratch: Scratch, another: Callable[[], Backend]
    ) -> None:
        self.need(backend, "shared")
        instances = [backend, *(another() for _ in range(_THREADS - 1))]
        keys = [scratch.key(f"from-{number}") for number in range(_THREADS)]
        at_once(lambda number: instances[number].put(keys[number], b"data"), _THREADS)
        assert {item.key for item in listed(backend, scratch.prefix)} == set(keys)

    def test_closing_one_instance_leaves_the_other(
        self, backend: Backend, scratch: Scratch, another: Callable[[], Backend]
    ) -> None:
        self.need(backend, "shared")
        other, key = another(), scratch.key()
        other.list(scratch.prefix)
        other.close()
        backend.put(key, b"data")
        assert not difference(backend.read(key), b"data")

    def test_a_forked_child_may_work_or_is_refused(self, backend: Backend, scratch: Scratch) -> None:
        known, own = scratch.key("known"), scratch.key("child")
        backend.put(known, b"data")
        in_child(lambda: self._be_a_child(backend, known, own), self.fork_seconds)

    def test_a_forked_child_leaves_its_parent_alone(self, backend: Backend, scratch: Scratch) -> None:
        known, own = scratch.key("known"), scratch.key("child")
        backend.put(known, b"data")

        def work_and_close() -> None:
            self._be_a_child(backend, known, own)
            with suppress(BackendError):  # where a child is refused, close may be refused as well
                backend.close()

        in_child(work_and_close, self.fork_seconds)
        assert not difference(backend.read(known), b"data")
        self._live_a_life(backend, scratch.key("parent"), 100)

    def test_a_child_forked_beside_busy_threads_never_hangs(self, backend: Backend, scratch: Scratch) -> None:
        known, own = scratch.key("known"), scratch.key("child")
        backend.put(known, b"data")
        start, stop = threading.Barrier(3), threading.Event()
        with ThreadPoolExecutor(2) as pool:
            keys = (scratch.key("busy-1"), scratch.key("busy-2"))
            busy = [pool.submit(self._keep_busy, backend, key, start, stop) for key in keys]
            try:
                start.wait(timeout=30)
                for _ in range(_CHILDREN):
                    in_child(lambda: self._be_a_child(backend, known, own), self.fork_seconds)
            finally:
                stop.set()
        assert [thread.result() for thread in busy] == [None, None]

    def test_what_a_forked_child_stores_is_seen_here(self, backend: Backend, scratch: Scratch) -> None:
        self.need(backend, "fork")
        self.need(backend, "shared")
        key = scratch.key("child")
        in_child(lambda: backend.put(key, b"from the child", meta=b"meta"), self.fork_seconds)
        assert not difference(backend.read(key), b"from the child")
        assert backend.stat(key).meta == b"meta"

    def _live_a_life(self, backend: Backend, key: str, size: int) -> None:
        """Create, read, describe, list and delete one object."""
        data, meta = pattern(size), key.encode()
        backend.put(key, data, meta=meta)
        assert not difference(backend.read(key), data)
        assert not difference(backend.read(key, 2, 50), data[2:52])
        stat = backend.stat(key)
        assert (stat.key, stat.size, stat.meta) == (key, size, meta)
        assert key in {item.key for item in listed(backend, key)}
        backend.delete([key])
        self._expect_missing(backend, key)

    def _keep_busy(self, backend: Backend, key: str, start: threading.Barrier, stop: threading.Event) -> None:
        start.wait(timeout=30)
        while not stop.is_set():
            self._live_a_life(backend, key, 100)

    def _be_a_child(self, backend: Backend, known: str, own: str) -> None:
        """What a forked child does with its parent's instance, by ``caps.fork``."""
        if backend.caps.fork == "safe":
            assert not difference(backend.read(known), b"data")
            self._live_a_life(backend, own, 1000)
            return
        for method, call in every_method(backend, taken=known, free=own).items():
            try:
                call()
            except NotFound:
                pytest.fail(f"{method} said in a forked child that the object is gone")
            except BackendError:
                continue
            pytest.fail(f"{method} went on in a forked child, though caps.fork is 'refused'")

    async def _use_in_threads(self, backend: Backend, scratch: Scratch, name: str) -> None:
        await asyncio.gather(
            *(
                asyncio.to_thread(self._live_a_life, backend, scratch.key(f"{name}-{number}"), 1000 + number)
                for number in range(4)
            )
        )

    def _expect_missing(self, backend: Backend, key: str) -> None:
        with pytest.raises(NotFound):
            backend.stat(key)
