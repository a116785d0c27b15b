"""The directories of a store: opened one by one below the root, walked in the order of keys.

A key's segments are directories, all but the last, which is a file named with a ``=`` at its end. No segment
holds that character, so ``a`` and ``a/b`` may both be keys, and files of other programs are not mistaken for
objects. Below the root no symbolic link is followed, at no moment: each step is opened relative to the last.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from offloadkit.errors import Denied

__all__ = ["Tree", "sync"]

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_SEGMENT: Final = re.compile(r"[a-z0-9_-][a-z0-9._-]*")
_OTHERS_MAY_WRITE: Final = 0o022


class Tree:
    """The directories below one root. It holds nothing open between two calls."""

    def __init__(self, root: str, *, durable: bool) -> None:
        """Take ``root``, an absolute path. With ``durable`` a new directory survives a power cut."""
        self.root = root
        self._durable = durable

    @contextmanager
    def open(self, segments: Sequence[str] = (), *, create: bool = False) -> Iterator[int]:
        """Open the directory at ``segments`` and give its descriptor; with ``create`` make what is missing.

        Raises:
            Denied: Others may write to the root, or it belongs to someone else.
        """
        directory = self._open_root(create=create)
        try:
            for segment in segments:
                inner = self._open_child(directory, segment, create=create)
                os.close(directory)
                directory = inner
            yield directory
        finally:
            os.close(directory)

    def files(self, prefix: str = "", after: str = "") -> Generator[tuple[str, int]]:
        """Yield the key of each object's file and its open directory, in ascending order of keys.

        Only keys that begin with ``prefix`` and come after ``after``. The directory is open until the next.
        """
        with suppress(FileNotFoundError), self.open() as root:
            yield from _files(root, "", prefix, after)

    def prune(self, segments: Sequence[str]) -> None:
        """Remove the directory at ``segments`` if it is empty, and what became empty above it."""
        for depth in range(len(segments), 0, -1):
            try:
                with self.open(segments[: depth - 1]) as parent:
                    os.rmdir(segments[depth - 1], dir_fd=parent)
            except FileNotFoundError:
                continue
            except OSError:
                return

    def _open_root(self, *, create: bool) -> int:
        try:
            root = os.open(self.root, _DIRECTORY)
        except FileNotFoundError:
            if not create:
                raise
            self._make_root(Path(self.root))
            root = os.open(self.root, _DIRECTORY)
        try:
            self._check_root(os.fstat(root))
        except BaseException:
            os.close(root)
            raise
        return root

    def _check_root(self, found: os.stat_result) -> None:
        own = f"or name a directory of your own below it, such as {self.root}/store"
        if found.st_uid != os.geteuid():
            raise Denied(
                f"{self.root} belongs to user {found.st_uid}, this is {os.geteuid()}: chown it, {own}"
            )
        if found.st_mode & _OTHERS_MAY_WRITE:
            raise Denied(f"others may write to {self.root}: run chmod go-w {self.root}, {own}")

    def _make_root(self, path: Path) -> None:
        try:
            path.mkdir(0o700)
        except FileExistsError:
            return
        except FileNotFoundError:
            self._make_root(path.parent)
            path.mkdir(0o700, exist_ok=True)
        if self._durable:
            _sync_path(path.parent)

    def _open_child(self, parent: int, name: str, *, create: bool) -> int:
        try:
            return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        except FileNotFoundError:
            if not create:
                raise
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
            if self._durable:
                sync(parent)
        return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)


def sync(descriptor: int) -> None:
    """Have the operating system write a file or directory to the disk, where it can."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _sync_path(path: Path) -> None:
    with suppress(PermissionError):  # a directory that may be entered but not read
        directory = os.open(path, _DIRECTORY)
        try:
            sync(directory)
        finally:
            os.close(directory)


def _files(directory: int, path: str, prefix: str, after: str) -> Iterator[tuple[str, int]]:
    names = (name for name in _names(directory) if _may_hold(path + name, prefix, after))
    for name in sorted(names):
        if not name.endswith("/"):
            yield path + name, directory
            continue
        with suppress(FileNotFoundError):
            child = os.open(name[:-1], _DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
            try:
                yield from _files(child, path + name, prefix, after)
            finally:
                os.close(child)


def _names(directory: int) -> Iterator[str]:
    """Yield the last segments of objects here, and the directories here with a ``/`` at the end."""
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith("="):
                if _SEGMENT.fullmatch(entry.name[:-1]) and entry.is_file(follow_symlinks=False):
                    yield entry.name[:-1]
            elif _SEGMENT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield f"{entry.name}/"


def _may_hold(path: str, prefix: str, after: str) -> bool:
    """Say whether a key, or what is below a directory (``/`` at the end), may be in the range asked for."""
    if path.endswith("/"):
        return (path.startswith(prefix) or prefix.startswith(path)) and (
            path > after or after.startswith(path)
        )
    return path.startswith(prefix) and path > after
