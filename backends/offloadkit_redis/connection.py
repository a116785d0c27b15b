"""One client per process, made at the first call; lost connections are tried again a few times.

The driver has retries of its own, ten of them by default. They are switched off where `offloadkit_redis.urls`
makes the client, so that a server that is down is known to be down in a tenth of a second.
"""

from __future__ import annotations

import itertools
import logging
import os
import random
import time
from collections.abc import Callable
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from redis.exceptions import ResponseError

from offloadkit.errors import BackendError
from offloadkit_redis.faults import DRIVER_ERRORS, fault, is_lost_connection

__all__ = ["Client", "Connection"]

Client = Any
"""A `redis.Redis` or a `redis.RedisCluster`: the driver gives both the same methods and no common type."""

_PAUSE_SECONDS: Final = 0.02

_log = logging.getLogger("offloadkit")
_T = TypeVar("_T")
_P = ParamSpec("_P")


class Connection:
    """What stands between the backend and the driver.

    It holds no lock: a child that was forked while another thread held one would wait for ever. A child makes
    a client of its own and leaves its parent's alone.

    Attributes:
        place: The server in words that hold no secret.
    """

    def __init__(self, connect: Callable[[], Client], *, place: str, retries: int) -> None:
        self.place = place
        self._connect = connect
        self._retries = retries
        self._clients: dict[int, Client] = {}
        self._evicts: bool | None = None
        self._warnings = itertools.count()
        self._closed = False

    @property
    def evicts(self) -> bool:
        """True when the server may drop objects before they expire; known after the first call."""
        return bool(self._evicts)

    def run(
        self,
        key: str | None,
        work: Callable[Concatenate[Client, _P], _T],
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _T:
        """Return ``work(client, …)``; what the driver raises comes out as an error of ours about ``key``."""
        attempt = 1
        while True:
            try:
                return work(self._client(), *args, **kwargs)
            except DRIVER_ERRORS as error:
                if attempt > self._retries or self._closed or not is_lost_connection(error):
                    raise fault(error, self.place, key) from error
            except BackendError:
                raise
            except Exception as error:
                self.check_open(error)  # a client that was closed in the middle of a call fails in any way
                raise
            time.sleep(random.uniform(0, _PAUSE_SECONDS * attempt))  # noqa: S311  no secret depends on it
            attempt += 1

    def close(self) -> None:
        """Close the connections of this process; twice is fine."""
        self._closed = True
        client = self._clients.pop(os.getpid(), None)
        if client is not None:
            client.close()

    def check_open(self, cause: BaseException | None = None) -> None:
        """Raise `BackendError` after `close`."""
        if self._closed:
            raise BackendError(f"the backend for {self.place} was closed; open it again to use it") from cause

    def _client(self) -> Client:
        self.check_open()
        client = self._clients.get(os.getpid())
        if client is None:
            client = self._connect()
            first = self._clients.setdefault(os.getpid(), client)
            if first is not client:
                client.close()
                client = first
        if self._evicts is None:
            self._evicts = self._look_for_eviction(client)
        return client

    def _look_for_eviction(self, client: Client) -> bool:
        policy = _eviction_policy(client)
        if policy in {"", "noeviction"}:
            return False
        if next(self._warnings) == 0:
            _log.warning(
                "%s drops keys when its memory is full (maxmemory-policy %s): stored results may be gone "
                "before they expire; set maxmemory-policy to noeviction",
                self.place,
                policy,
            )
        return True


def _eviction_policy(client: Client) -> str:
    """Return the policy that is in force, or "" where memory has no limit or the server does not tell."""
    try:
        memory = client.info("memory")
    except ResponseError:
        return ""
    if memory and all(isinstance(node, dict) for node in memory.values()):
        memory = next(iter(memory.values()))
    return str(memory.get("maxmemory_policy", "")) if memory.get("maxmemory") else ""
