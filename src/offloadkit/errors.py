"""Every error of offloadkit, in one tree.

    OffloadkitError
    ├── ConfigError(ValueError)          a URL, an option or a policy that cannot be meant
    │   ├── UnknownScheme                no backend is registered for the scheme
    │   ├── MissingDependency            a backend's driver is not installed
    │   └── BackendConflict              two distributions claim one scheme
    ├── FormatError(ValueError)          messages of no known format, or of another one than was named
    └── BackendError                     a storage backend could not do what was asked
        ├── NotFound(KeyError)           no such object (never stored, expired, deleted or evicted)
        ├── AlreadyExists                the key is taken; write-once objects are never replaced
        ├── InvalidKey(ValueError)       a key outside the key alphabet, or too long
        ├── TooLarge                     more bytes than this backend takes
        ├── StorageFull                  disk, quota or memory is used up; retrying does not help
        ├── Unavailable                  refused, timed out, throttled: the only one worth a retry
        ├── Denied                       wrong password, missing permission, read-only store
        ├── Corrupt                      what is stored is not what was written
        └── PartialDelete                some of several keys could not be deleted

No message holds stored content or a secret. A driver's own error is chained as ``__cause__``.
"""

from __future__ import annotations

from collections.abc import Mapping


class OffloadkitError(Exception):
    """The root: catches everything this library raises on purpose."""


class ConfigError(OffloadkitError, ValueError):
    """A URL, an option or a policy that cannot be meant. The message says what was expected."""


class UnknownScheme(ConfigError):
    """No backend is registered for the scheme of a URL. The message lists the known ones."""


class MissingDependency(ConfigError):
    """A backend is known but its driver is not installed. The message holds the install command."""


class BackendConflict(ConfigError):
    """Two installed distributions claim the same scheme. The message names both."""


class FormatError(OffloadkitError, ValueError):
    """Messages of no known format, of several possible ones, or of another one than was named."""


class BackendError(OffloadkitError):
    """A storage backend could not do what was asked.

    Attributes:
        key: The key in question, or None when the store as a whole failed.
        retryable: True when the same call may succeed a moment later.
    """

    retryable = False

    def __init__(self, message: str, *, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key

    def __str__(self) -> str:
        """The message alone: KeyError, which NotFound also is, would quote it."""
        return str(self.args[0])


class NotFound(BackendError, KeyError):
    """No object has this key: it was never stored, has expired, or was deleted or evicted."""


class AlreadyExists(BackendError):
    """The key is taken. Objects are written once and never replaced."""


class InvalidKey(BackendError, ValueError):
    """The key breaks the key rules in `offloadkit.backend`."""


class TooLarge(BackendError):
    """More bytes than this backend takes in one object; see `Caps.max_object_bytes`."""


class StorageFull(BackendError):
    """Disk, quota or memory is used up. Retrying does not help; making room does."""


class Unavailable(BackendError):
    """The store did not answer: refused, timed out, throttled. The only error worth a retry."""

    retryable = True


class Denied(BackendError):
    """The store answered no: wrong password, missing permission, read-only."""


class Corrupt(BackendError):
    """What is stored is not what was written: a torn object, a failed checksum."""


class PartialDelete(BackendError):
    """Some of the keys could not be deleted; the others are gone.

    Attributes:
        failed: For each key that is still there, why.
    """

    def __init__(self, message: str, *, failed: Mapping[str, BackendError]) -> None:
        super().__init__(message, key=next(iter(failed), None))
        self.failed = dict(failed)

    @property
    def retryable(self) -> bool:  # type: ignore[override]
        """True when any of the failures may pass."""
        return any(error.retryable for error in self.failed.values())
