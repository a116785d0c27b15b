"""What the backend has to know of one database; the databases differ in this and in nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol

from sqlalchemy import Engine

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
from offloadkit_sql.statements import Statements

__all__ = ["COMMON_OPTIONS", "Dialect", "Rows", "check_url", "failure"]

Rows = list[tuple[Any, ...]]

COMMON_OPTIONS: Final = (
    Option(name="table", default="offloadkit_objects", help="the table; it is made on first use"),
    Option(name="timeout", kind="seconds", default=2.0, help="how long to wait for the database or a lock"),
    Option(name="pool_size", kind="integer", default=5, help="connections at most, per process"),
)

_MEANING: Final[Mapping[type[BackendError], str]] = {
    AlreadyExists: "already holds this key; objects are written once and never replaced",
    Unavailable: "did not answer in time, or is busy; the same call may succeed a moment later",
    Denied: "refused; check user, password, database name and permissions",
    StorageFull: "has no room left; free some, or raise its limit",
    TooLarge: "takes no value of this size; raise its packet or value limit",
    Corrupt: "reports damaged data; restore it from a backup",
}


class Dialect(Protocol):
    """One database at one place. ``connection`` is always the driver's own.

    Attributes:
        place: What messages call it, without secrets.
        persistent: False for a database that lives in this process alone.
        pool_size: Connections at most.
        rests_for_fork: True where a child forked in the middle of a call would hang.
        begin: The statement that begins a transaction that will write.
        lock: What a SELECT ends with to lock its rows and pass over those that others hold.
        slice: The expression for ``tail`` bytes of ``data`` from ``head``, counted from 1.
    """

    place: str
    persistent: bool
    pool_size: int
    rests_for_fork: bool
    begin: str
    lock: str
    slice: str

    def engine(self) -> Engine:
        """Make an engine whose connections commit by themselves. No I/O."""
        ...

    def prepare_database(self, connection: Any, /) -> None:
        """Do what has to be done before the first table is made."""
        ...

    def fetch_slice(self, connection: Any, statements: Statements, parameters: Mapping[str, Any]) -> Rows:
        """Return size and part of one row, by the parameters of `Statements.read_slice`."""
        ...

    def fetch(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> Rows:
        """Run a statement and return its rows."""
        ...

    def execute(self, connection: Any, statement: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement and return how many rows it touched."""
        ...

    def insert(self, connection: Any, statement: str, rows: Iterator[Mapping[str, Any]]) -> None:
        """Insert the rows of one object in one transaction."""
        ...

    def reclaim(self, connection: Any, /) -> None:
        """Give the space of deleted rows back, where the database does not do so by itself."""
        ...

    def is_usable(self, connection: Any, error: BaseException, /) -> bool:
        """Say whether the connection can be used again after ``error``."""
        ...

    def may_repeat(self, error: BaseException, failures: int, seconds: float, /) -> bool:
        """Say whether what failed, and changed nothing, may simply be tried again.

        Args:
            error: Of the last attempt.
            failures: How many attempts failed.
            seconds: Time since the first failure.
        """
        ...

    def failure(self, error: BaseException) -> BackendError:
        """Return what to raise for a driver's error."""
        ...


def failure(kind: type[BackendError], place: str, code: object) -> BackendError:
    """Return an error of ``kind``. Of what the driver said its message holds ``code`` alone."""
    meaning = _MEANING.get(kind, "failed; the driver's error, which is the cause of this one, says how")
    return kind(f"{place} {meaning} ({code})")


def check_url(url: BackendURL, *, driver: str) -> None:
    """Raise `ConfigError` for another driver than ours, a pool without connections or no time to wait."""
    if url.engine not in {"", driver}:
        raise ConfigError(
            f"{url.scheme}:// works through {driver}; write {url.scheme}://, not {url.full_scheme}://"
        )
    if url.options["pool_size"] < 1:
        raise ConfigError("the option 'pool_size' takes a number from 1")
    if url.options["timeout"] <= 0:
        raise ConfigError("the option 'timeout' takes a duration above 0")
