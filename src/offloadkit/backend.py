"""What a storage backend has to be.

Applications use `offloadkit.Offloader`; this module is for people who write backends. A backend keeps
bytes under keys. It knows nothing of tool results, sessions, tokens or text: references, metadata,
integrity checks, line numbers and retention are made once, above it.

Promises made to the author of a backend. You need not check any of these:

* **Keys** are 1 to 200 characters of ``[a-z0-9._-]`` in segments joined by ``/``. No segment is empty, is
  ``.`` or ``..``, begins or ends with ``.``, or is a device name of Windows. Case never matters.
  `check_key` enforces this for callers that come from elsewhere (the conformance suite, your own tools).
* **Metadata** is at most 1,024 bytes, opaque to you.
* **Objects are immutable.** No method changes the bytes of an object, so whatever you cache stays true.
* **``limit``** of `list` and `sweep` is at least 1.
* **``expires_at``** is in seconds since 1970 (UTC). The caller enforces it at every read; a backend only
  has to report it in `Stat` and may reclaim the object afterwards, never before.

Promises that a backend makes. `offloadkit.testing.BackendContract` tests each of them:

* **put** publishes data, metadata and expiry together or not at all, whatever fails or is killed on the
  way. When the key is taken it raises `AlreadyExists` and changes nothing. Of several creators at the same
  moment exactly one wins (or ``caps.atomic_create`` is False, and says so).
* **read** returns the half-open range ``[start, start + length)``, clamped: what lies past the end is
  ``b""``, length 0 is ``b""``, a missing key is `NotFound` in every case, a negative number is `ValueError`.
* **stat** tells what is known of an object without reading it.
* **list** yields each object whose key begins with ``prefix`` (a plain string prefix, not a path) at
  least once if it is there during the whole listing. Pages hold at most ``limit`` items and may be empty;
  the listing ends when ``cursor`` is None. Cursors are opaque and belong to one prefix.
* **delete** takes any number of keys, and a missing key is no error. What could not be deleted is named by
  `PartialDelete`; the rest is gone.
* **close** frees connections; twice is fine. After it every other method raises `BackendError`.
* **Nothing happens in the constructor**: no file is made, no socket is opened before the first call.
* **Every method is safe to call from many threads at once.**
* **Errors** are those of `offloadkit.errors`, with the driver's own as ``__cause__``; no message holds
  stored bytes or a secret.
* **fork**: ``caps.fork`` says what a child process may do with an instance made by its parent.

How a backend is found: an entry point in the group ``offloadkit.backends`` whose name is the URL scheme
and whose value is a class with the two members of `BackendClass`. Drivers that are an optional dependency
go into the entry point's extras (``redis = "offloadkit_redis:RedisBackend [redis]"``), so that the
command line can say what to install without importing anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable

from offloadkit.errors import (
    AlreadyExists,
    BackendError,
    Corrupt,
    Denied,
    InvalidKey,
    NotFound,
    PartialDelete,
    StorageFull,
    TooLarge,
    Unavailable,
)

if TYPE_CHECKING:
    from offloadkit.url import BackendURL, Option

__all__ = [
    "MAX_KEY_CHARACTERS",
    "MAX_META_BYTES",
    "AlreadyExists",
    "Backend",
    "BackendClass",
    "BackendError",
    "Caps",
    "Corrupt",
    "Denied",
    "InvalidKey",
    "NotFound",
    "Page",
    "PartialDelete",
    "Stat",
    "StorageFull",
    "SupportsLocalPath",
    "SupportsPing",
    "SupportsSetExpiry",
    "SupportsSweep",
    "TooLarge",
    "Unavailable",
    "check_key",
    "check_range",
]

MAX_KEY_CHARACTERS = 200
MAX_META_BYTES = 1024

_SEGMENT = re.compile(r"[a-z0-9_-](?:[a-z0-9._-]*[a-z0-9_-])?")
_WINDOWS_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What a backend can do. A flag is here only because a caller acts on it.

    Attributes:
        persistent: Objects outlive the process.
        shared: Another process, or another instance on the same location, sees the same objects.
        atomic_create: Of several creators of one key exactly one wins. Where False, two creators of one
            key may both succeed; since a key names its content that costs a write and loses nothing.
        native_ttl: The store itself removes objects past ``expires_at``; without it `sweep` has to run.
        may_evict: The store may drop objects on its own before they expire (a cache under memory
            pressure). What is gone is then reported as "expired or evicted".
        ordered: `list` yields keys in ascending order.
        max_object_bytes: The largest object taken, in bytes, or None for no limit of its own.
        fork: After ``os.fork()`` the child may go on with the instance ("safe"), or must not, and every
            method raises `BackendError` at once ("refused"). It never hangs.
    """

    persistent: bool
    shared: bool
    atomic_create: bool = True
    native_ttl: bool = False
    may_evict: bool = False
    ordered: bool = False
    max_object_bytes: int | None = None
    fork: Literal["safe", "refused"] = "safe"


@dataclass(frozen=True, slots=True)
class Stat:
    """What is known of one object without reading its data.

    Attributes:
        key: Its key.
        size: Bytes of data, metadata not counted.
        meta: The metadata given to `put`. In a `Page` it may be left out (b""), together with
            ``expires_at``, by a store that would need one more request per object for it.
        expires_at: Seconds since 1970, or None for never.
        created_at: Seconds since 1970, by the store's clock, or None where the store does not know.
    """

    key: str
    size: int
    meta: bytes = b""
    expires_at: float | None = None
    created_at: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing.

    Attributes:
        items: At most ``limit`` objects, possibly none.
        cursor: What to pass for the next page; None on the last one.
    """

    items: tuple[Stat, ...]
    cursor: str | None = None


@runtime_checkable
class Backend(Protocol):
    """Write-once objects: bytes under keys. The promises are in this module's docstring."""

    @property
    def caps(self) -> Caps:
        """What this instance can do; may be more precise once the first call was made."""
        ...

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object. Raises `AlreadyExists` when the key is taken."""
        ...

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return ``length`` bytes (None: all) from byte ``start``. Raises `NotFound`."""
        ...

    def stat(self, key: str) -> Stat:
        """Describe an object. Raises `NotFound`."""
        ...

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page of the objects whose key begins with ``prefix``."""
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; a missing one is no error. Raises `PartialDelete`."""
        ...

    def close(self) -> None:
        """Free connections and handles; twice is fine."""
        ...


class BackendClass(Protocol):
    """What an entry point of the group ``offloadkit.backends`` names.

    Attributes:
        options: The URL options this backend knows. They are parsed, checked and given their defaults
            before `from_url` is called.
    """

    options: ClassVar[tuple[Option, ...]]

    @classmethod
    def from_url(cls, url: BackendURL) -> Backend:
        """Make an instance, without any I/O. Raises `ConfigError` for a URL that cannot be meant."""
        ...


@runtime_checkable
class SupportsSweep(Protocol):
    """A backend that can remove expired objects better than by listing all of them."""

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        """Delete at most ``limit`` objects that expired before ``now``; return how many."""
        ...


@runtime_checkable
class SupportsSetExpiry(Protocol):
    """A backend that can move the expiry of an object without writing it again."""

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        """Set or (None) remove the expiry. Raises `NotFound`."""
        ...


@runtime_checkable
class SupportsLocalPath(Protocol):
    """A backend whose objects are files that other programs on this machine may read."""

    def local_path(self, key: str) -> str | None:
        """Return the absolute path of the object's file, or None if it is not there."""
        ...


@runtime_checkable
class SupportsPing(Protocol):
    """A backend that can tell cheaply whether its store answers."""

    def ping(self) -> None:
        """Return when the store answers. Raises `Unavailable` or `Denied`."""
        ...


def check_key(key: str) -> str:
    """Return ``key`` if it keeps the key rules, else raise `InvalidKey`."""
    if len(key) <= MAX_KEY_CHARACTERS and all(
        _SEGMENT.fullmatch(segment) and not _WINDOWS_DEVICE.fullmatch(segment) for segment in key.split("/")
    ):
        return key
    raise InvalidKey(
        f"invalid key of {len(key)} characters: keys are 1 to {MAX_KEY_CHARACTERS} characters of [a-z0-9._-] "
        "in segments joined by '/', no segment empty, dotted at an end, or a device name",
        key=key,
    )


def check_range(start: int, length: int | None) -> None:
    """Raise `ValueError` for a range that no object can have; backends call this first in `read`."""
    if start < 0 or (length is not None and length < 0):
        raise ValueError(f"a range must not be negative: start={start}, length={length}")
