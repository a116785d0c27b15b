"""Making an object appear whole, at once, and only where there is none: per kind of file system.

Each way raises FileExistsError where the name is taken.
"""

from __future__ import annotations

import errno
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Way", "is_abandoned", "way_for"]

_TEMPORARY: Final = ".offloadkit-tmp-"
_ABANDONED_SECONDS: Final = 86_400.0
_ATTEMPTS: Final = 10
_MADE_BY_ANOTHER: Final = (None, errno.EEXIST, errno.ENOENT)  # SFTP gives no number


@dataclass(frozen=True, slots=True)
class Way:
    """How a kind of file system publishes.

    Attributes:
        publish: Called with the file system, a path and the bytes.
        is_atomic: Whether of several creators exactly one wins.
        uses_temporaries: Whether it writes to a file of another name first, which a crash leaves behind.
        has_folders: Whether a folder stays when it is empty, and can be removed only then.
    """

    publish: Callable[[Any, str, bytes], None]
    is_atomic: bool
    uses_temporaries: bool = True
    has_folders: bool = False


def way_for(protocol: str) -> Way:
    """Return how a file system is written to; the last resort looks first and moves then."""
    return _WAYS.get(protocol, _BY_MOVE)


def is_abandoned(name: str, now: float) -> bool:
    """Say whether a file is the unfinished work of a process that ended more than a day ago."""
    begun = name.removeprefix(_TEMPORARY).partition("-")[0]
    return name.startswith(_TEMPORARY) and begun.isdecimal() and now - int(begun) > _ABANDONED_SECONDS


def _on_condition(files: Any, path: str, data: bytes) -> None:
    files.pipe_file(path, data, mode="create")


def _by_link(files: Any, path: str, data: bytes) -> None:
    temporary = _write_temporary(files, path, data)
    try:
        files.link(temporary, path)
    finally:
        files.rm_file(temporary)


def _by_rename(files: Any, path: str, data: bytes) -> None:
    """Rename as SFTP defines it: never onto an existing name. OpenSSH does it by a link: one creator wins."""
    _publish_temporary(files, path, data, files.ftp.rename)


def _by_move(files: Any, path: str, data: bytes) -> None:
    _publish_temporary(files, path, data, files.mv)


def _publish_temporary(files: Any, path: str, data: bytes, move: Callable[[str, str], object]) -> None:
    if _is_taken(files, path):
        raise FileExistsError(path)
    temporary = _write_temporary(files, path, data)
    try:
        move(temporary, path)
    except Exception:
        with suppress(Exception):
            files.rm_file(temporary)
        if _is_taken(files, path):
            raise FileExistsError(path) from None
        raise


def _is_taken(files: Any, path: str) -> bool:
    """Ask by ``info``: ``exists`` of fsspec takes every error for a no."""
    try:
        files.info(path)
    except FileNotFoundError:
        return False
    return True


def _write_temporary(files: Any, path: str, data: bytes) -> str:
    """Write a file beside ``path``, whose folder may vanish as long as it is empty; return its path."""
    folder = path.rpartition("/")[0]
    temporary = f"{folder}/{_TEMPORARY}{int(time.time())}-{secrets.token_hex(8)}"
    for _ in range(_ATTEMPTS):
        with suppress(FileNotFoundError):
            _write(files, temporary, data)
            return temporary
        _make_folder(files, folder)
    raise FileNotFoundError(folder)


def _write(files: Any, path: str, data: bytes) -> None:
    try:
        files.pipe_file(path, data)
    except FileNotFoundError:
        raise
    except Exception:
        with suppress(Exception):
            files.rm_file(path)
        raise


def _make_folder(files: Any, folder: str) -> None:
    try:
        files.makedirs(folder, exist_ok=True)
    except OSError as error:
        if error.errno not in _MADE_BY_ANOTHER:
            raise


_ON_CONDITION: Final = Way(_on_condition, is_atomic=True, uses_temporaries=False)
_BY_LINK: Final = Way(_by_link, is_atomic=True, has_folders=True)
_BY_RENAME: Final = Way(_by_rename, is_atomic=True, has_folders=True)
_BY_MOVE: Final = Way(_by_move, is_atomic=False)
_WAYS: Final[Mapping[str, Way]] = {
    **dict.fromkeys(("gs", "gcs", "az", "abfs", "abfss", "memory"), _ON_CONDITION),
    **dict.fromkeys(("file", "local"), _BY_LINK),
    **dict.fromkeys(("sftp", "ssh"), _BY_RENAME),
}
