"""Which servers the URLs of the Redis backend mean, and that none of their secrets shows."""

from __future__ import annotations

import pickle
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import missing
from redis_servers import RedisServer, free_ports, started

from offloadkit import available_backends, open_backend
from offloadkit.backend import Unavailable
from offloadkit.errors import ConfigError
from offloadkit.url import parse_url
from offloadkit_redis import RedisBackend
from offloadkit_redis.urls import OPTIONS, connector

SECRET = "s3cret"


def settings(url: str) -> dict[str, Any]:
    """Return how the client for a URL would connect; nothing is connected."""
    client = connector(parse_url(url).with_options(OPTIONS))()
    found: dict[str, Any] = client.connection_pool.connection_kwargs
    client.close()
    return found


def chosen(found: dict[str, Any], *names: str) -> list[Any]:
    return [found.get(name) for name in names]


class TestMeaning:
    @pytest.mark.parametrize(
        ("url", "host", "port", "database"),
        [
            ("redis://", "localhost", 6379, 0),
            ("redis://h", "h", 6379, 0),
            ("redis://h:7000/3", "h", 7000, 3),
            ("valkey://h/1", "h", 6379, 1),
            ("redis://[::1]:7000/?database=2", "::1", 7000, 2),
            ("redis://h/4?database=4", "h", 6379, 4),
        ],
    )
    def test_host_port_and_database(self, url: str, host: str, port: int, database: int) -> None:
        assert chosen(settings(url), "host", "port", "db") == [host, port, database]

    def test_user_and_password_are_decoded(self) -> None:
        found = settings("redis://u%40x:p%3Aw@h/0")

        assert chosen(found, "username", "password") == ["u@x", "p:w"]

    def test_a_password_may_come_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REDIS_PASSWORD", SECRET)

        assert settings("redis://h/0?password_env=REDIS_PASSWORD")["password"] == SECRET

    def test_a_socket_is_a_path(self) -> None:
        assert chosen(settings("redis+unix:///run/redis.sock?database=2"), "path", "db") == [
            "/run/redis.sock",
            2,
        ]

    @pytest.mark.parametrize("scheme", ["rediss", "valkeys"])
    def test_tls_checks_certificate_and_host_name(self, scheme: str) -> None:
        found = settings(f"{scheme}://h/0?ca_file=/etc/ca.pem")

        assert chosen(found, "ssl_ca_certs", "ssl_cert_reqs", "ssl_check_hostname") == [
            "/etc/ca.pem",
            "required",
            True,
        ]

    def test_tls_checks_nothing_when_told_so(self) -> None:
        assert chosen(settings("rediss://h?verify=false"), "ssl_cert_reqs", "ssl_check_hostname") == [
            "none",
            False,
        ]

    def test_timeouts_are_short_and_the_driver_does_not_retry(self) -> None:
        found = settings("redis://h")

        assert chosen(found, "socket_timeout", "socket_connect_timeout") == [2.0, 1.0]
        assert found["retry"].get_retries() == 0

    @pytest.mark.parametrize(
        ("url", "said"),
        [
            ("redis://h/x", "database's number"),
            ("redis://h/0/1", "database's number"),
            ("redis://h/1?database=2", "names one database"),
            ("redis://h:99999", "port"),
            ("redis+unix://h/run/redis.sock", "three slashes"),
            ("redis+unix://", "three slashes"),
            ("rediss+unix:///run/redis.sock", "without TLS"),
            ("redis+sentinel://h", r"redis\+cluster://"),
            ("redis+cluster://", "named by its nodes"),
            ("redis+cluster://a:1,,b:2", "named by its nodes"),
            ("redis+cluster://a:x", "port"),
            ("redis+cluster://a/1", "database 0 only"),
            ("redis://h?timeout=0", "timeout"),
            ("redis://h?time_out=5", "did you mean 'timeout'"),
            ("redis://h?prefix={a}", "prefix"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, url: str, said: str) -> None:
        with pytest.raises(ConfigError, match=said):
            open_backend(url)

    def test_every_scheme_is_announced(self) -> None:
        schemes = {info.scheme: info.status for info in available_backends()}

        assert [schemes.get(name) for name in ("redis", "rediss", "valkey", "valkeys")] == ["ok"] * 4

    def test_opening_connects_to_nothing(self) -> None:
        assert isinstance(open_backend("redis+cluster://nowhere.invalid:1"), RedisBackend)


class TestSecrets:
    @pytest.mark.parametrize(
        "url",
        [
            f"redis://:{SECRET}@127.0.0.1:1/0?retries=0",
            f"redis://u:{SECRET}@127.0.0.1:1/0?retries=0",
            f"redis+cluster://u:{SECRET}@127.0.0.1:1?retries=0",
            f"redis+unix://:{SECRET}@/nowhere.sock?retries=0",
            f"rediss://:{SECRET}@127.0.0.1:1/0?retries=0",
        ],
    )
    def test_no_secret_is_in_any_text(self, url: str) -> None:
        """LOG-01."""
        backend = open_backend(url)

        with pytest.raises(Unavailable) as caught:
            backend.read("k")

        texts = f"{backend!r} {backend} {caught.value!r} {caught.value} {caught.value.__cause__!r}"
        assert SECRET not in texts

    def test_an_instance_is_not_pickled(self) -> None:
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            pickle.dumps(open_backend(f"redis://:{SECRET}@h/0"))


@pytest.mark.server
class TestTLS:
    @pytest.fixture
    def certificate(self, tmp_path: Path) -> Path:
        """A certificate for localhost that signs itself; its key is beside it."""
        made = tmp_path / "certificate.pem"
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
        ]
        command += ["-keyout", str(tmp_path / "key.pem"), "-out", str(made), "-days", "1"]
        command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            missing(f"openssl made no certificate: {error}")
        return made

    def test_a_server_is_trusted_by_its_certificate(self, certificate: Path, tmp_path: Path) -> None:
        (port,) = free_ports(1)
        options = ["--tls-port", str(port), "--tls-auth-clients", "no", "--tls-cert-file", str(certificate)]
        options += ["--tls-key-file", str(tmp_path / "key.pem"), "--tls-ca-cert-file", str(certificate)]
        with started(tmp_path, *options):
            trusting = open_backend(f"rediss://127.0.0.1:{port}?ca_file={certificate}")
            trusting.put("k", b"data")

            assert trusting.read("k") == b"data"
            trusting.close()
            with pytest.raises(Unavailable) as caught:
                open_backend(f"rediss://127.0.0.1:{port}?retries=0").read("k")
        assert isinstance(_first_cause(caught.value), ssl.SSLError)


def _first_cause(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def test_databases_of_one_server_are_apart(tmp_path: Path) -> None:
    with started(tmp_path) as server:
        first, second = _opened(server, 0), _opened(server, 1)
        first.put("k", b"first")
        second.put("k", b"second")

        assert (first.read("k"), second.read("k")) == (b"first", b"second")


def _opened(server: RedisServer, database: int) -> Any:
    return open_backend(f"{server.url}?database={database}")
