"""From a config URL to a file system of fsspec, opened for one backend alone."""

from __future__ import annotations

import difflib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import fsspec

from offloadkit.errors import ConfigError
from offloadkit.url import BackendURL, Option

__all__ = ["OPTIONS", "Files", "Location"]

OPTIONS: Final = (
    Option(
        name="storage_options",
        secret=True,
        help="JSON object of what the file system of fsspec takes; best given by storage_options_file.",
    ),
    Option(name="timeout", kind="seconds", default=10.0, help="Longest wait for an answer of the store."),
    Option(name="retries", kind="integer", default=2, help="How often a failed call is tried again."),
)

_TIMEOUTS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("sftp", "ssh"), ("timeout", "banner_timeout", "auth_timeout")),
    **dict.fromkeys(("ftp", "smb"), ("timeout",)),
    **dict.fromkeys(("gs", "gcs"), ("requests_timeout",)),
    **dict.fromkeys(("az", "abfs", "abfss"), ("connection_timeout", "read_timeout")),
}
_CONTAINER_IN_USER: Final = frozenset({"az", "abfs", "abfss"})
_SHORTEST_SECRET: Final = 4  # to mask shorter texts would blank out half of a message
_LOCAL: Final = frozenset({"file", "local"})
_IN_MEMORY: Final = threading.RLock()  # one store for the whole process, so one lock


@dataclass(frozen=True, slots=True)
class Files:
    """A file system, and the lock to hold while it is used.

    Attributes:
        system: An instance of a class of fsspec.
        lock: Held by one thread at a time, unless the file system bears many.
    """

    system: Any
    lock: AbstractContextManager[object]

    def close(self) -> None:
        """Close what can be closed; fsspec has no common way."""
        for name in ("ftp", "client"):
            with suppress(Exception):
                getattr(self.system, name).close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A folder of a file system, and how it is opened.

    Attributes:
        protocol: What fsspec calls the file system.
        root: The folder, as the file system writes paths, without a slash at its end.
        place: Its URL without secrets, for messages.
        kwargs: What the class of the file system is called with.
        timeout: Seconds to wait for an answer.
        secrets: What no message may hold.
    """

    protocol: str
    root: str
    place: str
    kwargs: Mapping[str, Any] = field(repr=False)
    timeout: float
    secrets: tuple[str, ...] = field(repr=False)

    @classmethod
    def from_url(cls, url: BackendURL) -> Location:
        """Read ``fsspec+NAME://host/path``, or ``NAME://host/path`` for a scheme of our own.

        Raises:
            ConfigError: fsspec knows no such file system, or the URL cannot be meant.
            ImportError: What the file system needs is not installed.
        """
        protocol = url.engine if url.scheme == "fsspec" else url.scheme
        if url.scheme != "fsspec":
            url.allow_only("netloc", "path", "username", "password")
        system_class = _class_of(protocol)
        if protocol in _LOCAL and url.netloc:
            raise ConfigError(f"{url.full_scheme}:// takes an absolute path behind three slashes")
        given = _storage_options(url.options["storage_options"])
        user = f"{url.username}@" if url.username and protocol in _CONTAINER_IN_USER else ""
        address = f"{protocol}://{user}{url.netloc}{url.path}"
        return cls(
            protocol=protocol,
            root=str(system_class._strip_protocol(address)).rstrip("/"),  # noqa: SLF001  fsspec's own way
            place=f"{url.full_scheme}://{user}{url.netloc}{url.path}",
            kwargs={**system_class._get_kwargs_from_urls(address), **_kwargs(url, protocol), **given},  # noqa: SLF001
            timeout=url.options["timeout"],
            secrets=tuple(text for text in _texts([url.password, given]) if len(text) >= _SHORTEST_SECRET),
        )

    def open(self) -> Files:
        """Open the file system for this caller alone: fsspec would share it, and keep its listings."""
        system = _class_of(self.protocol)(**self.kwargs, skip_instance_cache=True)
        system.dircache.use_listings_cache = False
        if self.protocol in ("sftp", "ssh"):
            system.ftp.get_channel().settimeout(self.timeout)
        return Files(system, self._lock(system))

    def _lock(self, system: Any) -> AbstractContextManager[object]:
        if self.protocol == "memory":
            return _IN_MEMORY
        return nullcontext() if system.async_impl or self.protocol in _LOCAL else threading.RLock()


def _class_of(protocol: str) -> Any:
    if protocol in ("s3", "s3a"):
        raise ConfigError("S3 has a backend of its own: write s3://bucket/prefix")
    try:
        return fsspec.get_filesystem_class(protocol or "nothing")
    except ValueError:
        near = difflib.get_close_matches(protocol, fsspec.available_protocols(), n=1)
        hint = f"; did you mean fsspec+{near[0]}://?" if near else ""
        raise ConfigError(f"fsspec knows no file system {protocol!r}{hint}") from None
    except ImportError as error:
        # fsspec wraps it; the registry knows by the original what to install.
        raise (error.__cause__ if isinstance(error.__cause__, ImportError) else error) from None


def _kwargs(url: BackendURL, protocol: str) -> dict[str, Any]:
    kwargs: dict[str, Any] = dict.fromkeys(_TIMEOUTS.get(protocol, ()), url.options["timeout"])
    if url.username and protocol not in _CONTAINER_IN_USER:
        kwargs["username"] = url.username
    if url.password is not None:
        kwargs["password"] = url.password
    return kwargs


def _storage_options(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ConfigError("option 'storage_options' takes a JSON object")
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)
