"""The files of objects, by key: opened, locked, published, removed.

Whoever removes a name or changes an expiry holds a lock on the file and has seen that the name still leads
to it. That keeps a sweep from deleting what another process just extended, and two writers that meet a torn
file from removing each other's new one.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from offloadkit.errors import AlreadyExists, Corrupt, Denied, NotFound, Unavailable
from offloadkit_file.footer import TAIL_BYTES, Footer, decode
from offloadkit_file.incoming import Temporary
from offloadkit_file.tree import Tree, sync

__all__ = ["ObjectFiles", "directories_of", "file_name", "has_expired", "read_range", "write"]

_SAFE: Final = os.O_NOFOLLOW | os.O_CLOEXEC
_NO_HARD_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EXDEV)
_NO_LOCKS: Final = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)
_ATTEMPTS: Final = 100

_log = logging.getLogger("offloadkit")


class ObjectFiles:
    """The files below one root. Holds nothing open between two calls."""

    def __init__(self, tree: Tree) -> None:
        """Take the directories in which they are."""
        self._tree = tree
        self._torn: set[str] = set()

    @contextmanager
    def opened(self, key: str) -> Iterator[tuple[int, Footer]]:
        """Open an object's file for reading. Raises `NotFound`."""
        descriptor = self._open(key, os.O_RDONLY)
        try:
            yield descriptor, self.footer(key, descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def locked(self, key: str) -> Iterator[int]:
        """Open an object's file, and keep all others from removing or changing it. Raises `NotFound`."""
        while True:
            descriptor = self._open(key, os.O_RDWR)
            try:
                with _exclusive(descriptor):
                    if self._leads_to(key, descriptor):
                        yield descriptor
                        return
            finally:
                os.close(descriptor)

    def footer(self, key: str, descriptor: int) -> Footer:
        """Return the footer of an open file. Raises `NotFound`, and warns once, when it is torn."""
        footer = _read_footer(key, descriptor)
        if footer is None:
            if key not in self._torn:
                self._torn.add(key)
                _log.warning("the file of %s in %s is torn, so it counts as missing", key, self._tree.root)
            raise NotFound(f"the file of {key} in {self._tree.root} is torn", key=key)
        return footer

    def footer_at(self, directory: int, key: str) -> Footer | None:
        """Return the footer of a file met in an open directory, or None if it is torn or gone by now."""
        try:
            descriptor = os.open(file_name(key), os.O_RDONLY | _SAFE, dir_fd=directory)
        except FileNotFoundError:
            return None
        try:
            return self.footer(key, descriptor)
        except NotFound:
            return None
        finally:
            os.close(descriptor)

    def make_way(self, key: str) -> None:
        """Remove a torn file from the name of a new object. Raises `AlreadyExists` if it is whole."""
        with suppress(NotFound), self.locked(key) as descriptor:
            if _read_footer(key, descriptor) is not None:
                raise AlreadyExists(f"{key} is there already", key=key)
            self.unlink(key)

    def publish(self, key: str, temporary: Temporary, *, durable: bool) -> None:
        """Give a finished file its name. Raises `AlreadyExists` when another object has it."""
        for _ in range(_ATTEMPTS):
            try:
                with self._tree.open(directories_of(key), create=True) as directory:
                    self._link(temporary, directory, file_name(key))
                    if durable:
                        sync(directory)
                    return
            except FileExistsError:
                self.make_way(key)
            except FileNotFoundError:  # a delete just took the empty directory away
                continue
        raise Unavailable(f"other processes are working on {key} in {self._tree.root}; try again", key=key)

    def unlink(self, key: str) -> None:
        """Remove a name, under `locked`."""
        with self._tree.open(directories_of(key)) as directory:
            os.unlink(file_name(key), dir_fd=directory)

    def _open(self, key: str, flags: int) -> int:
        try:
            with self._tree.open(directories_of(key)) as directory:
                return os.open(file_name(key), flags | _SAFE, dir_fd=directory)
        except FileNotFoundError as error:
            raise NotFound(f"no object {key} in {self._tree.root}", key=key) from error

    def _leads_to(self, key: str, descriptor: int) -> bool:
        try:
            with self._tree.open(directories_of(key)) as directory:
                named = os.stat(file_name(key), dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(named, os.fstat(descriptor))

    def _link(self, temporary: Temporary, directory: int, name: str) -> None:
        source, target = temporary.directory, directory
        try:
            os.link(temporary.name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            raise Denied(
                f"{self._tree.root} is on a file system without hard links, or spread over several; "
                "an object cannot appear all at once there: name a directory elsewhere"
            ) from error


def directories_of(key: str) -> tuple[str, ...]:
    """Return the names of the directories that lead to an object's file."""
    return tuple(key.split("/")[:-1])


def file_name(key: str) -> str:
    """Return the name of an object's file in its directory."""
    return key.rpartition("/")[2] + "="


def has_expired(footer: Footer | None, now: float) -> bool:
    """Say whether there is an object and it expired before ``now``."""
    return footer is not None and footer.expires_at is not None and footer.expires_at < now


def write(descriptor: int, data: bytes) -> None:
    """Write all of ``data``; the system may take less at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def read_range(descriptor: int, start: int, length: int) -> bytes:
    """Return exactly ``length`` bytes from byte ``start``. Raises `Corrupt` when they are not there."""
    data = os.pread(descriptor, length, start)
    while len(data) < length:
        more = os.pread(descriptor, length - len(data), start + len(data))
        if not more:
            raise Corrupt(f"an object's file ended at byte {start + len(data)} while it was read")
        data += more
    return data


@contextmanager
def _exclusive(descriptor: int) -> Iterator[None]:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        yield  # some network file systems have no locks; what the lock prevents is rare
        return
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing is not enough when a forked child has a copy


def _read_footer(key: str, descriptor: int) -> Footer | None:
    file_bytes = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, TAIL_BYTES, max(file_bytes - TAIL_BYTES, 0))
    return decode(key, tail, file_bytes)
