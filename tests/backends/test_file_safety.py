"""The file backend against other users, symbolic links, and other processes at work on the same keys."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from offloadkit.backend import AlreadyExists, BackendError, Denied, NotFound, PartialDelete
from offloadkit.testing.contract.forking import in_child
from offloadkit.testing.driving import at_once, listed
from offloadkit_file import FileBackend

NOBODY = 65_534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def backend(root: Path) -> FileBackend:
    return FileBackend(root, fsync="none")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that must stay as it is, with a file of someone else."""
    directory = tmp_path / "outside"
    directory.mkdir()
    (directory / "b=").write_bytes(b"precious")
    return directory


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that every user may enter, unlike those of pytest."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def as_nobody(work: Callable[[], object]) -> None:
    """Call ``work`` in a child process without any privilege."""
    if os.geteuid() != 0:
        in_child(work, 10)
        return

    def drop_and_work() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        work()

    in_child(drop_and_work, 10)


def owned_by_nobody(path: Path, mode: int) -> Path:
    path.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
    path.chmod(mode)
    return path


class TestRoot:
    @pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777, 0o702])
    def test_one_that_others_may_write_is_refused(self, backend: FileBackend, root: Path, mode: int) -> None:
        root.mkdir()
        root.chmod(mode)
        for call in (
            lambda: backend.put("k", b"data"),
            lambda: backend.read("k"),
            backend.list,
            backend.ping,
        ):
            with pytest.raises(Denied, match=f"others may write to {root}: run chmod go-w {root}, or name"):
                call()
        assert list(root.iterdir()) == []

    @pytest.mark.parametrize("mode", [0o755, 0o750, 0o700])
    def test_one_that_others_may_only_read_is_fine(self, backend: FileBackend, root: Path, mode: int) -> None:
        root.mkdir()
        root.chmod(mode)
        backend.put("k", b"data")
        assert backend.read("k") == b"data"

    def test_one_of_another_user_is_refused(
        self, backend: FileBackend, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root.mkdir()
        monkeypatch.setattr(os, "geteuid", lambda: 4711)
        with pytest.raises(Denied, match=r"belongs to user \d+, this is 4711: chown it, or name a directory"):
            backend.put("k", b"data")

    def test_a_file_in_its_place_is_refused(self, backend: FileBackend, root: Path) -> None:
        root.write_bytes(b"")
        with pytest.raises(Denied, match="Not a directory"):
            backend.put("k", b"data")

    def test_a_directory_of_ones_own_below_a_shared_one_is_fine(self, root: Path) -> None:
        root.mkdir()
        root.chmod(0o1777)
        backend = FileBackend(root / "store")
        backend.put("k", b"data")
        assert backend.read("k") == b"data"

    def test_a_link_to_it_is_followed(self, backend: FileBackend, root: Path, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        root.symlink_to(tmp_path / "elsewhere")
        backend.put("k", b"data")
        assert (tmp_path / "elsewhere" / "k=").exists()

    def test_a_link_to_nowhere_is_an_error(self, backend: FileBackend, root: Path, tmp_path: Path) -> None:
        root.symlink_to(tmp_path / "nowhere")
        with pytest.raises(BackendError):
            backend.put("k", b"data")
        assert not (tmp_path / "nowhere").exists()


class TestWithoutPrivileges:
    def test_it_works(self, open_directory: Path) -> None:
        root = owned_by_nobody(open_directory / "home", 0o755) / "store"

        def use() -> None:
            backend = FileBackend(root)
            backend.put("a/b", b"data", expires_at=4e9)
            backend.set_expiry("a/b", 5.0)
            assert backend.read("a/b") == b"data"
            assert backend.sweep(6.0) == 1

        as_nobody(use)

    def test_a_directory_that_cannot_be_made_is_denied(self, open_directory: Path) -> None:
        if os.geteuid() != 0:
            open_directory.chmod(0o555)

        def use() -> None:
            with pytest.raises(Denied, match=f"{open_directory}/store/k: Permission denied; give this user"):
                FileBackend(open_directory / "store").put("k", b"data")
            with pytest.raises(Denied):
                FileBackend(open_directory / "store").ping()

        as_nobody(use)
        open_directory.chmod(0o755)

    def test_a_store_without_write_permission_can_be_read(self, open_directory: Path) -> None:
        root = owned_by_nobody(open_directory / "store", 0o700)
        as_nobody(lambda: FileBackend(root).put("a/b", b"data", expires_at=1.0))
        for directory in (root / "a", root / ".incoming", root):
            directory.chmod(0o500)

        def use() -> None:
            backend = FileBackend(root)
            assert backend.read("a/b") == b"data"
            assert len(backend.list().items) == 1
            for call in (lambda: backend.put("a/c", b""), lambda: backend.sweep(2.0), backend.ping):
                with pytest.raises(Denied):
                    call()
            with pytest.raises(PartialDelete) as raised:
                backend.delete(["a/b"])
            assert isinstance(raised.value.failed["a/b"], Denied)

        as_nobody(use)
        for directory in (root, root / "a", root / ".incoming"):
            directory.chmod(0o700)

    def test_a_store_of_another_user_cannot_be_read(self, open_directory: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root can make a store of another user")
        root = open_directory / "store"
        FileBackend(root).put("k", b"data")

        def use() -> None:
            with pytest.raises(Denied):
                FileBackend(root).read("k")

        as_nobody(use)


class TestReadOnlyFileSystem:
    def test_reading_works_and_writing_is_denied(self, tmp_path: Path) -> None:
        (tmp_path / "disk").mkdir()
        FileBackend(tmp_path / "disk" / "store").put("a/b", b"data", expires_at=1.0)
        disk = str(tmp_path / "disk")
        command = ["mount", "--bind", "-o", "ro", disk, disk]
        mounted = subprocess.run(command, capture_output=True, check=False)
        if mounted.returncode:
            pytest.skip(f"nothing can be mounted read-only: {mounted.stderr.decode().strip()}")
        try:
            backend = FileBackend(tmp_path / "disk" / "store")
            assert backend.read("a/b") == b"data"
            for call in (lambda: backend.put("a/c", b""), lambda: backend.sweep(2.0), backend.ping):
                with pytest.raises(Denied, match=r"(?i)read-only file system"):
                    call()
            with pytest.raises(PartialDelete):
                backend.delete(["a/b"])
        finally:
            subprocess.run(["umount", tmp_path / "disk"], check=True)


class TestSymbolicLinks:
    """Whoever can put a link into the store must not lead a read, a write or a delete out of it."""

    @pytest.fixture(params=["directory", "file"])
    def key(self, request: pytest.FixtureRequest, backend: FileBackend, root: Path, outside: Path) -> str:
        """The key of a link that leads outside: the directory of the object, or its file."""
        backend.put("real/b", b"data")
        if request.param == "directory":
            (root / "a").symlink_to(outside)
            return "a/b"
        (root / "real" / "link=").symlink_to(outside / "b=")
        return "real/link"

    def test_no_method_follows_them(self, backend: FileBackend, outside: Path, key: str) -> None:
        for call in (
            lambda: backend.read(key),
            lambda: backend.stat(key),
            lambda: backend.put(key, b"attack"),
            lambda: backend.set_expiry(key, 1.0),
            lambda: backend.local_path(key),
        ):
            with pytest.raises(Denied, match="in its way, and is not followed"):
                call()
        with pytest.raises(PartialDelete):
            backend.delete([key])
        assert [path.name for path in outside.iterdir()] == ["b="]
        assert (outside / "b=").read_bytes() == b"precious"

    def test_listing_and_sweeping_pass_them_by(self, backend: FileBackend, outside: Path, key: str) -> None:
        other = FileBackend(outside, fsync="none")
        other.put("c", b"data", expires_at=1.0)
        assert [item.key for item in backend.list().items] == ["real/b"]
        assert backend.sweep(2.0) == 0
        assert other.read("c") == b"data"

    def test_the_directory_for_new_files_is_not_followed(
        self, backend: FileBackend, root: Path, outside: Path
    ) -> None:
        root.mkdir(mode=0o700)
        (root / ".incoming").symlink_to(outside)
        os.utime(outside / "b=", (0, 0))
        with pytest.raises(Denied):
            backend.put("k", b"data")
        assert [path.name for path in outside.iterdir()] == ["b="]

    def test_a_link_exchanged_while_it_is_used_is_not_followed(
        self, backend: FileBackend, root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The directory becomes a link after it was opened: the object still goes where it belonged."""
        backend.put("a/other", b"data")
        link = os.link

        def exchanging(*args: str, src_dir_fd: int, dst_dir_fd: int, follow_symlinks: bool) -> None:
            (root / "a").rename(root / "moved")
            (root / "a").symlink_to(outside)
            link(*args, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, follow_symlinks=follow_symlinks)

        monkeypatch.setattr(os, "link", exchanging)
        backend.put("a/new", b"data")
        assert sorted(path.name for path in (root / "moved").iterdir()) == ["new=", "other="]
        assert [path.name for path in outside.iterdir()] == ["b="]


class TestManyProcesses:
    def test_one_of_eight_creates_each_key(self, root: Path) -> None:
        keys = [f"space/session/{number}" for number in range(40)]
        command = [sys.executable, "-c", _RACING, str(root)]
        racers = [
            subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for number in range(8)
        ]
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == b"ready\n"
        won = [set(racer.communicate(b"go\n")[0].decode().split()) for racer in racers]
        assert [racer.returncode for racer in racers] == [0] * 8
        assert sorted(key for keys_won in won for key in keys_won) == sorted(keys)
        backend = FileBackend(root)
        for number, keys_won in enumerate(won):
            assert all(backend.read(key) == str(number).encode() * 50_000 for key in keys_won)
        assert list((root / ".incoming").iterdir()) == []

    def test_a_new_store_is_made_by_all_at_once(self, root: Path) -> None:
        def put(number: int) -> None:
            FileBackend(root / "a/b/c", fsync="none").put(f"x/y/{number}", b"data")

        at_once(put, 8)
        assert len(FileBackend(root / "a/b/c").list().items) == 8


_RACING = """
import sys
from offloadkit.backend import AlreadyExists
from offloadkit_file import FileBackend
backend = FileBackend(sys.argv[1], fsync="none")
print("ready", flush=True)
sys.stdin.readline()
for number in range(40):
    key = f"space/session/{number}"
    try:
        backend.put(key, sys.argv[2].encode() * 50_000)
    except AlreadyExists:
        continue
    print(key)
"""


class TestManyThreads:
    def test_creating_in_a_directory_that_others_empty(self, backend: FileBackend, root: Path) -> None:
        def live(thread: int) -> None:
            for number in range(40):
                key = f"a/b/{thread}-{number}"
                backend.put(key, b"data")
                assert backend.read(key) == b"data"
                backend.delete([key])

        at_once(live, 8)
        assert [path.name for path in root.rglob("*")] == [".incoming"]

    def test_putting_reading_and_deleting_in_any_order(self, backend: FileBackend) -> None:
        def work(thread: int) -> None:
            chance = random.Random(thread)
            for _ in range(100):
                key = f"a/{chance.randrange(10)}"
                act = chance.choice(["put", "read", "delete"])
                try:
                    if act == "put":
                        backend.put(key, key.encode() * 1000)
                    elif act == "read":
                        assert backend.read(key) == key.encode() * 1000
                    else:
                        backend.delete([key])
                except (AlreadyExists, NotFound):
                    continue

        at_once(work, 8)

    def test_many_sweepers_sweep_each_object_once(self, backend: FileBackend, root: Path) -> None:
        for number in range(120):
            backend.put(f"a/{number % 7}/{number}", b"data", expires_at=1.0)
        backend.put("a/3/stays", b"data")
        swept = at_once(lambda _: FileBackend(root, fsync="none").sweep(2.0), 6)
        assert sum(swept) == 120
        assert [item.key for item in listed(backend, "")] == ["a/3/stays"]

    def test_a_reader_meets_the_old_expiry_or_the_new_one(self, backend: FileBackend) -> None:
        backend.put("k", b"data", expires_at=1000.0)

        def work(thread: int) -> set[float | None]:
            if thread == 0:
                for number in range(300):
                    backend.set_expiry("k", 1000.0 + number)
                return set()
            return {backend.stat("k").expires_at for _ in range(200)}

        seen = set[float | None]().union(*at_once(work, 4))
        assert seen <= {1000.0 + number for number in range(300)}

    def test_of_several_expiries_set_at_once_one_stays(self, backend: FileBackend) -> None:
        backend.put("k", b"data")

        def work(thread: int) -> None:
            for number in range(50):
                backend.set_expiry("k", thread * 1000.0 + number)

        at_once(work, 6)
        assert backend.stat("k").expires_at in {thread * 1000.0 + 49 for thread in range(6)}


class TestMeetingOnTheWay:
    """Two at work on one object, in the one order that would hurt."""

    def test_what_is_extended_while_a_sweep_looks_at_it_stays(
        self, backend: FileBackend, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backend.put("k", b"data", expires_at=1.0)
        locked = backend._files.locked

        def extended_first(key: str) -> object:
            FileBackend(root).set_expiry(key, 4e9)
            return locked(key)

        monkeypatch.setattr(backend._files, "locked", extended_first)
        assert backend.sweep(2.0) == 0
        assert backend.read("k") == b"data"

    def test_what_is_swept_before_it_is_extended_is_not_found(
        self, backend: FileBackend, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backend.put("k", b"data", expires_at=1.0)
        open_file = backend._files._open

        def swept_after(key: str, flags: int) -> int:
            descriptor = open_file(key, flags)
            FileBackend(root).sweep(2.0)
            return descriptor

        monkeypatch.setattr(backend._files, "_open", swept_after)
        with pytest.raises(NotFound):
            backend.set_expiry("k", 4e9)

    def test_two_writers_that_meet_a_torn_file_keep_one_object(
        self, backend: FileBackend, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backend.put("k", b"data")
        os.truncate(root / "k=", 2)
        open_file = backend._files._open

        def replaced_after(key: str, flags: int) -> int:
            descriptor = open_file(key, flags)
            monkeypatch.setattr(backend._files, "_open", open_file)
            FileBackend(root).put("k", b"the other")
            return descriptor

        monkeypatch.setattr(backend._files, "_open", replaced_after)
        with pytest.raises(AlreadyExists):
            backend.put("k", b"mine")
        assert backend.read("k") == b"the other"

    def test_a_directory_that_goes_while_a_file_is_linked_is_made_again(
        self, backend: FileBackend, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        link = os.link

        def emptied_first(*args: str, src_dir_fd: int, dst_dir_fd: int, follow_symlinks: bool) -> None:
            monkeypatch.setattr(os, "link", link)
            (root / "a/b").rmdir()
            (root / "a").rmdir()
            link(*args, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, follow_symlinks=follow_symlinks)

        monkeypatch.setattr(os, "link", emptied_first)
        backend.put("a/b/c", b"data")
        assert backend.read("a/b/c") == b"data"

    def test_a_fork_while_an_object_is_locked_does_not_keep_the_lock(self, backend: FileBackend) -> None:
        backend.put("k", b"data")
        with backend._files.locked("k"):
            child = os.fork()
            if child == 0:
                try:
                    os.read(_never(), 1)
                finally:
                    os._exit(0)
        try:
            in_child(lambda: backend.delete(["k"]), 10)
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
        with pytest.raises(NotFound):
            backend.read("k")


def _never() -> int:
    """Return the end of a pipe that nobody writes to."""
    reader, _ = os.pipe()
    return reader
