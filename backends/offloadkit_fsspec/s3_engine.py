"""The requests that the S3 backend makes, whichever library sends them.

An engine sends one request and never repeats it: what failed for a passing reason is tried again above it, so
that both engines do it alike and the backend knows how often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from offloadkit_fsspec.failures import Failure

__all__ = ["Engine", "Head", "Listing"]


@dataclass(frozen=True, slots=True)
class Head:
    """What a HEAD request tells.

    Attributes:
        size: Bytes of the object.
        headers: Its user metadata, names in lower case.
        etag: With its quotation marks.
    """

    size: int
    headers: Mapping[str, str]
    etag: str


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a listing.

    Attributes:
        sizes: Name and bytes of each object, in ascending order of names.
        more: Whether there are names beyond the last one.
    """

    sizes: tuple[tuple[str, int], ...]
    more: bool


class Engine(Protocol):
    """Sends requests to one bucket. Safe to use from many threads."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What its methods raise; `failure` tells what it means."""
        ...

    def failure(self, error: Exception) -> Failure:
        """Read an error of ``errors``."""
        ...

    def put(self, name: str, data: bytes, headers: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Create an object; status 412 when it is there already."""
        ...

    def get(self, name: str, start: int, end: int | None) -> bytes:
        """Return the bytes ``[start, end)``, never of an empty range; status 416 past the end."""
        ...

    def head(self, name: str) -> Head:
        """Describe an object."""
        ...

    def relabel(self, name: str, head: Head, headers: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Give an object other headers and tags; status 412 when it is not that of ``head`` any more."""
        ...

    def list(self, prefix: str, *, after: str, limit: int) -> Listing:
        """Return names that begin with ``prefix`` and stand after ``after`` ("" for the first page)."""
        ...

    def delete(self, names: Sequence[str]) -> Mapping[str, Failure]:
        """Delete up to 1,000 objects; return what failed. A missing one is no failure."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
