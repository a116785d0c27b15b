"""The stores that are measured: how ours, the raw client and the peer are opened on each, and cleaned up."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from backend_speed.clients import Client, Ours, Peer
from backend_speed.moto_server import moto_place
from backend_speed.raw_file import RawFile
from backend_speed.raw_s3 import RawBoto3, RawObstore, RawS3fs, S3Place
from backend_speed.raw_sql import RawMariaDB, RawPostgreSQL, RawSQLite
from offloadkit import open_backend
from offloadkit.backend import SupportsPing
from offloadkit.errors import OffloadkitError

__all__ = ["OURS", "PEER", "SESSION", "STORES", "Contest", "Places", "entered"]

OURS: Final = "ours"
PEER: Final = "py-key-value"
SESSION: Final = "benchmark/run-1"

SCRATCH: Final = f"offloadkit_benchmark_{os.getpid()}"
"""What every table, prefix and collection of this run is called."""

_TABLES: Final = (SCRATCH, f"{SCRATCH}_raw", f"{SCRATCH}_peer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the stores are: URLs, and a folder on the disk to be measured."""

    folder: Path
    postgresql: str
    mariadb: str
    redis: str


@dataclass(frozen=True, slots=True)
class Contest:
    """Who takes turns on one store.

    Attributes:
        clients: By name: "ours", each raw client, and "py-key-value" where it takes part.
        no_peer: Why it does not take part, or "".
    """

    clients: Mapping[str, Client]
    no_peer: str = ""


@contextmanager
def entered(name: str, places: Places) -> Iterator[Contest | str]:
    """Open one of `STORES` for as long as the block lasts, or say why it cannot be."""
    with ExitStack() as stack:
        try:
            contest: Contest | str = stack.enter_context(STORES[name](places))
        except (ImportError, OffloadkitError, OSError) as error:
            contest = f"{error}"
        yield contest


@contextmanager
def _contest(url: str, raw: Mapping[str, Client], peer: Callable[[], Any] | None) -> Iterator[Contest]:
    """Open ours by its URL, and the peer's store where its package and driver are installed."""
    with ExitStack() as stack:
        ours = stack.enter_context(closing(Ours(open_backend(url))))
        clients: dict[str, Client] = {OURS: ours, **raw}
        if peer is None:
            yield Contest(clients, "it has no such store")
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # most of its stores warn that their format may change
                clients[PEER] = stack.enter_context(closing(Peer(peer(), SCRATCH)))
        except ImportError as error:
            yield Contest(clients, f"{error}")
            return
        yield Contest(clients)


@contextmanager
def _memory(_places: Places) -> Iterator[Contest]:
    def peer() -> Any:
        from key_value.aio.stores.memory import MemoryStore  # noqa: PLC0415

        return MemoryStore()

    with _contest("memory://", {}, peer) as contest:
        yield contest


@contextmanager
def _file(places: Places) -> Iterator[Contest]:
    def peer() -> Any:
        from key_value.aio.stores.filetree import FileTreeStore  # noqa: PLC0415

        return FileTreeStore(data_directory=folder / "peer")

    with _folder(places) as folder:
        raw = RawFile(folder / "raw", SESSION)
        with _contest(f"file://{folder}/ours", {"raw file": raw}, peer) as contest:
            yield contest


@contextmanager
def _sqlite(places: Places, synchronous: str = "full") -> Iterator[Contest]:
    def peer() -> Any:
        from key_value.aio.stores.disk import DiskStore  # noqa: PLC0415

        return DiskStore(directory=folder / "peer", max_size=2**40)

    with _folder(places) as folder, closing(RawSQLite(folder / "raw.db", "raw", synchronous)) as raw:
        url = _with_option(f"sqlite:///{folder}/ours.db", "synchronous", synchronous)
        with _contest(url, {"sqlite3": raw}, peer) as contest:
            yield contest


@contextmanager
def _postgresql(places: Places) -> Iterator[Contest]:
    def peer() -> Any:
        from key_value.aio.stores.postgresql import PostgreSQLStore  # noqa: PLC0415

        return PostgreSQLStore(url=places.postgresql, table_name=_TABLES[2])

    url = _with_option(places.postgresql, "table", SCRATCH)
    _check_reached(url)
    with (
        _dropping(lambda: RawPostgreSQL.drop(places.postgresql, _TABLES)),
        closing(RawPostgreSQL(places.postgresql, _TABLES[1])) as raw,
        _contest(url, {"psycopg": raw}, peer) as contest,
    ):
        yield contest


@contextmanager
def _mariadb(places: Places) -> Iterator[Contest]:
    url = _with_option(places.mariadb, "table", SCRATCH)
    _check_reached(url)
    with (
        _dropping(lambda: RawMariaDB.drop(places.mariadb, _TABLES)),
        closing(RawMariaDB(places.mariadb, _TABLES[1])) as raw,
        _contest(url, {"PyMySQL": raw}, None) as contest,
    ):
        yield contest


@contextmanager
def _redis(places: Places) -> Iterator[Contest]:
    def peer() -> Any:
        from key_value.aio.stores.redis import RedisStore  # noqa: PLC0415

        return RedisStore(url=places.redis)

    url = _with_option(places.redis, "prefix", SCRATCH)
    _check_reached(url)
    from backend_speed.raw_redis import RawRedis  # noqa: PLC0415  its driver is not always there

    with (
        _dropping(lambda: RawRedis.delete_all(places.redis, f"{SCRATCH}*")),
        closing(RawRedis(places.redis, f"{SCRATCH}_raw")) as raw,
        _contest(url, {"redis-py": raw}, peer) as contest,
    ):
        yield contest


@contextmanager
def _s3(_places: Places) -> Iterator[Contest]:
    with moto_place() as place, closing(RawBoto3(place, "boto3/")) as boto3:
        raw: dict[str, Client] = {"boto3": boto3, "s3fs": RawS3fs(place, "s3fs/")}
        with _contest(_s3_url("s3", place), raw, lambda: _s3_peer(place)) as contest:
            yield contest


@contextmanager
def _s3_obstore(_places: Places) -> Iterator[Contest]:
    with moto_place() as place:
        raw = RawObstore(place, "obstore/")
        with _contest(_s3_url("s3+obstore", place), {"obstore": raw}, lambda: _s3_peer(place)) as contest:
            yield contest


STORES: Final[Mapping[str, Callable[[Places], AbstractContextManager[Contest]]]] = {
    "memory": _memory,
    "file": _file,
    "sqlite": _sqlite,
    "sqlite-normal": partial(_sqlite, synchronous="normal"),
    "postgresql": _postgresql,
    "mariadb": _mariadb,
    "redis": _redis,
    "s3": _s3,
    "s3+obstore": _s3_obstore,
}


def _s3_url(scheme: str, place: S3Place) -> str:
    options = {
        "endpoint": place.endpoint,
        "region": place.region,
        "access_key": place.access_key,
        "secret_key": place.secret_key,
    }
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return f"{scheme}://{place.bucket}/ours?{query}"


def _s3_peer(place: S3Place) -> Any:
    from key_value.aio.stores.s3 import S3Store  # noqa: PLC0415

    return S3Store(
        bucket_name=place.bucket,
        endpoint_url=place.endpoint,
        region_name=place.region,
        aws_access_key_id=place.access_key,
        aws_secret_access_key=place.secret_key,
    )


def _check_reached(url: str) -> None:
    """Raise an error of offloadkit when there is no server."""
    with closing(open_backend(url)) as backend:
        if isinstance(backend, SupportsPing):
            backend.ping()


def _with_option(url: str, name: str, value: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{name}={value}"


@contextmanager
def _dropping(drop: Callable[[], object]) -> Iterator[None]:
    try:
        yield
    finally:
        drop()


@contextmanager
def _folder(places: Places) -> Iterator[Path]:
    """Make a folder for one run; `Path.resolve`, since a backend takes absolute paths."""
    with tempfile.TemporaryDirectory(prefix=".offloadkit-benchmark-", dir=places.folder) as scratch:
        yield Path(scratch).resolve()
