"""The file backend when something fails or dies on the way: whole objects or none, and no litter for long."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.backend import (
    AlreadyExists,
    BackendError,
    Denied,
    NotFound,
    PartialDelete,
    StorageFull,
    Unavailable,
)
from offloadkit.testing.contract.forking import in_child
from offloadkit_file import FileBackend

SYSTEM_CALLS = (
    "open",
    "mkdir",
    "write",
    "fsync",
    "link",
    "unlink",
    "rmdir",
    "utime",
    "close",
    "stat",
    "lseek",
)
PAYLOAD = bytes(range(256)) * 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def backend(root: Path) -> FileBackend:
    return FileBackend(root)


def litter(root: Path) -> list[str]:
    """Return every file below the root that is no object's."""
    found = [path.relative_to(root) for path in root.rglob("*") if not path.is_dir()]
    return sorted(str(path) for path in found if not path.name.endswith("="))


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, step: int, fail: Callable[[], None]) -> Iterator[list[str]]:
    """Call ``fail`` in place of the system call number ``step``, counting from 0; give the calls made."""
    calls: list[str] = []

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            if len(calls) == step + 1:
                fail()
            return real(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        for name in SYSTEM_CALLS:
            patch.setattr(os, name, counted(name, getattr(os, name)))
        yield calls


def steps_of(work: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many system calls ``work`` makes."""
    with failing(monkeypatch, -1, lambda: None) as calls:
        work()
    return len(calls)


def raising(code: int) -> Callable[[], None]:
    def fail() -> None:
        raise OSError(code, os.strerror(code))

    return fail


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def whole_or_none(backend: FileBackend, key: str) -> bool:
    """Say whether the object is there, and check that it is whole if it is."""
    try:
        data = backend.read(key)
    except NotFound:
        assert key not in [item.key for item in backend.list().items]
        return False
    stat = backend.stat(key)
    assert (data, stat.meta, stat.expires_at) == (PAYLOAD, b"meta", 4e9)
    return True


def put(backend: FileBackend, key: str = "a/b/c") -> None:
    backend.put(key, PAYLOAD, meta=b"meta", expires_at=4e9)


class TestKilled:
    def test_at_every_step_of_a_put(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: set[bool] = set()
        steps = steps_of(lambda: put(FileBackend(tmp_path / "counted")), monkeypatch)
        for step in range(steps):
            root = tmp_path / str(step)

            def put_and_die(root: Path = root, step: int = step) -> None:
                with failing(monkeypatch, step, die):
                    put(FileBackend(root))

            with pytest.raises(pytest.fail.Exception, match="died without an answer"):
                in_child(put_and_die, 10)
            seen.add(whole_or_none(FileBackend(root), "a/b/c"))
            self._check_the_next_put(root)
        assert seen == {True, False}

    def test_at_every_step_of_setting_an_expiry(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        backend = FileBackend(root)
        put(backend)
        steps = steps_of(lambda: backend.set_expiry("a/b/c", 5e9), monkeypatch)
        for step in range(steps):
            before = backend.stat("a/b/c").expires_at

            def set_and_die(step: int = step) -> None:
                with failing(monkeypatch, step, die):
                    backend.set_expiry("a/b/c", 6e9 + step)

            with pytest.raises(pytest.fail.Exception, match="died without an answer"):
                in_child(set_and_die, 10)
            assert backend.stat("a/b/c").expires_at in (before, 6e9 + step)
            assert backend.read("a/b/c") == PAYLOAD

    def test_at_every_step_of_a_delete(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        backend = FileBackend(root)
        put(backend)
        steps = steps_of(lambda: backend.delete(["a/b/c"]), monkeypatch)
        for step in range(steps):
            with suppress(AlreadyExists):
                put(backend)

            def delete_and_die(step: int = step) -> None:
                with failing(monkeypatch, step, die):
                    backend.delete(["a/b/c"])

            with pytest.raises(pytest.fail.Exception, match="died without an answer"):
                in_child(delete_and_die, 10)
            whole_or_none(backend, "a/b/c")
            backend.delete(["a/b/c"])
            assert [path.name for path in root.rglob("*")] == [".incoming"]

    def test_at_random_moments(self, root: Path) -> None:
        backend, moment = FileBackend(root), random.Random(7)
        for life in range(12):
            with subprocess.Popen(
                [sys.executable, "-c", _PUTTING, str(root), str(life)], stdout=subprocess.PIPE
            ) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == b"ready\n"
                with suppress(subprocess.TimeoutExpired):
                    process.wait(moment.uniform(0, 0.05))
                process.kill()
                acknowledged = process.stdout.read().decode().split("\n")[:-1]
            there = {item.key for item in backend.list(f"{life}/").items}
            assert set(acknowledged) <= there
            assert len(there) <= len(acknowledged) + 1
            for key in there:
                assert backend.read(key) == key.encode() * 20_000
        assert all(path.startswith(".incoming/") for path in litter(root))

    def _check_the_next_put(self, root: Path) -> None:
        backend = FileBackend(root)
        with suppress(AlreadyExists):
            put(backend)
        assert whole_or_none(backend, "a/b/c")
        assert all(path.startswith(".incoming/") for path in litter(root))
        assert len(litter(root)) <= 1


_PUTTING = """
import sys
from offloadkit_file import FileBackend
backend = FileBackend(sys.argv[1], fsync="file")
print("ready", flush=True)
for number in range(1000):
    key = f"{sys.argv[2]}/{number:04}"
    backend.put(key, key.encode() * 20_000)
    print(key, flush=True)
"""


class TestFailing:
    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
    def test_at_every_step_of_a_put(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
        steps = steps_of(lambda: put(FileBackend(tmp_path / "counted")), monkeypatch)
        for step in range(steps):
            backend = FileBackend(tmp_path / str(step))
            with failing(monkeypatch, step, raising(code)) as calls:
                try:
                    put(backend)
                    stored = True
                except BackendError:
                    stored = False
            assert whole_or_none(backend, "a/b/c") or not stored
            failed = calls[step]
            assert failed == "unlink" or litter(Path(backend.root)) == []
            with suppress(AlreadyExists):
                put(backend)
            assert whole_or_none(backend, "a/b/c")

    @pytest.mark.parametrize(
        ("code", "kind"),
        [
            (errno.ENOSPC, StorageFull),
            (errno.EDQUOT, StorageFull),
            (errno.EFBIG, StorageFull),
            (errno.EACCES, Denied),
            (errno.EPERM, Denied),
            (errno.EROFS, Denied),
            (errno.EMFILE, Unavailable),
            (errno.ESTALE, Unavailable),
            (errno.EIO, BackendError),
        ],
    )
    def test_errors_have_our_names(
        self,
        backend: FileBackend,
        root: Path,
        monkeypatch: pytest.MonkeyPatch,
        code: int,
        kind: type[BackendError],
    ) -> None:
        monkeypatch.setattr(os, "write", lambda *_: raising(code)())
        with pytest.raises(BackendError) as raised:
            backend.put("a/b", b"CONTENT", meta=b"CONTENT")
        error = raised.value
        assert type(error) is kind
        assert (error.key, error.retryable) == ("a/b", kind is Unavailable)
        assert isinstance(error.__cause__, OSError)
        assert str(error).startswith(f"cannot store {root}/a/b: {os.strerror(code)}")
        assert "CONTENT" not in f"{error} {error.__cause__}"
        assert litter(root) == []

    def test_a_full_disk_leaves_nothing(self, tmp_path: Path) -> None:
        with small_disk(tmp_path / "disk") as disk:
            backend = FileBackend(disk / "store")
            backend.put("small", b"data")
            with pytest.raises(StorageFull, match="make room"):
                backend.put("large", bytes(3_000_000))
            assert [item.key for item in backend.list().items] == ["small"]
            assert litter(disk / "store") == []
            backend.put("other", bytes(500_000))
            assert backend.read("other") == bytes(500_000)

    def test_a_limit_on_file_sizes_leaves_nothing(self, root: Path) -> None:
        def put_too_much() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            backend = FileBackend(root)
            backend.put("small", b"data")
            with pytest.raises(StorageFull, match="File too large"):
                backend.put("large", bytes(300_000))

        in_child(put_too_much, 10)
        assert [item.key for item in FileBackend(root).list().items] == ["small"]
        assert litter(root) == []

    def test_short_writes_go_on(self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        write = os.write
        monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:1000]))
        put(backend)
        assert whole_or_none(backend, "a/b/c")

    def test_short_reads_go_on(self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        put(backend)
        read = os.pread
        monkeypatch.setattr(
            os, "pread", lambda descriptor, length, at: read(descriptor, min(length, 3000), at)
        )
        assert whole_or_none(backend, "a/b/c")

    @pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP])
    def test_a_file_system_without_fsync_is_no_error(
        self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        monkeypatch.setattr(os, "fsync", lambda _: raising(code)())
        put(backend)
        assert whole_or_none(backend, "a/b/c")

    def test_a_file_system_without_locks_is_no_error(
        self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("fcntl.flock", lambda *_: raising(errno.ENOTSUP)())
        put(backend)
        backend.set_expiry("a/b/c", 5e9)
        backend.delete(["a/b/c"])
        assert not whole_or_none(backend, "a/b/c")

    @pytest.mark.parametrize("code", [errno.EPERM, errno.EXDEV])
    def test_a_file_system_without_hard_links_is_told(
        self, backend: FileBackend, root: Path, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        monkeypatch.setattr(os, "link", lambda *_, **__: raising(code)())
        with pytest.raises(Denied, match="without hard links"):
            put(backend)
        assert litter(root) == []

    def test_a_delete_names_what_is_left(self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("a", "b", "c"):
            put(backend, name)
        unlink = os.unlink

        def refusing(name: str, **kwargs: Any) -> None:
            if name == "b=":
                raising(errno.EROFS)()
            unlink(name, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", refusing)
            with pytest.raises(PartialDelete, match="1 objects") as raised:
                backend.delete(["a", "b", "c", "missing"])
        assert list(raised.value.failed) == ["b"]
        assert isinstance(raised.value.failed["b"], Denied)
        assert [item.key for item in backend.list().items] == ["b"]

    def test_modes_of_fsync_do_what_they_say(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        synced: list[int] = []
        monkeypatch.setattr(os, "fsync", synced.append)
        counts = {}
        for mode in ("full", "file", "none"):
            backend = FileBackend(tmp_path / mode, fsync=mode)
            backend.put("a/first", b"")
            synced.clear()
            backend.put("a/second", b"")
            counts[mode] = len(synced)
        assert counts == {"full": 2, "file": 1, "none": 0}


@contextmanager
def small_disk(path: Path) -> Iterator[Path]:
    """Mount a file system of 1 MB, or skip the test where that is not allowed."""
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0755", "tmpfs", path], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted: {mounted.stderr.decode().strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)


class TestTorn:
    @given(st.integers(0, 20_000))
    def test_a_file_cut_off_anywhere_is_not_found(self, kept: int) -> None:
        backend, file = torn_store(kept)
        for call in (backend.read, backend.stat):
            with pytest.raises(NotFound):
                call("a/b")
        assert backend.list().items == ()
        assert backend.local_path("a/b") is None
        assert file.exists()

    @pytest.mark.parametrize("kept", [0, 1, 5000, 10_240, 10_300])
    def test_a_new_put_replaces_it(self, kept: int) -> None:
        backend, _ = torn_store(kept)
        put(backend, "a/b")
        assert whole_or_none(backend, "a/b")

    def test_it_can_be_deleted(self) -> None:
        backend, file = torn_store(5000)
        backend.delete(["a/b"])
        assert not file.exists()

    def test_a_sweep_and_an_expiry_leave_it_alone(self) -> None:
        backend, file = torn_store(5000)
        with pytest.raises(NotFound):
            backend.set_expiry("a/b", 1.0)
        assert backend.sweep(1e12) == 0
        assert file.exists()

    def test_there_is_one_warning(self, caplog: pytest.LogCaptureFixture) -> None:
        backend, _ = torn_store(5000)
        for _ in range(3):
            with pytest.raises(NotFound):
                backend.read("a/b")
            backend.list()
        assert len(caplog.records) == 1
        assert "a/b" in caplog.text

    def test_a_file_under_another_name_is_not_found(self, backend: FileBackend, root: Path) -> None:
        put(backend, "a/b")
        (root / "a/b=").rename(root / "a/c=")
        with pytest.raises(NotFound):
            backend.read("a/c")

    def test_a_payload_that_ends_like_a_file_of_ours_is_no_object(
        self, backend: FileBackend, root: Path
    ) -> None:
        put(backend, "a/b")
        inner = (root / "a/b=").read_bytes()
        backend.put("a/c", inner)
        assert backend.read("a/c") == inner
        with (root / "a/c=").open("r+b") as file:
            file.truncate(len(inner))
        with pytest.raises(NotFound):
            backend.read("a/c")


_TORN_ROOTS: list[Path] = []


@pytest.fixture(autouse=True)
def torn_roots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    _TORN_ROOTS.append(tmp_path_factory.mktemp("torn"))
    yield
    _TORN_ROOTS.clear()


def torn_store(kept: int) -> tuple[FileBackend, Path]:
    """Return a store with one object, of whose file the first ``kept`` bytes are left (not all)."""
    root = _TORN_ROOTS[-1] / str(time.monotonic_ns())
    backend = FileBackend(root, fsync="none")
    put(backend, "a/b")
    file = root / "a/b="
    os.truncate(file, min(kept, file.stat().st_size - 1))
    return backend, file


class TestLitter:
    def test_old_temporary_files_go_at_the_first_put(self, backend: FileBackend, root: Path) -> None:
        put(backend, "first")
        for name, age in (("old", 3700), ("new", 3500)):
            (root / ".incoming" / name).write_bytes(b"half")
            os.utime(root / ".incoming" / name, (0, time.time() - age))
        put(backend, "second")
        assert litter(root) == [".incoming/new", ".incoming/old"]
        put(FileBackend(root), "third")
        assert litter(root) == [".incoming/new"]

    def test_a_second_name_of_an_object_that_is_swept_leaves_the_object(
        self, backend: FileBackend, root: Path
    ) -> None:
        put(backend)
        os.link(root / "a/b/c=", root / ".incoming/left")
        os.utime(root / "a/b/c=", (0, 0))
        put(FileBackend(root), "other")
        assert litter(root) == []
        assert whole_or_none(backend, "a/b/c")

    def test_a_deleted_object_with_a_second_name_is_gone(self, backend: FileBackend, root: Path) -> None:
        put(backend)
        os.link(root / "a/b/c=", root / ".incoming/left")
        backend.delete(["a/b/c"])
        with pytest.raises(NotFound):
            backend.set_expiry("a/b/c", None)
