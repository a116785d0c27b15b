"""SQLite: one file, WAL, durable at every commit; or a database in memory for one process."""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import NullPool, StaticPool

from offloadkit.errors import (
    AlreadyExists,
    BackendError,
    ConfigError,
    Corrupt,
    Denied,
    StorageFull,
    TooLarge,
    Unavailable,
)
from offloadkit.url import BackendURL, Option
from offloadkit_sql.backend import SQLBackend
from offloadkit_sql.chunks import CHUNK_BYTES
from offloadkit_sql.dialect import COMMON_OPTIONS, Rows, check_url, failure
from offloadkit_sql.statements import Statements

__all__ = ["SQLite", "SQLiteBackend"]

PAGE_BYTES: Final = 16 * 1024
"""Measured against the usual 4 KB: a range of 10 MB in half the time, a put of 10 MB in two thirds."""

LARGE_BYTES: Final = 32 * 1024
"""Above this, substr() costs more than opening the value: it copies the whole of it first."""

BUSY_SECONDS: Final = 0.02
"""How long SQLite itself waits for a lock. It looks ever more rarely, up to ten times a second, which beside
busy writers is not often enough; so after this time the call begins anew, until the timeout."""

RECLAIM_PAGES: Final = 256
"""Pages that one transaction gives back (4 MiB), so that other writers get their turn. Fewer than that
stay in the file for the next objects."""

_FAILURES: Final[Mapping[int, type[BackendError]]] = {
    sqlite3.SQLITE_BUSY: Unavailable,
    sqlite3.SQLITE_LOCKED: Unavailable,
    sqlite3.SQLITE_PROTOCOL: Unavailable,
    sqlite3.SQLITE_AUTH: Denied,
    sqlite3.SQLITE_CANTOPEN: Denied,
    sqlite3.SQLITE_PERM: Denied,
    sqlite3.SQLITE_READONLY: Denied,
    sqlite3.SQLITE_FULL: StorageFull,
    sqlite3.SQLITE_TOOBIG: TooLarge,
    sqlite3.SQLITE_CORRUPT: Corrupt,
    sqlite3.SQLITE_NOTADB: Corrupt,
}
_TAKEN: Final = {sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE}


class SQLiteBackend(SQLBackend):
    """``sqlite:///relative.db``, ``sqlite:////absolute/path.db``, or ``sqlite://`` for one in memory."""

    options: ClassVar = (
        *COMMON_OPTIONS,
        Option(
            name="synchronous",
            kind="choice",
            choices=("full", "normal"),
            default="full",
            help="full: an object survives a power cut; normal: the latest ones may not, but puts are faster",
        ),
    )

    @classmethod
    def from_url(cls, url: BackendURL) -> SQLiteBackend:
        """Make a backend, without any I/O. Raises `ConfigError`."""
        check_url(url, driver="pysqlite")
        if url.netloc:
            raise ConfigError(
                f"{url} names a host; write sqlite:///relative.db or, with four slashes, sqlite:////absolute.db"
            )
        url.allow_only("engine", "path")
        path = url.path.removeprefix("/")
        dialect = SQLite(
            None if path in {"", ":memory:"} else Path(path),
            timeout=url.options["timeout"],
            pool_size=url.options["pool_size"],
            synchronous=url.options["synchronous"],
        )
        return cls(dialect, table=url.options["table"])


class SQLite:
    """One database file, or (``path`` None) one in memory behind a single connection."""

    rests_for_fork = True
    begin = "BEGIN IMMEDIATE"
    lock = ""
    slice = f"CASE WHEN length(data) <= {LARGE_BYTES} THEN substr(data, :head, :tail) END"

    def __init__(
        self, path: Path | None, *, timeout: float = 2.0, pool_size: int = 5, synchronous: str = "full"
    ) -> None:
        self._path = path.absolute() if path else None
        self._timeout = timeout
        self._synchronous = synchronous
        self.place = f"the SQLite database {self._path}" if path else "the SQLite database in memory"
        self.persistent = path is not None
        self.pool_size = pool_size if path else 1

    def engine(self) -> Engine:
        """Make an engine. No I/O."""
        engine = create_engine(
            URL.create("sqlite+pysqlite", database=str(self._path) if self._path else None),
            poolclass=NullPool if self._path else StaticPool,
            connect_args={
                "timeout": min(BUSY_SECONDS, self._timeout),
                "isolation_level": None,
                "check_same_thread": False,
            },
            paramstyle="named",
            pool_reset_on_return=None,
            hide_parameters=True,
        )
        event.listen(engine, "connect", self._configure)
        return engine

    def prepare_database(self, connection: Any) -> None:
        """Let a new file shrink when objects go, and let readers and a writer work side by side."""
        if self._path is None or connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            return
        # Both of no effect once the file has its first page, which the switch to WAL writes.
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try:
            self._patiently(connection, "PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # A file that may only be read is read as it is.
            if not isinstance(self.failure(error), Denied):
                raise

    def fetch_slice(self, connection: Any, statements: Statements, parameters: Mapping[str, Any]) -> Rows:
        """Return size and part of one row; of a large value only the pages wanted are read."""
        rows: Rows = connection.execute(statements.read_slice, parameters).fetchall()
        if rows and rows[0][1] is None and rows[0][0] > LARGE_BYTES:
            return self._fetch_slice_of_large(connection, statements, parameters)
        return rows

    def _fetch_slice_of_large(
        self, connection: Any, statements: Statements, parameters: Mapping[str, Any]
    ) -> Rows:
        # One transaction: the number of a deleted row may be given to another one.
        connection.execute("BEGIN")
        found = connection.execute(statements.row_number, parameters).fetchall()
        rows = [(size, _part(connection, statements.table, row, parameters)) for row, size in found]
        connection.execute("COMMIT")
        return rows

    def fetch(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> Rows:
        """Run a statement and return its rows."""
        return connection.execute(statement, parameters).fetchall()  # type: ignore[no-any-return]

    def execute(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement and return how many rows it touched."""
        return int(connection.execute(statement, parameters).rowcount)

    def insert(self, connection: Any, statement: str, rows: Iterator[Mapping[str, Any]]) -> None:
        """Insert the rows of one object in one transaction. A single statement is one by itself."""
        first = next(rows)
        if first["size"] <= CHUNK_BYTES:
            connection.execute(statement, first)
            return
        connection.execute(self.begin)
        connection.executemany(statement, itertools.chain((first,), rows))
        connection.execute("COMMIT")

    def reclaim(self, connection: Any) -> None:
        """Shrink the file when much of it is free, unless another process is writing."""
        free = connection.execute("PRAGMA freelist_count").fetchone()[0]
        try:
            for _ in range(free // RECLAIM_PAGES):
                # `execute` would take a single step of it, which is a single page.
                connection.executescript(f"PRAGMA incremental_vacuum({RECLAIM_PAGES})")
        except sqlite3.OperationalError as error:
            if not isinstance(self.failure(error), Unavailable):
                raise

    def is_usable(self, _connection: Any, error: BaseException) -> bool:
        """Say no for a connection that was closed: nothing else stays behind in one."""
        return not isinstance(error, sqlite3.ProgrammingError)

    def may_repeat(self, error: BaseException, _failures: int, seconds: float) -> bool:
        """Say yes while another connection holds the lock and the timeout is not over."""
        return isinstance(self.failure(error), Unavailable) and seconds < self._timeout

    def failure(self, error: BaseException) -> BackendError:
        """Return what to raise for a driver's error."""
        code = getattr(error, "sqlite_errorcode", 0)
        if self._path and code == sqlite3.SQLITE_CANTOPEN and not self._path.parent.is_dir():
            return BackendError(
                f"{self.place} cannot be opened: the directory {self._path.parent} does not exist; "
                "make it, or change the URL"
            )
        kind = AlreadyExists if code in _TAKEN else _FAILURES.get(code & 0xFF, BackendError)
        return failure(kind, self.place, getattr(error, "sqlite_errorname", type(error).__name__))

    def _configure(self, connection: sqlite3.Connection, _record: object) -> None:
        self._patiently(connection, f"PRAGMA synchronous = {self._synchronous}")

    def _patiently(self, connection: sqlite3.Connection, statement: str) -> None:
        """Run a statement for which SQLite waits too briefly while others set up the same file."""
        give_up = time.monotonic() + self._timeout
        while True:
            try:
                connection.execute(statement).fetchone()
                return
            except sqlite3.OperationalError as error:
                if not isinstance(self.failure(error), Unavailable) or time.monotonic() > give_up:
                    raise
                time.sleep(0.01)


def _part(connection: sqlite3.Connection, table: str, row: int, parameters: Mapping[str, Any]) -> bytes:
    with connection.blobopen(table, "data", row, readonly=True) as blob:
        start = min(parameters["head"] - 1, len(blob))
        blob.seek(start)
        return blob.read(min(parameters["tail"], len(blob) - start))
