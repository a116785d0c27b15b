"""Objects in an S3 bucket, metadata in their headers: one request for a put, one for a range."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar, Final, NoReturn, Self, TypeVar

from offloadkit.backend import Caps, Page, Stat, check_key, check_range
from offloadkit.errors import (
    AlreadyExists,
    BackendError,
    ConfigError,
    Denied,
    InvalidKey,
    NotFound,
    PartialDelete,
    TooLarge,
    Unavailable,
)
from offloadkit.url import BackendURL, Option
from offloadkit_fsspec.connection import Connection
from offloadkit_fsspec.failures import PastTheEnd, error_for, without_secrets
from offloadkit_fsspec.lifecycle import expiry_tag, lifecycle_rules
from offloadkit_fsspec.retrying import with_retries
from offloadkit_fsspec.s3_engine import Engine
from offloadkit_fsspec.s3_headers import headers_of, stat_of
from offloadkit_fsspec.s3_settings import OPTIONS, S3Settings
from offloadkit_fsspec.sweeping import Sweep

__all__ = ["S3Backend"]

MAX_OBJECT_BYTES: Final = 5 * 2**30
DELETE_BATCH: Final = 1000
PROBE_NAME: Final = ".offloadkit-probe"
_EXPRESS_BUCKET: Final = "--x-s3"

_Result = TypeVar("_Result")


class S3Backend:
    """Objects in one bucket under one prefix. Safe to use from many threads.

    Whether a server honours ``If-None-Match`` is found out by the first put, with an empty object named
    ``.offloadkit-probe`` that stays under the prefix. ``caps.atomic_create`` is False until then.
    """

    options: ClassVar[tuple[Option, ...]] = OPTIONS

    def __init__(
        self,
        settings: S3Settings,
        make_engine: Callable[[S3Settings], Engine],
        *,
        refused_after_fork: str = "",
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Make a backend, without any I/O.

        Args:
            settings: The place and the way there.
            make_engine: Makes what sends the requests; called by the first one, in each process.
            refused_after_fork: Why a forked child may not make an engine, or "" when it may.
            clock: Returns the seconds since 1970, for `Stat.created_at`.
            sleep: Waits between two attempts.
        """
        self._settings = settings
        self._fork_is_refused = bool(refused_after_fork)
        self._clock = clock
        self._sleep = sleep
        self._engine = Connection(
            settings.place,
            lambda: make_engine(settings),
            close=lambda engine: engine.close(),
            refused_after_fork=refused_after_fork,
        )
        self._create_is_honoured: bool | None = None
        self._bucket_is_known = False
        self._sweep = Sweep()

    @classmethod
    def from_url(cls, url: BackendURL) -> Self:
        """Make a backend for ``s3[+s3fs|+obstore]://bucket[/prefix]``. Raises `ConfigError`."""
        settings = S3Settings.from_url(url)
        if url.engine in ("", "s3fs"):
            module = importlib.import_module("offloadkit_fsspec.s3fs_engine")
            return cls(settings, module.S3fsEngine)
        if url.engine == "obstore":
            module = importlib.import_module("offloadkit_fsspec.obstore_engine")
            module.check_settings(settings)
            return cls(settings, module.ObstoreEngine, refused_after_fork=module.REFUSED_AFTER_FORK)
        raise ConfigError(f"s3:// has no engine {url.engine!r}: it is s3fs, or obstore (s3+obstore://)")

    @property
    def caps(self) -> Caps:
        """What the bucket can do; ``atomic_create`` is known after the first put."""
        return Caps(
            persistent=True,
            shared=True,
            atomic_create=bool(self._create_is_honoured),
            native_ttl=self._settings.expiry_tags,
            ordered=not self._settings.bucket.endswith(_EXPRESS_BUCKET),
            max_object_bytes=MAX_OBJECT_BYTES,
            fork="refused" if self._fork_is_refused else "safe",
        )

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object in one request (above 64 MiB: in parts). Raises `AlreadyExists` or `TooLarge`."""
        if len(data) > MAX_OBJECT_BYTES:
            raise TooLarge(f"S3 takes at most {MAX_OBJECT_BYTES} bytes in one object", key=key)
        stat = Stat(key, len(data), meta, expires_at, created_at=self._clock())
        if not self._honours_create():
            self._check_free(key)
        attempts = 0

        def create(engine: Engine) -> None:
            nonlocal attempts
            attempts += 1
            engine.put(self._name(key), data, headers_of(stat), self._tags(expires_at))

        try:
            self._call(key, create)
        except AlreadyExists:
            # The answer to the first attempt may have been lost after it had succeeded.
            if attempts == 1 or self.stat(key) != stat:
                raise

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return ``length`` bytes (None: all) from byte ``start``, in one request. Raises `NotFound`."""
        check_range(start, length)
        if length == 0:
            self.stat(key)
            return b""
        end = None if length is None else start + length
        try:
            return self._call(key, lambda engine: engine.get(self._name(key), start, end))
        except PastTheEnd:
            return b""

    def stat(self, key: str) -> Stat:
        """Describe an object. Raises `NotFound`."""
        return stat_of(key, self._call(key, lambda engine: engine.head(self._name(key))))

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page of keys and sizes: S3 lists no metadata. Objects that others made are left out."""
        folder, slash, _ = prefix.rpartition("/")
        if slash and not _is_key(folder):
            self._engine.check_open()
            return Page(())
        root = self._settings.prefix
        after = root + cursor if cursor else ""
        listing = self._call(None, lambda engine: engine.list(root + prefix, after=after, limit=limit))
        found = [(name.removeprefix(root), size) for name, size in listing.sizes]
        items = tuple(Stat(key, size) for key, size in found if _is_key(key))
        return Page(items, cursor=found[-1][0] if listing.more else None)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects, 1,000 per request.

        Raises:
            PartialDelete: Some keys were refused, or a later request failed. Where the first one fails as a
                whole, its own error is raised.
        """
        self._engine.check_open()
        doomed = list(dict.fromkeys(keys))
        failed: dict[str, BackendError] = {}
        for done, batch in enumerate(_batches(doomed)):
            try:
                failed |= self._delete(batch)
            except BackendError as error:
                if done == 0:
                    raise
                failed |= dict.fromkeys(batch, error)
        if failed:
            raise PartialDelete(f"{len(failed)} of {len(doomed)} objects are still there", failed=failed)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        """Set or (None) remove the expiry, in two requests. Raises `NotFound`."""

        def change(engine: Engine) -> None:
            head = engine.head(self._name(key))
            stat = stat_of(key, head)
            changed = Stat(key, stat.size, stat.meta, expires_at, stat.created_at)
            engine.relabel(self._name(key), head, headers_of(changed), self._tags(expires_at))

        try:
            self._call(key, change)
        except AlreadyExists as error:
            raise Unavailable(f"{key} was changed at the same moment; try again", key=key) from error

    def sweep(self, now: float, *, limit: int = 1000) -> int:
        """Delete at most ``limit`` objects that expired before ``now``; return how many.

        Each object costs one request, since S3 lists no expiry: with ``expiry_tags`` and the lifecycle rules
        the bucket does it by itself.
        """
        return self._sweep.step(self, now, limit)

    def ping(self) -> None:
        """Return when the bucket answers. Raises `Unavailable` or `Denied`."""
        self._call(None, lambda engine: engine.list(self._settings.prefix, after="", limit=1))

    def lifecycle_rules(self) -> dict[str, Any]:
        """Return the lifecycle configuration that goes with ``expiry_tags=true``; it is not installed."""
        return lifecycle_rules(self._settings.prefix)

    def close(self) -> None:
        """Close the connections; twice is fine."""
        self._engine.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._settings.place}>"

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would share or lose the connections, and a pickle would hold the secrets."""
        raise TypeError("an S3 backend is neither copied nor pickled; open its URL again instead")

    def _name(self, key: str) -> str:
        return self._settings.prefix + key

    def _tags(self, expires_at: float | None) -> dict[str, str]:
        if expires_at is None or not self._settings.expiry_tags:
            return {}
        return expiry_tag(expires_at - self._clock())

    def _honours_create(self) -> bool:
        if self._create_is_honoured is None:
            self._create_is_honoured = self._probe_create()
        return self._create_is_honoured

    def _probe_create(self) -> bool:
        """Create an object that may be there from an earlier time; the second time at the latest it is."""
        for _ in range(2):
            try:
                self._call(None, lambda engine: engine.put(self._name(PROBE_NAME), b"", {}, {}))
            except AlreadyExists:
                return True
        return False

    def _check_free(self, key: str) -> None:
        try:
            self.stat(key)
        except NotFound:
            return
        raise AlreadyExists(f"{key} is there already in {self._settings.place}", key=key)

    def _delete(self, batch: Sequence[str]) -> dict[str, BackendError]:
        names = {self._name(key): key for key in batch}
        failures = self._call(None, lambda engine: engine.delete(list(names)))
        place = self._settings.place
        return {
            names[name]: error_for(failure, key=names[name], place=place)
            for name, failure in failures.items()
        }

    def _call(self, key: str | None, work: Callable[[Engine], _Result]) -> _Result:
        """Return ``work(engine)``, tried again while the store is unavailable."""
        try:
            result = with_retries(lambda: self._attempt(key, work), self._settings.retries, sleep=self._sleep)
        except NotFound:
            self._check_bucket()
            raise
        self._bucket_is_known = True
        return result

    def _attempt(self, key: str | None, work: Callable[[Engine], _Result]) -> _Result:
        engine = self._engine.client()
        try:
            return work(engine)
        except engine.errors as error:
            failure, cause = engine.failure(error), without_secrets(error, self._settings.secrets)
        # Outside of the except block, so that the driver's error is no context of ours: it may hold a secret.
        raise error_for(failure, key=key, place=self._settings.place) from cause

    def _check_bucket(self) -> None:
        """Raise `BackendError` if there is no bucket: a HEAD request answers just 404 to that."""
        if self._bucket_is_known:
            return
        with suppress(Denied):  # these credentials may read objects, and not list them
            self._attempt(None, lambda engine: engine.list(self._settings.prefix, after="", limit=1))
        self._bucket_is_known = True


def _batches(keys: list[str]) -> Iterator[list[str]]:
    remaining = iter(keys)
    return iter(lambda: list(islice(remaining, DELETE_BATCH)), [])


def _is_key(text: str) -> bool:
    try:
        check_key(text)
    except InvalidKey:
        return False
    return True
