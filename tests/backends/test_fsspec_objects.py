"""How the fsspec backend lays out objects, and what it makes of damaged ones and of others' files."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fsspec_stores import open_fsspec
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.backend import MAX_KEY_CHARACTERS, NotFound, Stat
from offloadkit_fsspec import FsspecBackend
from offloadkit_fsspec.footer import FOOTER_BYTES, footer_of, stat_from
from offloadkit_fsspec.paths import key_part, path_of
from offloadkit_fsspec.walking import walk

segments = st.from_regex(r"[a-z0-9_-]([a-z0-9._-]{0,6}[a-z0-9_-])?", fullmatch=True).filter(
    lambda segment: key_part(segment, is_folder=False) is not None
)
keys = st.lists(segments, min_size=1, max_size=4).map("/".join)


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[FsspecBackend]:
    opened = open_fsspec(f"fsspec+file://{tmp_path}")
    yield opened
    opened.close()


@given(
    st.builds(
        Stat,
        st.just("a"),
        st.integers(0, 2**40),
        st.binary(max_size=1024),
        st.none() | st.floats(0, 4e9),
        st.none() | st.floats(0, 4e9),
    )
)
def test_a_footer_says_what_was_put(stat: Stat) -> None:
    footer = footer_of(stat)
    assert len(footer) == FOOTER_BYTES
    assert stat_from("a", footer) == stat


@given(st.integers(0, FOOTER_BYTES - 1), st.integers(1, 255))
def test_a_changed_footer_is_none(position: int, change: int) -> None:
    footer = bytearray(footer_of(Stat("a", 4, b"meta", 1.0, 2.0)))
    footer[position] ^= change
    assert stat_from("a", bytes(footer)) is None


def test_the_data_stands_first(backend: FsspecBackend, tmp_path: Path) -> None:
    backend.put("runs/one/two", b"to be found by grep", meta=b"meta")
    stored = (tmp_path / "runs=" / "one=" / "two").read_bytes()
    assert stored.startswith(b"to be found by grep")
    assert len(stored) == len(b"to be found by grep") + FOOTER_BYTES


@given(st.lists(keys, unique=True, max_size=30))
def test_no_two_keys_share_a_path(names: list[str]) -> None:
    paths = {path_of("/root", key) for key in names}
    assert len(paths) == len(names)
    assert not any(other.startswith(path + "/") for path in paths for other in paths)


@given(st.lists(keys, unique=True, max_size=30), keys | st.just(""), st.integers(0, 40))
def test_a_walk_is_in_order_from_any_point(names: list[str], after: str, cut: int) -> None:
    tree: dict[str, dict[str, dict[str, object]]] = {}
    for key in names:
        path = path_of("/root", key)
        tree.setdefault(path.rpartition("/")[0], {})[path] = {"name": path, "type": "file", "size": len(key)}
        while (folder := path.rpartition("/")[0]) != "/root":
            above = tree.setdefault(folder.rpartition("/")[0], {})
            above[folder] = {"name": folder, "type": "directory", "size": 0}
            path = folder
    prefix = min(names, default="")[:cut]
    found = walk(lambda folder: list(tree.get(folder, {}).values()), "/root", prefix=prefix, after=after)
    expected = sorted(key for key in names if key > after and key.startswith(prefix))
    assert list(found) == [(key, len(key)) for key in expected]


@pytest.mark.parametrize("kept", [0, 1, 500, 999, 1000, 1001, 1000 + FOOTER_BYTES - 1])
def test_an_object_that_was_cut_off_is_missing(
    backend: FsspecBackend, tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: int
) -> None:
    backend.put("a", bytes(1000), meta=b"meta")
    path = tmp_path / "a"
    path.write_bytes(path.read_bytes()[:kept])
    with caplog.at_level(logging.WARNING), pytest.raises(NotFound, match="cut off"):
        backend.read("a")
    with pytest.raises(NotFound, match="cut off"):
        backend.stat("a")
    with pytest.raises(NotFound):
        backend.read("a", 990, 100)
    assert "cut off" in caplog.text


def test_bytes_before_a_cut_are_right_or_missing(backend: FsspecBackend, tmp_path: Path) -> None:
    data = bytes(range(250)) * 40
    backend.put("a", data)
    path = tmp_path / "a"
    path.write_bytes(path.read_bytes()[:6000])
    for start in range(0, 7000, 250):
        try:
            found = backend.read("a", start, 500)
        except NotFound:
            continue
        assert found == data[start : start + 500]


def test_data_that_looks_like_a_footer_is_data(backend: FsspecBackend) -> None:
    data = footer_of(Stat("b", 10, b"meta", None, None))
    backend.put("a", data)
    assert backend.read("a") == data
    assert [backend.read("a", start, 100) for start in (0, 1000)] == [data[:100], data[1000:]]


def test_files_of_others_are_not_listed(backend: FsspecBackend, tmp_path: Path) -> None:
    backend.put("m/n", b"data")
    for name in ("UPPER", "with space", ".hidden", "x" * (MAX_KEY_CHARACTERS + 1), "short"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_bytes(bytes(2000))
    assert [item.key for item in backend.list("").items] == ["m/n"]


def test_a_deleted_session_leaves_no_folder(backend: FsspecBackend, tmp_path: Path) -> None:
    backend.put("default/run-42/a", b"data")
    backend.put("default/run-43/a", b"data")
    backend.delete(["default/run-42/a"])
    assert [path.name for path in (tmp_path / "default=").iterdir()] == ["run-43="]


def test_what_a_crash_left_behind_is_swept_a_day_later(backend: FsspecBackend, tmp_path: Path) -> None:
    backend.put("a/b", b"data")
    now = int(time.time())
    old, new = (tmp_path / "a=" / f".offloadkit-tmp-{begun}-0f" for begun in (now - 90_000, now - 100))
    for path in (old, new):
        path.write_bytes(b"half")
    assert backend.sweep(float(now)) == 0
    assert sorted(path.name for path in (tmp_path / "a=").iterdir()) == [new.name, "b"]
    assert [item.key for item in backend.list("").items] == ["a/b"]
