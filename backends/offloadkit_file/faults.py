"""What the operating system says, in the words of `offloadkit.errors`."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from offloadkit.errors import BackendError, Denied, StorageFull, Unavailable

__all__ = ["translated"]

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMLINK)
_DENIED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_FOREIGN: Final = (errno.ENOTDIR, errno.ELOOP, errno.EISDIR)
_PASSING: Final = (
    errno.EAGAIN,
    errno.EBUSY,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOENT,
    errno.ENOMEM,
    errno.ESTALE,
    errno.ETIMEDOUT,
)
_KINDS: Final[dict[int, tuple[type[BackendError], str]]] = {
    **dict.fromkeys(_FULL, (StorageFull, "make room, raise the quota, or name a directory elsewhere")),
    **dict.fromkeys(_DENIED, (Denied, "give this user write permission, or name another directory")),
    **dict.fromkeys(
        _FOREIGN,
        (Denied, "a link, file or directory that the store did not make is in its way, and is not followed"),
    ),
    **dict.fromkeys(_PASSING, (Unavailable, "this may pass")),
}


@contextmanager
def translated(action: str, path: str, key: str | None = None) -> Iterator[None]:
    """Turn every `OSError` of the block into one of ours, which names ``path`` and what to do."""
    try:
        yield
    except OSError as error:
        kind, advice = _KINDS.get(error.errno or 0, (BackendError, ""))
        reason = f"cannot {action} {path}: {error.strerror or type(error).__name__}"
        raise kind(f"{reason}; {advice}" if advice else reason, key=key) from error
