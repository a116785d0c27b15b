"""A small pool of connections that SQLAlchemy makes.

SQLAlchemy's own pool takes 5 µs for a checkout (measured), as much as SQLite takes to read 1 KB. This one
takes a twentieth of that, repeats what fell victim to a lost connection or to a deadlock, and goes on in a
forked child.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import Connection

from offloadkit.errors import BackendError, Unavailable
from offloadkit_sql.dialect import Dialect
from offloadkit_sql.forking import watch
from offloadkit_sql.slots import Slots

__all__ = ["Connections", "driver_error"]

WAIT_SECONDS: Final = 30.0
FORK_WAIT_SECONDS: Final = 5.0

_T = TypeVar("_T")

_inherited: list[object] = []
"""Connections of the parent process, which must not be collected in this one."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """An open connection: that of SQLAlchemy Core, and the driver's own inside it."""

    core: Connection
    driver: Any

    def could_roll_back(self) -> bool:
        """End the transaction, and say whether that was possible."""
        try:
            self.core.rollback()
            self.driver.rollback()
        except Exception:  # noqa: BLE001  whatever goes wrong here, the connection is of no more use
            return False
        return True


class Connections:
    """At most ``dialect.pool_size`` connections, each used by one thread at a time.

    Attributes:
        engine: Makes the connections.
        setup: Held by the thread that makes the table.
        refused: Why there are no connections any more, or "".
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.refused = ""
        self._at_rest: list[_Opened | None] = []
        self._start()
        watch(self)

    def run(self, work: Callable[..., _T], *arguments: Any, core: bool = False) -> _T:
        """Return ``work(connection, *arguments)``, repeated where the connection was lost or the time bad.

        ``connection`` is the driver's own, or with ``core`` that of SQLAlchemy Core.
        """
        failures = 0
        first_failure = 0.0
        while True:
            opened = self._take()
            try:
                result = work(opened.core if core else opened.driver, *arguments)
            except BaseException as error:
                failures += 1
                first_failure = first_failure or time.monotonic()
                if not self._settle(opened, error, failures, time.monotonic() - first_failure):
                    raise
            else:
                self._give_back(opened)
                return result

    def check_open(self) -> None:
        """Raise `BackendError` where `refused` says why."""
        if self.refused:
            raise BackendError(f"the backend for {self._dialect.place} {self.refused}")

    def close(self) -> None:
        """Close what is idle now, and the others as soon as they are given back."""
        self.refused = "was closed; open it again to use it"
        self._close_idle()

    def before_fork(self) -> None:
        """Wait until no call is in progress, where a child would hang otherwise."""
        if not self._dialect.rests_for_fork:
            return
        give_up = time.monotonic() + FORK_WAIT_SECONDS
        try:
            while len(self._at_rest) < self._dialect.pool_size:
                self._at_rest.append(self._slots.take(give_up - time.monotonic()))
        except TimeoutError:
            pass  # the child finds some of them missing

    def after_fork_in_parent(self) -> None:
        """Let calls go on."""
        while self._at_rest:
            self._slots.give_back(self._at_rest.pop())

    def after_fork_in_child(self) -> None:
        """Leave all connections to the parent."""
        _inherited.append((self.engine, self._slots, self._at_rest))
        self.refused = self.refused or self._refused_in_child()
        self._at_rest = []
        self._start()

    def _refused_in_child(self) -> str:
        if not self._dialect.persistent:
            return "belongs to the process that this one was forked from"
        if self._dialect.rests_for_fork and len(self._at_rest) < self._dialect.pool_size:
            return "was busy when this process was forked; open it again to use it"
        return ""

    def _start(self) -> None:
        self.engine = self._dialect.engine()
        self.setup = threading.Lock()
        empty: list[_Opened | None] = [None] * self._dialect.pool_size
        self._slots = Slots(empty)

    def _take(self) -> _Opened:
        try:
            slot = self._slots.take(WAIT_SECONDS)
        except TimeoutError:
            raise Unavailable(
                f"all {self._dialect.pool_size} connections to {self._dialect.place} were in use "
                f"for {WAIT_SECONDS:g} seconds; raise the option 'pool_size'"
            ) from None
        if slot is not None and not self.refused:
            return slot
        try:
            self.check_open()
            return self._connect()
        except BaseException:
            self._slots.give_back(slot)
            raise

    def _connect(self) -> _Opened:
        try:
            connection = self.engine.connect()
            return _Opened(connection, connection.connection.dbapi_connection)
        except Exception as error:  # noqa: BLE001  drivers let errors of files, names and encodings through
            cause = driver_error(error)
            raise self._dialect.failure(cause) from cause

    def _give_back(self, opened: _Opened) -> None:
        self._slots.give_back(opened)
        if self.refused:
            self._close_idle()

    def _settle(self, opened: _Opened, error: BaseException, failures: int, seconds: float) -> bool:
        """Keep or drop a connection after ``error``; say whether to try again."""
        cause = driver_error(error)
        if self._dialect.is_usable(opened.driver, cause) and opened.could_roll_back():
            self._give_back(opened)
            return self._dialect.may_repeat(cause, failures, seconds)
        opened.core.invalidate()
        opened.core.close()
        self._slots.give_back(None)
        self._close_idle()
        return failures == 1 and isinstance(error, Exception)

    def _close_idle(self) -> None:
        for slot in self._slots.take_free():
            if slot is not None:
                slot.core.close()
            self._slots.give_back(None)
        if self.refused:
            self.engine.dispose()


def driver_error(error: BaseException) -> BaseException:
    """Return the driver's error inside one of SQLAlchemy, or the error itself."""
    return getattr(error, "orig", None) or error
