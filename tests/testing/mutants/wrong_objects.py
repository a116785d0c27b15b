"""Objects that do not come back as they were stored."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from testing.mutants.mutant import Mutant
from testing.reference import Record

from offloadkit.backend import AlreadyExists, BackendError, NotFound, Stat, Unavailable


class CapsAreNoCaps(Mutant):
    caught_by = ("test_it_is_a_backend",)
    caps: Any = SimpleNamespace(persistent=True, shared=True, max_object_bytes=None, fork="safe")


class StoresOneChunk(Mutant):
    caught_by = ("test_data_of_any_size_comes_back",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, data=record.data[: 256 * 1024]))


class LosesTheLastByteOfFullChunks(Mutant):
    caught_by = ("test_data_of_any_size_comes_back",)

    def _create(self, record: Record) -> None:
        full = len(record.data) > 0 and len(record.data) % (256 * 1024) == 0
        super()._create(replace(record, data=record.data[:-1] if full else record.data))


class ReturnsBytesThatCanBeChanged(Mutant):
    caught_by = ("test_data_of_any_size_comes_back", "test_any_content_comes_back")

    def read(self, key: str, start: int = 0, length: int | None = None) -> Any:
        return bytearray(super().read(key, start, length))


class StoresText(Mutant):
    caught_by = ("test_any_content_comes_back",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, data=record.data.decode(errors="replace").encode()))


class TranslatesLineEnds(Mutant):
    caught_by = ("test_any_content_comes_back",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, data=record.data.replace(b"\r\n", b"\n")))


class EndsAtNul(Mutant):
    caught_by = ("test_any_content_comes_back",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, data=record.data.partition(b"\0")[0]))


class LosesMetadata(Mutant):
    caught_by = ("test_metadata_comes_back",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, meta=b""))


class StripsMetadata(Mutant):
    """As HTTP does with the blanks around a header."""

    caught_by = ("test_metadata_comes_back",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, meta=record.meta.strip()))


class CutsMetadata(Mutant):
    caught_by = ("test_metadata_comes_back",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, meta=record.meta[:1000]))


class CountsMetadataAsSize(Mutant):
    caught_by = ("test_metadata_is_no_part_of_the_data",)

    def stat(self, key: str) -> Stat:
        stat = super().stat(key)
        return replace(stat, size=stat.size + len(stat.meta))


class StatNamesTheFile(Mutant):
    caught_by = ("test_stat_names_key_and_size",)

    def stat(self, key: str) -> Stat:
        return replace(super().stat(key), key=self._path(key).name)


class ExpiresByDefault(Mutant):
    caught_by = ("test_an_object_without_expiry_never_expires",)

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        super().put(key, data, meta=meta, expires_at=expires_at or 4_000_000_000.0)


class TellsMilliseconds(Mutant):
    caught_by = ("test_the_time_of_creation_is_in_seconds_of_utc_or_unknown",)

    def stat(self, key: str) -> Stat:
        stat = super().stat(key)
        return replace(stat, created_at=(stat.created_at or 0) * 1000)


class TellsLocalTime(Mutant):
    caught_by = ("test_the_time_of_creation_is_in_seconds_of_utc_or_unknown",)

    def stat(self, key: str) -> Stat:
        stat = super().stat(key)
        return replace(stat, created_at=(stat.created_at or 0) + 3600)


class MapsTwoKeysToOneFile(Mutant):
    caught_by = ("test_each_key_holds_its_own_object",)

    def _path(self, key: str) -> Any:
        return super()._path(key.replace("/", "_"))


class KeepsMetadataInASideFile(Mutant):
    """The side file of ``a`` has the name of the object ``a.meta``."""

    caught_by = ("test_each_key_holds_its_own_object",)

    def _create(self, record: Record) -> None:
        super()._create(record)
        self._replace(replace(record, key=record.key + ".meta", data=record.meta))


class HasFilesOrFolders(Mutant):
    """``a`` cannot be an object and a folder at once."""

    caught_by = ("test_each_key_holds_its_own_object",)

    def _create(self, record: Record) -> None:
        parents = [record.key[:end] for end, letter in enumerate(record.key) if letter == "/"]
        if any(self._path(parent).exists() for parent in parents):
            raise BackendError("not a folder", key=record.key)
        super()._create(record)


class HasShortNames(Mutant):
    caught_by = ("test_the_longest_key_is_taken",)

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        super().put(key[:128], data, meta=meta, expires_at=expires_at)


class ReadsMissingAsEmpty(Mutant):
    caught_by = ("test_reading_a_missing_key_is_not_found", "test_a_deleted_object_cannot_be_read")

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        try:
            return super().read(key, start, length)
        except NotFound:
            return b""


class DescribesMissingAsEmpty(Mutant):
    caught_by = ("test_describing_a_missing_key_is_not_found", "test_a_deleted_object_cannot_be_described")

    def stat(self, key: str) -> Stat:
        try:
            return super().stat(key)
        except NotFound:
            return Stat(key, 0)


class RaisesKeyErrors(Mutant):
    caught_by = ("test_reading_a_missing_key_is_not_found", "test_describing_a_missing_key_is_not_found")

    def _load(self, key: str) -> Record:
        try:
            return super()._load(key)
        except NotFound as error:
            raise KeyError(key) from error


class ForgetsWhichKeyIsMissing(Mutant):
    caught_by = ("test_reading_a_missing_key_is_not_found", "test_describing_a_missing_key_is_not_found")

    def _load(self, key: str) -> Record:
        try:
            return super()._load(key)
        except NotFound as error:
            raise NotFound("no such object") from error


class TakesAFolderForAnObject(Mutant):
    caught_by = ("test_a_key_is_missing_beside_longer_ones",)

    def stat(self, key: str) -> Stat:
        if any(self._matching(key + "/")):
            return Stat(key, 0)
        return super().stat(key)


class TakesMoreThanItSays(Mutant):
    caught_by = ("test_more_bytes_than_declared_are_too_large",)

    def _check_size(self, key: str, data: bytes, meta: bytes) -> None:
        pass


class StoresAndThenRefuses(Mutant):
    caught_by = ("test_more_bytes_than_declared_are_too_large",)

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        try:
            super().put(key, data, meta=meta, expires_at=expires_at)
        finally:
            if not self._path(key).exists():
                self._replace(Record(key=key, data=data, meta=meta, expires_at=None, created_at=0))


class CountsMetadataAgainstTheLimit(Mutant):
    caught_by = ("test_as_many_bytes_as_declared_are_taken",)

    def _check_size(self, key: str, data: bytes, meta: bytes) -> None:
        super()._check_size(key, data + meta, meta)


class HasARelativePath(Mutant):
    caught_by = ("test_the_local_path_leads_to_the_data",)

    def local_path(self, key: str) -> str | None:
        return self._path(key).name if super().local_path(key) else None


class HasNoPath(Mutant):
    caught_by = ("test_the_local_path_leads_to_the_data",)

    def local_path(self, key: str) -> str | None:
        return None


class HasAPathForEverything(Mutant):
    caught_by = ("test_a_missing_key_has_no_local_path",)

    def local_path(self, key: str) -> str | None:
        return str(self._path(key))


class AnswersOnePing(Mutant):
    caught_by = ("test_a_store_that_answers_can_be_pinged",)
    pinged = False

    def ping(self) -> None:
        if self.pinged:
            raise Unavailable("connection already in use")
        self.pinged = True


class SetsTheExpiryOfNothing(Mutant):
    caught_by = ("test_setting_the_expiry_of_a_missing_key_is_not_found",)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        try:
            super().set_expiry(key, expires_at)
        except NotFound:
            return


class CreatesByMovingTheExpiry(Mutant):
    caught_by = ("test_setting_the_expiry_of_a_missing_key_is_not_found",)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        try:
            self.put(key, b"", expires_at=expires_at)
        except AlreadyExists:
            super().set_expiry(key, expires_at)
