"""Expiries that move, and sweeps that take too much or too little."""

from __future__ import annotations

import time
from dataclasses import replace

from testing.mutants.mutant import Mutant
from testing.reference import Record

from offloadkit.backend import NotFound


class LosesTheExpiry(Mutant):
    caught_by = ("test_the_expiry_is_kept_to_a_fraction_of_a_second",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, expires_at=None))


class KeepsWholeSeconds(Mutant):
    caught_by = ("test_the_expiry_is_kept_to_a_fraction_of_a_second",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, expires_at=record.expires_at and int(record.expires_at)))


class EndsIn2038(Mutant):
    caught_by = ("test_the_expiry_is_kept_to_a_fraction_of_a_second",)

    def _create(self, record: Record) -> None:
        super()._create(replace(record, expires_at=record.expires_at and min(record.expires_at, 2.0**31)))


class ExpiresEarly(Mutant):
    """Counts in whole minutes, rounded down."""

    caught_by = (
        "test_an_object_that_will_expire_is_there_until_then",
        "test_a_sweep_leaves_what_has_not_expired",
    )

    def _load(self, key: str) -> Record:
        record = super()._load(key)
        if record.expires_at is not None and record.expires_at - time.time() < 120:
            raise NotFound("expired", key=key)
        return record


class EmptiesExpiredObjects(Mutant):
    caught_by = ("test_an_expired_object_is_whole_or_reclaimed",)

    def _load(self, key: str) -> Record:
        record = super()._load(key)
        expired = record.expires_at is not None and record.expires_at < time.time()
        return replace(record, data=b"") if expired else record


class OnlyExtends(Mutant):
    caught_by = ("test_the_expiry_moves_either_way",)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        before = self._load(key).expires_at
        super().set_expiry(key, max(before, expires_at) if before and expires_at else expires_at)


class MovesOnlyWhatIsThere(Mutant):
    caught_by = ("test_an_expiry_can_be_given_later",)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        if self._load(key).expires_at is not None:
            super().set_expiry(key, expires_at)


class NeverForgetsAnExpiry(Mutant):
    caught_by = ("test_an_expiry_can_be_taken_away",)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        super().set_expiry(key, self._load(key).expires_at if expires_at is None else expires_at)


class WritesAgainWithoutMetadata(Mutant):
    caught_by = ("test_a_moved_expiry_changes_nothing_else",)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        self._replace(replace(self._load(key), expires_at=expires_at, meta=b""))


class MovesTheTimeOfCreation(Mutant):
    caught_by = ("test_a_moved_expiry_changes_nothing_else",)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        self._replace(replace(self._load(key), expires_at=expires_at, created_at=time.time() + 1))


class MovesTheExpiryOfAFolder(Mutant):
    caught_by = ("test_a_moved_expiry_changes_nothing_else",)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        self._load(key)
        for record in self._matching(key):
            super().set_expiry(record.key, expires_at)


class SweepsNothing(Mutant):
    caught_by = ("test_a_sweep_removes_what_has_expired",)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        return 0


class SweepsWithoutLimit(Mutant):
    caught_by = ("test_a_sweep_removes_at_most_its_limit",)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        return super().sweep(now)


class SweepsOnePage(Mutant):
    """Looks at the first objects only, whether they have expired or not."""

    caught_by = ("test_a_sweep_removes_at_most_its_limit",)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        removed = super().sweep(now, limit=limit)
        return removed if limit > 2 else 0


class NeverStopsSweeping(Mutant):
    caught_by = ("test_a_sweep_removes_what_has_expired",)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        return super().sweep(now, limit=limit) or 1


class SweepsWhatWillExpire(Mutant):
    caught_by = ("test_a_sweep_leaves_what_has_not_expired",)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        return super().sweep(now + 10**10, limit=limit)


class TakesNeverForLongAgo(Mutant):
    caught_by = ("test_a_sweep_leaves_what_has_not_expired", "test_a_sweep_goes_by_the_moved_expiry")

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        over = [record for record in self._records() if (record.expires_at or 0) < now][:limit]
        self.delete(record.key for record in over)
        return len(over)


class SweepsByTheFirstExpiry(Mutant):
    """Keeps an index of expiries, and does not move it."""

    caught_by = ("test_a_sweep_goes_by_the_moved_expiry",)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        return (
            0
            if any(record.key.endswith("saved") for record in self._records())
            else super().sweep(now, limit=limit)
        )
