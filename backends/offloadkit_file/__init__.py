"""Objects as files below one directory: ``file:///var/lib/agent``.

The key ``default/run-42/abc`` is the file ``default/run-42/abc=``: the payload from its first byte, so that
``cat`` and ``grep`` work, then one line that `offloadkit_file.footer` explains. A new object is written to a
temporary file in ``.incoming``, forced to the disk, and then linked to its name, which fails if the name is
taken. So an object is there as a whole or not at all, whatever is killed, and any number of processes may
share a directory.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import ClassVar, Final, Literal, Self

from offloadkit.backend import Caps, Page, Stat, check_key, check_range
from offloadkit.errors import BackendError, ConfigError, Denied, NotFound, PartialDelete, TooLarge
from offloadkit.url import BackendURL, Option
from offloadkit_file.faults import translated
from offloadkit_file.files import ObjectFiles, directories_of, file_name, has_expired, read_range, write
from offloadkit_file.footer import TAIL_BYTES, Footer, encode, next_slot
from offloadkit_file.incoming import sweep_litter, temporary_file
from offloadkit_file.tree import Tree, sync

__all__ = ["FileBackend"]

_LATEST_HINT: Final = 2.0**33  # the year 2242; file systems end somewhere


class FileBackend:
    """A store in a directory. Any number of instances, threads and processes may share it."""

    caps = Caps(persistent=True, shared=True, ordered=True)
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            name="fsync",
            kind="choice",
            choices=("full", "file", "none"),
            default="full",
            help="What is forced to the disk: file and directory, the file alone, or nothing.",
        ),
    )

    def __init__(
        self, root: str | os.PathLike[str], *, fsync: Literal["full", "file", "none"] = "full"
    ) -> None:
        """Make an instance, without touching the disk.

        Args:
            root: An absolute path. What is missing of it is made by the first `put`, for this user alone.
            fsync: With "full" an object that was put survives a power cut. With "file" it may lose its
                name, with "none" it may be torn too, which is reported as `NotFound`.

        Raises:
            ConfigError: ``root`` is no absolute path.
        """
        if not Path(root).is_absolute():
            raise ConfigError(f"a file store needs an absolute path, not {os.fspath(root)!r}")
        self.root = str(Path(root))
        self._fsync = fsync
        self._tree = Tree(self.root, durable=fsync == "full")
        self._files = ObjectFiles(self._tree)
        self._litter_swept = False
        self._closed = False

    @classmethod
    def from_url(cls, url: BackendURL) -> Self:
        """Make an instance for ``file:///absolute/path[?fsync=full|file|none]``."""
        if url.netloc:
            raise ConfigError(
                f"file://{url.netloc} names a host: write three slashes, as in file:///var/lib/agent"
            )
        url.allow_only("path")
        if not url.path.strip("/"):
            raise ConfigError("file:// needs a directory of its own, as in file:///var/lib/agent")
        if url.path.startswith("/~"):
            raise ConfigError(
                f"file://{url.path} would be a directory named '~': write the home directory out"
            )
        if url.path[2:3] == ":":
            raise ConfigError(f"file://{url.path} is a path of Windows, where this backend does not work")
        return cls(url.path, fsync=url.options["fsync"])

    def __repr__(self) -> str:
        """Show the directory."""
        return f"FileBackend({self.root!r})"

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object. Raises `AlreadyExists`, `StorageFull` or `Denied`."""
        footer = encode(key, size=len(data), meta=meta, created_at=time.time(), expires_at=expires_at)
        if len(footer) > TAIL_BYTES:
            raise TooLarge(f"{len(meta)} bytes of metadata are too many", key=key)
        with self._call("store", key):
            self._sweep_litter_once()
            self._files.make_way(key)
            with temporary_file(self._tree) as temporary:
                write(temporary.descriptor, data)
                write(temporary.descriptor, footer)
                if self._fsync != "none":
                    sync(temporary.descriptor)
                self._files.publish(key, temporary, durable=self._fsync == "full")
                with suppress(OSError):
                    _hint_expiry(temporary.descriptor, expires_at)

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return ``length`` bytes (None: all) from byte ``start``. Raises `NotFound`."""
        check_range(start, length)
        with self._call("read", key), self._files.opened(key) as (descriptor, footer):
            there = max(footer.size - start, 0)
            return read_range(descriptor, start, there if length is None else min(length, there))

    def stat(self, key: str) -> Stat:
        """Describe an object. Raises `NotFound`."""
        with self._call("read", key), self._files.opened(key) as (_, footer):
            return _stat(key, footer)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page, in ascending order of keys. The cursor is the last key of the page before."""
        with self._call("list"), closing(self._tree.files(prefix, cursor or "")) as files:
            footers = ((key, self._files.footer_at(directory, key)) for key, directory in files)
            stats = (_stat(key, footer) for key, footer in footers if footer is not None)
            found = tuple(islice(stats, limit + 1))
        return Page(found[:limit], cursor=found[limit - 1].key if len(found) > limit else None)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; a missing one is no error. Raises `PartialDelete`."""
        failed: dict[str, BackendError] = {}
        touched: set[tuple[str, ...]] = set()
        for key in keys:
            try:
                with self._call("delete", key), suppress(NotFound):
                    touched.add(directories_of(key))
                    with self._files.locked(key):
                        self._files.unlink(key)
            except BackendError as error:
                failed[key] = error
        with self._call("delete"):
            self._tidy(touched)
        if failed:
            raise PartialDelete(f"{len(failed)} objects in {self.root} could not be deleted", failed=failed)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        """Set or (None) remove the expiry. Raises `NotFound`."""
        with self._call("extend", key), self._files.locked(key) as descriptor:
            before_end, slot = next_slot(key, self._files.footer(key, descriptor), expires_at)
            os.lseek(descriptor, -before_end, os.SEEK_END)
            write(descriptor, slot)
            _hint_expiry(descriptor, expires_at)
            if self._fsync != "none":
                sync(descriptor)

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        """Delete at most ``limit`` objects that expired before ``now``; return how many.

        A file is opened only if its modification time, which is the expiry where there is one, has passed.
        """
        with self._call("sweep"), closing(self._tree.files()) as files:
            expired = (key for key, directory in files if self._has_expired_at(directory, key, now))
            swept = tuple(islice((key for key in expired if self._delete_expired(key, now)), limit))
            self._tidy({directories_of(key) for key in swept})
        return len(swept)

    def local_path(self, key: str) -> str | None:
        """Return the path of the object's file, or None. Behind the payload it ends with one line of ours."""
        try:
            self.stat(key)
        except NotFound:
            return None
        return "/".join((self.root, *directories_of(key), file_name(key)))

    def ping(self) -> None:
        """Return when objects can be stored. Makes the directory. Raises `Denied` or `Unavailable`."""
        with self._call("reach"), self._tree.open(create=True):
            if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
                raise Denied(f"{self.root} is not to be written by this user, or on a read-only file system")

    def close(self) -> None:
        """Refuse further calls; twice is fine. Nothing is held open in between anyway."""
        self._closed = True

    @contextmanager
    def _call(self, action: str, key: str | None = None) -> Iterator[None]:
        if self._closed:
            raise BackendError("this file backend is closed", key=key)
        path = self.root if key is None else f"{self.root}/{check_key(key)}"
        with translated(action, path, key):
            yield

    def _sweep_litter_once(self) -> None:
        if not self._litter_swept:
            sweep_litter(self._tree)
            self._litter_swept = True

    def _has_expired_at(self, directory: int, key: str, now: float) -> bool:
        return _modified_at(directory, key) <= now and has_expired(self._files.footer_at(directory, key), now)

    def _delete_expired(self, key: str, now: float) -> bool:
        with suppress(NotFound), self._files.locked(key) as descriptor:
            if has_expired(self._files.footer(key, descriptor), now):
                self._files.unlink(key)
                return True
        return False

    def _tidy(self, directories: Iterable[tuple[str, ...]]) -> None:
        """After a delete: force it to the disk, and remove directories that are empty now."""
        for segments in directories:
            if self._fsync == "full":
                with suppress(FileNotFoundError), self._tree.open(segments) as directory:
                    sync(directory)
            self._tree.prune(segments)


def _stat(key: str, footer: Footer) -> Stat:
    return Stat(key, footer.size, footer.meta, footer.expires_at, footer.created_at)


def _modified_at(directory: int, key: str) -> float:
    try:
        return os.stat(file_name(key), dir_fd=directory, follow_symlinks=False).st_mtime
    except FileNotFoundError:
        return math.inf


def _hint_expiry(descriptor: int, expires_at: float | None) -> None:
    """Make the expiry the modification time. A copy or ``touch`` may change it, so the footer decides."""
    if expires_at is None:
        os.utime(descriptor)
    else:
        os.utime(descriptor, (time.time(), min(max(expires_at, 0.0), _LATEST_HINT)))
