"""One client per process: opened by the first call, closed for good, left alone by a forked child."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from offloadkit.errors import BackendError

__all__ = ["Connection"]

_Client = TypeVar("_Client")


class Connection(Generic[_Client]):
    """Holds the client of one backend. Safe to use from many threads."""

    def __init__(
        self,
        place: str,
        make: Callable[[], _Client],
        *,
        close: Callable[[_Client], object],
        refused_after_fork: str = "",
    ) -> None:
        """Make a connection that is not open yet.

        Args:
            place: Where it leads, for messages.
            make: Opens a client.
            close: Closes one.
            refused_after_fork: Why a forked child may not open one of its own, or "" when it may.
        """
        self._place = place
        self._make = make
        self._close = close
        self._refused_after_fork = refused_after_fork
        self._refusal = ""
        self._client: _Client | None = None
        self._inherited: list[_Client | None] = []
        self._lock = threading.Lock()
        _LIVING.add(self)

    def client(self) -> _Client:
        """Return the client of this process. Raises `BackendError` after `close`, or in a refused child."""
        client = self._client
        if client is not None and not self._refusal:
            return client
        with self._lock:
            self.check_open()
            if self._client is None:
                self._client = self._make()
            return self._client

    def drop(self, client: _Client) -> None:
        """Close a client that has lost its store, so that the next call makes a new one."""
        with self._lock:
            if self._client is client:
                self._client = None
        self._close(client)

    def check_open(self) -> None:
        """Raise `BackendError` when there is no client to be had."""
        if self._refusal:
            raise BackendError(f"{self._place} {self._refusal}")

    def close(self) -> None:
        """Close the client; twice is fine. Inherited ones belong to the parent and stay open."""
        with self._lock:
            client, self._client = self._client, None
            self._refusal = "was closed; open it again to use it"
        if client is not None:
            self._close(client)

    def leave_to_parent(self) -> None:
        """Start anew in a forked child, with a lock that no thread of the parent holds.

        The inherited client is kept: its destructor would talk over the connection of the parent.
        """
        self._lock = threading.Lock()
        self._inherited.append(self._client)
        self._client = None
        self._refusal = self._refusal or self._refused_after_fork


_LIVING: weakref.WeakSet[Connection[Any]] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for connection in list(_LIVING):
        connection.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
