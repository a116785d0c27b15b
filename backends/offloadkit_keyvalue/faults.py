"""From the errors of py-key-value, and of what lies below it, to those of offloadkit."""

from __future__ import annotations

import errno
from typing import Final

from key_value.aio.errors import (
    CorruptedDataError,
    DecryptionError,
    DeserializationError,
    EntryTooLargeError,
    ReadOnlyError,
    StoreConnectionError,
    StoreSetupError,
    ValueTooLargeError,
)

from offloadkit.errors import BackendError, Corrupt, Denied, StorageFull, TooLarge, Unavailable

__all__ = ["error_for"]

_BY_TYPE: Final[tuple[tuple[type[Exception], type[BackendError]], ...]] = (
    (StoreConnectionError, Unavailable),
    (StoreSetupError, Unavailable),
    (ValueTooLargeError, TooLarge),
    (EntryTooLargeError, TooLarge),
    (ReadOnlyError, Denied),
    (CorruptedDataError, Corrupt),
    (DecryptionError, Corrupt),
    (DeserializationError, Corrupt),
    (PermissionError, Denied),
    (ConnectionError, Unavailable),
    (TimeoutError, Unavailable),
)
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_OUTAGE: Final = ("Connection", "Timeout", "Unavailable")


def error_for(error: Exception, *, key: str | None, place: str) -> BackendError:
    """Return the error to raise from ``error``, whose text is left to it: it may hold anything."""
    return _kind(error)(f"{place} failed ({type(error).__name__})", key=key)


def _kind(error: Exception) -> type[BackendError]:
    if isinstance(error, OSError) and error.errno in _FULL:
        return StorageFull
    for driver_type, ours in _BY_TYPE:
        if isinstance(error, driver_type):
            return ours
    names = [kind.__name__ for kind in type(error).__mro__]
    is_outage = any(word in name for word in _OUTAGE for name in names)
    return Unavailable if is_outage else BackendError
