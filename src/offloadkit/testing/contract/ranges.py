"""A read returns the half-open range that was asked for, clamped to the object."""

from __future__ import annotations

from itertools import product

import pytest

from offloadkit.backend import Backend, NotFound
from offloadkit.testing.contract.setting import Setting
from offloadkit.testing.scratch import CHUNK_BYTES, Scratch, difference, pattern

_FAR = 2**40


def _expected(data: bytes, start: int, length: int | None) -> bytes:
    return data[start:] if length is None else data[start : start + length]


class RangeContract(Setting):
    """Ranges of small objects, of objects over several chunks, of none."""

    def test_a_whole_object_is_the_default(self, backend: Backend, scratch: Scratch) -> None:
        key, data = scratch.key(), pattern(1000)
        backend.put(key, data)
        assert not difference(backend.read(key), data)

    @pytest.mark.parametrize("length", [1, 4, 9, 10])
    def test_a_range_inside_the_object(self, backend: Backend, scratch: Scratch, length: int) -> None:
        key, data = scratch.key(), pattern(10)
        backend.put(key, data)
        for start in range(10 - length + 1):
            assert not difference(backend.read(key, start, length), data[start : start + length]), start

    def test_a_range_without_length_goes_to_the_end(self, backend: Backend, scratch: Scratch) -> None:
        key, data = scratch.key(), pattern(10)
        backend.put(key, data)
        for start in range(11):
            assert not difference(backend.read(key, start), data[start:]), start

    def test_a_range_over_the_end_is_cut_there(self, backend: Backend, scratch: Scratch) -> None:
        key, data = scratch.key(), pattern(10)
        backend.put(key, data)
        for start, length in ((0, 11), (5, 6), (9, 2), (9, 1000), (0, _FAR)):
            assert not difference(backend.read(key, start, length), data[start:]), (start, length)

    def test_a_range_past_the_end_is_empty(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, pattern(10))
        for start, length in product((10, 11, 1000, _FAR), (None, 1, 5, _FAR)):
            assert not difference(backend.read(key, start, length), b""), (start, length)

    def test_a_range_of_no_length_is_empty(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, pattern(10))
        for start in (0, 1, 9, 10, 11, _FAR):
            assert not difference(backend.read(key, start, 0), b""), start

    def test_every_range_of_an_empty_object_is_empty(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"", meta=b"meta")
        for start, length in product((0, 1, _FAR), (None, 0, 1, _FAR)):
            assert not difference(backend.read(key, start, length), b""), (start, length)

    def test_ranges_at_the_edges_of_chunks(self, backend: Backend, scratch: Scratch) -> None:
        size = 2 * CHUNK_BYTES + 10
        self.need_room(backend, size)
        key, data = scratch.key(), pattern(size)
        backend.put(key, data)
        edges = [edge + step for edge in (0, CHUNK_BYTES, 2 * CHUNK_BYTES, size) for step in (-1, 0, 1)]
        for start, length in product((edge for edge in edges if edge >= 0), (1, 2, 4096)):
            assert not difference(backend.read(key, start, length), _expected(data, start, length)), (
                start,
                length,
            )

    def test_ranges_longer_than_a_chunk(self, backend: Backend, scratch: Scratch) -> None:
        size = 3 * CHUNK_BYTES + 10
        self.need_room(backend, size)
        key, data = scratch.key(), pattern(size)
        backend.put(key, data)
        lengths = (CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES + 1, None)
        for start, length in product((0, 1, CHUNK_BYTES - 1, CHUNK_BYTES), lengths):
            assert not difference(backend.read(key, start, length), _expected(data, start, length)), (
                start,
                length,
            )

    @pytest.mark.parametrize(("start", "length"), [(0, 0), (5, 0), (0, 5), (5, None), (_FAR, 1)])
    def test_any_range_of_a_missing_key_is_not_found(
        self, backend: Backend, scratch: Scratch, start: int, length: int | None
    ) -> None:
        with pytest.raises(NotFound):
            backend.read(scratch.key("missing"), start, length)

    @pytest.mark.parametrize(("start", "length"), [(-1, None), (-1, 1), (0, -1), (5, -5), (-10, 0)])
    def test_a_negative_range_is_an_error(
        self, backend: Backend, scratch: Scratch, start: int, length: int | None
    ) -> None:
        key = scratch.key()
        backend.put(key, pattern(10))
        with pytest.raises(ValueError):
            backend.read(key, start, length)
