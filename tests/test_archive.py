"""Stored results: one write each, checked when read, found by their session only, kept as long as asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.archive import REMEMBERED_RESULTS, Archive, StoredMeta
from offloadkit.backend import MAX_META_BYTES
from offloadkit.content import EncodedContent, encode
from offloadkit.errors import Corrupt, NotFound
from offloadkit.placeholder import shown_tool
from offloadkit.registry import open_backend
from offloadkit.results import Content
from offloadkit.retention import delete_objects, objects, sweep
from offloadkit.testing import FlakyBackend


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def backend() -> Iterator[FlakyBackend]:
    opened = open_backend("memory://")
    yield FlakyBackend(opened)
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def archive(backend: FlakyBackend, clock: Clock) -> Archive:
    return Archive(backend, session="s", clock=clock)


def text(value: str) -> EncodedContent:
    encoded = encode(Content(value, (((), value),)))
    assert encoded is not None
    return encoded


LARGE = "".join(f"line {n}\n" for n in range(30_000))


def test_what_was_saved_is_loaded_again(archive: Archive) -> None:
    ref = archive.save(text("abc\r\n\x00"), tokens=3, tool="t")

    assert archive.load(ref) == "abc\r\n\x00"
    assert archive.reference(text("abc\r\n\x00")) == ref


@given(st.text(max_size=200))
def test_the_metadata_fits_whatever_the_tool_is_called(name: str) -> None:
    meta = StoredMeta("x" * 40, 2**60, 2**60, 2**60, "f" * 64, 1e10, 2**60, shown_tool(name), failed=True)

    assert len(meta.to_bytes()) <= MAX_META_BYTES


def test_the_same_content_is_written_once(archive: Archive, backend: FlakyBackend) -> None:
    for _ in range(3):
        archive.save(text("abc"), tokens=1)

    assert backend.calls["put"] == 1


def test_more_results_than_are_remembered_in_full_are_still_written_once(
    archive: Archive, backend: FlakyBackend
) -> None:
    for _ in range(2):
        for number in range(REMEMBERED_RESULTS + 10):
            archive.save(text(f"result {number}"), tokens=1)

    assert backend.calls["put"] == REMEMBERED_RESULTS + 10


def test_an_archive_of_another_process_finds_the_content_in_place(backend: FlakyBackend) -> None:
    ref = Archive(backend, session="s").save(text("abc"), tokens=1)

    assert Archive(backend, session="s").save(text("abc"), tokens=1) == ref
    assert len(list(objects(backend, ""))) == 1


@pytest.mark.parametrize("ref", ["aaaaaaaaaaaaaaaa", "", "../s/x", "x" * 500, "AAAAAAAAAAAAAAAA"])
def test_an_unknown_reference_is_not_found(archive: Archive, ref: str) -> None:
    assert archive.find(ref) is None
    with pytest.raises(NotFound):
        archive.load(ref)


@pytest.mark.parametrize("other", [{"session": "other"}, {"session": "s", "namespace": "other"}])
def test_a_reference_opens_only_in_its_session_and_namespace(
    archive: Archive, backend: FlakyBackend, other: dict[str, Any]
) -> None:
    ref = archive.save(text("abc"), tokens=1)

    assert Archive(backend, **other).find(ref) is None


def test_changed_bytes_are_never_handed_out(archive: Archive, backend: FlakyBackend) -> None:
    ref = archive.save(text("abc"), tokens=1)
    stat = backend.stat(archive.prefix + ref)
    backend.delete([archive.prefix + ref])
    backend.put(archive.prefix + ref, b"abX" + b"\x00" * (stat.size - 3), meta=stat.meta)

    with pytest.raises(Corrupt):
        archive.load(ref)


def test_a_damaged_object_is_written_again_by_the_next_save(archive: Archive, backend: FlakyBackend) -> None:
    ref = archive.save(text("abc"), tokens=1)
    backend.delete([archive.prefix + ref])
    backend.put(archive.prefix + ref, b"", meta=b"nonsense")
    fresh = Archive(backend, session="s")

    assert fresh.save(text("abc"), tokens=1) == ref
    assert fresh.load(ref) == "abc"


def test_a_page_of_a_large_text_costs_one_small_read(archive: Archive, backend: FlakyBackend) -> None:
    stored = archive.open(archive.save(text(LARGE), tokens=1))
    reads = backend.calls["read"]

    page = stored.fetch(100_000, 50)

    assert page == LARGE.encode()[100_000:100_050]
    assert backend.calls["read"] == reads + 1


def test_reading_never_shows_what_lies_behind_the_text(archive: Archive) -> None:
    stored = archive.open(archive.save(text("abc"), tokens=1))

    assert stored.fetch(0, 10_000) == b"abc"
    assert stored.fetch(50, 10) == b""


def test_a_lost_line_index_costs_speed_only(archive: Archive, backend: FlakyBackend) -> None:
    ref = archive.save(text(LARGE), tokens=1)
    key = archive.prefix + ref
    data, meta = backend.read(key), backend.stat(key).meta
    backend.delete([key])
    backend.put(key, data[:-3] + b"xxx", meta=meta)
    fresh = Archive(backend, session="s")

    assert fresh.open(ref).index.lines == 30_000
    assert fresh.load(ref) == LARGE


def test_a_stored_object_is_all_text(archive: Archive, backend: FlakyBackend) -> None:
    key = archive.prefix + archive.save(text(LARGE), tokens=1)

    assert backend.read(key).decode("ascii").startswith(LARGE)


def test_opening_twice_reads_the_index_once(archive: Archive, backend: FlakyBackend) -> None:
    ref = archive.save(text(LARGE), tokens=1)
    archive.open(ref)
    reads = backend.calls["read"]
    archive.open(ref)

    assert backend.calls["read"] == reads


class TestWithATimeToLive:
    @pytest.fixture
    def archive(self, backend: FlakyBackend, clock: Clock) -> Archive:
        return Archive(backend, session="s", ttl=100, clock=clock)

    def test_an_expired_result_is_gone(self, archive: Archive, clock: Clock) -> None:
        ref = archive.save(text("abc"), tokens=1)
        clock.now += 100

        assert archive.find(ref) is None

    def test_saving_again_past_half_of_it_keeps_the_result_longer(
        self, archive: Archive, clock: Clock
    ) -> None:
        ref = archive.save(text("abc"), tokens=1)
        clock.now += 60
        archive.save(text("abc"), tokens=1)
        clock.now += 60

        assert archive.load(ref) == "abc"

    def test_an_expired_result_is_replaced_by_saving_it_again(
        self, archive: Archive, clock: Clock, backend: FlakyBackend
    ) -> None:
        ref = archive.save(text("abc"), tokens=1)
        clock.now += 500

        assert archive.save(text("abc"), tokens=1) == ref
        assert archive.load(ref) == "abc"
        assert backend.stat(archive.prefix + ref).expires_at == clock.now + 100

    def test_a_result_that_never_expires_is_not_shortened(
        self, archive: Archive, backend: FlakyBackend
    ) -> None:
        ref = Archive(backend, session="s").save(text("abc"), tokens=1)

        archive.save(text("abc"), tokens=1)

        assert backend.stat(archive.prefix + ref).expires_at is None

    def test_sweep_deletes_what_has_expired_and_nothing_else(
        self, archive: Archive, backend: FlakyBackend, clock: Clock
    ) -> None:
        archive.save(text("old"), tokens=1)
        clock.now += 99
        kept = archive.save(text("new"), tokens=1)

        deleted = sum(sweep(backend, clock.now + 2))

        assert deleted == 1
        assert [ref for ref, _ in archive.entries()] == [kept]


def test_entries_tell_what_is_stored(archive: Archive, clock: Clock) -> None:
    ref = archive.save(text("a\nb"), tokens=7, tool="search", failed=True)

    (found,) = archive.entries()

    assert found == (ref, archive.find(ref))
    assert (found[1].tokens, found[1].tool, found[1].lines, found[1].failed, found[1].stored_at) == (
        *(7, "search", 2, True),
        clock.now,
    )


def test_objects_yields_every_page(backend: FlakyBackend) -> None:
    keys = {f"a/b/{n:04}" for n in range(2_500)}
    for key in keys:
        backend.put(key, b"")

    assert {stat.key for stat in objects(backend, "a/")} == keys


def test_delete_objects_deletes_one_prefix_and_reports_what_went(backend: FlakyBackend) -> None:
    for key in ("a/s/1", "a/s/2", "a/s1/1", "b/s/1"):
        backend.put(key, b"xy")

    deleted: list[Any] = [(stat.key, stat.size) for stat in delete_objects(backend, "a/s/")]

    assert sorted(deleted) == [("a/s/1", 2), ("a/s/2", 2)]
    assert [stat.key for stat in backend.list().items] == ["a/s1/1", "b/s/1"]


def test_deleting_a_result_makes_the_archive_forget_it(archive: Archive) -> None:
    ref = archive.save(text("abc"), tokens=1)

    archive.delete([ref])

    assert archive.find(ref) is None
    assert archive.save(text("abc"), tokens=1) == ref
    assert archive.load(ref) == "abc"
