"""From the driver's errors to ours.

No text of the server is taken over: an answer such as "unknown command … with args beginning with …" repeats
what was sent. The driver's error is chained by whoever raises.
"""

from __future__ import annotations

import re
from typing import Final

from redis import exceptions as driver

from offloadkit.errors import BackendError, Denied, StorageFull, TooLarge, Unavailable

__all__ = ["DRIVER_ERRORS", "fault", "is_lost_connection"]

DRIVER_ERRORS: Final = (driver.RedisError, driver.RedisClusterException)
"""Everything the driver raises on purpose; its errors have no common base."""

Fault = tuple[type[BackendError], str]

_BY_CLASS: Final[tuple[tuple[type[BaseException], Fault], ...]] = (
    (driver.AuthenticationError, (Denied, "user or password is wrong or missing")),
    (driver.AuthenticationWrongNumberOfArgsError, (Denied, "it takes no user, or no password")),
    (driver.AuthorizationError, (Denied, "the user may not do this")),
    (driver.NoPermissionError, (Denied, "the user may not do this; see ACL SETUSER")),
    (driver.ReadOnlyError, (Denied, "it is a read-only replica; name its primary")),
    (driver.OutOfMemoryError, (StorageFull, "its maxmemory is used up")),
    (driver.BusyLoadingError, (Unavailable, "it is loading its data")),
    (driver.MaxConnectionsError, (Unavailable, "too many connections are open")),
    (driver.TimeoutError, (Unavailable, "it did not answer in time; see the option 'timeout'")),
    (driver.ClusterDownError, (Unavailable, "the cluster is down")),
    (driver.TryAgainError, (Unavailable, "the cluster is moving keys")),
    (driver.MovedError, (BackendError, "it is part of a cluster; write redis+cluster://")),
    (driver.RedisClusterException, (Unavailable, "no node of the cluster answers")),
    (driver.ConnectionError, (Unavailable, "it cannot be reached")),
    (driver.WatchError, (Unavailable, "an object was changed by others all the time")),
)

_BY_CODE: Final[dict[str, Fault]] = {
    "NOAUTH": (Denied, "a password is missing"),
    "WRONGPASS": (Denied, "user or password is wrong"),
    "NOPERM": (Denied, "the user may not do this; see ACL SETUSER"),
    "READONLY": (Denied, "it is a read-only replica; name its primary"),
    "OOM": (StorageFull, "its maxmemory is used up"),
    "MISCONF": (StorageFull, "it cannot write its data to disk and takes no more"),
    "LOADING": (Unavailable, "it is loading its data"),
    "BUSY": (Unavailable, "it is busy with a script"),
    "MASTERDOWN": (Unavailable, "its primary is down"),
    "NOREPLICAS": (Unavailable, "it has too few replicas to write"),
    "CLUSTERDOWN": (Unavailable, "the cluster is down"),
    "TRYAGAIN": (Unavailable, "the cluster is moving keys"),
}

_BY_TEXT: Final[tuple[tuple[re.Pattern[str], Fault], ...]] = (
    (re.compile("max number of clients"), (Unavailable, "it has too many clients")),
    (re.compile("invalid bulk length|maximum allowed size"), (TooLarge, "it takes no object of this size")),
    (re.compile("Cluster mode is not enabled"), (BackendError, "it is no cluster; write redis://")),
)


def fault(error: BaseException, place: str, key: str | None = None) -> BackendError:
    """Return our error for one of the driver's, without its text.

    Args:
        error: Any error of the driver.
        place: The server in words that hold no secret.
        key: The object in question.
    """
    kind, reason = _known(error)
    return kind(f"{place}: {reason}", key=key)


def is_lost_connection(error: BaseException) -> bool:
    """Say whether trying again at once makes sense: not for a timeout, which used the time up."""
    return isinstance(error, driver.ConnectionError) and _known(error)[1] == "it cannot be reached"


def _known(error: BaseException) -> Fault:
    text = str(error)
    for pattern, found in _BY_TEXT:
        if pattern.search(text):
            return found
    if isinstance(error, driver.RedisClusterException) and isinstance(error.__cause__, DRIVER_ERRORS):
        return _known(error.__cause__)
    code = re.match("[A-Z]+", text)
    if code is not None and code[0] in _BY_CODE:
        return _BY_CODE[code[0]]
    for kind, found in _BY_CLASS:
        if isinstance(error, kind):
            return found
    return BackendError, f"it answered with {type(error).__name__}"
