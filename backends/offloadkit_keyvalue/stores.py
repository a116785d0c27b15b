"""The stores of py-key-value that a config URL can name: those that no backend of ours replaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from offloadkit.errors import ConfigError
from offloadkit.url import BackendURL

__all__ = ["store_maker"]


def store_maker(url: BackendURL) -> Callable[[], Any]:
    """Return what makes the store that ``keyvalue+memory://`` or ``keyvalue+filetree:///path`` names.

    Raises:
        ConfigError: The URL names another one. A program can pass any store to `KeyValueBackend`.
        ImportError: What the store needs is not installed.
    """
    if url.engine == "memory":
        url.allow_only("engine")
        from key_value.aio.stores.memory import MemoryStore  # noqa: PLC0415  needs its own extra

        return MemoryStore
    if url.engine == "filetree":
        url.allow_only("engine", "path")
        from key_value.aio.stores.filetree import FileTreeStore  # noqa: PLC0415  needs its own extra

        return lambda: FileTreeStore(data_directory=url.path)
    raise ConfigError(
        "keyvalue:// names its store: keyvalue+memory:// or keyvalue+filetree:///path; "
        "pass any other one in a program: KeyValueBackend(store)"
    )
