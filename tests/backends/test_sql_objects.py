"""What is stored in a SQL database comes back as it was, and goes without leaving a rest."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sql_stores import SHARED_STORES, STORES, opened, run_sql, store_url

from offloadkit.backend import Corrupt, NotFound, Stat
from offloadkit_sql.backend import SQLBackend
from offloadkit_sql.chunks import CHUNK_BYTES, WINDOW_BYTES

EVERY_BYTE = bytes(range(256))
on_one_store = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@pytest.fixture(params=STORES)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SQLBackend]:
    with store_url(request.param, tmp_path) as url:
        backend = opened(url)
        yield backend
        backend.close()


@pytest.fixture(params=SHARED_STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with store_url(request.param, tmp_path) as url:
        yield url


def random_bytes(size: int) -> bytes:
    return random.Random(size).randbytes(size)


class TestBytes:
    def test_every_byte_value_in_every_place_of_data_and_metadata(self, backend: SQLBackend) -> None:
        backend.put("k", EVERY_BYTE * 1025, meta=EVERY_BYTE * 4)

        assert backend.read("k") == EVERY_BYTE * 1025
        assert backend.stat("k").meta == EVERY_BYTE * 4

    @pytest.mark.parametrize("case", ["SQL-01", "SQL-03", "PLAT-03"])
    def test_texts_that_other_stores_refused_or_changed(
        self, backend: SQLBackend, cases: dict[str, dict[str, Any]], case: str
    ) -> None:
        values = [v if isinstance(v, bytes) else v.encode() for v in cases[case]["input"]["values"]]
        for number, value in enumerate(values):
            backend.put(f"case/{number}", value)

        assert [backend.read(f"case/{number}") for number in range(len(values))] == values

    def test_an_object_larger_than_one_statement_returns(self, backend: SQLBackend) -> None:
        data = random_bytes(WINDOW_BYTES + CHUNK_BYTES + 7)
        backend.put("k", data)

        assert backend.read("k") == data
        assert backend.read("k", 5) == data[5:]
        assert backend.read("k", WINDOW_BYTES - 3, 6) == data[WINDOW_BYTES - 3 : WINDOW_BYTES + 3]

    @on_one_store
    @given(data=st.data())
    def test_a_range_is_a_slice(self, backend: SQLBackend, data: st.DataObject) -> None:
        size = 3 * CHUNK_BYTES + 11
        edges = st.sampled_from([0, CHUNK_BYTES, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES, size])
        near_edges = st.builds(lambda edge, step: max(edge + step, 0), edges, st.integers(-3, 3))
        start = data.draw(st.one_of(near_edges, st.integers(0, size + 10)))
        length = data.draw(st.one_of(st.none(), near_edges, st.integers(0, size + 10)))
        whole = random_bytes(size)
        if not backend.list().items:
            backend.put("k", whole)

        assert backend.read("k", start, length) == whole[start : None if length is None else start + length]


class TestKeys:
    def test_wildcards_of_like_stand_for_themselves(self, backend: SQLBackend) -> None:
        for key in ("a_b/1", "axb/1", "a-b/1"):
            backend.put(key, b"")

        assert [item.key for item in backend.list("a_b/").items] == ["a_b/1"]

    @pytest.mark.parametrize("prefix", ["A", "a%", "%", "*", "[a]", "a\\", "é", "a b", "\x00", "'", "~"])
    def test_a_prefix_that_no_key_has_lists_nothing(self, backend: SQLBackend, prefix: str) -> None:
        backend.put("a", b"")

        assert backend.list(prefix).items == ()

    def test_the_order_is_that_of_bytes(self, backend: SQLBackend) -> None:
        keys = ["-", "0", "_", "a", "a-", "a-a", "a.a", "a/a", "a0", "a_", "aa", "b"]
        for key in keys:
            backend.put(key, b"")

        assert [item.key for item in backend.list().items] == sorted(keys)

    def test_a_key_of_full_length(self, backend: SQLBackend) -> None:
        key = "k" * 200
        backend.put(key, b"data")

        assert backend.list(key).items == (backend.stat(key),)

    def test_a_prefix_ends_before_its_neighbours(self, backend: SQLBackend) -> None:
        for key in ("s/a", "s0/a", "s-/a", "sz/a", "s"):
            backend.put(key, b"")

        assert [item.key for item in backend.list("s/").items] == ["s/a"]
        assert [item.key for item in backend.list("sz").items] == ["sz/a"]


class TestTimes:
    @on_one_store
    @given(expires_at=st.floats(min_value=0, max_value=1e11, allow_subnormal=False))
    def test_an_expiry_comes_back_to_the_last_bit(self, backend: SQLBackend, expires_at: float) -> None:
        backend.delete(["put", "set"])
        backend.put("put", b"", expires_at=expires_at)
        backend.put("set", b"")
        backend.set_expiry("set", expires_at)

        assert (backend.stat("put").expires_at, backend.stat("set").expires_at) == (expires_at, expires_at)

    def test_the_time_of_creation_is_that_of_the_put(self, backend: SQLBackend) -> None:
        before = time.time()
        backend.put("k", b"data")
        created_at = backend.stat("k").created_at

        assert created_at is not None
        assert before <= created_at <= time.time()

    def test_a_listing_tells_what_stat_tells(self, backend: SQLBackend) -> None:
        backend.put("k", random_bytes(CHUNK_BYTES + 1), meta=b"meta", expires_at=4e9 + 0.1)

        assert backend.list().items == (backend.stat("k"),)
        assert backend.stat("k") == Stat(
            "k", CHUNK_BYTES + 1, b"meta", 4e9 + 0.1, backend.stat("k").created_at
        )

    def test_an_expiry_that_does_not_change_is_still_found(self, backend: SQLBackend) -> None:
        backend.put("k", b"", expires_at=5.0)

        backend.set_expiry("k", 5.0)

        assert backend.stat("k").expires_at == 5.0


class TestRemoval:
    def test_deleted_objects_leave_no_rows(self, backend: SQLBackend) -> None:
        backend.put("a", random_bytes(1_000_000))
        backend.delete(["a"])

        assert run_sql(backend, "SELECT count(*) FROM {table}") == [(0,)]

    def test_a_key_is_free_again_without_a_trace_of_the_larger_object(self, backend: SQLBackend) -> None:
        backend.put("a", random_bytes(1_000_000))
        backend.delete(["a"])
        backend.put("a", b"small")

        assert backend.read("a") == b"small"

    def test_more_keys_than_one_statement_deletes(self, backend: SQLBackend) -> None:
        keys = [f"k/{number}" for number in range(250)]
        for key in keys[::10]:
            backend.put(key, b"")

        backend.delete(iter([*keys, *keys]))

        assert backend.list().items == ()

    def test_a_sweep_takes_all_rows_of_an_object(self, backend: SQLBackend) -> None:
        backend.put("a", random_bytes(1_000_000), expires_at=5.0)

        assert backend.sweep(6.0) == 1
        assert run_sql(backend, "SELECT count(*) FROM {table}") == [(0,)]

    def test_a_sweep_goes_on_over_several_transactions(self, backend: SQLBackend) -> None:
        for number in range(130):
            backend.put(f"k/{number}", b"", expires_at=5.0)

        assert backend.sweep(6.0, limit=120) == 120
        assert backend.sweep(6.0) == 10

    def test_what_expires_now_is_not_yet_swept(self, backend: SQLBackend) -> None:
        backend.put("k", b"", expires_at=5.0)

        assert backend.sweep(5.0) == 0

    def test_sweepers_at_the_same_time_count_each_object_once(self, url: str) -> None:
        backends = [opened(url) for _ in range(4)]
        for number in range(300):
            backends[0].put(f"k/{number}", b"", expires_at=5.0)

        with ThreadPoolExecutor(4) as pool:
            counts = list(pool.map(lambda backend: backend.sweep(6.0, limit=300), backends))

        left = backends[0].sweep(6.0)
        for backend in backends:
            backend.close()
        assert sum(counts) + left == 300


class TestDamage:
    @pytest.fixture
    def torn(self, backend: SQLBackend) -> SQLBackend:
        backend.put("k", random_bytes(3 * CHUNK_BYTES + 5))
        run_sql(backend, "DELETE FROM {table} WHERE chunk_number = 1")
        return backend

    @pytest.mark.parametrize(
        ("start", "length"), [(0, None), (0, 3 * CHUNK_BYTES), (CHUNK_BYTES, 1), (CHUNK_BYTES - 1, 2)]
    )
    def test_a_missing_row_is_no_short_answer(self, torn: SQLBackend, start: int, length: int | None) -> None:
        with pytest.raises(Corrupt):
            torn.read("k", start, length)

    def test_the_other_rows_can_still_be_read(self, torn: SQLBackend) -> None:
        data = random_bytes(3 * CHUNK_BYTES + 5)

        assert torn.read("k", 2 * CHUNK_BYTES, 100) == data[2 * CHUNK_BYTES : 2 * CHUNK_BYTES + 100]

    def test_a_missing_first_row_is_a_missing_object(self, torn: SQLBackend) -> None:
        run_sql(torn, "DELETE FROM {table} WHERE chunk_number = 0")

        with pytest.raises(NotFound):
            torn.stat("k")


def test_many_threads_put_read_and_delete_in_any_order(backend: SQLBackend) -> None:
    def live(thread: int) -> list[bytes]:
        shuffled = random.Random(thread).sample(range(10), 10)
        for number in shuffled:
            backend.put(f"{thread}/{number}", b"%d %d" % (thread, number))
        found = [backend.read(f"{thread}/{number}") for number in range(10)]
        backend.delete([f"{thread}/{number}" for number in shuffled[:9]])
        return found

    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(live, range(32)))

    assert found == [[b"%d %d" % (thread, number) for number in range(10)] for thread in range(32)]
    assert len(backend.list().items) == 32
