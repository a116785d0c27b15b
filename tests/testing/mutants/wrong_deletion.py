"""Deletions that take too much, too little, or fail for nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from testing.mutants.mutant import Mutant
from testing.reference import Record

from offloadkit.backend import AlreadyExists, NotFound


class DeletesNothing(Mutant):
    caught_by = ("test_a_deleted_object_cannot_be_read", "test_a_deleted_object_cannot_be_described")

    def delete(self, keys: Iterable[str]) -> None:
        self._check_open()


class DeletesAFolder(Mutant):
    caught_by = ("test_only_the_key_itself_is_deleted",)

    def _remove(self, key: str) -> None:
        for record in self._matching(key):
            super()._remove(record.key)


class DeletesAsSqlMatches(Mutant):
    caught_by = ("test_only_the_key_itself_is_deleted",)

    def _remove(self, key: str) -> None:
        for record in self._records():
            if len(key) == len(record.key) and all(
                a in ("_", b) for a, b in zip(key, record.key, strict=True)
            ):
                super()._remove(record.key)


class MissesTheMissing(Mutant):
    caught_by = ("test_a_missing_key_is_no_error",)

    def _remove(self, key: str) -> None:
        self._load(key)
        super()._remove(key)


class StopsAtTheFirstMissing(Mutant):
    caught_by = ("test_missing_keys_do_not_save_the_others",)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            if not self._path(key).exists():
                return
            super().delete([key])


class DeletesOnlyTheFirst(Mutant):
    caught_by = ("test_the_keys_may_come_from_a_generator", "test_more_than_two_thousand_keys_are_deleted")

    def delete(self, keys: Iterable[str]) -> None:
        super().delete(islice(keys, 1))


class TakesNothingForEverything(Mutant):
    caught_by = ("test_deleting_nothing_deletes_nothing",)

    def delete(self, keys: Iterable[str]) -> None:
        super().delete(list(keys) or [record.key for record in self._records()])


class FailsOnNothing(Mutant):
    caught_by = ("test_deleting_nothing_deletes_nothing",)

    def delete(self, keys: Iterable[str]) -> None:
        named = list(keys)
        if not named:
            raise NotFound("nothing to delete")
        super().delete(named)


class GoesThroughTheKeysTwice(Mutant):
    caught_by = ("test_the_keys_may_come_from_a_generator",)

    def delete(self, keys: Iterable[str]) -> None:
        if any(keys):
            super().delete(keys)


class CountsTheKeys(Mutant):
    caught_by = ("test_the_keys_may_come_from_a_generator",)

    def delete(self, keys: Any) -> None:
        if len(keys):
            super().delete(keys)


class DeletesAThousandAtMost(Mutant):
    caught_by = ("test_more_than_two_thousand_keys_are_deleted",)

    def delete(self, keys: Iterable[str]) -> None:
        super().delete(islice(keys, 1000))


class LeavesOneBetweenBatches(Mutant):
    caught_by = ("test_more_than_two_thousand_keys_are_deleted",)

    def delete(self, keys: Iterable[str]) -> None:
        super().delete(key for number, key in enumerate(keys, 1) if number % 1001)


class NeverFreesAKey(Mutant):
    caught_by = ("test_a_deleted_key_is_free_again",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._dead: set[str] = set()

    def _remove(self, key: str) -> None:
        super()._remove(key)
        self._dead.add(key)

    def _create(self, record: Record) -> None:
        if record.key in self._dead:
            raise AlreadyExists("the key was used", key=record.key)
        super()._create(record)


class LeavesChunksBehind(Mutant):
    """The second object under a key gets the last chunk of the first one."""

    caught_by = ("test_a_deleted_key_is_free_again",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._left: dict[str, bytes] = {}

    def _remove(self, key: str) -> None:
        if self._path(key).exists():
            self._left[key] = self._load(key).data[256 * 1024 :]
        super()._remove(key)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, data=record.data + self._left.get(record.key, b"")))
