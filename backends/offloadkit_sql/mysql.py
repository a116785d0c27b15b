"""MariaDB (from 10.6) and MySQL (from 8.0) through PyMySQL."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import pymysql
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import NullPool

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

__all__ = ["MySQL", "MySQLBackend"]

_PASSED_ON: Final = ("unix_socket", "ssl_ca", "ssl_cert", "ssl_key")

# https://mariadb.com/kb/en/mariadb-error-code-reference/ (codes from 2000 are those of the client)
_FAILURES: Final[Mapping[type[BackendError], frozenset[int]]] = {
    AlreadyExists: frozenset({1062}),
    Denied: frozenset({1044, 1045, 1049, 1130, 1142, 1143, 1227, 1251, 1290, 1698, 1792, 1836}),
    StorageFull: frozenset({1021, 1114}),
    TooLarge: frozenset({1153, 2020}),
    Corrupt: frozenset({1034, 1194, 1712, 1877}),
    Unavailable: frozenset(
        {1040, 1053, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1317, 1927, 1969, 3024, 4031}
        | {2002, 2003, 2005, 2006, 2013, 2014, 2055}
    ),
}
_DEADLOCK: Final = 1213
_SYSTEM_ERRORS: Final = {3, 1026, 1030}
_NO_SPACE: Final = re.compile(r"\b(?:28|122)\b")


class MySQLBackend(SQLBackend):
    """``mysql://user:password@host:3306/database``, and the same with ``mariadb://``."""

    options: ClassVar = (
        *COMMON_OPTIONS,
        Option(name="unix_socket", help="the server's Unix socket, instead of a host"),
        Option(name="ssl_ca", help="file with the certificates of the authorities to trust; asks for TLS"),
        Option(name="ssl_cert", help="file with the client's certificate"),
        Option(name="ssl_key", help="file with the client's private key"),
        Option(
            name="ssl_verify_identity",
            kind="boolean",
            default=True,
            help="with ssl_ca: the server's certificate must name the host",
        ),
    )

    @classmethod
    def from_url(cls, url: BackendURL) -> MySQLBackend:
        """Make a backend, without any I/O. Raises `ConfigError`."""
        check_url(url, driver="pymysql")
        database = url.path.removeprefix("/")
        if not database:
            raise ConfigError(f"{url} names no database; write {url.scheme}://host/database")
        options = {name: url.options[name] for name in _PASSED_ON if url.options[name]}
        if "ssl_ca" in options:
            options["ssl_verify_identity"] = url.options["ssl_verify_identity"]
        if url.password is not None:
            options["password"] = url.password.encode()  # as text it would have to be Latin-1
        place = URL.create(
            "mysql+pymysql", url.username, host=url.host or "localhost", port=url.port, database=database
        )
        dialect = MySQL(place, options, timeout=url.options["timeout"], pool_size=url.options["pool_size"])
        return cls(dialect, table=url.options["table"])


class MySQL:
    """One database of one server; ``options`` are those of `pymysql.connect`."""

    persistent = True
    rests_for_fork = False
    begin = "BEGIN"
    lock = "FOR UPDATE SKIP LOCKED"
    slice = "substr(data, :head, :tail)"

    def __init__(
        self, url: URL, options: Mapping[str, Any], *, timeout: float = 2.0, pool_size: int = 5
    ) -> None:
        self.place = (
            f"the database server at {options.get('unix_socket') or f'{url.host}:{url.port or 3306}'}"
        )
        self.pool_size = pool_size
        self._url = url
        self._timeout = timeout
        # The client waits longer than the server, so that it hears the server's own answer.
        silence = 2 * timeout + 1
        self._arguments = {
            **options,
            "autocommit": True,
            "charset": "utf8mb4",
            "binary_prefix": True,  # else the server looks for text in the bytes, and warns
            "connect_timeout": timeout,
            "read_timeout": silence,
            "write_timeout": silence,
        }

    def engine(self) -> Engine:
        """Make an engine. No I/O."""
        engine = create_engine(
            self._url,
            poolclass=NullPool,
            connect_args=self._arguments,
            pool_reset_on_return=None,
            hide_parameters=True,
        )
        event.listen(engine, "connect", self._configure)
        return engine

    def prepare_database(self, _connection: Any) -> None:
        """Do nothing: a database is there, or it is not."""

    def fetch_slice(self, connection: Any, statements: Statements, parameters: Mapping[str, Any]) -> Rows:
        """Return size and part of one row."""
        return self.fetch(connection, statements.read_slice, parameters)

    def fetch(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> Rows:
        """Run a statement and return its rows."""
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return list(cursor.fetchall())

    def execute(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement and return how many rows it touched."""
        with connection.cursor() as cursor:
            return int(cursor.execute(statement, parameters))

    def insert(self, connection: Any, statement: str, rows: Iterator[Mapping[str, Any]]) -> None:
        """Insert the rows of one object in one transaction. A single statement is one by itself."""
        first = next(rows)
        with connection.cursor() as cursor:
            if first["size"] <= CHUNK_BYTES:
                cursor.execute(statement, first)
                return
            connection.begin()
            # Several rows go into one statement, up to 1 MB of it.
            cursor.executemany(statement, itertools.chain((first,), rows))
            connection.commit()

    def reclaim(self, _connection: Any) -> None:
        """Do nothing: InnoDB does it."""

    def is_usable(self, connection: Any, error: BaseException) -> bool:
        """Say yes only for an answer of the server: after anything else the next one may be out of step."""
        answered = isinstance(error, pymysql.MySQLError) and 1000 <= _code(error) < 2000
        return answered and connection.open and _code(error) not in {1053, 1927}

    def may_repeat(self, error: BaseException, failures: int, _seconds: float) -> bool:
        """Say yes once for a transaction that was sacrificed to another one."""
        return failures == 1 and _code(error) == _DEADLOCK

    def failure(self, error: BaseException) -> BackendError:
        """Return what to raise for a driver's error."""
        code = _code(error)
        kind = next((kind for kind, codes in _FAILURES.items() if code in codes), BackendError)
        if code in _SYSTEM_ERRORS and _NO_SPACE.search(str(error)):
            kind = StorageFull
        elif not code and isinstance(error, pymysql.err.InterfaceError | pymysql.err.InternalError):
            kind = Unavailable
        return failure(kind, self.place, f"error {code}" if code else type(error).__name__)

    def _configure(self, connection: Any, _record: object) -> None:
        """Wait no longer than the timeout; lock no gaps, so that sweeping and writing go side by side."""
        seconds = math.ceil(self._timeout)
        settings = (
            f"innodb_lock_wait_timeout = {seconds}, lock_wait_timeout = {seconds}, "
            "sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')"
        )
        if "MariaDB" in connection.get_server_info():
            settings += f", max_statement_time = {self._timeout}"
        with connection.cursor() as cursor:
            cursor.execute(f"SET SESSION {settings}")
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")


def _code(error: BaseException) -> int:
    """Return the number of an error of the server or the client, or 0."""
    code = error.args[0] if isinstance(error, pymysql.MySQLError) and error.args else 0
    return code if isinstance(code, int) else 0
