"""How an object is written as JSON: its data in one entry, what describes it in another, small one."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from offloadkit.backend import Stat
from offloadkit.errors import Corrupt

__all__ = ["data_entry", "data_of", "entry_name", "stat_entry", "stat_of"]


def entry_name(key: str) -> str:
    """Return the name of an object's entries: stores that make files of names take no slash."""
    return key.replace("/", "~")


def data_entry(data: bytes) -> dict[str, Any]:
    """Return the entry that holds the bytes."""
    return {"data": base64.b64encode(data).decode("ascii")}


def data_of(key: str, entry: Mapping[str, Any]) -> bytes:
    """Read what `data_entry` wrote. Raises `Corrupt`."""
    try:
        return base64.b64decode(entry["data"], validate=True)
    except (KeyError, TypeError, ValueError) as error:
        raise Corrupt(f"the data of {key} cannot be read", key=key) from error


def stat_entry(stat: Stat) -> dict[str, Any]:
    """Return the entry that describes an object."""
    return {
        "size": stat.size,
        "meta": base64.b64encode(stat.meta).decode("ascii"),
        "expires_at": stat.expires_at,
        "created_at": stat.created_at,
    }


def stat_of(key: str, entry: Mapping[str, Any]) -> Stat:
    """Read what `stat_entry` wrote. Raises `Corrupt`."""
    try:
        meta = base64.b64decode(entry["meta"], validate=True)
        return Stat(key, entry["size"], meta, entry["expires_at"], entry["created_at"])
    except (KeyError, TypeError, ValueError) as error:
        raise Corrupt(f"the description of {key} cannot be read", key=key) from error
