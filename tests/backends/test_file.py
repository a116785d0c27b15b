"""The file backend: the contract, its URL, its layout, its listing."""

from __future__ import annotations

import atexit
import copy
import os
import pickle
import shutil
import stat as file_modes
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offloadkit.backend import AlreadyExists, Backend, BackendError, Denied, NotFound, TooLarge, check_key
from offloadkit.errors import ConfigError
from offloadkit.testing import BackendContract, backend_machine
from offloadkit.url import parse_url
from offloadkit_file import FileBackend

REQUIRED = frozenset(
    {
        *("atomic_create", "fork", "local_path", "ordered", "persistent", "ping"),
        *("set_expiry", "shared", "sweep"),
    }
)


class FileContract(BackendContract):
    require = REQUIRED
    fsync: Literal["full", "file", "none"]

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        return FileBackend(tmp_path / "store", fsync=self.fsync)

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Backend]:
        return lambda: FileBackend(tmp_path / "store", fsync=self.fsync)


class TestFileContract(FileContract):
    fsync = "full"


class TestFastFileContract(FileContract):
    fsync = "none"


_DIRECTORY = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, _DIRECTORY)


def in_new_directory() -> FileBackend:
    return FileBackend(_DIRECTORY / uuid.uuid4().hex, fsync="none")


def in_one_directory() -> FileBackend:
    return FileBackend(_DIRECTORY / "store", fsync="none")


TestFileMachine = backend_machine(in_new_directory).TestCase
TestFileMachine.settings = settings(max_examples=20, deadline=None)
TestTwoInstancesMachine = backend_machine(in_one_directory, instances=2).TestCase
TestTwoInstancesMachine.settings = settings(max_examples=20, deadline=None)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def backend(root: Path) -> FileBackend:
    return FileBackend(root, fsync="none")


def opened(url: str) -> FileBackend:
    return FileBackend.from_url(parse_url(url).with_options(FileBackend.options))


def files_below(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


@pytest.fixture
def umask() -> Iterator[Callable[[int], object]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


class TestURL:
    def test_an_absolute_path(self) -> None:
        assert opened("file:///var/lib/agent/").root == "/var/lib/agent"

    def test_blanks_and_other_letters(self, tmp_path: Path) -> None:
        backend = opened(f"file://{tmp_path}/with space/%C3%BCn%C3%AFcode?fsync=none")
        backend.put("k", b"data")
        assert files_below(tmp_path / "with space" / "ünïcode") == ["k="]

    @pytest.mark.parametrize(
        ("url", "message"),
        [
            ("file://x", "names a host: write three slashes"),
            ("file://host/x", "names a host: write three slashes"),
            ("file://relative/store", "write three slashes"),
            ("file://./store", "write three slashes"),
            ("file://~/store", "write three slashes"),
            ("file:///~/store", "write the home directory out"),
            ("file://", "needs a directory of its own"),
            ("file:///", "needs a directory of its own"),
            ("file:///C:/Users/Anna", "a path of Windows"),
            ("file+x:///var/lib/agent", "takes no engine"),
            ("file://user@/var/lib/agent", "takes no user"),
            ("file:///x?fsync=always", "takes one of full, file, none"),
            ("file:///x?fsnc=full", "did you mean 'fsync'"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, url: str, message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            opened(url)

    def test_the_constructor_takes_no_relative_path(self) -> None:
        with pytest.raises(ConfigError, match="absolute path, not 'store'"):
            FileBackend("store")

    def test_case_paths(self, cases: dict[str, dict[str, Any]], tmp_path: Path) -> None:
        for path in cases["PLAT-01"]["input"]["paths"]:
            if path.startswith("/"):
                backend = opened(f"file://{tmp_path}{path}")
                backend.put("k", b"data")
                assert Path(backend.root, "k=").exists()
            else:
                with pytest.raises(ConfigError):
                    opened(f"file://{path}")


class TestLayout:
    def test_the_payload_stands_first(self, backend: FileBackend, root: Path) -> None:
        backend.put("space/session/ref", b"line 1\nline 2", meta=b"meta")
        assert (root / "space/session/ref=").read_bytes().startswith(b"line 1\nline 2\n{")

    def test_grep_reads_it_as_text(self, backend: FileBackend) -> None:
        backend.put("k", "ünï\nneedle\nhay".encode(), meta=bytes(range(256)), expires_at=1e10)
        found = subprocess.run(
            ["grep", "-n", "needle", backend.local_path("k") or ""],
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout == "2:needle\n"

    def test_case_values_are_kept_byte_for_byte(
        self, backend: FileBackend, cases: dict[str, dict[str, Any]]
    ) -> None:
        for number, value in enumerate(cases["PLAT-03"]["input"]["values"]):
            data = value.encode("utf-8")
            backend.put(f"k/{number}", data)
            assert backend.read(f"k/{number}") == data

    def test_one_object_is_one_file(self, backend: FileBackend, root: Path) -> None:
        backend.put("a/b", b"x" * 1_000_000, meta=b"meta", expires_at=1e10)
        assert files_below(root) == ["a/b="]

    def test_an_object_and_a_directory_may_have_one_name(self, backend: FileBackend) -> None:
        keys = ["a", "a/b", "a/b/c", "a.b", "a-b"]
        for key in keys:
            backend.put(key, key.encode())
        assert [backend.read(key).decode() for key in keys] == keys

    @pytest.mark.parametrize("mask", [0, 0o077, 0o022])
    def test_nobody_else_may_read_it(
        self, backend: FileBackend, root: Path, umask: Callable[[int], object], mask: int
    ) -> None:
        umask(mask)
        backend.put("a/b/c", b"data")
        made = [root, root / ".incoming", root / "a", root / "a/b", root / "a/b/c="]
        modes = [file_modes.S_IMODE(path.stat().st_mode) for path in made]
        assert modes == [0o700, 0o700, 0o700, 0o700, 0o600]

    def test_missing_parents_of_the_root_are_made_for_this_user_alone(
        self, tmp_path: Path, umask: Callable[[int], object]
    ) -> None:
        umask(0)
        FileBackend(tmp_path / "a/b/store").put("k", b"data")
        assert [file_modes.S_IMODE((tmp_path / part).stat().st_mode) for part in ("a", "a/b")] == [
            0o700,
            0o700,
        ]

    def test_nothing_is_made_before_the_first_put(self, backend: FileBackend, root: Path) -> None:
        assert backend.list().items == ()
        assert backend.local_path("k") is None
        assert backend.sweep(1e10) == 0
        backend.delete(["k"])
        with pytest.raises(NotFound):
            backend.read("k")
        with pytest.raises(NotFound):
            backend.set_expiry("k", None)
        assert not root.exists()

    def test_what_was_deleted_leaves_nothing(self, backend: FileBackend, root: Path) -> None:
        backend.put("a/b/c", b"x" * 1_000_000)
        backend.put("a/b/d", b"short", expires_at=1.0)
        backend.delete(["a/b/c"])
        backend.sweep(2.0)
        assert [path.name for path in root.rglob("*")] == [".incoming"]

    def test_a_directory_in_use_stays(self, backend: FileBackend, root: Path) -> None:
        backend.put("a/b", b"1")
        backend.put("a/c/d", b"2")
        backend.delete(["a/c/d"])
        assert files_below(root) == ["a/b="]
        assert not (root / "a/c").exists()

    def test_a_root_taken_away_is_made_again(self, backend: FileBackend, root: Path, tmp_path: Path) -> None:
        backend.put("k", b"data")
        root.rename(tmp_path / "away")
        with pytest.raises(NotFound):
            backend.read("k")
        backend.put("k", b"data")
        assert backend.read("k") == b"data"

    def test_a_copied_store_is_the_same_store(self, backend: FileBackend, root: Path, tmp_path: Path) -> None:
        backend.put("a/b", b"data", meta=b"meta", expires_at=1e10)
        subprocess.run(["cp", "-r", root, tmp_path / "copy"], check=True)
        assert FileBackend(tmp_path / "copy").stat("a/b") == backend.stat("a/b")

    def test_another_process_in_another_directory_reads_it(self, backend: FileBackend, root: Path) -> None:
        backend.put("a/b", b"data")
        code = f"from offloadkit_file import FileBackend; print(FileBackend({str(root)!r}).read('a/b'))"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd="/")
        assert found.stdout == b"b'data'\n"

    def test_too_much_metadata_is_refused(self, backend: FileBackend, root: Path) -> None:
        with pytest.raises(TooLarge, match="3000 bytes of metadata"):
            backend.put("k", b"data", meta=b"x" * 3000)
        assert not root.exists()

    @pytest.mark.parametrize(
        "key", ["../x", "a/../b", "/etc/x", "a//b", "", ".incoming/x", "a\n", "A", "a=", "~"]
    )
    def test_a_key_that_breaks_the_rules_goes_nowhere(
        self, backend: FileBackend, tmp_path: Path, key: str
    ) -> None:
        with pytest.raises(BackendError):
            backend.put(key, b"data")
        with pytest.raises(BackendError):
            backend.read(key)
        with pytest.raises(BackendError):
            backend.delete([key])
        assert list(tmp_path.iterdir()) == []


class TestInstances:
    def test_a_copy_and_a_pickle_see_the_same_objects(self, backend: FileBackend) -> None:
        backend.put("k", b"data")
        for other in (copy.copy(backend), copy.deepcopy(backend), pickle.loads(pickle.dumps(backend))):
            assert other.read("k") == b"data"

    def test_repr_names_the_directory(self, backend: FileBackend, root: Path) -> None:
        assert repr(backend) == f"FileBackend({str(root)!r})"

    def test_nothing_stays_open_between_calls(self, backend: FileBackend) -> None:
        before = open_descriptors()
        for number in range(5):
            backend.put(f"a/{number}", b"data", expires_at=1.0)
        with pytest.raises(AlreadyExists):
            backend.put("a/0", b"data")
        with pytest.raises(NotFound):
            backend.read("a/b/c")
        backend.list(limit=2)
        backend.read("a/1")
        backend.set_expiry("a/1", None)
        backend.sweep(2.0, limit=1)
        backend.delete(["a/3", "a/b/c"])
        assert open_descriptors() == before

    def test_no_descriptor_is_inherited(self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch) -> None:
        inherited: list[bool] = []
        open_file = os.open

        def noting_open(*args: Any, **kwargs: Any) -> int:
            descriptor = open_file(*args, **kwargs)
            inherited.append(os.get_inheritable(descriptor))
            return descriptor

        monkeypatch.setattr(os, "open", noting_open)
        backend.put("a/b", b"data")
        backend.read("a/b")
        assert inherited
        assert not any(inherited)

    def test_ping_makes_the_directory(self, backend: FileBackend, root: Path) -> None:
        backend.ping()
        assert root.is_dir()

    def test_ping_tells_a_store_that_cannot_be_written(
        self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(Denied, match="read-only"):
            backend.ping()


SEGMENTS = st.text(st.sampled_from("ab0._-"), min_size=1, max_size=3)
KEYS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)


def is_valid(key: str) -> bool:
    try:
        return bool(check_key(key))
    except BackendError:
        return False


class TestListing:
    @settings(max_examples=60)
    @given(
        st.sets(KEYS.filter(is_valid), max_size=12),
        st.text(st.sampled_from("ab/._-"), max_size=3),
        st.integers(1, 4),
    )
    def test_any_keys_are_listed_in_order_page_by_page(self, keys: set[str], prefix: str, limit: int) -> None:
        backend = in_new_directory()
        for key in keys:
            backend.put(key, key.encode())
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = backend.list(prefix, cursor=cursor, limit=limit)
            assert len(page.items) <= limit
            found += [item.key for item in page.items]
            cursor = page.cursor
            if cursor is None:
                break
        assert found == sorted(key for key in keys if key.startswith(prefix))

    def test_files_of_others_are_not_objects(
        self, backend: FileBackend, root: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        backend.put("a/b", b"data")
        for name in (".DS_Store", "README", "README.txt", "Upper=", "a/notes", "a/.hidden="):
            (root / name).write_bytes(b"not ours")
        (root / "lost+found").mkdir()
        (root / "dir=").mkdir()
        assert [item.key for item in backend.list().items] == ["a/b"]
        assert caplog.text == ""

    def test_directories_beside_the_prefix_are_not_opened(
        self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(20):
            backend.put(f"space/session-{number:02}/ref", b"data")
        scanned: list[int] = []
        scan = os.scandir

        def noting_scan(directory: int) -> Any:
            scanned.append(directory)
            return scan(directory)

        monkeypatch.setattr(os, "scandir", noting_scan)
        assert [item.key for item in backend.list("space/session-07/").items] == ["space/session-07/ref"]
        assert len(scanned) == 3


class TestExpiry:
    @pytest.mark.parametrize(
        "expires_at", [None, 1.0, 1234567890.123456, 4e9 + 0.25, 1e300, float("inf"), -5.0]
    )
    def test_any_time_is_kept_exactly(self, backend: FileBackend, expires_at: float | None) -> None:
        backend.put("k", b"data", expires_at=expires_at)
        backend.put("other", b"data")
        backend.set_expiry("other", expires_at)
        assert (backend.stat("k").expires_at, backend.stat("other").expires_at) == (expires_at, expires_at)

    def test_setting_it_writes_no_payload(self, backend: FileBackend, root: Path) -> None:
        backend.put("k", b"data", expires_at=1e10)
        before = (root / "k=").stat()
        for step in range(5):
            backend.set_expiry("k", 2e9 + step)
        after = (root / "k=").stat()
        assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
        assert (backend.stat("k").expires_at, backend.read("k")) == (2e9 + 4, b"data")

    def test_a_sweep_opens_only_what_may_have_expired(
        self, backend: FileBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(10):
            backend.put(f"later/{number}", b"data", expires_at=1e10)
            backend.put(f"over/{number}", b"data", expires_at=1000.0 + number)
        opened_names: list[str] = []
        open_file = os.open

        def noting_open(path: str, *args: Any, **kwargs: Any) -> int:
            opened_names.append(path)
            return open_file(path, *args, **kwargs)

        monkeypatch.setattr(os, "open", noting_open)
        assert backend.sweep(1003.5) == 4
        assert {name for name in opened_names if name.endswith("=")} == {"0=", "1=", "2=", "3="}
        assert len([name for name in opened_names if name.endswith("=")]) == 8

    def test_a_touched_file_does_not_expire(self, backend: FileBackend, root: Path) -> None:
        backend.put("k", b"data", expires_at=2e9)
        os.utime(root / "k=", (1.0, 1.0))
        assert backend.sweep(1.9e9) == 0
        assert backend.read("k") == b"data"

    def test_a_copied_store_does_not_expire(self, backend: FileBackend, root: Path, tmp_path: Path) -> None:
        backend.put("k", b"data", expires_at=time.time() + 1000)
        subprocess.run(["cp", "-r", root, tmp_path / "copy"], check=True)
        assert FileBackend(tmp_path / "copy").sweep(time.time() + 500) == 0

    def test_what_never_expires_shows_when_it_was_stored(self, backend: FileBackend, root: Path) -> None:
        backend.put("k", b"data")
        assert abs((root / "k=").stat().st_mtime - time.time()) < 60
        assert backend.sweep(1e12) == 0

    def test_the_moment_of_expiry_itself_is_too_early(self, backend: FileBackend) -> None:
        backend.put("k", b"data", expires_at=1000.5)
        assert (backend.sweep(1000.5), backend.sweep(1000.75)) == (0, 1)
