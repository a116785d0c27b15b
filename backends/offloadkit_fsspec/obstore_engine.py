"""S3 through obstore: a client in Rust, several times faster on small requests, without a dependency.

Its runtime does not survive a fork: a child that touches it, even with a new client, waits for ever. So every
way in begins with the question which process this is.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from offloadkit.errors import BackendError, ConfigError
from offloadkit_fsspec.failures import Failure
from offloadkit_fsspec.s3_engine import Head, Listing
from offloadkit_fsspec.s3_settings import S3Settings

__all__ = ["REFUSED_AFTER_FORK", "ObstoreEngine", "check_settings"]

REFUSED_AFTER_FORK: Final = (
    "is reached through obstore, which was started before this process was forked and would hang in it: "
    "use s3:// (s3fs) in programs that fork, or start the workers by spawn"
)
_STATUS: Final = re.compile(r"status code: (\d{3})")
_CODE: Final = re.compile(r"<Code>(\w+)</Code>|\(code: (\w+)\)")
_CREDENTIALS_SERVER: Final = "169.254.169.254"  # asked for credentials when nobody has given any
_ONE_KEY_FAILED: Final = "DeleteObjects request failed for key"
_STATUS_BY_ERROR: Final = {
    "AlreadyExistsError": 412,
    "PreconditionError": 412,
    "PermissionDeniedError": 403,
    "UnauthenticatedError": 401,
    "FileNotFoundError": 404,
}

_IGNORED_RANGE: Final = "non-partial response"
_PAST_EVERY_KEY: Final = "\x7f"

_started_in: list[int] = []


class ObstoreEngine:
    """Sends requests to one bucket; see `offloadkit_fsspec.s3_engine.Engine`."""

    errors: tuple[type[Exception], ...] = (BaseError, OSError)

    def __init__(self, settings: S3Settings) -> None:
        """Make a client. Raises `BackendError` in a child of a process that has used obstore."""
        if _started_in and _started_in[0] != os.getpid():
            raise BackendError(f"{settings.place} {REFUSED_AFTER_FORK}")
        _started_in[:] = [os.getpid()]
        self._store = S3Store(
            settings.bucket,
            config=_config(settings),
            client_options={
                "allow_http": True,
                "connect_timeout": timedelta(seconds=settings.timeout),
                "read_timeout": timedelta(seconds=settings.read_timeout),
                "timeout": timedelta(hours=1),
            },
            retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=settings.read_timeout)},
        )

    def failure(self, error: Exception) -> Failure:
        """Read status and code out of an error, whose text is all that tells them."""
        text = str(error)
        if _CREDENTIALS_SERVER in text:
            return Failure(401, "NoCredentials")
        found, code = _STATUS.search(text), _CODE.search(text)
        name = type(error).__name__
        status = int(found[1]) if found else _STATUS_BY_ERROR.get(name)
        return Failure(status, (code[1] or code[2]) if code else name)

    def put(self, name: str, data: bytes, headers: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Create an object in one request of any size: obstore has no condition on uploads in parts."""
        self._put(name, data, headers, tags, "create")

    def get(self, name: str, start: int, end: int | None) -> bytes:
        """Return a range, whatever a server makes of the header that asks for it."""
        if start == 0 and end is None:
            return bytes(obstore.get(self._store, name).bytes())
        wanted: Any = {"offset": start} if end is None else (start, end)
        try:
            return bytes(obstore.get(self._store, name, options={"range": wanted}).bytes())
        except BaseError as error:
            if _IGNORED_RANGE not in str(error):
                raise
        return bytes(obstore.get(self._store, name).bytes())[start:end]

    def head(self, name: str) -> Head:
        """Describe an object."""
        answer = obstore.get(self._store, name, options={"head": True})
        headers = {str(header).lower(): value for header, value in answer.attributes.items()}
        return Head(answer.meta["size"], headers, answer.meta["e_tag"] or "")

    def relabel(self, name: str, head: Head, headers: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Write the object again over itself: obstore cannot copy with other headers."""
        data = obstore.get(self._store, name, options={"if_match": head.etag}).bytes()
        self._put(name, bytes(data), headers, tags, {"e_tag": head.etag})

    def list(self, prefix: str, *, after: str, limit: int) -> Listing:
        """Return one page of names. obstore lists folders only: what does not match is passed over.

        The marker of a folder, which other programs make, looks like an object: obstore drops its slash.
        """
        folder = prefix.rpartition("/")[0] or None
        found = []
        for item in itertools.chain.from_iterable(
            obstore.list(self._store, folder, offset=after or None, chunk_size=limit)
        ):
            if item["path"].startswith(prefix):
                found.append((item["path"], item["size"]))
            if len(found) == limit or item["path"] > prefix + _PAST_EVERY_KEY:
                break
        return Listing(tuple(found), more=len(found) == limit)

    def delete(self, names: Sequence[str]) -> Mapping[str, Failure]:
        """Delete up to 1,000 objects in one request, or where that is refused, one by one to see which."""
        try:
            obstore.delete(self._store, names)
        except self.errors as error:
            if _ONE_KEY_FAILED not in str(error):
                raise
        else:
            return {}
        return {name: failure for name in names if (failure := self._delete_one(name))}

    def close(self) -> None:
        """Do nothing: connections end with the store."""

    def _put(
        self, name: str, data: bytes, headers: Mapping[str, str], tags: Mapping[str, str], mode: Any
    ) -> None:
        obstore.put(
            self._store, name, data, attributes=dict(headers), tags=dict(tags), mode=mode, use_multipart=False
        )

    def _delete_one(self, name: str) -> Failure | None:
        try:
            obstore.delete(self._store, name)
        except self.errors as error:
            return self.failure(error)
        return None


def check_settings(settings: S3Settings) -> None:
    """Raise `ConfigError` for what obstore cannot do."""
    if settings.profile is not None:
        raise ConfigError("obstore reads no AWS profiles: leave out 'profile', or use s3:// without +obstore")


def _config(settings: S3Settings) -> Any:
    given = {
        "aws_region": settings.region,
        "aws_endpoint": settings.endpoint,
        "aws_access_key_id": settings.access_key,
        "aws_secret_access_key": settings.secret_key,
        "aws_session_token": settings.session_token,
    }
    return {name: value for name, value in given.items() if value is not None}
