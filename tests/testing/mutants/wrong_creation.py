"""Keys that are taken twice, and objects that are seen half made."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from testing.mutants.mutant import Mutant, let_others_in
from testing.reference import Record

from offloadkit.backend import AlreadyExists, Stat


class Overwrites(Mutant):
    caught_by = ("test_a_taken_key_is_refused", "test_one_of_many_threads_creates_a_key")

    def _create(self, record: Record) -> None:
        self._replace(record)


class RaisesFileExistsError(Mutant):
    caught_by = ("test_a_taken_key_is_refused",)

    def _create(self, record: Record) -> None:
        try:
            super()._create(record)
        except AlreadyExists as error:
            raise FileExistsError(record.key) from error


class TakesTheSameObjectTwice(Mutant):
    caught_by = ("test_the_same_object_again_is_refused",)

    def _create(self, record: Record) -> None:
        if not self._path(record.key).exists() or self._load(record.key).data != record.data:
            super()._create(record)


class TakesEmptyForFree(Mutant):
    caught_by = ("test_an_empty_object_takes_its_key",)

    def _create(self, record: Record) -> None:
        if self._path(record.key).exists() and not self._load(record.key).data:
            self._remove(record.key)
        super()._create(record)


class OverwritesDataThenRefuses(Mutant):
    caught_by = ("test_a_refused_put_leaves_the_data",)

    def _create(self, record: Record) -> None:
        if self._path(record.key).exists():
            self._replace(replace(self._load(record.key), data=record.data))
        super()._create(record)


class OverwritesMetadataThenRefuses(Mutant):
    caught_by = ("test_a_refused_put_leaves_the_metadata",)

    def _create(self, record: Record) -> None:
        if self._path(record.key).exists():
            self._replace(replace(self._load(record.key), meta=record.meta))
        super()._create(record)


class MovesTheExpiryThenRefuses(Mutant):
    caught_by = ("test_a_refused_put_leaves_the_expiry",)

    def _create(self, record: Record) -> None:
        if self._path(record.key).exists():
            self._replace(replace(self._load(record.key), expires_at=record.expires_at))
        super()._create(record)


class LooksAndThenCreates(Mutant):
    caught_by = ("test_one_of_many_threads_creates_a_key", "test_one_of_two_instances_creates_a_key")

    def _create(self, record: Record) -> None:
        if self._path(record.key).exists():
            raise AlreadyExists("the key is taken", key=record.key)
        let_others_in()
        self._replace(record)


class LocksEachInstance(Mutant):
    """One lock an instance keeps its own threads apart, not those of another instance."""

    caught_by = ("test_one_of_two_instances_creates_a_key",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._lock = threading.Lock()

    def _create(self, record: Record) -> None:
        with self._lock:
            if self._path(record.key).exists():
                raise AlreadyExists("the key is taken", key=record.key)
            let_others_in()
            self._replace(record)


class LetsTheLoserOverwrite(Mutant):
    """The payload is moved into place before it is known who won."""

    caught_by = ("test_one_of_many_threads_creates_a_key", "test_a_refused_put_leaves_the_data")

    def _create(self, record: Record) -> None:
        try:
            super()._create(record)
        except AlreadyExists:
            self._replace(record)
            raise


class SharesATemporaryName(Mutant):
    """One temporary name a key: two writers take each other's file."""

    caught_by = ("test_one_of_many_threads_creates_a_key", "test_one_of_two_instances_creates_a_key")

    def _write_temporary(self, record: Record) -> Path:
        temporary = self._path(record.key).with_suffix(".temporary")
        temporary.write_bytes(record.to_bytes())
        let_others_in()
        return temporary


class WritesInPlace(Mutant):
    caught_by = ("test_an_object_appears_whole",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, data=record.data[: len(record.data) // 2]))
        let_others_in(0.02)
        self._replace(record)


class DescribesAfterwards(Mutant):
    caught_by = ("test_an_object_appears_whole",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, meta=b""))
        let_others_in(0.02)
        self._replace(record)


class ExpiresAfterwards(Mutant):
    """As SET followed by EXPIRE."""

    caught_by = ("test_an_object_appears_whole",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, expires_at=None))
        let_others_in(0.02)
        self._replace(record)


class DescribesBeforeItIsThere(Mutant):
    """Metadata lives in a table that is written first."""

    caught_by = ("test_an_object_appears_whole",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._coming: dict[str, Record] = {}

    def _create(self, record: Record) -> None:
        self._coming[record.key] = record
        let_others_in(0.02)
        super()._create(record)

    def stat(self, key: str) -> Stat:
        return self._coming[key].stat() if key in self._coming else super().stat(key)


class ListsBeforeItIsThere(Mutant):
    """The index is written first."""

    caught_by = ("test_an_object_appears_whole",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._index: dict[str, Record] = {}

    def _create(self, record: Record) -> None:
        self._index[record.key] = record
        let_others_in(0.02)
        super()._create(record)

    def _records(self) -> Iterable[Record]:
        return [*self._index.values()]


class DeletesInTwoSteps(Mutant):
    caught_by = ("test_an_object_disappears_whole",)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            if self._path(key).exists():
                self._replace(replace(self._load(key), data=b""))
                let_others_in(0.02)
            super().delete([key])
