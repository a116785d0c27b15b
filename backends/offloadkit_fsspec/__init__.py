"""Objects in S3, and in whatever else fsspec reaches.

Two backends: `S3Backend` speaks S3 itself, through s3fs or obstore, and keeps metadata in headers.
`FsspecBackend` serves every other file system of fsspec, and keeps metadata in a footer of the object. Each
is imported when its scheme is used, so that one needs nothing of the other's drivers.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offloadkit_fsspec.generic import FsspecBackend
    from offloadkit_fsspec.s3 import S3Backend

__all__ = ["FsspecBackend", "S3Backend"]

_HOMES = {"FsspecBackend": "offloadkit_fsspec.generic", "S3Backend": "offloadkit_fsspec.s3"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
