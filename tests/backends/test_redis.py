"""Redis keeps the contract: a real server, one with a password, a cluster, and fakeredis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from redis_servers import RedisServer, cluster, fake_server, running_url, started

from offloadkit import open_backend
from offloadkit.backend import Backend
from offloadkit.testing import BackendContract, backend_machine

PASSWORD = "s3cret-0f-the-server"
REQUIRED = frozenset(
    {"persistent", "shared", "atomic_create", "max_object_bytes", "fork", "set_expiry", "ping"}
)


class TestRunningServer(BackendContract):
    pytestmark = pytest.mark.server
    require = REQUIRED

    @pytest.fixture
    def url(self) -> str:
        return running_url("offloadkit-test-contract")

    @pytest.fixture
    def backend(self, url: str) -> Backend:
        return open_backend(url)

    @pytest.fixture
    def reopen(self, url: str) -> Callable[[], Backend]:
        return lambda: open_backend(url)


@pytest.fixture(scope="module")
def locked_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with started(tmp_path_factory.mktemp("locked"), "--requirepass", PASSWORD) as server:
        yield server


class TestSocketWithPassword(BackendContract):
    pytestmark = pytest.mark.server
    require = REQUIRED | {"secrets"}
    secrets = (PASSWORD,)

    @pytest.fixture
    def url(self, locked_server: RedisServer) -> str:
        return f"redis+unix://:{PASSWORD}@{locked_server.socket}?max_object_bytes=2MiB"

    @pytest.fixture
    def backend(self, url: str) -> Backend:
        return open_backend(url)

    @pytest.fixture
    def reopen(self, url: str) -> Callable[[], Backend]:
        return lambda: open_backend(url)


@pytest.fixture(scope="module")
def cluster_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with cluster(tmp_path_factory.mktemp("cluster")) as ports:
        yield "redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in ports)


class TestCluster(BackendContract):
    pytestmark = pytest.mark.server
    require = REQUIRED

    @pytest.fixture
    def backend(self, cluster_url: str) -> Backend:
        return open_backend(cluster_url)

    @pytest.fixture
    def reopen(self, cluster_url: str) -> Callable[[], Backend]:
        return lambda: open_backend(cluster_url)


@pytest.fixture(scope="module")
def fake_url() -> Iterator[str]:
    with fake_server() as url:
        yield url


class TestFakeServer(BackendContract):
    require = REQUIRED

    @pytest.fixture
    def backend(self, fake_url: str) -> Backend:
        return open_backend(fake_url)

    @pytest.fixture
    def reopen(self, fake_url: str) -> Callable[[], Backend]:
        return lambda: open_backend(fake_url)


@pytest.mark.server
def test_two_instances_do_what_a_dictionary_does(tmp_path: Path) -> None:
    with started(tmp_path) as server:
        _explore(server.url)


@pytest.mark.server
def test_a_cluster_does_what_a_dictionary_does(cluster_url: str) -> None:
    _explore(cluster_url)


def _explore(url: str) -> None:
    machine = backend_machine(lambda: open_backend(url), instances=2)
    run_state_machine_as_test(
        machine, settings=settings(max_examples=10, stateful_step_count=20, deadline=None)
    )
