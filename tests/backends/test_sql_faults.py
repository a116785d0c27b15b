"""What goes wrong with a database becomes the right error, says nothing of the content, and passes."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
from sql_proxy import Proxy
from sql_stores import (
    MARIADB,
    POSTGRESQL,
    STORES,
    connect_mariadb,
    connect_postgresql,
    mariadb_table,
    new_table,
    opened,
    postgresql_table,
    run_sql,
    store_url,
    whole_chain,
)

from offloadkit.backend import (
    AlreadyExists,
    BackendError,
    Corrupt,
    Denied,
    NotFound,
    PartialDelete,
    StorageFull,
    TooLarge,
    Unavailable,
)
from offloadkit.url import parse_url
from offloadkit_sql.backend import SQLBackend
from offloadkit_sql.mysql import MySQL
from offloadkit_sql.postgresql import PostgreSQL

pytestmark = pytest.mark.slow

CONTENT = b"the content of a tool result"
server = pytest.mark.server


@pytest.fixture(params=STORES)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SQLBackend]:
    with store_url(request.param, tmp_path) as url:
        backend = opened(url)
        yield backend
        backend.close()


@pytest.fixture(params=[pytest.param(name, marks=server) for name in ("postgresql", "mariadb")])
def proxied(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[SQLBackend, Proxy]]:
    """A backend that reaches its server through a proxy, and has used it already."""
    with store_url(request.param, tmp_path) as url:
        parsed = parse_url(url)
        default = 5432 if request.param == "postgresql" else 3306
        with Proxy(parsed.host, parsed.port or default) as proxy:
            through = url.replace(parsed.netloc, f"127.0.0.1:{proxy.port}", 1)
            backend = opened(f"{through}&timeout=300ms&pool_size=2")
            backend.put("known", CONTENT)
            yield backend, proxy
            backend.close()


def failure_of(call: Callable[[], object], kind: type[BackendError]) -> str:
    """Return the message of the error of ``call``, which is exactly of ``kind`` and holds no content."""
    with pytest.raises(BackendError) as caught:
        call()
    assert type(caught.value) is kind, whole_chain(caught.value)
    assert CONTENT.decode() not in whole_chain(caught.value)
    return str(caught.value)


class TestNetwork:
    def test_a_connection_cut_between_two_calls_is_not_noticed(
        self, proxied: tuple[SQLBackend, Proxy]
    ) -> None:
        backend, proxy = proxied
        proxy.cut()

        assert backend.read("known") == CONTENT

    def test_a_connection_cut_before_the_answer_is_not_noticed(
        self, proxied: tuple[SQLBackend, Proxy]
    ) -> None:
        backend, proxy = proxied
        proxy.lose_next_answer()

        assert backend.read("known") == CONTENT

    @pytest.mark.parametrize("size", [100, 300_000])
    def test_a_put_whose_answer_was_lost_does_not_take_its_own_object_for_another(
        self, proxied: tuple[SQLBackend, Proxy], size: int
    ) -> None:
        backend, proxy = proxied
        data = random.Random(size).randbytes(size)
        proxy.lose_next_answer()

        backend.put("k", data, meta=b"meta", expires_at=4e9)

        assert backend.read("k") == data

    def test_a_put_whose_answer_was_lost_still_finds_the_object_of_another(
        self, proxied: tuple[SQLBackend, Proxy]
    ) -> None:
        backend, proxy = proxied
        proxy.lose_next_answer()

        failure_of(lambda: backend.put("known", CONTENT), AlreadyExists)

    def test_a_server_that_is_gone_is_unavailable(self, proxied: tuple[SQLBackend, Proxy]) -> None:
        backend, proxy = proxied
        proxy.refuse()

        failure_of(lambda: backend.put("k", CONTENT), Unavailable)

    @pytest.mark.slow
    def test_a_silent_server_is_unavailable_within_seconds(self, proxied: tuple[SQLBackend, Proxy]) -> None:
        backend, proxy = proxied
        proxy.fall_silent()
        begin = time.monotonic()

        failure_of(lambda: backend.read("known"), Unavailable)

        assert time.monotonic() - begin < 8

    @server
    @pytest.mark.parametrize("url", ["postgresql://u@127.0.0.1:1/d", "mysql://u@127.0.0.1:1/d"])
    def test_a_refused_connection_is_unavailable(self, url: str) -> None:
        backend = opened(url)

        assert "127.0.0.1:1 did not answer" in failure_of(lambda: backend.put("k", CONTENT), Unavailable)

    def test_a_host_without_an_address_is_unavailable(self) -> None:
        for scheme in ("postgresql", "mysql"):
            backend = opened(f"{scheme}://host.invalid/d")
            failure_of(lambda backend=backend: backend.put("k", CONTENT), Unavailable)  # type: ignore[misc]

    def test_other_idle_connections_are_dropped_with_the_lost_one_and_nothing_is_logged(
        self, proxied: tuple[SQLBackend, Proxy], caplog: pytest.LogCaptureFixture
    ) -> None:
        backend, proxy = proxied
        together = threading.Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: backend._connections.run(lambda _: together.wait(30)), range(2)))
        proxy.cut()

        assert backend.read("known") == CONTENT
        assert backend.read("known") == CONTENT
        assert caplog.records == []

    @server
    def test_a_connection_ended_by_the_administrator_is_not_noticed_in_postgresql(self) -> None:
        with postgresql_table() as url, connect_postgresql() as administrator:
            backend = opened(url)
            [(pid,)] = run_sql(backend, "SELECT pg_backend_pid()")
            administrator.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
            backend.put("k", CONTENT)

            assert run_sql(backend, "SELECT pg_backend_pid()") != [(pid,)]
            backend.close()

    @server
    def test_a_connection_ended_by_the_administrator_is_not_noticed_in_mariadb(self) -> None:
        with mariadb_table() as url, closing(connect_mariadb()) as administrator:
            backend = opened(url)
            [(number,)] = run_sql(backend, "SELECT connection_id()")
            administrator.query(f"KILL CONNECTION {number}")
            backend.put("k", CONTENT)

            assert run_sql(backend, "SELECT connection_id()") != [(number,)]
            backend.close()

    def test_calls_after_an_outage_go_on_with_the_same_instance(
        self, proxied: tuple[SQLBackend, Proxy]
    ) -> None:
        backend, proxy = proxied
        for _ in range(20):
            proxy.lose_next_answer()
            backend.read("known")

        assert backend.read("known") == CONTENT


class TestLocks:
    def test_a_locked_sqlite_file_is_unavailable_to_writers(self, tmp_path: Path) -> None:
        backend = opened(f"sqlite:///{tmp_path}/objects.db?timeout=50ms")
        backend.put("known", CONTENT)
        with closing(sqlite3.connect(tmp_path / "objects.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            failure_of(lambda: backend.put("k", CONTENT), Unavailable)
            failure_of(lambda: backend.put("k", CONTENT * 100_000), Unavailable)
            failure_of(lambda: backend.delete(["known"]), Unavailable)
            failure_of(lambda: backend.sweep(1.0), Unavailable)

            assert backend.read("known") == CONTENT
        backend.put("k", CONTENT)
        backend.close()

    @server
    def test_a_locked_table_of_postgresql_is_unavailable(self) -> None:
        with postgresql_table() as url, connect_postgresql() as other:
            backend = opened(f"{url}&timeout=100ms")
            backend.put("known", CONTENT)
            with other.transaction():
                other.execute(f"LOCK TABLE {backend._table.name}")
                failure_of(lambda: backend.put("k", CONTENT), Unavailable)
                failure_of(lambda: backend.read("known"), Unavailable)

            assert backend.read("known") == CONTENT
            backend.close()

    @server
    def test_a_locked_row_of_mariadb_is_unavailable(self) -> None:
        with mariadb_table() as url, closing(connect_mariadb()) as other:
            backend = opened(f"{url}&timeout=100ms")
            backend.put("known", CONTENT)
            other.begin()
            other.query(f"SELECT 1 FROM {backend._table.name} FOR UPDATE")
            failure_of(lambda: backend.delete(["known"]), Unavailable)
            other.rollback()

            backend.delete(["known"])
            backend.close()

    @server
    @pytest.mark.parametrize("store", ["postgresql", "mariadb"])
    def test_a_sweep_passes_over_what_another_one_holds(self, store: str, tmp_path: Path) -> None:
        with store_url(store, tmp_path) as url:
            backend, other = opened(url), opened(url)
            for number in range(5):
                backend.put(f"k/{number}", CONTENT, expires_at=float(number))

            def sweep_meanwhile(connection: Any) -> int:
                dialect = other._dialect
                dialect.execute(connection, dialect.begin, {})
                dialect.fetch(connection, other._statements.expired, {"now": 9.0, "limit": 2})
                return backend.sweep(9.0)

            assert other._connections.run(sweep_meanwhile) == 3
            backend.close()
            other.close()

    def test_a_deadlock_is_repeated_once(self) -> None:
        backend = opened("postgresql://u@127.0.0.1:1/d")
        dialect = backend._dialect

        assert dialect.may_repeat(psycopg.errors.DeadlockDetected(), 1, 0.0)
        assert dialect.may_repeat(psycopg.errors.SerializationFailure(), 1, 0.0)
        assert not dialect.may_repeat(psycopg.errors.DeadlockDetected(), 2, 0.0)
        assert not dialect.may_repeat(psycopg.errors.LockNotAvailable(), 1, 0.0)


class TestRefusals:
    @pytest.fixture
    def user(self) -> Iterator[str]:
        """A user of MariaDB who has a password and no rights."""
        with closing(connect_mariadb()) as connection, connection.cursor() as cursor:
            name = new_table()[-20:]
            cursor.execute(f"CREATE USER '{name}'@'%' IDENTIFIED BY 'right'")
            yield name
            cursor.execute(f"DROP USER '{name}'@'%'")

    @pytest.fixture
    def role(self) -> Iterator[str]:
        """A role of PostgreSQL that has no rights."""
        with connect_postgresql() as connection:
            name = new_table()
            connection.execute(f"CREATE ROLE {name} LOGIN")
            yield name
            connection.execute(f"DROP OWNED BY {name}")
            connection.execute(f"DROP ROLE {name}")

    @server
    def test_a_password_outside_latin_1(self) -> None:
        url = parse_url(MARIADB)
        with mariadb_table() as table_url, closing(connect_mariadb()) as connection:
            name = new_table()[-20:]
            connection.query(f"CREATE USER '{name}'@'%' IDENTIFIED BY 'p€😀@:/'")
            connection.query(f"GRANT ALL ON test.* TO '{name}'@'%'")
            query = table_url.partition("?")[2]
            backend = opened(f"mariadb://{name}:p€😀%40%3A%2F@{url.netloc}{url.path}?{query}")
            backend.put("k", CONTENT)

            assert backend.read("k") == CONTENT
            backend.close()
            connection.query(f"DROP USER '{name}'@'%'")

    @pytest.mark.parametrize(
        "url",
        ["postgresql://h/d?sslmode=verify-full&sslrootcert=/missing.pem", "mysql://h/d?ssl_ca=/missing.pem"],
    )
    def test_a_certificate_that_is_not_there(self, url: str) -> None:
        with pytest.raises(BackendError):
            opened(url).put("k", CONTENT)

    @server
    @pytest.mark.parametrize("password", ["", ":wrong", ":right"])
    def test_a_wrong_password_or_no_right_in_mariadb(self, user: str, password: str) -> None:
        url = parse_url(MARIADB)
        backend = opened(f"mariadb://{user}{password}@{url.netloc}{url.path}")

        assert "check user, password" in failure_of(lambda: backend.put("k", CONTENT), Denied)

    @server
    def test_a_role_without_rights_in_postgresql(self, role: str) -> None:
        url = parse_url(POSTGRESQL)
        with postgresql_table() as table_url:
            opened(table_url).ping()
            table = table_url.partition("table=")[2]
            backend = opened(f"postgresql://{role}@{url.netloc}{url.path}?table={table}")

            failure_of(lambda: backend.put("k", CONTENT), Denied)
            failure_of(lambda: backend.read("k"), Denied)
            backend.close()

    @server
    def test_a_role_that_may_only_read(self, role: str) -> None:
        url = parse_url(POSTGRESQL)
        with postgresql_table() as table_url, connect_postgresql() as connection:
            owner = opened(table_url)
            owner.put("known", CONTENT)
            owner.close()
            connection.execute(f"GRANT ALL ON {owner._table.name} TO {role}")
            connection.execute(f"ALTER ROLE {role} SET default_transaction_read_only = on")
            backend = opened(f"postgresql://{role}@{url.netloc}{url.path}?table={owner._table.name}")

            assert backend.read("known") == CONTENT
            failure_of(lambda: backend.put("k", CONTENT), Denied)
            failure_of(lambda: backend.put("k", CONTENT * 100_000), Denied)
            backend.close()

    @server
    def test_a_server_that_quotes_parameters_in_its_errors_is_told_not_to(self, role: str) -> None:
        url = parse_url(POSTGRESQL)
        with postgresql_table() as table_url, connect_postgresql() as connection:
            opened(table_url).ping()
            table = table_url.partition("table=")[2]
            connection.execute(f"GRANT ALL ON {table} TO {role}")
            connection.execute(f"ALTER ROLE {role} SET log_parameter_max_length_on_error = -1")
            backend = opened(f"postgresql://{role}@{url.netloc}{url.path}?table={table}")
            backend.put("k", CONTENT)

            with pytest.raises(AlreadyExists) as caught:
                backend.put("k", CONTENT)

            assert CONTENT.hex() not in whole_chain(caught.value)
            assert CONTENT.decode() not in whole_chain(caught.value)
            backend.close()

    @server
    @pytest.mark.parametrize("url", [POSTGRESQL, MARIADB])
    def test_a_database_that_is_not_there(self, url: str) -> None:
        connect_postgresql().close()
        connect_mariadb().close()
        backend = opened(url.replace(parse_url(url).path, "/no_such_database"))

        failure_of(lambda: backend.put("k", CONTENT), Denied)

    @server
    def test_a_role_that_is_not_there(self) -> None:
        connect_postgresql().close()
        url = parse_url(POSTGRESQL)
        backend = opened(f"postgresql://no_such_role@{url.netloc}{url.path}")

        failure_of(lambda: backend.put("k", CONTENT), Denied)

    @pytest.mark.parametrize(
        "words",
        [
            'FATAL:  password authentication failed for user "u"',
            'FATAL:  no pg_hba.conf entry for host "10.0.0.1"',
            "fe_sendauth: no password supplied",
            "SSL error: certificate verify failed",
            "server does not support SSL, but SSL was required",
        ],
    )
    def test_how_postgresql_refuses_a_login(self, words: str) -> None:
        dialect = PostgreSQL({"host": "h"})

        assert type(dialect.failure(psycopg.OperationalError(f"connection failed: {words}"))) is Denied

    @pytest.mark.parametrize(
        "words", ["FATAL:  the database system is starting up", "FATAL:  sorry, too many clients already"]
    )
    def test_a_login_that_may_succeed_later(self, words: str) -> None:
        dialect = PostgreSQL({"host": "h"})

        assert type(dialect.failure(psycopg.OperationalError(f"connection failed: {words}"))) is Unavailable


def as_nobody(work: Callable[[], None]) -> None:
    """Call ``work`` in a forked child that has no rights; root may write whatever the mode says."""
    if os.getuid() != 0:
        work()
        return
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setuid(65534)
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


class TestFiles:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """A folder that everyone can reach."""
        for parent in (tmp_path, *tmp_path.parents):
            if os.getuid() == parent.stat().st_uid and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o755)
        return tmp_path

    def test_a_file_that_may_only_be_read(self, folder: Path) -> None:
        url = f"sqlite:///{folder}/objects.db"
        writer = opened(url)
        writer.put("known", CONTENT)
        for path in (folder, *folder.iterdir()):
            path.chmod(0o555)

        def read_only() -> None:
            backend = opened(url)
            assert backend.read("known") == CONTENT
            failure_of(lambda: backend.put("k", CONTENT), Denied)
            failure_of(lambda: backend.put("k", CONTENT * 100_000), Denied)

        as_nobody(read_only)
        folder.chmod(0o755)
        writer.close()

    def test_a_folder_that_may_not_be_written(self, folder: Path) -> None:
        folder.chmod(0o555)
        backend = opened(f"sqlite:///{folder}/objects.db")

        def put() -> None:
            failure_of(lambda: backend.put("k", CONTENT), Denied)

        as_nobody(put)
        folder.chmod(0o755)

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        backend = opened(f"sqlite:///{tmp_path}/missing/objects.db")

        complaint = failure_of(lambda: backend.put("k", CONTENT), BackendError)

        assert f"the directory {tmp_path}/missing does not exist" in complaint

    def test_a_full_disk(self, tmp_path: Path) -> None:
        backend = opened(f"sqlite:///{tmp_path}/objects.db?pool_size=1")
        run_sql(backend, "PRAGMA max_page_count = 30")

        complaint = failure_of(lambda: backend.put("k", CONTENT * 100_000), StorageFull)

        assert "no room" in complaint
        with pytest.raises(NotFound):
            backend.stat("k")
        backend.put("k", CONTENT)
        backend.close()

    def test_a_value_over_the_limit(self) -> None:
        backend = opened("sqlite://")
        backend._connections.run(lambda connection: connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 5000))

        failure_of(lambda: backend.put("k", CONTENT * 1000), TooLarge)
        backend.close()

    def test_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        (tmp_path / "objects.db").write_bytes(CONTENT * 100)
        backend = opened(f"sqlite:///{tmp_path}/objects.db")

        failure_of(lambda: backend.read("k"), Corrupt)
        backend.close()

    def test_a_damaged_database(self, tmp_path: Path) -> None:
        path = tmp_path / "objects.db"
        backend = opened(f"sqlite:///{path}")
        for number in range(50):
            backend.put(f"k/{number}", CONTENT * 1000)
        backend.close()
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(16 * 1024)
            file.write(random.Random(1).randbytes(size - 16 * 1024))

        again = opened(f"sqlite:///{path}")
        failure_of(lambda: [again.read(f"k/{number}") for number in range(50)], Corrupt)
        again.close()


class TestCodes:
    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (psycopg.errors.DiskFull, StorageFull),
            (psycopg.errors.ConfigurationLimitExceeded, StorageFull),
            (psycopg.errors.ProgramLimitExceeded, TooLarge),
            (psycopg.errors.DataCorrupted, Corrupt),
            (psycopg.errors.IndexCorrupted, Corrupt),
            (psycopg.errors.TooManyConnections, Unavailable),
            (psycopg.errors.AdminShutdown, Unavailable),
            (psycopg.errors.CannotConnectNow, Unavailable),
            (psycopg.errors.QueryCanceled, Unavailable),
            (psycopg.errors.ConnectionFailure, Unavailable),
            (psycopg.errors.InvalidPassword, Denied),
            (psycopg.errors.InsufficientPrivilege, Denied),
            (psycopg.errors.InvalidCatalogName, Denied),
            (psycopg.errors.UndefinedTable, BackendError),
            (psycopg.DataError, BackendError),
        ],
    )
    def test_of_postgresql(self, error: type[psycopg.Error], kind: type[BackendError]) -> None:
        assert type(PostgreSQL({"host": "h"}).failure(error(CONTENT.decode()))) is kind

    @pytest.mark.parametrize(
        ("code", "words", "kind"),
        [
            (1021, "Disk full", StorageFull),
            (1114, "The table is full", StorageFull),
            (1030, 'Got error 28 "No space left on device" from storage engine InnoDB', StorageFull),
            (1030, "Got error 168 from storage engine InnoDB", BackendError),
            (1026, "Error writing file (Errcode: 28)", StorageFull),
            (1153, "Got a packet bigger than 'max_allowed_packet' bytes", TooLarge),
            (1290, "running with the --read-only option", Denied),
            (1040, "Too many connections", Unavailable),
            (1205, "Lock wait timeout exceeded", Unavailable),
            (1969, "max_statement_time exceeded", Unavailable),
            (2013, "Lost connection", Unavailable),
            (1712, "Index is corrupted", Corrupt),
            (1146, "Table doesn't exist", BackendError),
        ],
    )
    def test_of_mariadb(self, code: int, words: str, kind: type[BackendError]) -> None:
        dialect: Any = opened("mysql://h/d")._dialect
        assert isinstance(dialect, MySQL)

        assert type(dialect.failure(pymysql.err.OperationalError(code, words))) is kind

    def test_of_a_conversation_out_of_step(self) -> None:
        dialect: Any = opened("mysql://h/d")._dialect

        assert type(dialect.failure(pymysql.err.InterfaceError(0, ""))) is Unavailable
        assert type(dialect.failure(pymysql.err.InternalError("Packet sequence number wrong"))) is Unavailable


class TestPartlyDeleted:
    def test_the_keys_that_are_still_there_are_named(self, tmp_path: Path) -> None:
        backend = opened(f"sqlite:///{tmp_path}/objects.db?timeout=20ms")
        keys = [f"k/{number:03}" for number in range(150)]
        for key in keys:
            backend.put(key, b"")
        run_sql(
            backend,
            "CREATE TRIGGER stop BEFORE DELETE ON {table} WHEN old.object_key = 'k/120' "
            "BEGIN SELECT raise(ABORT, 'no'); END",
        )

        with pytest.raises(PartialDelete) as caught:
            backend.delete(keys)

        assert sorted(caught.value.failed) == keys[100:]
        assert [item.key for item in backend.list().items] == keys[100:]
        backend.close()

    def test_an_error_of_the_only_statement_is_itself(self, tmp_path: Path) -> None:
        backend = opened(f"sqlite:///{tmp_path}/missing/objects.db")

        failure_of(lambda: backend.delete(["a", "b"]), BackendError)


def test_a_key_is_named_by_its_error(backend: SQLBackend) -> None:
    backend.put("k", CONTENT)

    with pytest.raises(AlreadyExists) as caught:
        backend.put("k", CONTENT)

    assert caught.value.key == "k"
    assert caught.value.__cause__ is not None
