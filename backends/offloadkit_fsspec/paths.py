"""From keys to paths of a file system, and back.

A folder cannot have the name of a file beside it, and keys may: ``a`` and ``a/b``. So every folder has a
``=`` at the end of its name, which no key holds: ``a/b`` is the file ``b`` in the folder ``a=``.
"""

from __future__ import annotations

from typing import Final

from offloadkit.backend import check_key
from offloadkit.errors import InvalidKey

__all__ = ["key_part", "path_of"]

_FOLDER: Final = "="


def path_of(root: str, key: str) -> str:
    """Return the path of an object below ``root``."""
    return f"{root}/{key.replace('/', _FOLDER + '/')}"


def key_part(name: str, *, is_folder: bool) -> str | None:
    """Return what a file or a folder adds to a key (``b`` or ``a/``), or None when it is not ours."""
    if is_folder != name.endswith(_FOLDER):
        return None
    segment = name.removesuffix(_FOLDER)
    try:
        check_key(segment)
    except InvalidKey:
        return None
    return f"{segment}/" if is_folder else segment
