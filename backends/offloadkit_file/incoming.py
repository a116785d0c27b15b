"""Files on their way: written under a name of no meaning, in a directory of their own, before they appear."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from offloadkit_file.tree import Tree

__all__ = ["Temporary", "sweep_litter", "temporary_file"]

INCOMING: Final = (".incoming",)  # one for the whole store: no search for litter, and no session keeps any
STALE_SECONDS: Final = 3600.0
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Temporary(NamedTuple):
    """A new file: the directory it is in, its name there, and itself, open for writing."""

    directory: int
    name: str
    descriptor: int


@contextmanager
def temporary_file(tree: Tree) -> Iterator[Temporary]:
    """Make an empty file that only this user may open. Whatever happens, its temporary name goes."""
    with tree.open(INCOMING, create=True) as directory:
        name = os.urandom(8).hex()
        descriptor = os.open(name, _NEW_FILE, 0o600, dir_fd=directory)
        try:
            yield Temporary(directory, name, descriptor)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)
            os.close(descriptor)


def sweep_litter(tree: Tree) -> None:
    """Remove what killed processes left more than an hour ago."""
    with suppress(FileNotFoundError), tree.open(INCOMING) as directory, os.scandir(directory) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_mtime < time.time() - STALE_SECONDS:
                    os.unlink(entry.name, dir_fd=directory)
