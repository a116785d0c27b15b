"""SQLite's file: durable, side by side with readers, and smaller again when objects go."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sql_stores import opened, run_sql

from offloadkit_sql.backend import SQLBackend


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "objects.db"


@pytest.fixture
def backend(path: Path) -> Iterator[SQLBackend]:
    backend = opened(f"sqlite:///{path}")
    backend.ping()
    yield backend
    backend.close()


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("auto_vacuum", 2),
        ("page_size", 16384),
        ("busy_timeout", 20),
    ],
)
def test_how_a_connection_is_set_up(backend: SQLBackend, pragma: str, value: object) -> None:
    assert run_sql(backend, f"PRAGMA {pragma}") == [(value,)]


def test_durability_can_be_traded_for_speed(path: Path) -> None:
    backend = opened(f"sqlite:///{path}?synchronous=normal")

    assert run_sql(backend, "PRAGMA synchronous") == [(1,)]
    backend.close()


@pytest.mark.parametrize("swept", [True, False])
def test_the_file_is_small_again_when_large_objects_have_gone(
    backend: SQLBackend, path: Path, swept: bool
) -> None:
    for number in range(5):
        backend.put(f"k/{number}", bytes(4_000_000), expires_at=5.0)

    if swept:
        backend.sweep(6.0)
    else:
        backend.delete([f"k/{number}" for number in range(5)])

    backend.close()
    assert path.stat().st_size < 5_000_000


def test_space_is_not_reclaimed_while_another_writes(backend: SQLBackend, path: Path) -> None:
    backend.put("k", bytes(8_000_000))

    def delete_and_lock(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA busy_timeout = 1")
        connection.execute(f"DELETE FROM {backend._table.name}")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            backend._dialect.reclaim(connection)

    backend._connections.run(delete_and_lock)

    assert run_sql(backend, "PRAGMA freelist_count")[0][0] > 400


def test_a_database_of_another_program_keeps_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
    backend = opened(f"sqlite:///{path}")
    backend.put("k", b"data")

    assert run_sql(backend, "SELECT count(*) FROM notes") == [(0,)]
    assert run_sql(backend, "PRAGMA page_size") == [(4096,)]
    backend.delete(["k"])
    backend.close()


def test_readers_go_on_beside_a_writer(backend: SQLBackend, path: Path) -> None:
    backend.put("k", b"data")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute(f"DELETE FROM {backend._table.name}")

        assert backend.read("k") == b"data"


def test_the_file_is_closed_with_the_backend(path: Path) -> None:
    backend = opened(f"sqlite:///{path}")
    backend.put("k", b"data")
    backend.close()

    assert [entry.name for entry in path.parent.iterdir()] == ["objects.db"]
