"""What the Redis backend makes of servers that are down, full, locked, silent, or evict."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from redis import exceptions as driver
from redis_servers import RedisServer, cluster, fake_server, silent_server, started

from offloadkit import open_backend
from offloadkit.backend import BackendError, Denied, NotFound, StorageFull, TooLarge, Unavailable
from offloadkit.testing.driving import listed
from offloadkit_redis import RedisBackend
from offloadkit_redis.faults import DRIVER_ERRORS, fault, is_lost_connection

SECRET = "s3cret-of-the-user"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with started(tmp_path) as server:
        yield server


def opened(url: str) -> RedisBackend:
    backend = open_backend(url)
    assert isinstance(backend, RedisBackend)
    return backend


def refused(call: Callable[[], object], kind: type[BackendError]) -> BackendError:
    """Expect an error of this very kind, with the driver's as its cause."""
    with pytest.raises(BackendError) as caught:
        call()
    assert type(caught.value) is kind, caught.value
    assert isinstance(caught.value.__cause__, DRIVER_ERRORS)
    return caught.value


class TestDown:
    @pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "redis+unix:///nowhere/redis.sock"])
    def test_a_server_that_is_down_is_known_at_once(self, url: str) -> None:
        start = time.monotonic()

        error = refused(lambda: open_backend(url).put("k", b"data"), Unavailable)

        assert time.monotonic() - start < 0.5
        assert (error.key, error.retryable) == ("k", True)

    def test_a_cluster_that_is_down_is_known_at_once(self) -> None:
        start = time.monotonic()

        refused(lambda: opened("redis+cluster://127.0.0.1:1,127.0.0.1:2").ping(), Unavailable)

        assert time.monotonic() - start < 1

    def test_a_server_that_says_nothing_is_waited_for_once(self) -> None:
        with silent_server() as url:
            start = time.monotonic()

            error = refused(lambda: opened(f"{url}?timeout=200ms").ping(), Unavailable)

        assert 0.1 < time.monotonic() - start < 0.6
        assert "timeout" in str(error)

    @pytest.mark.server
    def test_it_goes_on_after_the_server_was_killed_and_started_again(self, server: RedisServer) -> None:
        backend = opened(f"{server.url}?retries=0")
        backend.put("k", b"before")
        server.kill()
        for _ in range(50):
            refused(lambda: backend.read("k"), Unavailable)
        server.start()

        backend.put("k", b"after")

        assert backend.read("k") == b"after"
        backend.close()

    @pytest.mark.server
    def test_a_restart_between_two_calls_is_not_noticed(self, server: RedisServer) -> None:
        backend = open_backend(server.url)
        backend.put("k", b"before")
        server.kill()
        server.start()

        backend.put("k", b"after")

        assert backend.read("k") == b"after"
        backend.close()


@pytest.mark.server
class TestMemory:
    def test_a_full_server_takes_nothing_more_and_keeps_nothing_half(self, server: RedisServer) -> None:
        """REDIS-01."""
        backend = open_backend(server.url)
        backend.put("before", b"data")
        with server.client() as client:
            client.config_set("maxmemory", 1)

            error = refused(lambda: backend.put("k", b"data"), StorageFull)

            client.config_set("maxmemory", 0)
        assert not error.retryable
        assert [item.key for item in listed(backend, "")] == ["before"]
        backend.close()

    @pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
    def test_a_server_that_evicts_is_told_of_once(
        self, server: RedisServer, caplog: pytest.LogCaptureFixture, policy: str
    ) -> None:
        with server.client() as client:
            client.config_set("maxmemory", "50mb")
            client.config_set("maxmemory-policy", policy)
        backend = opened(server.url)

        with caplog.at_level(logging.WARNING, "offloadkit"):
            for key in ("a", "b"):
                backend.put(key, b"data")

        assert backend.caps.may_evict
        assert [policy in record.getMessage() for record in caplog.records] == [True]
        with pytest.raises(NotFound, match="was evicted"):
            backend.read("gone")
        backend.close()

    @pytest.mark.parametrize("settings", [("0", "allkeys-lru"), ("50mb", "noeviction")])
    def test_a_server_that_cannot_evict_is_not_suspected(
        self, server: RedisServer, caplog: pytest.LogCaptureFixture, settings: tuple[str, str]
    ) -> None:
        with server.client() as client:
            client.config_set("maxmemory", settings[0])
            client.config_set("maxmemory-policy", settings[1])
        backend = open_backend(server.url)

        backend.put("k", b"data")

        assert (backend.caps.may_evict, caplog.records) == (False, [])
        backend.close()

    def test_what_the_server_evicted_is_not_found(self, server: RedisServer) -> None:
        with server.client() as client:
            client.config_set("maxmemory", "4mb")
            client.config_set("maxmemory-policy", "allkeys-random")
        backend = open_backend(server.url)
        keys = [f"{number:02}" for number in range(20)]
        for key in keys:
            backend.put(key, bytes(300_000))

        with server.client() as client:
            client.config_set("maxmemory", 0)
        there = {item.key for item in listed(backend, "")}

        assert len(there) < len(keys)
        for key in set(keys) - there:
            with pytest.raises(NotFound):
                backend.read(key)
        assert {key for key in there if len(backend.read(key)) == 300_000} == there
        backend.close()

    def test_an_object_above_the_limit_is_not_even_sent(self) -> None:
        backend = open_backend("redis://127.0.0.1:1/0?max_object_bytes=1KiB")

        with pytest.raises(TooLarge, match="max_object_bytes"):
            backend.put("k", bytes(1025))

    def test_an_object_above_the_limit_of_the_server_is_an_error(self, server: RedisServer) -> None:
        with server.client() as client:
            client.config_set("proto-max-bulk-len", 2**20)
        backend = open_backend(server.url)

        with pytest.raises(BackendError):
            backend.put("k", bytes(2**20 + 1))

        backend.put("k", b"data")
        assert backend.read("k") == b"data"
        backend.close()


@pytest.fixture(scope="module")
def cluster_ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[int]]:
    with cluster(tmp_path_factory.mktemp("cluster")) as ports:
        yield ports


@pytest.mark.server
class TestLocked:
    @pytest.mark.parametrize("credentials", ["", f":{SECRET}@", f"nobody:{SECRET}@"])
    def test_a_wrong_password_is_denied_and_never_shown(self, tmp_path: Path, credentials: str) -> None:
        with started(tmp_path, "--requirepass", "another") as server:
            backend = open_backend(f"redis+unix://{credentials}{server.socket}")

            error = refused(lambda: backend.put("k", b"data"), Denied)

        assert SECRET not in f"{error!r} {error} {error.__cause__!r} {backend!r}"

    def test_a_wrong_password_for_a_cluster_is_denied(self, cluster_ports: list[int]) -> None:
        refused(lambda: opened(f"redis+cluster://:{SECRET}@127.0.0.1:{cluster_ports[0]}").ping(), Denied)

    def test_a_missing_permission_is_denied(self, server: RedisServer) -> None:
        with server.client() as client:
            client.execute_command("ACL SETUSER", "reader", "on", f">{SECRET}", "~*", "+@read")
        backend = open_backend(f"redis+unix://reader:{SECRET}@{server.socket}")

        refused(lambda: backend.put("k", b"data"), Denied)

        assert listed(backend, "") == []
        assert not backend.caps.may_evict
        backend.close()

    def test_a_replica_is_denied(self, server: RedisServer) -> None:
        with server.client() as client:
            client.execute_command("REPLICAOF", "127.0.0.1", "1")
        backend = open_backend(server.url)

        refused(lambda: backend.put("k", b"data"), Denied)
        backend.close()

    def test_a_cluster_node_sends_to_the_right_url(self, cluster_ports: list[int]) -> None:
        backends = [opened(f"redis://127.0.0.1:{port}") for port in cluster_ports]

        def put_everywhere() -> None:
            for backend in backends:
                backend.put("k", b"data")

        error = refused(put_everywhere, BackendError)

        assert "redis+cluster://" in str(error)
        for backend in backends:
            backend.close()

    def test_a_server_that_is_no_cluster_sends_to_the_right_url(self) -> None:
        with fake_server() as url:
            error = refused(lambda: opened(url.replace("redis", "redis+cluster")).ping(), BackendError)

        assert "write redis://" in str(error)


class TestTranslation:
    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (driver.ConnectionError("Connection refused"), Unavailable),
            (driver.ConnectionError("max number of clients reached"), Unavailable),
            (driver.TimeoutError("Timeout reading from socket"), Unavailable),
            (driver.BusyLoadingError("Redis is loading the dataset in memory"), Unavailable),
            (driver.ResponseError("BUSY Redis is busy running a script"), Unavailable),
            (driver.ResponseError("LOADING Redis is loading the dataset in memory"), Unavailable),
            (driver.ResponseError("NOREPLICAS Not enough good replicas to write"), Unavailable),
            (driver.MasterDownError("MASTERDOWN Link with MASTER is down"), Unavailable),
            (driver.ClusterDownError("CLUSTERDOWN The cluster is down"), Unavailable),
            (driver.TryAgainError("TRYAGAIN Multiple keys request during rehashing"), Unavailable),
            (driver.MaxConnectionsError("Too many connections"), Unavailable),
            (driver.OutOfMemoryError("command not allowed when used memory > 'maxmemory'"), StorageFull),
            (driver.ResponseError("OOM command not allowed"), StorageFull),
            (driver.ResponseError("MISCONF Redis is configured to save RDB snapshots"), StorageFull),
            (driver.AuthenticationError("invalid username-password pair"), Denied),
            (driver.AuthenticationWrongNumberOfArgsError("wrong number of arguments"), Denied),
            (driver.NoPermissionError("this user has no permissions"), Denied),
            (driver.ResponseError("NOAUTH Authentication required."), Denied),
            (driver.ResponseError("WRONGPASS invalid username-password pair"), Denied),
            (driver.ReadOnlyError("You can't write against a read only replica."), Denied),
            (driver.ResponseError("Protocol error: invalid bulk length"), TooLarge),
            (driver.ResponseError("unknown command 'SET'"), BackendError),
            (driver.RedisError("anything"), BackendError),
        ],
        ids=str,
    )
    def test_each_error_of_the_driver_becomes_one_of_ours(
        self, error: redis.RedisError, kind: type[BackendError]
    ) -> None:
        assert type(fault(error, "redis://h/0")) is kind

    def test_no_text_of_the_server_is_taken_over(self) -> None:
        answer = driver.ResponseError(f"unknown command 'X', with args beginning with: '{SECRET}'")

        assert SECRET not in str(fault(answer, "redis://h/0", "k"))

    @pytest.mark.parametrize(
        ("error", "again"),
        [
            (driver.ConnectionError("Connection reset"), True),
            (driver.TimeoutError("Timeout"), False),
            (driver.AuthenticationError("no"), False),
            (driver.BusyLoadingError("loading"), False),
            (driver.MaxConnectionsError("many"), False),
            (driver.OutOfMemoryError("OOM"), False),
        ],
        ids=str,
    )
    def test_only_a_lost_connection_is_tried_again(self, error: redis.RedisError, again: bool) -> None:
        assert is_lost_connection(error) is again

    def test_a_client_closed_in_the_middle_of_a_call_says_so(self) -> None:
        class Broken:
            def info(self, section: str) -> dict[str, Any]:
                backend.close()
                raise AttributeError("'NoneType' object has no attribute 'sendall'")

            def close(self) -> None: ...

        backend = RedisBackend(Broken)

        with pytest.raises(BackendError, match="was closed"):
            backend.ping()
