"""The backend: every operation as one statement or one transaction, whatever the database."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, TypeVar

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from offloadkit.backend import Caps, Page, Stat, check_range
from offloadkit.errors import AlreadyExists, BackendError, Corrupt, NotFound, PartialDelete
from offloadkit_sql.chunks import WINDOW_BYTES, rows_of, window
from offloadkit_sql.connections import Connections, driver_error
from offloadkit_sql.dialect import Dialect, Rows
from offloadkit_sql.schema import ensure_table, objects_table
from offloadkit_sql.statements import Statements

__all__ = ["SQLBackend"]

DELETE_BATCH: Final = 100
_SETUP_ATTEMPTS: Final = 8
_UNKNOWN_END: Final = 1 << 60
_PAST_EVERY_KEY: Final = "\x7f"
_KEY_PREFIX: Final = re.compile(r"[a-z0-9._/-]*")

_T = TypeVar("_T")


class SQLBackend:
    """Objects in one table of one database. Safe to use from many threads and after a fork."""

    def __init__(self, dialect: Dialect, *, table: str) -> None:
        """Make a backend, without any I/O.

        Args:
            dialect: The database.
            table: Its table for the objects, made on first use.

        Raises:
            ConfigError: ``table`` is no identifier.
        """
        self._dialect = dialect
        self._table = objects_table(table)
        self._connections = Connections(dialect)
        sqlalchemy_dialect = self._connections.engine.dialect
        self._statements = Statements(table, sqlalchemy_dialect, lock=dialect.lock, slice_=dialect.slice)
        self._errors = (sqlalchemy_dialect.loaded_dbapi.Error, SQLAlchemyError)
        self._ready = False

    @property
    def caps(self) -> Caps:
        """A database in memory is this process's own; every other one is shared and lasting."""
        persistent = self._dialect.persistent
        return Caps(
            persistent=persistent, shared=persistent, ordered=True, fork="safe" if persistent else "refused"
        )

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object in one transaction. Raises `AlreadyExists` when the key is taken."""
        created_at = time.time()
        attempts = 0

        def insert(connection: Any) -> None:
            nonlocal attempts
            attempts += 1
            rows = rows_of(key, data, meta=meta, created_at=created_at, expires_at=expires_at)
            self._dialect.insert(connection, self._statements.insert, rows)

        try:
            self._run(key, insert)
        except AlreadyExists:
            # The connection may have been lost after the commit of the first attempt.
            ours = Stat(key, len(data), meta, expires_at, created_at)
            if attempts == 1 or self.stat(key) != ours:
                raise

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return ``length`` bytes (None: all) from byte ``start``; one statement for each 16 MiB.

        Raises:
            NotFound: No object has this key.
            Corrupt: Rows of the object are missing.
        """
        check_range(start, length)
        if length == 0:
            self._size(key)
            return b""
        end = _UNKNOWN_END if length is None else start + length
        size, part = self._part(key, start, end)
        end = min(end, size)
        if start + len(part) >= end:
            return part
        parts = [part]
        while (start := start + len(parts[-1])) < end:
            parts.append(self._part(key, start, end)[1])
        return b"".join(parts)

    def stat(self, key: str) -> Stat:
        """Describe an object. Raises `NotFound`."""
        rows = self._fetch(key, self._statements.stat, {"key": key})
        if not rows:
            raise _not_found(key)
        return Stat(*rows[0])

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page, ordered by key. The cursor is the last key of the page before."""
        if not _KEY_PREFIX.fullmatch(prefix):
            self._connections.check_open()
            return Page(())
        beyond = prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else _PAST_EVERY_KEY
        parameters = {"after": cursor or "", "prefix": prefix, "beyond": beyond, "limit": limit + 1}
        rows = self._fetch(None, self._statements.list, parameters)
        items = tuple(Stat(*row) for row in rows[:limit])
        return Page(items, items[-1].key if len(rows) > limit else None)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects, 100 per statement; each statement deletes all of its keys or none.

        Raises:
            PartialDelete: A later statement failed. Where the first one does, its own error is raised.
        """
        self._connections.check_open()
        remaining = sorted(set(keys))
        for begin in range(0, len(remaining), DELETE_BATCH):
            batch = remaining[begin : begin + DELETE_BATCH]
            try:
                self._run(batch[0], self._delete, batch)
            except BackendError as error:
                if begin == 0:
                    raise
                failed = dict.fromkeys(remaining[begin:], error)
                raise PartialDelete(
                    f"{len(failed)} of {len(remaining)} keys are still there", failed=failed
                ) from error

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        """Set or (None) remove the expiry. Raises `NotFound`."""
        parameters = {"key": key, "expires_at": expires_at}
        if not self._run(key, self._dialect.execute, self._statements.set_expiry, parameters):
            raise _not_found(key)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        """Delete at most ``limit`` objects that expired before ``now``, 100 per transaction; return how many.

        Several processes may sweep at once: each passes over what another one has locked.
        """
        removed = 0
        while removed < limit:
            wanted = min(DELETE_BATCH, limit - removed)
            found = self._run(None, self._sweep_batch, now, wanted)
            removed += found
            if found < wanted:
                break
        return removed

    def ping(self) -> None:
        """Return when the database answers and has the table. Raises `Unavailable` or `Denied`."""
        self._fetch(None, self._statements.size, {"key": ""})

    def close(self) -> None:
        """Close the connections; twice is fine. One that is in use closes when its call returns."""
        self._connections.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: table {self._table.name} of {self._dialect.place}>"

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would share or lose the connections, and a pickle would hold the password."""
        raise TypeError("a SQL backend is neither copied nor pickled; open its URL again instead")

    def _part(self, key: str, start: int, end: int) -> tuple[int, bytes]:
        """Return the size of an object, and of the bytes wanted as many as one statement returns."""
        if start == 0 and end == _UNKNOWN_END:
            rows, stop = self._fetch(key, self._statements.read_start, {"key": key}), WINDOW_BYTES
        else:
            parameters, stop = window(start, end)
            parameters["key"] = key
            if "last" in parameters:
                rows = self._fetch(key, self._statements.read_chunks, parameters)
            else:
                rows = self._run(key, self._dialect.fetch_slice, self._statements, parameters)
        size = rows[0][0] if rows else self._size(key)
        # SQLite: a part of an empty value is NULL.
        part = rows[0][1] or b"" if len(rows) == 1 else b"".join([row[1] for row in rows])
        if start + len(part) != min(stop, size) and start < size:
            raise Corrupt(f"rows of an object of {size} bytes are missing in {self._dialect.place}", key=key)
        return size, part

    def _size(self, key: str) -> int:
        rows = self._fetch(key, self._statements.size, {"key": key})
        if not rows:
            raise _not_found(key)
        return int(rows[0][0])

    def _delete(self, connection: Any, keys: Sequence[str]) -> None:
        self._dialect.execute(connection, *self._statements.delete(keys))
        self._dialect.reclaim(connection)

    def _sweep_batch(self, connection: Any, now: float, limit: int) -> int:
        self._dialect.execute(connection, self._dialect.begin, {})
        rows = self._dialect.fetch(connection, self._statements.expired, {"now": now, "limit": limit})
        if rows:
            self._dialect.execute(connection, *self._statements.delete([row[0] for row in rows]))
        connection.commit()
        self._dialect.reclaim(connection)
        return len(rows)

    def _fetch(self, key: str | None, statement: str, parameters: dict[str, Any]) -> Rows:
        return self._run(key, self._dialect.fetch, statement, parameters)

    def _run(self, key: str | None, work: Callable[..., _T], *arguments: Any) -> _T:
        """Return ``work(connection, *arguments)``, on a database that has the table."""
        try:
            if not self._ready:
                self._make_ready()
            return self._connections.run(work, *arguments)
        except self._errors as error:
            cause = driver_error(error)
            failure = self._dialect.failure(cause)
            failure.key = key
            raise failure from cause

    def _make_ready(self) -> None:
        with self._connections.setup:
            if self._ready:
                return
            self._connections.run(self._dialect.prepare_database)
            found = self._ensured_table()
            if found:
                raise BackendError(
                    f"the table {self._table.name} of {self._dialect.place} is not one of ours: "
                    f"{'; '.join(found)}. Name another table with the option 'table'"
                )
            self._ready = True

    def _ensured_table(self) -> Sequence[str]:
        """Make and check the table; try again where another process was making it at the same moment."""
        for attempt in range(1, _SETUP_ATTEMPTS + 1):
            try:
                return self._connections.run(ensure_table, self._table, self._dialect.begin, core=True)
            except DBAPIError as error:
                kind = type(self._dialect.failure(driver_error(error)))
                may_be_a_race = kind in {BackendError, AlreadyExists}
                if attempt == _SETUP_ATTEMPTS or not may_be_a_race:
                    raise
        raise AssertionError("unreachable")


def _not_found(key: str) -> NotFound:
    return NotFound("no object has this key", key=key)
