"""psycopg waits for ever for a server that took a statement and says no more; here it gives up.

The server's own ``statement_timeout`` ends a slow statement. This is for a server, or a network, that is not
there any more and never said so.
"""

from __future__ import annotations

import math
import time
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow
from psycopg.waiting import Ready

__all__ = ["WatchedConnection"]

_T = TypeVar("_T")


class _Silent(psycopg.OperationalError):
    """The server accepted a statement and then said nothing at all."""


class WatchedConnection(psycopg.Connection[TupleRow]):
    """A connection that gives up on a silent server.

    Attributes:
        silence: Seconds without any sign of it.
    """

    silence = math.inf

    def wait(self, gen: PQGen[_T], *arguments: Any, **options: Any) -> _T:
        """Do as psycopg does, and close the connection when the server stays silent."""
        try:
            return super().wait(_watched(gen, self.silence), *arguments, **options)
        except _Silent:
            self.close()
            raise


def _watched(steps: PQGen[_T], silence: float) -> PQGen[_T]:
    """Pass every step on, and raise `_Silent` once ``silence`` seconds have passed without any."""
    since: float | None = None
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if ready != Ready.NONE:
                since = None
            elif since is None:
                since = time.monotonic()
            elif time.monotonic() - since > silence:
                raise _Silent(f"the server was silent for {silence:g} seconds")
            wanted = steps.send(ready)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
