"""Ranges that are cut in the wrong place."""

from __future__ import annotations

from testing.mutants.mutant import Mutant

from offloadkit.backend import BackendError, NotFound

_CHUNK = 256 * 1024


class ReadsAPageByDefault(Mutant):
    caught_by = ("test_a_whole_object_is_the_default",)

    def read(self, key: str, start: int = 0, length: int | None = 512) -> bytes:
        return super().read(key, start, length)


class IncludesTheEnd(Mutant):
    caught_by = ("test_a_range_inside_the_object", "test_ranges_at_the_edges_of_chunks")

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return super().read(key, start, length + 1 if length else length)


class CountsFromOne(Mutant):
    caught_by = ("test_a_range_inside_the_object",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return super().read(key, max(start - 1, 0), length)


class TakesTheLengthForTheEnd(Mutant):
    caught_by = ("test_a_range_inside_the_object",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return super().read(key, start, length if length is None else max(length - start, 0))


class IgnoresTheStartWithoutLength(Mutant):
    caught_by = ("test_a_range_without_length_goes_to_the_end",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return super().read(key, 0 if length is None else start, length)


class RefusesARangeOverTheEnd(Mutant):
    caught_by = ("test_a_range_over_the_end_is_cut_there",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        data = super().read(key, start, length)
        if length and 0 < len(data) < length:
            raise BackendError("range not satisfiable", key=key)
        return data


class FillsUpARangeOverTheEnd(Mutant):
    caught_by = ("test_a_range_over_the_end_is_cut_there",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        data = super().read(key, start, length)
        return data.ljust(min(length or 0, 4096), b"\0") if data else data


class RefusesARangePastTheEnd(Mutant):
    caught_by = ("test_a_range_past_the_end_is_empty",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        if start >= self.stat(key).size > 0:
            raise BackendError("range not satisfiable", key=key)
        return super().read(key, start, length)


class ReturnsAllForARangePastTheEnd(Mutant):
    """As a server that answers an unsatisfiable range with the whole object."""

    caught_by = ("test_a_range_past_the_end_is_empty",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return super().read(
            key, 0 if start >= self.stat(key).size else start, None if length == 1 else length
        )


class ReturnsAllForNoLength(Mutant):
    """As a store that is sent ``bytes=3-2``."""

    caught_by = ("test_a_range_of_no_length_is_empty",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return super().read(key) if length == 0 else super().read(key, start, length)


class TakesNoLengthForNone(Mutant):
    caught_by = ("test_a_range_of_no_length_is_empty",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return super().read(key, start, length or None)


class MissesEmptyObjects(Mutant):
    caught_by = ("test_every_range_of_an_empty_object_is_empty",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        if self.stat(key).size == 0:
            raise NotFound("no object", key=key)
        return super().read(key, start, length)


class StopsAtTheEdgeOfAChunk(Mutant):
    caught_by = ("test_ranges_at_the_edges_of_chunks", "test_ranges_longer_than_a_chunk")

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return super().read(key, start, length)[: _CHUNK - start % _CHUNK]


class SkipsTheMiddleChunk(Mutant):
    caught_by = ("test_ranges_longer_than_a_chunk",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        data = super().read(key, start, length)
        return data if len(data) <= 2 * _CHUNK else data[:_CHUNK] + data[-_CHUNK:]


class FindsNothingInNothing(Mutant):
    caught_by = ("test_any_range_of_a_missing_key_is_not_found",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return b"" if length == 0 else super().read(key, start, length)


class CountsNegativesFromTheEnd(Mutant):
    caught_by = ("test_a_negative_range_is_an_error",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        data = super().read(key)
        return data[start:] if length is None else data[start : start + length]


class RefusesNegativesAsABackendError(Mutant):
    caught_by = ("test_a_negative_range_is_an_error",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        try:
            return super().read(key, start, length)
        except ValueError as error:
            raise BackendError("bad range", key=key) from error
