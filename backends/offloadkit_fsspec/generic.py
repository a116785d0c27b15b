"""Objects as files of any file system that fsspec knows, metadata in a footer of the file."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from operator import methodcaller
from typing import Any, ClassVar, Final, NoReturn, Self, TypeVar

from offloadkit.backend import Caps, Page, Stat, check_range
from offloadkit.errors import AlreadyExists, BackendError, NotFound, PartialDelete
from offloadkit.url import BackendURL, Option
from offloadkit_fsspec.connection import Connection
from offloadkit_fsspec.deleting import delete_each
from offloadkit_fsspec.failures import error_for, without_secrets
from offloadkit_fsspec.filesystems import OPTIONS, Files, Location
from offloadkit_fsspec.footer import FOOTER_BYTES, footer_of, stat_from
from offloadkit_fsspec.fsspec_failures import failure_of
from offloadkit_fsspec.paths import path_of
from offloadkit_fsspec.publishing import way_for
from offloadkit_fsspec.retrying import with_retries
from offloadkit_fsspec.sweeping import Sweep
from offloadkit_fsspec.walking import abandoned, walk

__all__ = ["FsspecBackend"]

_MOST_AT_ONCE: Final = 2**30  # some file systems reserve as much memory as they are asked to read
_MEMORY_AFTER_FORK: Final = (
    "is memory of the process that forked this one: what is stored here, it never sees"
)

_Result = TypeVar("_Result")
_log = logging.getLogger("offloadkit")


class FsspecBackend:
    """Objects below one folder of one file system. Safe to use from many threads."""

    options: ClassVar[tuple[Option, ...]] = OPTIONS

    def __init__(
        self,
        location: Location,
        *,
        retries: int = 2,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Make a backend, without any I/O.

        Args:
            location: The folder and the way there.
            retries: How many times a call that failed for a passing reason is made again.
            clock: Returns the seconds since 1970, for `Stat.created_at`.
            sleep: Waits between two attempts.
        """
        self._location = location
        self._retries = retries
        self._clock = clock
        self._sleep = sleep
        self._way = way_for(location.protocol)
        self._in_memory = location.protocol == "memory"
        self._files = Connection(
            location.place,
            location.open,
            close=Files.close,
            refused_after_fork=_MEMORY_AFTER_FORK if self._in_memory else "",
        )
        self._sweep = Sweep()

    @classmethod
    def from_url(cls, url: BackendURL) -> Self:
        """Make a backend for ``gs://``, ``az://``, ``sftp://`` or ``fsspec+NAME://``."""
        return cls(Location.from_url(url), retries=url.options["retries"])

    @property
    def caps(self) -> Caps:
        """What this kind of file system can do."""
        return Caps(
            persistent=not self._in_memory,
            shared=True,
            atomic_create=self._way.is_atomic,
            ordered=True,
            fork="refused" if self._in_memory else "safe",
        )

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object. Raises `AlreadyExists`."""
        stat = Stat(key, len(data), meta, expires_at, created_at=self._clock())
        content = data + footer_of(stat)
        attempts = 0

        def publish(system: Any) -> None:
            nonlocal attempts
            attempts += 1
            self._way.publish(system, self._path(key), content)

        try:
            self._call(key, publish)
        except AlreadyExists:
            # The answer to the first attempt may have been lost after it had succeeded.
            if attempts == 1 or self.stat(key) != stat:
                raise
        except NotFound as error:
            raise BackendError(
                f"{self._location.place} is not there; create it, or correct the URL", key=key
            ) from error

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return ``length`` bytes (None: all) from byte ``start``. Raises `NotFound`.

        One read, of so many bytes more that the footer is among them when the data ends within the range.
        """
        check_range(start, length)
        if length == 0:
            self.stat(key)
            return b""
        if length is not None and length > _MOST_AT_ONCE:
            return self.read(key, start)[:length]
        found = self._read(key, start, None if length is None else start + length + FOOTER_BYTES)
        if length is not None and len(found) == length + FOOTER_BYTES:
            return found[:length]
        footer = stat_from(key, found[-FOOTER_BYTES:])
        if footer is not None and footer.size == start + len(found) - FOOTER_BYTES:
            return found[:-FOOTER_BYTES]
        if start < self.stat(key).size:
            raise self._torn(key)
        return b""

    def stat(self, key: str) -> Stat:
        """Describe an object, in two requests. Raises `NotFound`."""
        stat = self._call(key, lambda system: _stat(system, self._path(key), key))
        if stat is None:
            raise self._torn(key)
        return stat

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page of keys and sizes, in ascending order. The cursor is the last key so far."""
        root = self._location.root

        def page(system: Any) -> Sequence[tuple[str, int]]:
            found = walk(partial(_ls, system), root, prefix=prefix, after=cursor or "")
            return list(islice(found, limit + 1))

        found = self._call(None, page)
        items = tuple(Stat(key, size - FOOTER_BYTES) for key, size in found[:limit] if size >= FOOTER_BYTES)
        return Page(items, cursor=found[limit - 1][0] if len(found) > limit else None)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects one by one. Raises `PartialDelete`; after `Unavailable` no further one is tried."""
        self._files.check_open()
        doomed = tuple(dict.fromkeys(keys))
        failed = delete_each(
            doomed, lambda key: self._call(key, lambda system: system.rm_file(self._path(key)))
        )
        if self._way.has_folders:
            self._remove_empty_folders(doomed)
        if failed:
            raise PartialDelete(f"{len(failed)} of {len(doomed)} objects are still there", failed=failed)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        """Delete at most ``limit`` objects that expired before ``now``; return how many.

        Each object costs a read of its footer. What writers left behind that never finished goes as well.
        """
        if self._way.uses_temporaries and not self._sweep.has_begun:
            self._call(None, self._remove_abandoned)
        return self._sweep.step(self, now, limit)

    def ping(self) -> None:
        """Return when the store answers. Raises `Unavailable` or `Denied`."""
        self._call(None, lambda system: _ls(system, self._location.root))

    def close(self) -> None:
        """Close the connections; twice is fine."""
        self._files.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._location.place}>"

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would share or lose the connections, and a pickle would hold the secrets."""
        raise TypeError("an fsspec backend is neither copied nor pickled; open its URL again instead")

    def _path(self, key: str) -> str:
        return path_of(self._location.root, key)

    def _read(self, key: str, start: int, end: int | None) -> bytes:
        try:
            return self._call(
                key, lambda system: bytes(system.cat_file(self._path(key), start=start, end=end))
            )
        except NotFound:
            raise
        except BackendError:
            # Some file systems refuse a range past the end, each in its own words.
            if start == 0 or start < self.stat(key).size:
                raise
            return b""

    def _remove_empty_folders(self, keys: Iterable[str]) -> None:
        for folder in {self._path(key).rpartition("/")[0] for key in keys} - {self._location.root}:
            with suppress(BackendError):
                self._call(None, methodcaller("rmdir", folder))

    def _remove_abandoned(self, system: Any) -> None:
        for path in list(abandoned(partial(_ls, system), self._location.root, self._clock())):
            with suppress(FileNotFoundError):
                system.rm_file(path)

    def _torn(self, key: str) -> NotFound:
        _log.warning("%s: the object %s was cut off while it was written; it counts as missing", self, key)
        return NotFound(f"{key} was cut off while it was written to {self._location.place}", key=key)

    def _call(self, key: str | None, work: Callable[[Any], _Result]) -> _Result:
        """Return ``work(file_system)``, tried again on a new connection while the store is unavailable."""
        return with_retries(lambda: self._attempt(key, work), self._retries, sleep=self._sleep)

    def _attempt(self, key: str | None, work: Callable[[Any], _Result]) -> _Result:
        files: Files | None = None
        try:
            files = self._files.client()
            with files.lock:
                return work(files.system)
        except BackendError:
            raise
        except Exception as error:  # noqa: BLE001  each file system brings errors of its own
            failure, cause = failure_of(error), without_secrets(error, self._location.secrets)
        if files is not None and failure.status is None:
            self._files.drop(files)
        # Outside of the except block, so that the driver's error is no context of ours: it may hold a secret.
        raise error_for(failure, key=key, place=self._location.place) from cause


def _ls(system: Any, folder: str) -> Sequence[Mapping[str, Any]]:
    try:
        return list(system.ls(folder, detail=True))
    except (FileNotFoundError, NotADirectoryError):
        return ()


def _stat(system: Any, path: str, key: str) -> Stat | None:
    """Read the footer of an object; None when it has none at its end."""
    info = system.info(path)
    if info["type"] == "directory":
        raise FileNotFoundError(path)
    total = info["size"]
    stat = stat_from(key, system.cat_file(path, start=max(total - FOOTER_BYTES, 0), end=total))
    return stat if stat is not None and stat.size == total - FOOTER_BYTES else None
