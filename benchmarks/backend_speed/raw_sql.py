"""The same rows in the same kind of table, through the bare driver.

Hand-written statements over one open connection, without a pool, threads, retries, limits of time or
translated errors. An object is cut into rows of 256 KB: one row for all of it makes a range of a large object
several times slower.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from backend_speed.clients import META, Payload

__all__ = ["RawMariaDB", "RawPostgreSQL", "RawSQLite"]

CHUNK = 256 * 1024
_COLUMNS = (
    "k {key}, i INTEGER, size BIGINT, created {real}, expires {real}, meta {blob}, data {blob}, "
    "PRIMARY KEY (k, i)"
)


def rows_of(key: str, payload: Payload) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of an object; the first one also carries what describes it."""
    size, created = len(payload.data), time.time()
    for number in range(max(1, -(-size // CHUNK))):
        described = (payload.expires_at, META) if number == 0 else (None, None)
        part = payload.data[number * CHUNK : (number + 1) * CHUNK]
        yield (key, number, size, created, *described, part)


def _joined(rows: Iterable[tuple[Any, ...]]) -> bytes:
    parts = [row[0] for row in rows]
    if not parts:
        raise KeyError("no such object")
    return parts[0] if len(parts) == 1 else b"".join(parts)


class _RawSQL:
    """The statements; a subclass runs them."""

    mark: str

    def __init__(self, table: str) -> None:
        places = ", ".join([self.mark] * 7)
        self._insert = f"INSERT INTO {table} VALUES ({places})"
        self._read = f"SELECT data FROM {table} WHERE k = {self.mark} ORDER BY i"
        self._range = (
            f"SELECT substr(data, {self.mark}, {self.mark}) FROM {table} "
            f"WHERE k = {self.mark} AND i BETWEEN {self.mark} AND {self.mark} ORDER BY i"
        )

    def read(self, key: str) -> bytes:
        return _joined(self._fetch(self._read, (key,)))

    def read_range(self, key: str, start: int, length: int) -> bytes:
        first, last = start // CHUNK, (start + length - 1) // CHUNK
        if first == last:
            return _joined(self._fetch(self._range, (start % CHUNK + 1, length, key, first, last)))
        head = (first + 1) * CHUNK - start
        return self.read_range(key, start, head) + self.read_range(key, start + head, length - head)

    def _fetch(self, statement: str, parameters: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
        raise NotImplementedError


class RawSQLite(_RawSQL):
    """The sqlite3 module, with the journal and the page size of ours."""

    mark = "?"

    def __init__(self, path: Path, table: str, synchronous: str) -> None:
        super().__init__(table)
        self._connection = sqlite3.connect(path, isolation_level=None)
        for pragma in ("page_size = 16384", "journal_mode = WAL", f"synchronous = {synchronous}"):
            self._connection.execute(f"PRAGMA {pragma}")
        columns = _COLUMNS.format(key="VARCHAR(200)", real="DOUBLE", blob="BLOB")
        self._connection.execute(f"CREATE TABLE {table} ({columns})")
        self._connection.execute(f"CREATE INDEX {table}_e ON {table} (expires) WHERE expires IS NOT NULL")

    def put(self, key: str, payload: Payload) -> None:
        rows = list(rows_of(key, payload))
        if len(rows) == 1:
            self._connection.execute(self._insert, rows[0])
            return
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(self._insert, rows)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()

    def _fetch(self, statement: str, parameters: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
        return self._connection.execute(statement, parameters).fetchall()


class RawPostgreSQL(_RawSQL):
    """psycopg 3 with autocommit and binary results, values stored uncompressed."""

    mark = "%s"

    def __init__(self, url: str, table: str) -> None:
        import psycopg  # noqa: PLC0415  absent where only other stores are measured

        super().__init__(table)
        self._connection = psycopg.connect(url, autocommit=True)
        columns = _COLUMNS.format(key='VARCHAR(200) COLLATE "C"', real="DOUBLE PRECISION", blob="BYTEA")
        for statement in (
            f"CREATE TABLE {table} ({columns})",
            f"ALTER TABLE {table} ALTER COLUMN data SET STORAGE EXTERNAL",
            f"CREATE INDEX ON {table} (expires) WHERE expires IS NOT NULL",
        ):
            self._connection.execute(statement)

    def put(self, key: str, payload: Payload) -> None:
        rows = list(rows_of(key, payload))
        if len(rows) == 1:
            self._connection.execute(self._insert, rows[0])
            return
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(self._insert, rows)

    @classmethod
    def drop(cls, url: str, tables: Iterable[str]) -> None:
        """Remove tables, over a connection that no interruption has left in the middle of an answer."""
        import psycopg  # noqa: PLC0415  see above

        with psycopg.connect(url, autocommit=True) as connection:
            for table in tables:
                connection.execute(f"DROP TABLE IF EXISTS {table}")

    def close(self) -> None:
        self._connection.close()

    def _fetch(self, statement: str, parameters: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
        return self._connection.execute(statement, parameters, binary=True)


class RawMariaDB(_RawSQL):
    """PyMySQL with autocommit."""

    mark = "%s"

    def __init__(self, url: str, table: str) -> None:
        super().__init__(table)
        self._connection = _connect_mariadb(url)
        key = "VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin"
        columns = _COLUMNS.format(key=key, real="DOUBLE", blob="MEDIUMBLOB")
        self._run(f"CREATE TABLE {table} ({columns}, INDEX (expires)) ENGINE=InnoDB")

    def put(self, key: str, payload: Payload) -> None:
        rows = list(rows_of(key, payload))
        if len(rows) == 1:
            self._run(self._insert, rows[0])
            return
        self._connection.begin()
        with self._connection.cursor() as cursor:
            cursor.executemany(self._insert, rows)
        self._connection.commit()

    @classmethod
    def drop(cls, url: str, tables: Iterable[str]) -> None:
        """Remove tables, over a connection that no interruption has left in the middle of an answer."""
        with _connect_mariadb(url) as connection, connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"DROP TABLE IF EXISTS {table}")

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str, parameters: tuple[Any, ...] = ()) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall()

    def _fetch(self, statement: str, parameters: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
        rows: Iterable[tuple[Any, ...]] = self._run(statement, parameters)
        return rows


def _connect_mariadb(url: str) -> Any:
    import pymysql  # noqa: PLC0415  absent where only other stores are measured

    place = urlsplit(url)
    return pymysql.connect(
        host=place.hostname,
        port=place.port or 3306,
        user=unquote(place.username or ""),
        password=unquote(place.password or ""),
        database=place.path.removeprefix("/"),
        autocommit=True,
    )
