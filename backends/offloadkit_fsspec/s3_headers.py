"""Metadata and expiry of an object as its user metadata (``x-amz-meta-*``): written and read with the object.

S3 takes 2 KB of it in ASCII. 1,024 bytes of metadata are 1,368 characters of base64; the rest fits beside it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from offloadkit.backend import Stat
from offloadkit.errors import Corrupt
from offloadkit_fsspec.s3_engine import Head

__all__ = ["headers_of", "stat_of"]

META: Final = "offloadkit-meta"
CREATED: Final = "offloadkit-created"
EXPIRES: Final = "offloadkit-expires"


def headers_of(stat: Stat) -> dict[str, str]:
    """Return the headers that carry what ``stat`` tells beside key and size."""
    headers = {META: base64.b64encode(stat.meta).decode("ascii")} if stat.meta else {}
    if stat.created_at is not None:
        headers[CREATED] = repr(stat.created_at)
    if stat.expires_at is not None:
        headers[EXPIRES] = repr(stat.expires_at)
    return headers


def stat_of(key: str, head: Head) -> Stat:
    """Read the headers of an object. Raises `Corrupt` when they are not what `headers_of` made."""
    try:
        meta = base64.b64decode(head.headers.get(META, ""), validate=True)
        expires_at = _seconds(head.headers, EXPIRES)
        created_at = _seconds(head.headers, CREATED)
    except (binascii.Error, ValueError) as error:
        raise Corrupt(f"the metadata headers of {key} cannot be read", key=key) from error
    return Stat(key, head.size, meta, expires_at, created_at)


def _seconds(headers: Mapping[str, str], name: str) -> float | None:
    return float(headers[name]) if name in headers else None
