"""Instances that disturb their own threads, each other, their children or their parent."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from testing.mutants.mutant import Mutant, let_others_in
from testing.reference import Record

from offloadkit.backend import BackendError, Page, Stat


class KeepsItsArgumentsInItself(Mutant):
    caught_by = ("test_many_threads_work_at_once", "test_two_event_loops_use_it_at_once")
    _record: Record

    def _create(self, record: Record) -> None:
        self._record = record
        let_others_in(0.001)
        super()._create(self._record)


class KeepsOnePosition(Mutant):
    """One file handle for all threads: seek, then read."""

    caught_by = ("test_many_threads_read_one_object",)
    _position = 0

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        self._position = start
        let_others_in(0.001)
        return super().read(key, self._position, length)


class BelongsToItsFirstThread(Mutant):
    """As a connection of SQLite does."""

    caught_by = ("test_two_event_loops_use_it_one_after_the_other", "test_two_event_loops_use_it_at_once")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._owner = threading.get_ident()

    def _check_open(self) -> None:
        super()._check_open()
        if threading.get_ident() != self._owner:
            raise BackendError("made in another thread")


class RemovesAllWhenClosed(Mutant):
    caught_by = ("test_objects_outlive_the_instance",)

    def close(self) -> None:
        if not self._closed:
            self.delete([record.key for record in self._records()])
        super().close()


class WritesOnlyDataWhenClosed(Mutant):
    """Metadata is kept in memory."""

    caught_by = ("test_objects_outlive_the_instance", "test_another_instance_sees_what_is_created")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._metadata: dict[str, bytes] = {}

    def _create(self, record: Record) -> None:
        super()._create(replace(record, meta=b""))
        self._metadata[record.key] = record.meta

    def stat(self, key: str) -> Stat:
        return replace(super().stat(key), meta=self._metadata.get(key, b""))


class RemembersListings(Mutant):
    caught_by = ("test_another_instance_sees_what_is_created", "test_another_instance_sees_what_is_deleted")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._listings: dict[str, Page] = {}

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        if prefix not in self._listings:
            self._listings[prefix] = super().list(prefix)
        return self._listings[prefix]

    def _create(self, record: Record) -> None:
        super()._create(record)
        self._listings.clear()


class RemembersWhatIsMissing(Mutant):
    caught_by = ("test_another_instance_sees_what_is_created",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._missing: set[str] = set()

    def _load(self, key: str) -> Record:
        if not self._path(key).exists():
            self._missing.add(key)
        return super()._load(key if key not in self._missing else "missing")


class RemembersWhatIsThere(Mutant):
    caught_by = ("test_another_instance_sees_what_is_deleted",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._seen: dict[str, Record] = {}

    def _load(self, key: str) -> Record:
        if key not in self._seen:
            self._seen[key] = super()._load(key)
        return self._seen[key]


class SetsItsLocationUpTwice(Mutant):
    """Looks whether its table is there, and then makes it."""

    caught_by = ("test_many_instances_use_a_new_location_at_once",)

    def _create(self, record: Record) -> None:
        table = self._folder / ".table"
        if not table.exists():
            let_others_in()
            try:
                table.mkdir()
            except FileExistsError as error:
                raise BackendError("table objects already exists") from error
        super()._create(record)


class ClosesAllInstances(Mutant):
    """As a connection pool of the class."""

    caught_by = ("test_closing_one_instance_leaves_the_other",)

    def close(self) -> None:
        super().close()
        (self._folder / ".closed").touch()

    def _check_open(self) -> None:
        self._closed = self._closed or (self._folder / ".closed").exists()
        super()._check_open()


class _KnowsItsProcess(Mutant):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._process = os.getpid()

    def _is_child(self) -> bool:
        return os.getpid() != self._process


class HangsInAChild(_KnowsItsProcess):
    caught_by = ("test_a_forked_child_may_work_or_is_refused",)

    def _check_open(self) -> None:
        if self._is_child():
            threading.Event().wait(60)
        super()._check_open()


class RefusesAChildWithoutSaying(_KnowsItsProcess):
    caught_by = ("test_a_forked_child_may_work_or_is_refused",)

    def _check_open(self) -> None:
        if self._is_child():
            raise BackendError("made in another process")
        super()._check_open()


class WorksInAChildThatIsRefused(Mutant):
    caught_by = ("test_a_forked_child_may_work_or_is_refused",)
    caps = replace(Mutant.caps, fork="refused")


class TellsARefusedChildThatAllIsGone(_KnowsItsProcess):
    caught_by = ("test_a_forked_child_may_work_or_is_refused",)
    caps = replace(Mutant.caps, fork="refused")

    def _check_open(self) -> None:
        if self._is_child():
            raise BackendError("made in another process")
        super()._check_open()

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        return self._load(key + ".child" if self._is_child() else key).data


class DiesInAChild(_KnowsItsProcess):
    caught_by = ("test_a_forked_child_may_work_or_is_refused",)

    def _check_open(self) -> None:
        if self._is_child():
            os._exit(1)
        super()._check_open()


class ClosesItsParent(ClosesAllInstances):
    """The child says goodbye on the connection of its parent."""

    caught_by = ("test_a_forked_child_leaves_its_parent_alone",)


class IsForkedWithItsLockHeld(Mutant):
    caught_by = ("test_a_child_forked_beside_busy_threads_never_hangs",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._lock = threading.Lock()

    def _load(self, key: str) -> Record:
        with self._lock:
            let_others_in()
            return super()._load(key)


class WritesToItsOwnMemoryInAChild(_KnowsItsProcess):
    caught_by = ("test_what_a_forked_child_stores_is_seen_here",)

    def _create(self, record: Record) -> None:
        if not self._is_child():
            super()._create(record)

    def _remove(self, key: str) -> None:
        if not self._is_child():
            super()._remove(key)


class CannotDeleteInThreads(Mutant):
    caught_by = ("test_many_threads_work_at_once",)

    def delete(self, keys: Iterable[str]) -> None:
        if threading.current_thread() is threading.main_thread():
            super().delete(keys)
