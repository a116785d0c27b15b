"""Connections are shared fairly, survive errors and interrupts, and are left to the parent by a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sql_stores import SHARED_STORES, opened, run_sql, store_url

from offloadkit.backend import BackendError, NotFound, Unavailable
from offloadkit_sql import connections
from offloadkit_sql.backend import SQLBackend
from offloadkit_sql.slots import Slots


@pytest.fixture(params=SHARED_STORES)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SQLBackend]:
    with store_url(request.param, tmp_path) as url:
        backend = opened(f"{url}{'&' if '?' in url else '?'}pool_size=2")
        backend.put("known", b"data")
        yield backend
        backend.close()


def waiting(slots: Slots[str]) -> int:
    return len(slots._waiting)


def until(condition: Callable[[], bool]) -> None:
    """Return when another thread has made ``condition`` true."""
    for _ in range(100_000):
        if condition():
            return
        os.sched_yield()
    pytest.fail("it did not happen")


class TestSlots:
    def test_the_one_given_back_last_goes_first(self) -> None:
        slots = Slots(["a", "b"])
        first, second = slots.take(0), slots.take(0)
        slots.give_back(first)
        slots.give_back(second)

        assert slots.take(0) == second

    def test_whoever_waits_longest_goes_first(self) -> None:
        slots = Slots(["only"])
        slots.take(0)
        order: list[int] = []

        def take_and_give_back(number: int) -> None:
            item = slots.take(30)
            order.append(number)
            slots.give_back(item)

        with ThreadPoolExecutor(4) as pool:
            for number in range(4):
                pool.submit(take_and_give_back, number)
                until(lambda number=number: waiting(slots) == number + 1)  # type: ignore[misc]
            slots.give_back("only")

        assert order == [0, 1, 2, 3]

    def test_a_thread_that_gives_back_does_not_overtake(self) -> None:
        slots = Slots(["only"])
        item = slots.take(0)
        with ThreadPoolExecutor(1) as pool:
            waiter = pool.submit(slots.take, 30)
            until(lambda: waiting(slots) == 1)
            slots.give_back(item)
            with pytest.raises(TimeoutError):
                slots.take(0)

            assert waiter.result() == "only"

    def test_who_gives_up_leaves_the_queue(self) -> None:
        slots = Slots(["only"])
        item = slots.take(0)
        with pytest.raises(TimeoutError):
            slots.take(0.001)
        slots.give_back(item)

        assert slots.take(0) == "only"

    def test_the_free_ones_can_be_taken_at_once(self) -> None:
        slots = Slots(["a", "b", "c"])
        held = slots.take(0)

        assert sorted([held, *slots.take_free()]) == ["a", "b", "c"]
        assert slots.take_free() == []


class TestSharing:
    def test_no_more_connections_than_the_pool_holds(self, backend: SQLBackend) -> None:
        most, now, lock = 0, 0, threading.Lock()
        together = threading.Barrier(2)

        def count(_connection: Any) -> None:
            nonlocal most, now
            with lock:
                now += 1
                most = max(most, now)
            together.wait(timeout=30)
            with lock:
                now -= 1

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: backend._connections.run(count), range(6)))

        assert most == 2

    def test_a_pool_that_stays_busy_is_unavailable(
        self, backend: SQLBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "WAIT_SECONDS", 0.01)
        nested = backend._connections.run

        def thrice(_connection: Any) -> None:
            nested(lambda _: nested(lambda _: None))

        with pytest.raises(Unavailable, match="'pool_size'"):
            backend._connections.run(thrice)

        assert backend.read("known") == b"data"

    def test_an_interrupt_leaves_no_half_transaction(self, backend: SQLBackend) -> None:
        def begin_and_be_interrupted(connection: Any) -> None:
            dialect = backend._dialect
            dialect.execute(connection, dialect.begin, {})
            dialect.execute(connection, *backend._statements.delete(["known"]))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            backend._connections.run(begin_and_be_interrupted)

        assert backend.read("known") == b"data"

    def test_a_deadlock_is_tried_once_more(
        self, backend: SQLBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(backend._dialect, "may_repeat", lambda _error, failures, _seconds: failures == 1)
        attempts: list[int] = []

        def fail_once(_connection: Any) -> str:
            attempts.append(1)
            if len(attempts) == 1:
                raise ZeroDivisionError
            return "done"

        assert backend._connections.run(fail_once) == "done"

    def test_what_fails_twice_fails(self, backend: SQLBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(backend._dialect, "may_repeat", lambda _error, failures, _seconds: failures == 1)
        attempts: list[int] = []

        def fail(_connection: Any) -> None:
            attempts.append(1)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            backend._connections.run(fail)

        assert len(attempts) == 2

    def test_closing_beside_a_call_lets_it_finish(self, backend: SQLBackend) -> None:
        def close_meanwhile(connection: Any) -> int:
            backend.close()
            return backend._dialect.fetch(connection, "SELECT 1", {})[0][0]  # type: ignore[no-any-return]

        assert backend._connections.run(close_meanwhile) == 1
        with pytest.raises(BackendError, match="was closed"):
            backend.read("known")


def in_child(work: Callable[[], None]) -> int:
    """Call ``work`` in a forked child and return its exit code."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class TestForks:
    def test_parent_and_child_talk_at_once(self, backend: SQLBackend) -> None:
        def write_a_lot() -> None:
            for number in range(30):
                backend.put(f"child/{number}", b"child" * 100)
                assert backend.read(f"child/{number}") == b"child" * 100

        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                write_a_lot()
                status = 0
            finally:
                os._exit(status)
        for number in range(30):
            backend.put(f"parent/{number}", b"parent" * 100)
            assert backend.read(f"parent/{number}") == b"parent" * 100
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert len(backend.list("child/").items) == 30

    def test_a_child_that_closes_takes_nothing_from_its_parent(self, backend: SQLBackend) -> None:
        before = backend._connections._slots._free[-1]

        assert in_child(backend.close) == 0
        assert backend.read("known") == b"data"
        assert backend._connections._slots._free[-1] is before

    def test_a_child_of_a_child(self, backend: SQLBackend) -> None:
        def fork_again() -> None:
            assert in_child(lambda: backend.put("grandchild", b"data")) == 0
            assert backend.read("grandchild") == b"data"

        assert in_child(fork_again) == 0
        assert backend.read("grandchild") == b"data"

    def test_what_is_closed_stays_closed_in_a_child(self, backend: SQLBackend) -> None:
        backend.close()

        def call() -> None:
            with pytest.raises(BackendError, match="was closed"):
                backend.read("known")

        assert in_child(call) == 0

    def test_a_fork_waits_for_a_call_of_sqlite_and_the_call_goes_on(self, tmp_path: Path) -> None:
        backend = opened(f"sqlite:///{tmp_path}/objects.db")
        backend.ping()
        at_work, go_on = threading.Event(), threading.Event()
        forked: list[int] = []

        def work(_connection: Any) -> list[int]:
            at_work.set()
            go_on.wait(30)
            return list(forked)

        with ThreadPoolExecutor(2) as pool:
            call = pool.submit(backend._connections.run, work)
            at_work.wait(30)
            fork = pool.submit(lambda: forked.append(in_child(lambda: backend.put("k", b"child"))))
            until(lambda: waiting(backend._connections._slots) == 1)  # type: ignore[arg-type]
            go_on.set()
            fork.result()

            assert call.result() == []
        assert forked == [0]
        assert backend.read("k") == b"child"
        backend.close()

    def test_a_child_forked_in_the_middle_of_a_long_call_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "FORK_WAIT_SECONDS", 0.01)
        backend = opened(f"sqlite:///{tmp_path}/objects.db")
        backend.ping()

        def call() -> None:
            with pytest.raises(BackendError, match="was busy when this process was forked"):
                backend.read("k")

        assert backend._connections.run(lambda _: in_child(call)) == 0
        with pytest.raises(NotFound):
            backend.read("k")
        backend.close()

    def test_a_database_in_memory_is_refused_to_a_child(self) -> None:
        backend = opened("sqlite://")
        backend.put("k", b"data")

        def call() -> None:
            with pytest.raises(BackendError, match="belongs to the process"):
                backend.read("k")

        assert in_child(call) == 0
        assert backend.read("k") == b"data"
        backend.close()


def test_every_thread_gets_its_turn_at_one_connection(tmp_path: Path) -> None:
    backend = opened("sqlite://")
    backend.put("k", bytes(100_000))
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            backend.read("k")

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        for number in range(200):
            backend.put(f"k/{number}", b"")
        stop.set()
        for reader in readers:
            reader.result()

    assert run_sql(backend, "SELECT count(*) FROM {table}") == [(201,)]
    backend.close()
