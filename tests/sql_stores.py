"""The databases that the tests of the SQL backend run on, and how they are reached.

``OFFLOADKIT_TEST_POSTGRESQL`` and ``OFFLOADKIT_TEST_MARIADB`` name other servers. Every process that runs
tests has a table of its own, dropped at the end of each module.
"""

from __future__ import annotations

import os
import traceback
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import pymysql
import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from offloadkit.testing import backend_machine
from offloadkit.url import BackendURL, parse_url
from offloadkit_sql import MySQLBackend, PostgreSQLBackend, SQLiteBackend
from offloadkit_sql.backend import SQLBackend

POSTGRESQL = os.environ.get("OFFLOADKIT_TEST_POSTGRESQL", "postgresql://postgres@127.0.0.1:5432/test")
MARIADB = os.environ.get("OFFLOADKIT_TEST_MARIADB", "mariadb://root@127.0.0.1:3306/test")

SHARED = frozenset(
    {"persistent", "shared", "atomic_create", "ordered", "fork", "set_expiry", "sweep", "ping"}
)
"""What the contract must not skip for a database that several processes see."""

STORES = (
    "sqlite",
    "memory",
    pytest.param("postgresql", marks=pytest.mark.server),
    pytest.param("mariadb", marks=pytest.mark.server),
)
"""What `store_url` takes, for ``pytest.fixture(params=STORES)``."""

SHARED_STORES = tuple(store for store in STORES if store != "memory")

_CLASSES: dict[str, type[SQLiteBackend | PostgreSQLBackend | MySQLBackend]] = {
    "sqlite": SQLiteBackend,
    "postgresql": PostgreSQLBackend,
    "mysql": MySQLBackend,
    "mariadb": MySQLBackend,
}


def opened(url: str) -> SQLBackend:
    """Open a backend as the registry does."""
    parsed = parse_url(url)
    backend_class = _CLASSES[parsed.scheme]
    return backend_class.from_url(parsed.with_options(backend_class.options))


def explore(url: str, *, instances: int, examples: int) -> None:
    """Let Hypothesis use ``instances`` of a backend and a dictionary side by side."""
    machine = backend_machine(lambda: opened(url), instances=instances)
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=30, deadline=None)
    )


def new_table() -> str:
    return f"offloadkit_test_{uuid.uuid4().hex[:12]}"


def with_table(url: str, table: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}table={table}"


def connect_postgresql() -> psycopg.Connection[Any]:
    """Connect to the server, or skip; fail where CI is set."""
    try:
        return psycopg.connect(POSTGRESQL, autocommit=True, connect_timeout=2)
    except psycopg.OperationalError as error:
        _missing("PostgreSQL", POSTGRESQL, error)


def connect_mariadb() -> Any:
    """Connect to the server, or skip; fail where CI is set."""
    url = parse_url(MARIADB)
    try:
        return pymysql.connect(autocommit=True, connect_timeout=2, **mariadb_login(url))
    except pymysql.OperationalError as error:
        _missing("MariaDB", MARIADB, error)


def mariadb_login(url: BackendURL) -> dict[str, Any]:
    return {
        "host": url.host,
        "port": url.port or 3306,
        "user": url.username,
        "password": url.password or "",
        "database": url.path.removeprefix("/"),
    }


@contextmanager
def postgresql_table() -> Iterator[str]:
    """Yield the URL of a table of one's own; drop it afterwards."""
    with connect_postgresql() as connection:
        table = new_table()
        try:
            yield with_table(POSTGRESQL, table)
        finally:
            connection.execute(f"DROP TABLE IF EXISTS {table}")


@contextmanager
def mariadb_table() -> Iterator[str]:
    """Yield the URL of a table of one's own; drop it afterwards."""
    with closing(connect_mariadb()) as connection, connection.cursor() as cursor:
        table = new_table()
        try:
            yield with_table(MARIADB, table)
        finally:
            cursor.execute(f"DROP TABLE IF EXISTS {table}")


@contextmanager
def store_url(store: str, folder: Path) -> Iterator[str]:
    """Yield the URL of an empty store."""
    if store == "postgresql":
        with postgresql_table() as url:
            yield url
    elif store == "mariadb":
        with mariadb_table() as url:
            yield url
    else:
        yield f"sqlite:///{folder}/objects.db?synchronous=normal" if store == "sqlite" else "sqlite://"


def run_sql(backend: SQLBackend, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Run a statement on a connection of the backend; ``{table}`` in it is the backend's table."""

    def work(connection: Any) -> list[tuple[Any, ...]]:
        cursor = connection.cursor()
        cursor.execute(statement.format(table=backend._table.name), parameters)
        return list(cursor.fetchall()) if cursor.description else []

    return backend._connections.run(work)


def whole_chain(error: BaseException) -> str:
    """Return all that a program would log of an error, causes and contexts included."""
    links: list[BaseException] = [error]
    for link in links:
        for inner in (link.__cause__, link.__context__):
            assert inner is not error, "the chain of causes goes round in a circle"
            if inner is not None and inner not in links:
                links.append(inner)
    texts = [f"{link!r} {link}" for link in links]
    return "\n".join([*texts, *traceback.format_exception(error)])


def _missing(server: str, url: str, error: Exception) -> NoReturn:
    reason = f"no {server} at {parse_url(url)}: {type(error).__name__}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
