"""PostgreSQL through psycopg 3: binary results, prepared statements, pipelined writes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import NullPool

from offloadkit.errors import (
    AlreadyExists,
    BackendError,
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
from offloadkit_sql.watching import WatchedConnection

__all__ = ["PostgreSQL", "PostgreSQLBackend"]

_SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_PASSED_ON: Final = ("host", "sslmode", "sslrootcert", "sslcert", "sslkey")

# Whole SQLSTATEs first, then classes. https://www.postgresql.org/docs/current/errcodes-appendix.html
_FAILURES: Final[Mapping[str, type[BackendError]]] = {
    "23505": AlreadyExists,
    "25006": Denied,
    "3D000": Denied,
    "42501": Denied,
    "53100": StorageFull,
    "53400": StorageFull,
    "54000": TooLarge,
    "55P03": Unavailable,
    "57014": Unavailable,
    "XX001": Corrupt,
    "XX002": Corrupt,
    "08": Unavailable,
    "28": Denied,
    "40": Unavailable,
    "53": Unavailable,
    "57": Unavailable,
}
_DEADLOCKS: Final = {"40001", "40P01"}

# A refused login has no SQLSTATE in libpq, only a text.
_REFUSALS: Final = (
    "authentication failed",
    "no pg_hba.conf entry",
    "no password supplied",
    "does not exist",
    "permission denied",
    "not permitted to log in",
    "certificate",
    "server does not support SSL",
)


class PostgreSQLBackend(SQLBackend):
    """``postgresql://user:password@host:5432/database``; several hosts are joined by commas."""

    options: ClassVar = (
        *COMMON_OPTIONS,
        Option(name="host", help="the directory of the server's Unix socket, instead of a host"),
        Option(name="sslmode", kind="choice", choices=_SSL_MODES, help="as in libpq"),
        Option(name="sslrootcert", help="file with the certificates of the authorities to trust"),
        Option(name="sslcert", help="file with the client's certificate"),
        Option(name="sslkey", help="file with the client's private key"),
        Option(
            name="prepare",
            kind="boolean",
            default=True,
            help="prepare statements on the server; false behind a pooler that shares its connections",
        ),
    )

    @classmethod
    def from_url(cls, url: BackendURL) -> PostgreSQLBackend:
        """Make a backend, without any I/O. Raises `ConfigError`."""
        check_url(url, driver="psycopg")
        login = {"user": url.username, "password": url.password, "dbname": url.path.removeprefix("/")}
        passed_on = {name: url.options[name] for name in _PASSED_ON if url.options[name]}
        arguments = {**_hosts(url), **login, **passed_on}
        dialect = PostgreSQL(
            {name: value for name, value in arguments.items() if value},
            timeout=url.options["timeout"],
            pool_size=url.options["pool_size"],
            prepare=url.options["prepare"],
        )
        return cls(dialect, table=url.options["table"])


class PostgreSQL:
    """One database of one server; ``arguments`` are those of libpq."""

    persistent = True
    rests_for_fork = False
    begin = "BEGIN"
    lock = "FOR UPDATE SKIP LOCKED"
    slice = "substr(data, :head, :tail)"

    def __init__(
        self, arguments: Mapping[str, Any], *, timeout: float = 2.0, pool_size: int = 5, prepare: bool = True
    ) -> None:
        self.place = f"the PostgreSQL server at {_address(arguments)}"
        self.pool_size = pool_size
        self._silence = 2 * timeout + 1
        self._timeout = f"{math.ceil(timeout * 1000)}ms"
        self._arguments = {
            **arguments,
            "autocommit": True,
            "connect_timeout": math.ceil(timeout),
            "tcp_user_timeout": math.ceil(timeout * 1000),
            "prepare_threshold": 5 if prepare else None,
        }

    def engine(self) -> Engine:
        """Make an engine. No I/O."""
        return create_engine(
            "postgresql+psycopg://",
            creator=self._connect,
            poolclass=NullPool,
            pool_reset_on_return=None,
            hide_parameters=True,
            use_native_hstore=False,
        )

    def prepare_database(self, _connection: Any) -> None:
        """Do nothing: a database is there, or it is not."""

    def fetch_slice(self, connection: Any, statements: Statements, parameters: Mapping[str, Any]) -> Rows:
        """Return size and part of one row."""
        return self.fetch(connection, statements.read_slice, parameters)

    def fetch(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> Rows:
        """Run a statement and return its rows, in binary: as text, each byte would come as two characters."""
        return connection.execute(statement, parameters, binary=True).fetchall()  # type: ignore[no-any-return]

    def execute(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement and return how many rows it touched."""
        return int(connection.execute(statement, parameters).rowcount)

    def insert(self, connection: Any, statement: str, rows: Iterator[Mapping[str, Any]]) -> None:
        """Insert the rows of one object in one transaction and, by a pipeline, one round trip."""
        first = next(rows)
        if first["size"] <= CHUNK_BYTES:
            connection.execute(statement, first)
            return
        with connection.pipeline(), connection.transaction():
            for row in itertools.chain((first,), rows):
                connection.execute(statement, row)

    def reclaim(self, _connection: Any) -> None:
        """Do nothing: autovacuum does it."""

    def is_usable(self, connection: Any, _error: BaseException) -> bool:
        """Say whether the connection is open and waits for nothing."""
        return not connection.closed and connection.info.transaction_status != TransactionStatus.ACTIVE

    def may_repeat(self, error: BaseException, failures: int, _seconds: float) -> bool:
        """Say yes once for a transaction that was sacrificed to another one."""
        return failures == 1 and getattr(error, "sqlstate", None) in _DEADLOCKS

    def failure(self, error: BaseException) -> BackendError:
        """Return what to raise for a driver's error."""
        state = getattr(error, "sqlstate", None)
        if state is not None:
            kind = _FAILURES.get(state) or _FAILURES.get(state[:2], BackendError)
            return failure(kind, self.place, f"SQLSTATE {state}")
        if not isinstance(error, psycopg.OperationalError):
            return failure(BackendError, self.place, type(error).__name__)
        refused = any(words in str(error) for words in _REFUSALS)
        return failure(Denied if refused else Unavailable, self.place, type(error).__name__)

    def _connect(self) -> psycopg.Connection[TupleRow]:
        connection = WatchedConnection.connect(**self._arguments)
        try:
            connection.silence = self._silence
            self._configure(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _configure(self, connection: psycopg.Connection[TupleRow]) -> None:
        settings = {"statement_timeout": self._timeout, "lock_timeout": self._timeout}
        if connection.info.server_version >= 130000:
            # A server may be set to quote the parameters of a failed statement, which are stored content.
            settings["log_parameter_max_length_on_error"] = "0"
        calls = ", ".join("set_config(%s, %s, false)" for _ in settings)
        names_and_values = list(itertools.chain.from_iterable(settings.items()))
        connection.execute(f"SELECT {calls}", names_and_values)


def _hosts(url: BackendURL) -> dict[str, str]:
    """Return libpq's two lists, of hosts and of ports."""
    names = ",".join(name for name, _ in url.hosts)
    ports = ",".join("" if port is None else str(port) for _, port in url.hosts)
    return {"host": names, "port": ports if ports.strip(",") else ""}


def _address(arguments: Mapping[str, Any]) -> str:
    hosts, ports = (str(arguments.get(name, "")).split(",") for name in ("host", "port"))
    pairs = itertools.zip_longest(hosts, ports, fillvalue="")
    return ",".join(f"{host}:{port}" if port else host for host, port in pairs) or "its default address"
