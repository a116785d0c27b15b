"""What fsspec's file systems raise, what becomes of it, and what no text shows."""

from __future__ import annotations

import copy
import errno
import pickle
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec_stores import TroubledFiles, open_fsspec
from sftp_server import PASSWORD, USER, SFTPServer, sftp_server

from offloadkit.backend import AlreadyExists, BackendError, Denied, NotFound, PartialDelete
from offloadkit.errors import ConfigError, StorageFull, TooLarge, Unavailable
from offloadkit_fsspec import FsspecBackend


@pytest.fixture
def backend() -> Iterator[FsspecBackend]:
    fsspec.register_implementation("troubled", TroubledFiles, clobber=True)
    opened = open_fsspec("fsspec+troubled://faults")
    opened._sleep = lambda _: None
    opened.ping()
    yield opened
    TroubledFiles.troubles.clear()
    opened.delete([item.key for item in opened.list("").items])
    opened.close()


class HttpError(Exception):
    """As gcsfs and azure word theirs."""

    def __init__(self, code: int) -> None:
        super().__init__(f"answered {code}")
        self.code = code


class SSHException(Exception):
    """As paramiko names it."""


CALLS: dict[str, Callable[[FsspecBackend], Any]] = {
    "put": lambda backend: backend.put("a", b"data"),
    "read": lambda backend: backend.read("a"),
    "stat": lambda backend: backend.stat("a"),
    "list": lambda backend: backend.list("a"),
    "ping": lambda backend: backend.ping(),
}


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        (PermissionError(errno.EACCES, "no"), Denied),
        (OSError(errno.EROFS, "read-only"), Denied),
        (OSError(errno.ENOSPC, "full"), StorageFull),
        (OSError(errno.EDQUOT, "quota"), StorageFull),
        (OSError(errno.EFBIG, "large"), TooLarge),
        (OSError(errno.EIO, "disk"), Unavailable),
        (OSError("Socket is closed"), Unavailable),
        (OSError("Failure"), BackendError),
        (ConnectionResetError(), Unavailable),
        (TimeoutError(), Unavailable),
        (EOFError(), Unavailable),
        (SSHException("Server connection dropped"), Unavailable),
        (HttpError(401), Denied),
        (HttpError(403), Denied),
        (HttpError(429), Unavailable),
        (HttpError(503), Unavailable),
        (HttpError(400), BackendError),
        (ValueError("odd"), BackendError),
    ],
    ids=repr,
)
@pytest.mark.parametrize("call", CALLS)
def test_a_trouble_becomes_its_error(
    backend: FsspecBackend, trouble: Exception, expected: type[BackendError], call: str
) -> None:
    TroubledFiles.troubles[:] = [trouble] * 20
    with pytest.raises(expected) as caught:
        CALLS[call](backend)
    assert caught.value.__cause__ is trouble
    assert type(caught.value) is expected


def test_a_passing_trouble_passes(backend: FsspecBackend) -> None:
    backend.put("a", b"data")
    TroubledFiles.troubles[:] = [TimeoutError(), HttpError(503)]
    assert backend.read("a") == b"data"


def test_a_put_whose_answer_was_lost_is_a_put(
    backend: FsspecBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = MemoryPublisher(backend._way.publish)
    monkeypatch.setattr(backend, "_way", type(backend._way)(publish, is_atomic=True, uses_temporaries=False))
    backend.put("a", b"data", meta=b"meta")
    assert backend.read("a") == b"data"
    with pytest.raises(AlreadyExists):
        backend.put("a", b"data", meta=b"meta")


class MemoryPublisher:
    """Publishes, and loses the first answer."""

    def __init__(self, publish: Callable[[Any, str, bytes], None]) -> None:
        self._publish = publish
        self._lost = False

    def __call__(self, files: Any, path: str, data: bytes) -> None:
        self._publish(files, path, data)
        if not self._lost:
            self._lost = True
            raise TimeoutError


def test_a_place_that_is_not_there_is_no_missing_object(backend: FsspecBackend) -> None:
    TroubledFiles.troubles[:] = [FileNotFoundError("no bucket")] * 20
    with pytest.raises(BackendError, match="is not there") as caught:
        backend.put("a", b"data")
    assert not isinstance(caught.value, NotFound)


def test_a_delete_names_what_failed(backend: FsspecBackend) -> None:
    keys = [f"{number}" for number in range(30)]
    for key in keys:
        backend.put(key, b"data")
    TroubledFiles.troubles[:] = [PermissionError(errno.EACCES, "no")] * 3
    with pytest.raises(PartialDelete) as caught:
        backend.delete(keys)
    assert [type(error) for error in caught.value.failed.values()] == [Denied] * 3
    assert {item.key for item in backend.list("").items} == set(caught.value.failed)


def test_a_delete_gives_up_when_the_store_is_away(backend: FsspecBackend) -> None:
    TroubledFiles.troubles[:] = [TimeoutError() for _ in range(1000)]
    with pytest.raises(PartialDelete) as caught:
        backend.delete([f"{number}" for number in range(500)])
    assert len(caught.value.failed) == 500
    assert caught.value.retryable
    assert len(TroubledFiles.troubles) > 900


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = open_fsspec(f"fsspec+file://{tmp_path}")
    backend.put("a/b", b"data")
    files = backend._files.client().system

    def fill(path: str, data: bytes) -> None:
        Path(path).write_bytes(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(files, "pipe_file", fill)
    with pytest.raises(StorageFull):
        backend.put("a/c", bytes(1000))
    assert [path.name for path in (tmp_path / "a=").iterdir()] == ["b"]


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("fsspec://host/path", "knows no file system ''"),
        ("fsspec+memroy://x", "did you mean fsspec\\+memory"),
        ("fsspec+s3://bucket", "s3://bucket/prefix"),
        ("fsspec+file://tmp/x", "three slashes"),
        ("fsspec+memory://x?storage_options=[]", "JSON object"),
        ("fsspec+memory://x?storage_options={", "JSON object"),
        ("fsspec+memory://x?timeuot=3", "did you mean 'timeout'"),
    ],
)
def test_a_url_that_cannot_be_meant_is_refused(url: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        open_fsspec(url)


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(ModuleNotFoundError, match="gcsfs"):
        open_fsspec("gs://bucket")


def test_no_listing_is_remembered_and_no_instance_shared() -> None:
    first, second = (open_fsspec("fsspec+memory://one/place")._files.client().system for _ in range(2))
    assert first is not second
    assert not first.dircache.use_listings_cache


def test_an_instance_is_neither_copied_nor_pickled() -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="open its URL again"):
            attempt(open_fsspec("fsspec+memory://x"))


@pytest.fixture
def sftp(tmp_path: Path) -> Iterator[SFTPServer]:
    with sftp_server(tmp_path) as server:
        yield server


def test_a_wrong_password_is_denied_and_not_shown(sftp: SFTPServer) -> None:
    backend = open_fsspec(f"sftp://{USER}:wrong-{PASSWORD}@127.0.0.1:{sftp.port}/")
    with pytest.raises(Denied) as caught:
        backend.read("a")
    shown = "".join(traceback.format_exception(caught.value)) + repr(backend) + repr(backend._location)
    assert PASSWORD not in shown


def test_options_of_the_file_system_are_secret(sftp: SFTPServer, tmp_path: Path) -> None:
    options = tmp_path / "options.json"
    options.write_text(f'{{"username": "{USER}", "password": "{PASSWORD}"}}')
    backend = open_fsspec(f"sftp://127.0.0.1:{sftp.port}/store?storage_options_file={options}")
    backend.put("a", b"data")
    assert backend.read("a") == b"data"
    assert PASSWORD not in repr(backend) + repr(backend._location)
    backend.close()


def test_a_connection_that_was_lost_is_made_again(sftp: SFTPServer) -> None:
    backend = open_fsspec(f"sftp://{USER}:{PASSWORD}@127.0.0.1:{sftp.port}/store")
    backend._sleep = lambda _: None
    backend.put("a", b"data")
    sftp.hang_up()
    assert backend.read("a") == b"data"
    backend.close()


def test_a_refused_connection_fails_soon() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        backend = open_fsspec(f"sftp://{USER}:{PASSWORD}@127.0.0.1:{closed.getsockname()[1]}/")
        started = time.monotonic()
        with pytest.raises(Unavailable):
            backend.read("a")
        assert time.monotonic() - started < 5


def test_a_silent_server_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        backend = open_fsspec(f"sftp://{USER}:{PASSWORD}@127.0.0.1:{port}/?timeout=100ms&retries=0")
        started = time.monotonic()
        with pytest.raises(Unavailable):
            backend.read("a")
        assert time.monotonic() - started < 5
