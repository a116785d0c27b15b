"""Objects in Redis or Valkey: ``redis://localhost:6379/0``.

An object is two strings (see `offloadkit_redis.names`), written by one transaction of two ``SET NX``, so that
both appear together and one creator wins, without a script. Redis removes them when they expire. It may also
remove them before, when its memory is full and its ``maxmemory-policy`` is other than ``noeviction``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, Final, NoReturn, Self

from redis.exceptions import WatchError

from offloadkit.backend import Caps, Page, Stat, check_range
from offloadkit.errors import AlreadyExists, BackendError, NotFound, PartialDelete, TooLarge
from offloadkit.url import BackendURL, Option
from offloadkit_redis.connection import Client, Connection
from offloadkit_redis.faults import fault
from offloadkit_redis.listing import Position, describe, scan
from offloadkit_redis.names import Names
from offloadkit_redis.records import Record, expiry_milliseconds, unpack
from offloadkit_redis.urls import OPTIONS, connector, own_retries, place_of

__all__ = ["RedisBackend"]

_DELETE_BATCH: Final = 1_000
_FAR: Final = 1 << 62
_WATCH_ATTEMPTS: Final = 16


class RedisBackend:
    """A store in Redis. Any number of instances, threads and processes may share it, forked ones as well."""

    options: ClassVar[tuple[Option, ...]] = OPTIONS

    def __init__(
        self,
        connect: Callable[[], Client],
        *,
        place: str = "redis",
        prefix: str = "offloadkit",
        retries: int = 2,
        max_object_bytes: int = 64 * 2**20,
    ) -> None:
        """Make an instance, without any I/O.

        Args:
            connect: Makes a client of the driver that returns bytes; called once per process, at the first
                use. A function of your own may take it from a sentinel or give it credentials that change.
            place: The server in words, for messages; they must hold no secret.
            prefix: What the names of all strings begin with.
            retries: How often to try again after a lost connection.
            max_object_bytes: The largest object that is taken.

        Raises:
            ConfigError: The prefix holds others than [A-Za-z0-9._:/-].
        """
        self._names = Names(prefix)
        self._connection = Connection(connect, place=place, retries=retries)
        self._max_object_bytes = max_object_bytes

    @classmethod
    def from_url(cls, url: BackendURL) -> Self:
        """Make an instance, without any I/O. Raises `ConfigError` for a URL that cannot be meant."""
        return cls(
            connector(url),
            place=place_of(url),
            prefix=url.options["prefix"],
            retries=own_retries(url),
            max_object_bytes=url.options["max_object_bytes"],
        )

    @property
    def caps(self) -> Caps:
        """What Redis can do; whether it may evict is known after the first call."""
        return Caps(
            persistent=True,
            shared=True,
            native_ttl=True,
            may_evict=self._connection.evicts,
            max_object_bytes=self._max_object_bytes,
        )

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        """Store an object in one round trip. Raises `AlreadyExists` when the key is taken."""
        if len(data) > self._max_object_bytes:
            raise TooLarge(
                f"{len(data):,} bytes are more than the {self._max_object_bytes:,} that "
                f"{self._connection.place} takes; see the option 'max_object_bytes'",
                key=key,
            )
        self._connection.run(key, self._create, key, data, Record(len(data), meta, expires_at))

    def read(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Return ``length`` bytes (None: all) from byte ``start``, in one round trip. Raises `NotFound`."""
        check_range(start, length)
        return self._connection.run(key, self._read, key, start, length)

    def stat(self, key: str) -> Stat:
        """Describe an object. Raises `NotFound`."""
        found = self._connection.run(key, describe, self._names, [key])
        if not found:
            raise self._not_found(key)
        return found[0]

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        """Return one page, in no order. A key may come twice, or never in a cluster that is moving it."""
        return self._connection.run(None, self._page, prefix, Position.parse(cursor), limit)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects, 1,000 in a round trip.

        Raises:
            PartialDelete: Some are still there. Where the first round trip fails, its own error is raised.
        """
        self._connection.check_open()
        remaining = sorted(set(keys))
        failed: dict[str, BackendError] = {}
        for begin in range(0, len(remaining), _DELETE_BATCH):
            batch = remaining[begin : begin + _DELETE_BATCH]
            try:
                failed |= self._connection.run(None, self._unlink, batch)
            except BackendError as error:
                if begin == 0:
                    raise
                failed |= dict.fromkeys(remaining[begin:], error)
                break
        if failed:
            raise PartialDelete(f"{len(failed)} of {len(remaining)} keys are still there", failed=failed)

    def set_expiry(self, key: str, expires_at: float | None) -> None:
        """Set or (None) remove the expiry of both strings at once. Raises `NotFound`."""
        self._connection.run(key, self._move_expiry, key, expires_at)

    def ping(self) -> None:
        """Return when the server answers. Raises `Unavailable` or `Denied`."""
        self._connection.run(None, lambda client: client.ping())

    def close(self) -> None:
        """Close the connections; twice is fine."""
        self._connection.close()

    def __repr__(self) -> str:
        """Say where the objects are, without secrets."""
        return f"<RedisBackend: {self._names.prefix} in {self._connection.place}>"

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would share the connections, and a pickle would hold the password."""
        raise TypeError("a Redis backend is neither copied nor pickled; open its URL again instead")

    def _create(self, client: Client, key: str, data: bytes, record: Record) -> None:
        packed = record.pack()
        expiry = expiry_milliseconds(record.expires_at)
        transaction = client.pipeline(transaction=True)
        transaction.set(self._names.data(key), data, nx=True, pxat=expiry)
        transaction.set(self._names.record(key), packed, nx=True, pxat=expiry)
        transaction.get(self._names.record(key))
        data_is_new, record_is_new, stored = transaction.execute()
        if bool(data_is_new) != bool(record_is_new):
            self._overwrite(client, key, data, record)
        # The record is ours although nothing was new when the answer to an earlier attempt was lost.
        elif not data_is_new and stored != packed:
            raise AlreadyExists("the key is taken", key=key)

    def _overwrite(self, client: Client, key: str, data: bytes, record: Record) -> None:
        """Complete an object of which the server had evicted one string and kept the other."""
        expiry = expiry_milliseconds(record.expires_at)
        transaction = client.pipeline(transaction=True)
        transaction.set(self._names.data(key), data, pxat=expiry)
        transaction.set(self._names.record(key), record.pack(), pxat=expiry)
        transaction.execute()

    def _read(self, client: Client, key: str, start: int, length: int | None) -> bytes:
        data = self._range(client, key, start, length, transaction=False)
        # Nothing may also mean that the object was made again between the two commands.
        return data or (b"" if length == 0 else self._range(client, key, start, length, transaction=True))

    def _range(self, client: Client, key: str, start: int, length: int | None, *, transaction: bool) -> bytes:
        begin = min(start, _FAR)
        end = -1 if length is None else min(begin + length, _FAR) - 1
        commands = client.pipeline(transaction=transaction)
        commands.getrange(self._names.data(key), *((begin, end) if length != 0 else (1, 0)))
        commands.exists(self._names.data(key), self._names.record(key))
        data, strings = commands.execute()
        if strings != 2:
            raise self._not_found(key)
        return bytes(data)

    def _page(self, client: Client, prefix: str, position: Position, limit: int) -> Page:
        keys, behind = scan(client, self._names, prefix, position)
        stats = describe(client, self._names, keys[:limit])
        pending = tuple(key[len(prefix) :] for key in keys[limit:])
        return Page(tuple(stats), replace(behind, pending=pending).cursor())

    def _unlink(self, client: Client, keys: Sequence[str]) -> dict[str, BackendError]:
        """Delete the two strings of each key by one command; return what failed."""
        pipeline = client.pipeline(transaction=False)
        for key in keys:
            # The method of this name takes one key only in a cluster.
            pipeline.execute_command("UNLINK", self._names.data(key), self._names.record(key))
        answers = pipeline.execute(raise_on_error=False)
        return {
            key: fault(answer, self._connection.place, key)
            for key, answer in zip(keys, answers, strict=True)
            if isinstance(answer, Exception)
        }

    def _move_expiry(self, client: Client, key: str, expires_at: float | None) -> None:
        attempts = 0
        while True:
            try:
                return self._try_to_move_expiry(client, key, expires_at)
            except WatchError:
                attempts += 1
                if attempts == _WATCH_ATTEMPTS:
                    raise

    def _try_to_move_expiry(self, client: Client, key: str, expires_at: float | None) -> None:
        data_name, record_name = self._names.data(key), self._names.record(key)
        expiry = expiry_milliseconds(expires_at)
        with client.pipeline(transaction=True) as transaction:
            transaction.watch(data_name, record_name)
            packed = transaction.get(record_name)
            if packed is None or not transaction.exists(data_name):
                raise self._not_found(key)
            transaction.multi()
            transaction.set(
                record_name, replace(unpack(packed, key), expires_at=expires_at).pack(), pxat=expiry
            )
            if expiry is None:
                transaction.persist(data_name)
            else:
                transaction.pexpireat(data_name, expiry)
            transaction.execute()

    def _not_found(self, key: str) -> NotFound:
        evicted = ", was deleted, or was evicted" if self._connection.evicts else ", or was deleted"
        return NotFound(f"no object has this key: it was never stored, has expired{evicted}", key=key)
