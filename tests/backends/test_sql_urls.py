"""What the URLs of the SQL stores mean, which are refused, and that no password ever shows."""

from __future__ import annotations

import copy
import logging
import pickle
import pprint
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sql_stores import mariadb_login, opened, whole_chain

from offloadkit.backend import BackendError, Caps, Unavailable
from offloadkit.errors import ConfigError
from offloadkit.url import parse_url
from offloadkit_sql.backend import SQLBackend

# Long enough not to stand in a message by chance, and of characters that some layer has to quote.
passwords = st.text(st.sampled_from("aZ09 %@:/?#&=+'\"\\`$;é€😀"), min_size=8, max_size=24)


def arguments_of(url: str) -> dict[str, Any]:
    """Return what the driver is called with."""
    dialect: Any = opened(url)._dialect
    return dict(dialect._arguments)


class TestSQLite:
    def test_three_slashes_are_relative_to_the_working_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        backend = opened("sqlite:///relative.db")
        monkeypatch.chdir("/")
        backend.put("k", b"data")
        backend.close()

        assert (tmp_path / "relative.db").exists()

    def test_four_slashes_are_absolute(self, tmp_path: Path) -> None:
        backend = opened(f"sqlite:///{tmp_path}/absolute.db")
        backend.put("k", b"data")
        backend.close()

        assert (tmp_path / "absolute.db").exists()

    @pytest.mark.parametrize(
        "name", ["with space.db", "ünïcode.db", "a%3Fb.db", "a%23b.db", "100%25.db", "a&b;c.db"]
    )
    def test_a_name_with_unusual_characters(self, tmp_path: Path, name: str) -> None:
        from urllib.parse import unquote

        backend = opened(f"sqlite:///{tmp_path}/{name}")
        backend.put("k", b"data")
        backend.close()

        assert (tmp_path / unquote(name)).exists()

    @pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:"])
    def test_without_a_path_it_is_in_memory(self, url: str) -> None:
        one, two = opened(url), opened(url)
        one.put("k", b"data")

        assert one.caps == Caps(persistent=False, shared=False, ordered=True, fork="refused")
        assert two.list().items == ()
        one.close()
        two.close()

    def test_a_host_is_refused_with_a_hint(self) -> None:
        with pytest.raises(ConfigError, match="sqlite:////absolute"):
            opened("sqlite://relative.db")

    @pytest.mark.parametrize("url", ["sqlite://u@/x.db", "sqlite://:p@/x.db", "sqlite+aiosqlite:///x.db"])
    def test_parts_without_a_meaning_are_refused(self, url: str) -> None:
        with pytest.raises(ConfigError):
            opened(url)

    def test_nothing_happens_before_the_first_call(self, tmp_path: Path) -> None:
        backend = opened(f"sqlite:///{tmp_path}/objects.db")
        repr(backend)
        backend.close()

        assert list(tmp_path.iterdir()) == []


class TestPostgreSQL:
    def test_every_part_reaches_the_driver(self) -> None:
        url = "postgresql://u%40x:p%3Aw@db.example:6432/my%20db?sslmode=verify-full&sslrootcert=/ca.pem&timeout=2.5s"

        arguments = arguments_of(url)

        assert arguments == {
            "user": "u@x",
            "password": "p:w",
            "host": "db.example",
            "port": "6432",
            "dbname": "my db",
            "sslmode": "verify-full",
            "sslrootcert": "/ca.pem",
            "autocommit": True,
            "connect_timeout": 3,
            "tcp_user_timeout": 2500,
            "prepare_threshold": 5,
        }

    def test_several_hosts(self) -> None:
        arguments = arguments_of("postgresql://one:5433,[::1],three/d")

        assert (arguments["host"], arguments["port"]) == ("one,::1,three", "5433,,")
        assert "one:5433,::1,three" in repr(opened("postgresql://one:5433,[::1],three/d"))

    def test_the_default_address_is_left_to_the_driver(self) -> None:
        assert not {"host", "port", "user", "password", "dbname"} & arguments_of("postgresql://").keys()

    def test_a_unix_socket(self) -> None:
        assert arguments_of("postgresql:///d?host=/run/postgresql")["host"] == "/run/postgresql"

    def test_statements_are_not_prepared_behind_a_shared_pooler(self) -> None:
        assert arguments_of("postgresql://h/d?prepare=false")["prepare_threshold"] is None

    @pytest.mark.parametrize("engine", ["asyncpg", "psycopg2", "pg8000"])
    def test_another_driver_is_refused(self, engine: str) -> None:
        with pytest.raises(ConfigError, match="works through psycopg"):
            opened(f"postgresql+{engine}://h/d".replace("postgresql+", "postgresql+"))

    def test_the_driver_may_be_named(self) -> None:
        assert arguments_of("postgresql+psycopg://h/d")["host"] == "h"


class TestMySQL:
    @pytest.mark.parametrize("scheme", ["mysql", "mariadb", "mysql+pymysql", "mariadb+pymysql"])
    def test_every_part_reaches_the_driver(self, scheme: str) -> None:
        dialect: Any = opened(f"{scheme}://u%40x:p%3Aw@db.example:6033/d?ssl_ca=/ca.pem&timeout=2.5")._dialect

        assert mariadb_login(parse_url("mysql://u%40x:p%3Aw@db.example:6033/d")) == {
            "host": dialect._url.host,
            "port": dialect._url.port,
            "user": dialect._url.username,
            "password": dialect._arguments["password"].decode(),
            "database": dialect._url.database,
        }
        assert dialect._arguments["ssl_ca"] == "/ca.pem"
        assert dialect._arguments["ssl_verify_identity"] is True
        assert dialect._arguments["connect_timeout"] == 2.5

    def test_a_database_has_to_be_named(self) -> None:
        with pytest.raises(ConfigError, match="names no database"):
            opened("mysql://h")

    def test_a_unix_socket(self) -> None:
        backend = opened("mysql:///d?unix_socket=/run/mysqld.sock")

        assert "/run/mysqld.sock" in repr(backend)


class TestOptions:
    @pytest.mark.parametrize("base", ["sqlite:///x.db", "postgresql://h/d", "mysql://h/d"])
    @pytest.mark.parametrize(
        ("option", "complaint"),
        [
            ("pool_size=0", "'pool_size'"),
            ("timeout=0", "'timeout'"),
            ("timeout=soon", "'timeout'"),
            ("table=a-b", "'table'"),
            ("tabel=a", "did you mean 'table'"),
            ("echo=true", "has no option 'echo'"),
        ],
    )
    def test_an_option_that_cannot_be_meant(self, base: str, option: str, complaint: str) -> None:
        with pytest.raises(ConfigError, match=complaint):
            opened(f"{base}?{option}")

    @pytest.mark.parametrize("name", ["sslmode=sometimes", "ssl_ca=x"])
    def test_an_option_of_another_database(self, name: str) -> None:
        with pytest.raises(ConfigError):
            opened(f"postgresql://h/d?{name}")


@pytest.fixture(params=["sqlite://", "postgresql://u:s3cret@h/d", "mysql://u:s3cret@h/d"])
def backend(request: pytest.FixtureRequest) -> Iterator[SQLBackend]:
    backend = opened(request.param)
    yield backend
    backend.close()


class TestCopies:
    @pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
    def test_a_backend_says_that_it_cannot_be_copied(self, backend: SQLBackend, duplicate: Any) -> None:
        with pytest.raises(TypeError, match="open its URL again"):
            duplicate(backend)


class TestSecrets:
    @pytest.mark.parametrize("url", ["postgresql://u:{}@127.0.0.1:1/d", "mariadb://u:{}@127.0.0.1:1/d"])
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(password=passwords)
    def test_no_password_shows_anywhere(
        self, caplog: pytest.LogCaptureFixture, url: str, password: str
    ) -> None:
        caplog.set_level(logging.DEBUG)
        backend = opened(url.format(quote(password, safe="")))
        with pytest.raises(Unavailable) as caught:
            backend.put("k", b"data")
        texts = [
            repr(backend),
            f"{backend}",
            pprint.pformat(vars(backend)),
            whole_chain(caught.value),
            caplog.text,
        ]
        backend.close()

        shown = [password in text or quote(password, safe="") in text for text in texts]
        assert shown == [False] * len(texts)

    def test_the_password_of_a_reported_case(self, cases: dict[str, dict[str, Any]]) -> None:
        urls = [url for url in cases["LOG-01"]["input"]["urls"] if "sql" in url]
        shown = []
        for url in urls:
            backend = opened(url.partition("?")[0])
            with pytest.raises(BackendError) as caught:
                backend.put("k", b"data")
            shown += [secret in repr(backend) + whole_chain(caught.value) for secret in ("s3cret", "p:w")]

        assert len(urls) == 2
        assert shown == [False] * 4

    def test_a_password_from_the_environment_reaches_the_driver(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DATABASE_PASSWORD", "s3cret")

        arguments = arguments_of("postgresql://u@h/d?password_env=DATABASE_PASSWORD")

        assert arguments["password"] == "s3cret"
