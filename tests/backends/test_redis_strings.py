"""What the Redis backend leaves in the server, and what it makes of strings that are not as it left them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from fakeredis import FakeRedis, FakeServer
from hypothesis import given
from hypothesis import strategies as st
from redis.crc import key_slot
from redis_doubles import Meddled, around, losing

from offloadkit.backend import AlreadyExists, BackendError, Corrupt, NotFound, Unavailable
from offloadkit.errors import ConfigError, PartialDelete
from offloadkit.testing.driving import listed
from offloadkit_redis import RedisBackend
from offloadkit_redis.names import Names
from offloadkit_redis.records import Record, unpack

DATA, RECORD = "offloadkit:{s/k}:d", "offloadkit:{s/k}:m"


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def strings(server: FakeServer) -> Iterator[Any]:
    """A client of the driver, to look behind the backend."""
    with FakeRedis(server=server) as client:
        yield client


@pytest.fixture
def backend(server: FakeServer) -> Iterator[RedisBackend]:
    backend = RedisBackend(lambda: FakeRedis(server=server))
    yield backend
    backend.close()


class TestLayout:
    def test_an_object_is_two_strings_with_one_hash_tag(self, backend: RedisBackend, strings: Any) -> None:
        backend.put("s/k", b"data", meta=b"meta")

        assert sorted(strings.keys()) == [DATA.encode(), RECORD.encode()]
        assert strings.get(DATA) == b"data"

    def test_the_server_expires_both_at_the_first_millisecond_after(
        self, backend: RedisBackend, strings: Any
    ) -> None:
        expires_at = round(time.time()) + 60.0001

        backend.put("s/k", b"data", expires_at=expires_at)

        milliseconds = round(expires_at) * 1000 + 1
        assert [strings.pexpiretime(name) for name in (DATA, RECORD)] == [milliseconds, milliseconds]
        assert backend.stat("s/k").expires_at == expires_at

    @pytest.mark.parametrize("expires_at", [1e18, float("inf")])
    def test_an_expiry_beyond_all_clocks_is_kept(self, backend: RedisBackend, expires_at: float) -> None:
        backend.put("s/k", b"data", expires_at=expires_at)

        assert backend.stat("s/k").expires_at == expires_at

    @pytest.mark.parametrize("expires_at", [0.0, -5.0, 1.0])
    def test_an_expiry_in_the_past_is_taken(self, backend: RedisBackend, expires_at: float) -> None:
        backend.put("s/k", b"data", expires_at=expires_at)

    @pytest.mark.parametrize("expires_at", [None, 4_000_000_000.25])
    def test_a_moved_expiry_moves_both_strings(
        self, backend: RedisBackend, strings: Any, expires_at: float | None
    ) -> None:
        backend.put("s/k", b"data", expires_at=time.time() + 60)

        backend.set_expiry("s/k", expires_at)

        expected = -1 if expires_at is None else 4_000_000_000_250
        assert [strings.pexpiretime(name) for name in (DATA, RECORD)] == [expected, expected]

    def test_every_command_stays_in_one_slot(self, server: FakeServer) -> None:
        commands: list[tuple[Any, ...]] = []

        def record(pipeline: Any) -> None:
            execute = pipeline.execute_command

            def recording(*command: Any, **options: Any) -> Any:
                commands.append(command)
                return execute(*command, **options)

            pipeline.execute_command = recording

        backend = RedisBackend(lambda: Meddled(server, record))
        for number in range(20):
            backend.put(f"s/{number}", b"data")
            backend.set_expiry(f"s/{number}", 4_000_000_000.0)
            backend.read(f"s/{number}")
        backend.delete([item.key for item in listed(backend, "s/")])

        assert len(commands) > 100
        assert [command for command in commands if len(slots_of(command)) > 1] == []

    @given(st.sampled_from(["a", "A.b-c_d", "x:y/z"]), st.text("*?[]\\^-ab/", max_size=6))
    def test_a_prefix_is_matched_as_it_is_written(self, prefix: str, key_prefix: str) -> None:
        server, names = FakeServer(), Names(prefix)
        client = FakeRedis(server=server)
        for key in ("a", "ab", "b/a", "-"):
            client.set(names.record(key), b"")

        found = {names.key_of(name) for name in client.scan_iter(match=names.pattern(key_prefix))}

        assert found == {key for key in ("a", "ab", "b/a", "-") if key.startswith(key_prefix)}

    @pytest.mark.parametrize("prefix", ["", "{x}", "a b", "a*", "x" * 101, "é"])
    def test_a_prefix_that_would_break_names_is_refused(self, prefix: str) -> None:
        with pytest.raises(ConfigError, match="prefix"):
            RedisBackend(FakeRedis, prefix=prefix)

    def test_two_prefixes_do_not_see_each_other(self, server: FakeServer) -> None:
        one, other = (
            RedisBackend(lambda: FakeRedis(server=server), prefix=prefix) for prefix in ("app", "app:2")
        )
        one.put("k", b"one")
        other.put("k", b"other")

        assert (one.read("k"), other.read("k")) == (b"one", b"other")
        assert [len(listed(each, "")) for each in (one, other)] == [1, 1]


class TestHalves:
    """The server may evict one string of an object and keep the other."""

    @pytest.mark.parametrize("evicted", [DATA, RECORD])
    def test_half_an_object_is_no_object(self, backend: RedisBackend, strings: Any, evicted: str) -> None:
        backend.put("s/k", b"data")
        strings.delete(evicted)

        for call in (
            lambda: backend.read("s/k"),
            lambda: backend.read("s/k", 0, 0),
            lambda: backend.stat("s/k"),
            lambda: backend.set_expiry("s/k", None),
        ):
            with pytest.raises(NotFound):
                call()
        assert listed(backend, "") == []

    @pytest.mark.parametrize("evicted", [DATA, RECORD])
    def test_half_an_object_does_not_take_the_key(
        self, backend: RedisBackend, strings: Any, evicted: str
    ) -> None:
        backend.put("s/k", b"old data", meta=b"old", expires_at=time.time() + 60)
        strings.delete(evicted)

        backend.put("s/k", b"new", meta=b"new meta")

        stat = backend.stat("s/k")
        assert (backend.read("s/k"), stat.meta, stat.size, stat.expires_at) == (b"new", b"new meta", 3, None)
        assert strings.ttl(DATA) == -1

    @pytest.mark.parametrize("evicted", [DATA, RECORD])
    def test_the_other_half_is_deleted(self, backend: RedisBackend, strings: Any, evicted: str) -> None:
        backend.put("s/k", b"data")
        strings.delete(evicted)

        backend.delete(["s/k"])

        assert strings.keys() == []


class TestForeignStrings:
    @pytest.mark.parametrize("record", [b"", b"short", b"\x02" + bytes(60)])
    def test_a_record_of_somebody_else_is_corrupt(
        self, backend: RedisBackend, strings: Any, record: bytes
    ) -> None:
        strings.set(DATA, b"data")
        strings.set(RECORD, record)

        with pytest.raises(Corrupt):
            backend.stat("s/k")

    def test_a_value_of_another_type_is_an_error_of_ours(self, backend: RedisBackend, strings: Any) -> None:
        strings.lpush(DATA, "x")
        strings.set(RECORD, Record(1, b"", None).pack())

        with pytest.raises(BackendError):
            backend.read("s/k")

    @given(
        st.integers(0, 2**40),
        st.binary(max_size=1024),
        st.none() | st.floats(0, 1e12),
        st.floats(0, 1e12),
    )
    def test_a_record_comes_back(
        self, size: int, meta: bytes, expires_at: float | None, created_at: float
    ) -> None:
        record = Record(size, meta, expires_at, created_at)

        assert unpack(record.pack(), "k") == record


class TestLostAnswers:
    """The connection may break after the server did what it was told."""

    def test_a_put_whose_answer_was_lost_is_done(self, server: FakeServer) -> None:
        backend = RedisBackend(lambda: losing(server))

        backend.put("s/k", b"data", meta=b"meta")

        assert backend.read("s/k") == b"data"

    def test_a_key_that_was_taken_before_stays_taken(self, server: FakeServer, backend: RedisBackend) -> None:
        backend.put("s/k", b"first", meta=b"meta")

        with pytest.raises(AlreadyExists):
            RedisBackend(lambda: losing(server)).put("s/k", b"first", meta=b"meta")

    def test_without_retries_the_loss_is_reported(self, server: FakeServer) -> None:
        with pytest.raises(Unavailable) as caught:
            RedisBackend(lambda: losing(server), retries=0).put("s/k", b"data")

        assert isinstance(caught.value.__cause__, redis.ConnectionError)

    def test_fifty_failures_later_the_same_instance_works(self, server: FakeServer) -> None:
        """REDIS-05: a pool that never recovered."""
        backend = RedisBackend(lambda: FakeRedis(server=server), retries=0)
        server.connected = False
        for _ in range(50):
            with pytest.raises(Unavailable):
                backend.put("s/k", b"data")
        server.connected = True

        backend.put("s/k", b"data")

        assert backend.read("s/k") == b"data"

    def test_an_expiry_that_others_move_all_the_time_is_given_up(
        self, server: FakeServer, strings: Any
    ) -> None:
        def disturb(pipeline: Any) -> None:
            around(pipeline, "multi", lambda _: strings.append(DATA, b"!"))

        backend = RedisBackend(lambda: Meddled(server, disturb))
        backend.put("s/k", b"data")

        with pytest.raises(Unavailable, match="changed by others"):
            backend.set_expiry("s/k", None)


class TestClients:
    def test_two_threads_that_come_first_share_one_client(self, server: FakeServer) -> None:
        made: list[Any] = []

        def connect() -> Any:
            made.append(FakeRedis(server=server))
            if len(made) == 1:
                other = threading.Thread(target=shared.ping)
                other.start()
                other.join()
                return made[0]
            return made[-1]

        shared = RedisBackend(connect)
        shared.ping()
        shared.ping()

        assert list(shared._connection._clients.values()) == [made[1]]

    def test_a_client_that_tells_of_its_memory_node_by_node_is_understood(self, server: FakeServer) -> None:
        class Telling(FakeRedis):
            def info(self, section: str | None = None, *arguments: Any, **options: Any) -> Any:
                return {"a:1": {"maxmemory": 1, "maxmemory_policy": "allkeys-lru"}}

        backend = RedisBackend(lambda: Telling(server=server))
        backend.ping()

        assert backend.caps.may_evict


class TestDeleting:
    def test_a_server_that_is_down_from_the_start_is_unavailable(
        self, server: FakeServer, backend: RedisBackend
    ) -> None:
        server.connected = False

        with pytest.raises(Unavailable):
            backend.delete(["a", "b"])

    def test_what_the_server_refuses_is_named(self, server: FakeServer) -> None:
        def refuse(pipeline: Any) -> None:
            around(pipeline, "execute", lambda answers: [redis.ReadOnlyError("no"), *answers[1:]])

        with pytest.raises(PartialDelete) as caught:
            RedisBackend(lambda: Meddled(server, refuse)).delete(["a", "b"])

        assert list(caught.value.failed) == ["a"]

    def test_what_is_left_when_the_server_goes_away_is_named(self, server: FakeServer) -> None:
        keys = [f"{number:04}" for number in range(2_500)]

        def leave(answers: Any) -> Any:
            server.connected = False
            return answers

        leaving = Meddled(server, lambda pipeline: around(pipeline, "execute", leave))

        with pytest.raises(PartialDelete) as caught:
            RedisBackend(lambda: leaving, retries=0).delete(keys)

        assert sorted(caught.value.failed) == keys[1_000:]
        assert caught.value.retryable


def slots_of(command: tuple[Any, ...]) -> set[int]:
    names = [str(word) for word in command if str(word).startswith("offloadkit:")]
    return {key_slot(name.encode()) for name in names}
