"""What the errors of fsspec's file systems mean. There is no common family: each library brings its own."""

from __future__ import annotations

import errno
import re
from typing import Final

from offloadkit_fsspec.failures import Failure

__all__ = ["failure_of"]

_STATUS_BY_TYPE: Final[tuple[tuple[type[BaseException], int | None], ...]] = (
    (FileNotFoundError, 404),
    (NotADirectoryError, 404),
    (IsADirectoryError, 404),
    (FileExistsError, 412),
    (PermissionError, 403),
    (TimeoutError, None),
    (ConnectionError, None),
    (EOFError, None),
)
_STATUS_BY_ERRNO: Final[dict[int, int | None]] = {
    errno.ENOSPC: 507,
    errno.EDQUOT: 507,
    errno.EROFS: 403,
    errno.EFBIG: 413,
    **dict.fromkeys((errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EIO, errno.EAGAIN)),
}
_STATUS_BY_NAME: Final[dict[str, int | None]] = {
    "AuthenticationException": 401,  # paramiko
    "BadHostKeyException": 401,
    "ClientAuthenticationError": 401,  # azure
    "SSHException": None,
    "NoValidConnectionsError": None,
    "ServiceRequestError": None,
    "ServiceResponseError": None,
    "ClientError": None,  # aiohttp
}
_LOST_CONNECTION: Final = re.compile("closed|dropped|reset|timed? ?out", re.IGNORECASE)
_OTHER: Final = 400


def failure_of(error: Exception) -> Failure:
    """Read an error by its type, its number or its HTTP status."""
    return Failure(_status(error), type(error).__name__)


def _status(error: Exception) -> int | None:
    for kind, status in _STATUS_BY_TYPE:
        if isinstance(error, kind):
            return status
    for name in ("status_code", "status", "code"):
        status = getattr(error, name, None)
        if isinstance(status, int) and 400 <= status < 600:
            return status
    for kind in type(error).__mro__:
        if kind.__name__ in _STATUS_BY_NAME:
            return _STATUS_BY_NAME[kind.__name__]
    if isinstance(error, OSError) and error.errno is not None:
        return _STATUS_BY_ERRNO.get(error.errno, _OTHER)
    return None if _LOST_CONNECTION.search(str(error)) else _OTHER
