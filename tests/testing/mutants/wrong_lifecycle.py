"""Instances that do not close, or that tell what they should keep."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from testing.mutants.mutant import Mutant
from testing.reference import Record

from offloadkit.backend import AlreadyExists, BackendError, NotFound, TooLarge


class ClosesOnce(Mutant):
    caught_by = ("test_closing_twice_is_fine",)

    def close(self) -> None:
        self._check_open()
        super().close()


class _ConnectsWhenUsed(Mutant):
    _connected = False

    def _check_open(self) -> None:
        super()._check_open()
        self._connected = True


class CannotCloseUnused(_ConnectsWhenUsed):
    caught_by = ("test_an_unused_instance_can_be_closed",)

    def close(self) -> None:
        if not self._connected:
            raise AttributeError("'NoneType' object has no attribute 'close'")
        super().close()


class WorksAfterClosing(Mutant):
    caught_by = ("test_a_closed_instance_refuses_every_call",)

    def _check_open(self) -> None:
        pass


class ReadsAfterClosing(Mutant):
    caught_by = ("test_a_closed_instance_refuses_every_call",)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        data = self._load(key).data
        return data[start:] if length is None else data[start : start + length]


class DeletesAfterClosing(Mutant):
    caught_by = ("test_a_closed_instance_refuses_every_call",)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._remove(key)


class FindsNothingAfterClosing(Mutant):
    caught_by = ("test_a_closed_instance_refuses_every_call",)

    def _check_open(self) -> None:
        if self._closed:
            raise NotFound("no such object")


class RaisesForeignErrorsAfterClosing(Mutant):
    caught_by = ("test_a_closed_instance_refuses_every_call",)

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("I/O operation on closed file")


class ConnectsAfterClosing(_ConnectsWhenUsed):
    """Closing drops the connection, and the next call makes one."""

    caught_by = ("test_an_instance_closed_unused_refuses_every_call",)

    def close(self) -> None:
        if self._connected:
            super().close()


class ShowsItsPassword(Mutant):
    caught_by = ("test_its_texts_hold_no_secret",)

    def __repr__(self) -> str:
        return f"ShowsItsPassword(folder={self._folder!r}, password={self._secret!r})"


class ShowsItsPasswordOnceUsed(_ConnectsWhenUsed):
    caught_by = ("test_its_texts_hold_no_secret",)

    def __str__(self) -> str:
        return f"connected to store:{self._secret}@host" if self._connected else "not connected"


class LogsItsServer(Mutant):
    caught_by = ("test_its_log_holds_no_secret",)

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        logging.getLogger(__name__).info("connected to store:%s@host", self._secret)
        super().put(key, data, meta=meta, expires_at=expires_at)


class LogsItsServerInAWarning(Mutant):
    caught_by = ("test_its_log_holds_no_secret",)

    def _load(self, key: str) -> Record:
        if not self._path(key).exists():
            logging.getLogger(__name__).warning("no %s at store:%s@host", key, self._secret)
        return super()._load(key)


class PicklesItsPassword(Mutant):
    caught_by = ("test_a_pickle_of_it_is_refused_or_holds_no_secret",)

    def __reduce__(self) -> tuple[type[Path], tuple[str]]:  # type: ignore[override]
        return Path, (self._secret,)


class QuotesTheObject(Mutant):
    caught_by = ("test_errors_hold_neither_content_nor_secrets",)

    def _create(self, record: Record) -> None:
        try:
            super()._create(record)
        except AlreadyExists as error:
            raise AlreadyExists(
                f"cannot write {record.data!r}: {record.key} is taken", key=record.key
            ) from error


class ChainsAnErrorThatQuotesTheObject(Mutant):
    """As SQLAlchemy does, unless it is told to hide parameters."""

    caught_by = ("test_errors_hold_neither_content_nor_secrets",)

    def _create(self, record: Record) -> None:
        try:
            super()._create(record)
        except AlreadyExists:
            driver_error = RuntimeError(f"UNIQUE constraint failed, parameters: {record.meta!r}")
            raise AlreadyExists("the key is taken", key=record.key) from driver_error


class QuotesWhatIsTooLarge(Mutant):
    caught_by = ("test_errors_hold_neither_content_nor_secrets",)

    def _check_size(self, key: str, data: bytes, meta: bytes) -> None:
        if len(data) > 2 * 2**20:
            raise TooLarge(f"too large: {data[:100]!r}…", key=key)


class NamesItsServerInFull(Mutant):
    caught_by = ("test_errors_hold_neither_content_nor_secrets",)

    def _load(self, key: str) -> Record:
        try:
            return super()._load(key)
        except NotFound as error:
            raise NotFound(f"no {key} at store:{self._secret}@host", key=key) from error


class NamesItsServerWhenClosed(Mutant):
    caught_by = ("test_errors_hold_neither_content_nor_secrets",)

    def _check_open(self) -> None:
        if self._closed:
            raise BackendError(f"store:{self._secret}@host is closed")
