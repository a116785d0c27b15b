"""Times the SQL backends against the bare driver doing the same work, side by side in one run.

    python benchmarks/sql.py [--rounds 5] [--only sqlite] [--postgresql URL]

The bare client keeps the same rows in the same kind of table, with the same durability and metadata, over
one open connection: hand-written statements, no pool, no threads, no errors, no retry. Prints for each
operation and size the median time of both in microseconds and their ratio.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import psycopg

from offloadkit.backend import Backend
from offloadkit.url import parse_url
from offloadkit_sql.backend import SQLBackend
from offloadkit_sql.postgresql import PostgreSQLBackend
from offloadkit_sql.sqlite import SQLiteBackend

KIB = 1024
CHUNK = 256 * KIB
SIZES = (KIB, 100 * KIB, KIB * KIB, 10 * KIB * KIB)
TABLE = "offloadkit_benchmark"
META = b"m" * 300
RANGE = 4 * KIB


class Client(Protocol):
    def put(self, key: str, data: bytes) -> None: ...
    def read(self, key: str) -> bytes: ...
    def read_range(self, key: str, start: int, length: int) -> bytes: ...


class Ours:
    def __init__(self, backend: Backend) -> None:
        self.put = lambda key, data: backend.put(key, data, meta=META, expires_at=4e9)
        self.read = backend.read
        self.read_range = backend.read


def chunk_rows(key: str, data: bytes) -> Iterator[tuple[Any, ...]]:
    for number in range(max(1, -(-len(data) // CHUNK))):
        described = (4e9, META) if number == 0 else (None, None)
        part = data[number * CHUNK : (number + 1) * CHUNK]
        yield (key, number, len(data), time.time(), *described, part)


class BareSQLite:
    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute(
            f"CREATE TABLE IF NOT EXISTS {TABLE}_bare (k VARCHAR(200), i INTEGER, size BIGINT, "
            "created DOUBLE, expires DOUBLE, meta BLOB, data BLOB, PRIMARY KEY (k, i))"
        )
        self.connection.execute(
            f"CREATE INDEX IF NOT EXISTS {TABLE}_bare_e ON {TABLE}_bare (expires) WHERE expires IS NOT NULL"
        )

    def put(self, key: str, data: bytes) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(
            f"INSERT INTO {TABLE}_bare VALUES (?, ?, ?, ?, ?, ?, ?)", chunk_rows(key, data)
        )
        self.connection.execute("COMMIT")

    def read(self, key: str) -> bytes:
        rows = self.connection.execute(
            f"SELECT size, data FROM {TABLE}_bare WHERE k = ? ORDER BY i", (key,)
        ).fetchall()
        if not rows:
            raise KeyError(key)
        return b"".join([data for _, data in rows])

    def read_range(self, key: str, start: int, length: int) -> bytes:
        rows = self.connection.execute(
            f"SELECT size, substr(data, ?, ?) FROM {TABLE}_bare WHERE k = ? AND i BETWEEN ? AND ? ORDER BY i",
            (start % CHUNK + 1, length, key, start // CHUNK, (start + length - 1) // CHUNK),
        ).fetchall()
        if not rows:
            raise KeyError(key)
        return b"".join([data for _, data in rows])


class BarePostgreSQL:
    def __init__(self, conninfo: str) -> None:
        self.connection = psycopg.connect(conninfo, autocommit=True)
        self.connection.execute(
            f'CREATE TABLE IF NOT EXISTS {TABLE}_bare (k VARCHAR(200) COLLATE "C", i INTEGER, size BIGINT, '
            "created DOUBLE PRECISION, expires DOUBLE PRECISION, meta BYTEA, data BYTEA, PRIMARY KEY (k, i))"
        )
        self.connection.execute(f"ALTER TABLE {TABLE}_bare ALTER COLUMN data SET STORAGE EXTERNAL")
        self.connection.execute(
            f"CREATE INDEX IF NOT EXISTS {TABLE}_bare_e ON {TABLE}_bare (expires) WHERE expires IS NOT NULL"
        )

    def put(self, key: str, data: bytes) -> None:
        insert = f"INSERT INTO {TABLE}_bare VALUES (%s, %s, %s, %s, %s, %s, %s)"
        rows = list(chunk_rows(key, data))
        if len(rows) == 1:
            self.connection.execute(insert, rows[0])
            return
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(insert, rows)

    def read(self, key: str) -> bytes:
        rows = self.connection.execute(
            f"SELECT size, data FROM {TABLE}_bare WHERE k = %s ORDER BY i", (key,), binary=True
        ).fetchall()
        if not rows:
            raise KeyError(key)
        return b"".join([data for _, data in rows])

    def read_range(self, key: str, start: int, length: int) -> bytes:
        rows = self.connection.execute(
            f"SELECT size, substr(data, %s, %s) FROM {TABLE}_bare "
            "WHERE k = %s AND i BETWEEN %s AND %s ORDER BY i",
            (start % CHUNK + 1, length, key, start // CHUNK, (start + length - 1) // CHUNK),
            binary=True,
        ).fetchall()
        if not rows:
            raise KeyError(key)
        return b"".join([data for _, data in rows])


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


Call = Callable[[Client, str, int], object]


def alternate(clients: Sequence[Client], call: Call, size: int, turns: int) -> list[float]:
    """Return each client's median microseconds for ``call(client, key, turn)``, the clients taking turns."""
    times: list[list[float]] = [[] for _ in clients]
    for turn in range(turns):
        key = f"{os.getpid()}/{size}/{turn % objects(size)}"
        for index in (0, 1) if turn % 2 else (1, 0):
            begin = time.perf_counter()
            call(clients[index], key, turn)
            times[index].append(time.perf_counter() - begin)
    return [statistics.median(each) * 1e6 for each in times]


def objects(size: int) -> int:
    return max(5, min(300, 20_000_000 // size))


def measure(clients: Sequence[Client], size: int, rounds: int) -> dict[str, list[float]]:
    """Time a put, a whole read and the read of 4 KB (a quarter of a smaller object) at changing places."""
    data = os.urandom(size)
    length = min(RANGE, size // 4)
    starts = [random.Random(turn).randrange(size // length) * length for turn in range(1000)]
    count = objects(size)
    return {
        "put": alternate(clients, lambda client, key, _: client.put(key, data), size, count),
        "read": alternate(clients, lambda client, key, _: client.read(key), size, rounds * count),
        "range": alternate(
            clients, lambda client, key, turn: client.read_range(key, starts[turn], length), size, 1000
        ),
    }


def compare(name: str, clients: Sequence[Client], rounds: int) -> None:
    """Print a line for each size: ours, bare and the ratio of each operation."""
    ranges = {}
    print(f"{name}: microseconds, ours / bare = ratio")
    for size in SIZES:
        found = measure(clients, size, rounds)
        ranges[size] = found["range"][0]
        cells = [
            f"{operation} {ours:>9.1f} /{bare:>9.1f} = {ours / bare:4.2f}"
            for operation, (ours, bare) in found.items()
        ]
        print(f"  {size // KIB:>6} KiB   " + "   ".join(cells))
    print(f"  a range of 10 MiB takes {ranges[SIZES[-1]] / ranges[100 * KIB]:.2f} times that of 100 KiB")


def opened(kind: type[SQLiteBackend | PostgreSQLBackend], url: str) -> SQLBackend:
    return kind.from_url(parse_url(url).with_options(kind.options))


def compare_sqlite(rounds: int) -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        backend = opened(SQLiteBackend, f"sqlite:///{folder}/ours.db?table={TABLE}")
        compare("SQLite", (Ours(backend), BareSQLite(f"{folder}/bare.db")), rounds)
        backend.close()


def compare_postgresql(url: str, rounds: int) -> None:
    backend = opened(PostgreSQLBackend, f"{url}?table={TABLE}")
    bare = BarePostgreSQL(url)
    try:
        compare("PostgreSQL", (Ours(backend), bare), rounds)
    finally:
        backend.close()
        bare.connection.execute(f"DROP TABLE IF EXISTS {TABLE}, {TABLE}_bare")
        bare.connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--postgresql", metavar="URL", default="postgresql://postgres@127.0.0.1:5432/test")
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    arguments = parser.parse_args()
    if arguments.only != "postgresql":
        compare_sqlite(arguments.rounds)
    if arguments.only != "sqlite":
        compare_postgresql(arguments.postgresql, arguments.rounds)


if __name__ == "__main__":
    main()
