"""The fsspec backend under contract: memory, local files, SFTP, and a file system it has never heard of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec_stores import open_fsspec
from hypothesis import settings
from sftp_server import PASSWORD, USER, SFTPServer, sftp_server

from offloadkit.backend import Backend
from offloadkit.testing import BackendContract, backend_machine

REQUIRED = frozenset({"persistent", "shared", "atomic_create", "ordered", "sweep", "ping", "fork"})


class FsspecContract(BackendContract):
    require = REQUIRED

    @pytest.fixture
    def backend(self, reopen: Callable[[], Backend]) -> Backend:
        return reopen()


class TestMemoryContract(FsspecContract):
    require = REQUIRED - {"persistent", "fork"}

    @pytest.fixture
    def reopen(self) -> Callable[[], Backend]:
        return lambda: open_fsspec("fsspec+memory://contract/of/memory")


class TestLocalContract(FsspecContract):
    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Backend]:
        return lambda: open_fsspec(f"fsspec+file://{tmp_path}/store")


class PlainFiles(LocalFileSystem):  # type: ignore[misc]
    """Local files under a name that the backend does not know: it looks, and moves."""

    protocol = "plain"


class TestUnknownContract(FsspecContract):
    require = REQUIRED - {"atomic_create"}

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Backend]:
        fsspec.register_implementation("plain", PlainFiles, clobber=True)
        return lambda: open_fsspec(f"fsspec+plain://{tmp_path}/store")


@pytest.fixture(scope="module")
def sftp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SFTPServer]:
    with sftp_server(tmp_path_factory.mktemp("sftp")) as server:
        yield server


class TestSFTPContract(FsspecContract):
    require = REQUIRED | {"secrets"}
    secrets = (PASSWORD,)

    @pytest.fixture
    def reopen(self, sftp: SFTPServer) -> Callable[[], Backend]:
        return lambda: open_fsspec(f"sftp://{USER}:{PASSWORD}@127.0.0.1:{sftp.port}/store")


@pytest.mark.parametrize("scheme", ["fsspec+file", "fsspec+memory"])
def test_two_instances_and_a_dictionary_stay_the_same(scheme: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        machine = backend_machine(lambda: open_fsspec(f"{scheme}://{folder}"), instances=2)
        machine.TestCase.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
        machine.TestCase("runTest").debug()
