"""The table is made on first use by whoever comes first, and a table of another shape is refused."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sql_stores import (
    SHARED_STORES,
    mariadb_table,
    opened,
    postgresql_table,
    run_sql,
    store_url,
    with_table,
)
from sqlalchemy import inspect

from offloadkit.backend import BackendError
from offloadkit.errors import ConfigError
from offloadkit_sql.backend import SQLBackend
from offloadkit_sql.schema import objects_table

PROCESSES = 8


@pytest.fixture(params=SHARED_STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with store_url(request.param, tmp_path) as url:
        yield url


def in_processes(work: Callable[[int], None]) -> list[int | None]:
    """Call ``work`` in processes that begin at the same moment; return their exit codes."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(PROCESSES)

    def released(number: int) -> None:
        barrier.wait(timeout=30)
        work(number)

    processes = [context.Process(target=released, args=(number,)) for number in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
    return [process.exitcode for process in processes]


class TestFirstUse:
    def test_processes_that_start_at_the_same_moment_all_succeed(self, url: str) -> None:
        def put_and_read(number: int) -> None:
            backend = opened(url)
            backend.put(f"k/{number}", b"%d" % number)
            assert backend.read(f"k/{number}") == b"%d" % number

        exit_codes = in_processes(put_and_read)

        backend = opened(url)
        found = [item.key for item in backend.list().items]
        backend.close()
        assert exit_codes == [0] * PROCESSES
        assert found == [f"k/{number}" for number in range(PROCESSES)]

    def test_one_of_the_processes_that_create_a_key_wins(self, url: str, tmp_path: Path) -> None:
        def put(number: int) -> None:
            opened(url).put("k", b"%d" % number * 300_000)
            (tmp_path / f"winner-{number}").touch()

        in_processes(put)

        backend = opened(url)
        data = backend.read("k")
        backend.close()
        assert [path.name for path in tmp_path.glob("winner-*")] == [f"winner-{data[0] - ord('0')}"]
        assert set(data) == {data[0]}

    def test_the_table_of_two_instances_is_made_once(self, url: str) -> None:
        first, second = opened(url), opened(url)
        first.put("k", b"data")

        assert second.read("k") == b"data"
        first.close()
        second.close()

    def test_an_index_that_was_not_made_is_made_by_the_next_instance(self, url: str) -> None:
        first, second = opened(url), opened(url)
        first.ping()
        table = first._table.name
        on_table = f" ON {table}" if url.startswith("mariadb") else ""
        run_sql(first, f"DROP INDEX {table}_expires{on_table}")

        second.ping()

        found = second._connections.run(inspect, core=True).get_indexes(table)
        first.close()
        second.close()
        assert f"{table}_expires" in [index["name"] for index in found]

    def test_two_tables_of_one_database_are_two_stores(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/objects.db"
        one, two = opened(with_table(url, "one")), opened(with_table(url, "two"))
        one.put("k", b"one")
        two.put("k", b"two")

        assert (one.read("k"), two.read("k")) == (b"one", b"two")
        one.close()
        two.close()


def complaint_about(url: str, *statements: str) -> str:
    """Make a table by ``statements``, in which ``{table}`` is its name, and return what a first call says."""
    maker, backend = opened(with_table(url.partition("?")[0], "offloadkit_test_maker")), opened(url)
    for statement in statements:
        maker._connections.run(
            lambda connection, text: connection.cursor().execute(text),
            statement.replace("{table}", backend._table.name),
        )
    maker.close()
    try:
        with pytest.raises(BackendError) as caught:
            backend.list()
        return str(caught.value)
    finally:
        backend.close()


MARIADB_TABLE = """
    CREATE TABLE {table} (object_key VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    chunk_number INTEGER NOT NULL, object_size BIGINT NOT NULL, created_at DOUBLE NOT NULL, expires_at DOUBLE,
    meta VARBINARY(1024), data MEDIUMBLOB NOT NULL, PRIMARY KEY (object_key, chunk_number)) ENGINE=InnoDB
"""


class TestOtherShapes:
    def test_a_table_of_something_else(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/other.db?table=users"

        complaint = complaint_about(url, "CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT)")

        assert "the table users of the SQLite database" in complaint
        assert "column object_key is missing" in complaint
        assert "column name is unknown" in complaint
        assert "option 'table'" in complaint

    def test_a_table_of_something_else_is_left_as_it_is(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/other.db?table=users"
        complaint_about(url, "CREATE TABLE {table} (id INTEGER PRIMARY KEY, expires_at DOUBLE)")

        other = opened(f"sqlite:///{tmp_path}/other.db")
        found = other._connections.run(inspect, core=True).get_indexes("users")
        other.close()
        assert found == []

    def test_a_column_too_many(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/objects.db?table=o"
        opened(url).ping()

        assert "column owner is unknown" in complaint_about(url, "ALTER TABLE {table} ADD COLUMN owner TEXT")

    def test_another_primary_key(self, tmp_path: Path) -> None:
        columns = (
            "object_key VARCHAR(200) NOT NULL, chunk_number INTEGER NOT NULL, object_size BIGINT NOT NULL"
        )
        more = "created_at DOUBLE NOT NULL, expires_at DOUBLE, meta BLOB, data BLOB NOT NULL"
        statement = f"CREATE TABLE {{table}} ({columns}, {more}, PRIMARY KEY (object_key))"

        complaint = complaint_about(f"sqlite:///{tmp_path}/objects.db?table=o", statement)

        assert "the primary key is (object_key), not (object_key, chunk_number)" in complaint

    @pytest.mark.server
    def test_keys_of_postgresql_that_do_not_compare_by_byte(self) -> None:
        with postgresql_table() as url:
            opened(url).ping()
            statement = 'ALTER TABLE {table} ALTER COLUMN object_key TYPE VARCHAR(200) COLLATE "en-x-icu"'

            assert 'not VARCHAR(200) COLLATE "C"' in complaint_about(url, statement)

    @pytest.mark.server
    @pytest.mark.parametrize(
        ("wanted", "there", "complaint"),
        [
            ("MEDIUMBLOB", "BLOB", "column data is BLOB, not MEDIUMBLOB"),
            (
                "COLLATE ascii_bin",
                "COLLATE ascii_general_ci",
                "not VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin",
            ),
            ("InnoDB", "MyISAM", "the storage engine is MyISAM, not InnoDB"),
            ("VARBINARY(1024)", "VARBINARY(64)", "column meta is VARBINARY(64), not VARBINARY(1024)"),
        ],
    )
    def test_a_table_of_mariadb_that_would_lose_data(self, wanted: str, there: str, complaint: str) -> None:
        assert wanted in MARIADB_TABLE
        with mariadb_table() as url:
            assert complaint in complaint_about(url, MARIADB_TABLE.replace(wanted, there))


class TestShape:
    @pytest.mark.server
    def test_postgresql_keeps_the_data_uncompressed(self) -> None:
        with postgresql_table() as url:
            backend = opened(url)
            backend.ping()
            storage = run_sql(
                backend,
                "SELECT attstorage::text FROM pg_attribute "
                "WHERE attrelid = '{table}'::regclass AND attname = 'data'",
            )
            backend.close()
        assert storage == [("e",)]

    @pytest.mark.parametrize("name", ["a", "a_1", "_", "x" * 50])
    def test_a_table_name_that_is_an_identifier(self, name: str) -> None:
        assert objects_table(name).name == name

    @pytest.mark.parametrize(
        "name", ["", "1a", "A", "a-b", "a b", 'a"b', "a;b", "a.b", "ä", "x" * 51, "a\n", "a%s", "{a}", ":a"]
    )
    def test_a_table_name_that_is_none(self, name: str) -> None:
        with pytest.raises(ConfigError, match="'table'"):
            objects_table(name)


def test_a_table_that_goes_away_is_no_missing_object(tmp_path: Path) -> None:
    backend: SQLBackend = opened(f"sqlite:///{tmp_path}/objects.db")
    backend.put("k", b"data")
    run_sql(backend, "DROP TABLE {table}")

    with pytest.raises(BackendError) as caught:
        backend.read("k")

    backend.close()
    assert type(caught.value) is BackendError
