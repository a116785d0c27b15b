"""From a config URL to what makes a client of the driver."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import redis
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.cluster import ClusterNode
from redis.retry import Retry

from offloadkit.errors import ConfigError
from offloadkit.url import BackendURL, Option
from offloadkit_redis.connection import Client

__all__ = ["OPTIONS", "connector", "own_retries", "place_of"]

_PORT: Final = 6379

OPTIONS: Final[tuple[Option, ...]] = (
    Option(name="prefix", default="offloadkit", help="What the names of all strings begin with."),
    Option(
        name="timeout",
        kind="seconds",
        default=2.0,
        help="How long to wait for an answer, and for one object to be sent; half of it for a connection.",
    ),
    Option(name="retries", kind="integer", default=2, help="How often to try again after a lost connection."),
    Option(
        name="max_object_bytes",
        kind="bytes",
        default=64 * 2**20,
        help="The largest object. Redis serves one client at a time, and 1 MB takes it about a millisecond.",
    ),
    Option(name="database", kind="integer", help="The database's number, for redis+unix:// URLs."),
    Option(name="ca_file", help="TLS: a file with the certificates to trust, in place of the system's."),
    Option(name="verify", kind="boolean", default=True, help="TLS: check certificate and host name."),
)


def connector(url: BackendURL) -> Callable[[], Client]:
    """Return what makes the client for a URL; making it is free of I/O, but for a cluster.

    Raises:
        ConfigError: The URL cannot be meant.
    """
    common = _common(url)
    if url.engine == "cluster":
        return _cluster(url, common)
    common |= {"retry": Retry(NoBackoff(), 0), "db": _database(url)}
    if url.engine == "unix":
        return partial(redis.Redis, unix_socket_path=_socket_path(url), **common)
    if url.engine:
        raise ConfigError(
            f"{url.full_scheme}:// is none of {url.scheme}://, {url.scheme}+unix:// and {url.scheme}+cluster://"
        )
    return partial(redis.Redis, host=url.host or "localhost", port=url.port or _PORT, **_tls(url), **common)


def own_retries(url: BackendURL) -> int:
    """Return how often the backend itself tries again; for a cluster the driver does, node by node."""
    return 0 if url.engine == "cluster" else int(url.options["retries"])


def place_of(url: BackendURL) -> str:
    """Return the URL without user, password and options."""
    return f"{url.full_scheme}://{url.netloc}{url.path}"


def _common(url: BackendURL) -> dict[str, Any]:
    timeout = url.options["timeout"]
    if timeout <= 0:
        raise ConfigError("the option 'timeout' takes a duration above 0")
    return {
        "username": url.username,
        "password": url.password,
        "protocol": 2,
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout / 2,
    }


def _tls(url: BackendURL) -> dict[str, Any]:
    if url.scheme not in {"rediss", "valkeys"}:
        return {}
    verify = url.options["verify"]
    return {
        "ssl": True,
        "ssl_ca_certs": url.options["ca_file"],
        "ssl_cert_reqs": "required" if verify else "none",
        "ssl_check_hostname": verify,
    }


def _database(url: BackendURL) -> int:
    given = url.options["database"]
    number = url.path.removeprefix("/")
    if url.engine == "unix" or not number:
        return int(given or 0)
    if not (number.isascii() and number.isdecimal()):
        raise ConfigError(f"the path of {place_of(url)} is the database's number, such as /0")
    if given not in {None, int(number)}:
        raise ConfigError(f"{place_of(url)} names one database, its option 'database' another")
    return int(number)


def _socket_path(url: BackendURL) -> str:
    if url.netloc or url.path in {"", "/"} or _tls(url):
        raise ConfigError(
            f"a socket is named by three slashes, {url.full_scheme}:///run/redis.sock, and without TLS, "
            f"not as {place_of(url)}"
        )
    return url.path


def _cluster(url: BackendURL, common: dict[str, Any]) -> Callable[[], Client]:
    if url.path.strip("/") not in {"", "0"} or url.options["database"]:
        raise ConfigError(f"a cluster has the database 0 only, not {place_of(url)}")
    nodes = [_node(part) for part in url.netloc.split(",")]
    retry = Retry(ExponentialWithJitterBackoff(cap=0.1, base=0.01), url.options["retries"])
    return partial(
        redis.RedisCluster,
        startup_nodes=[ClusterNode(*node) for node in nodes],  # type: ignore[no-untyped-call]
        retry=retry,
        **_tls(url),
        **common,
    )


def _node(text: str) -> tuple[str, int]:
    """Read one of the hosts of a cluster, as a URL of one host is read."""
    one = BackendURL(scheme="redis", netloc=text)
    if not one.host:
        raise ConfigError("a cluster is named by its nodes: redis+cluster://host:7000,host:7001")
    return one.host, one.port or _PORT
