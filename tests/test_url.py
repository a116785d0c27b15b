"""Config URLs: what they mean, what is refused, and that no secret ever shows."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from offloadkit.errors import ConfigError
from offloadkit.url import BackendURL, Option, parse_url

OPTIONS = (
    Option(name="timeout", kind="seconds", default=2.0, help="How long to wait."),
    Option(name="max_object", kind="bytes", help="The largest object."),
    Option(name="pool", kind="integer", default=5, help="Connections."),
    Option(name="tls", kind="boolean", default=False, help="Encrypt."),
    Option(
        name="fsync", kind="choice", default="full", choices=("full", "file", "none"), help="When to sync."
    ),
    Option(name="endpoint", help="Another server."),
    Option(name="sas", secret=True, help="A signature."),
)

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
SENTINEL = "S3CRETsentinel"


def opened(text: str) -> BackendURL:
    return parse_url(text).with_options(OPTIONS)


def every_text_of(error: BaseException) -> str:
    """Return all that a logger or a traceback could show of an exception and its causes."""
    return "".join(traceback.format_exception(error)) + repr(error)


class TestParts:
    def test_all_parts(self) -> None:
        url = parse_url("redis+unix://user:pa%23ss@host:6379/0/x%20y?timeout=5s")
        assert (url.scheme, url.engine, url.full_scheme) == ("redis", "unix", "redis+unix")
        assert (url.username, url.password) == ("user", "pa#ss")
        assert (url.netloc, url.host, url.port, url.path) == ("host:6379", "host", 6379, "/0/x y")
        assert url.options == {"timeout": "5s"}

    def test_bare_scheme(self) -> None:
        url = parse_url("memory://")
        assert (url.netloc, url.host, url.port, url.path, url.username, url.password) == (
            "",
            "",
            None,
            "",
            None,
            None,
        )

    def test_three_slashes_are_an_absolute_path(self) -> None:
        url = parse_url("file:///var/lib/agent")
        assert (url.host, url.path) == ("", "/var/lib/agent")

    def test_scheme_is_lower_case(self) -> None:
        assert parse_url("S3+OBSTORE://bucket").full_scheme == "s3+obstore"

    def test_surrounding_blanks_are_no_part_of_it(self) -> None:
        assert parse_url(" file:///var/lib/agent\n").path == "/var/lib/agent"

    def test_query_without_a_slash(self) -> None:
        assert parse_url("memory://name?max_object=1").netloc == "name"

    def test_path_may_hold_an_at_sign(self) -> None:
        assert parse_url("file:///home/me@corp/x").path == "/home/me@corp/x"
        assert parse_url("s3://bucket/me@corp").path == "/me@corp"

    def test_plus_is_no_blank(self) -> None:
        assert opened("s3://bucket?endpoint=a+b%20c").options["endpoint"] == "a+b c"

    def test_ipv6_host(self) -> None:
        url = parse_url("redis://[::1]:6379/0")
        assert (url.host, url.port) == ("::1", 6379)

    def test_several_hosts(self) -> None:
        url = parse_url("redis+cluster://u:p@a:1,b,[::1]:3/0")
        assert url.hosts == (("a", 1), ("b", None), ("::1", 3))
        assert (url.username, url.password) == ("u", "p")

    def test_several_hosts_where_one_is_expected(self) -> None:
        with pytest.raises(ConfigError, match="names 2 hosts"):
            _ = parse_url("redis://a:1,b:2/0").host

    def test_empty_password_is_not_none(self) -> None:
        url = parse_url("redis://user:@host")
        assert (url.username, url.password) == ("user", "")

    def test_password_without_a_user(self) -> None:
        url = parse_url("redis://:secret@host")
        assert (url.username, url.password) == (None, "secret")

    @given(TEXT, TEXT)
    def test_any_user_and_password_survive_a_round_trip(self, username: str, password: str) -> None:
        url = BackendURL(
            scheme="redis", netloc="h:1", username=username or None, password=password, path="/0"
        )
        parsed = parse_url(url.reveal())
        assert (parsed.username, parsed.password) == (url.username, password)

    @given(TEXT.filter(lambda text: text == text.strip()))
    def test_any_path_survives_a_round_trip(self, name: str) -> None:
        path = f"/{name}/x"
        assert parse_url(str(BackendURL(scheme="file", path=path))).path == path

    @given(TEXT)
    def test_any_option_value_survives_a_round_trip(self, value: str) -> None:
        assume("://" not in value)
        url = opened("s3://bucket")
        shown = str(replace(url, options={**url.options, "endpoint": value}))
        assert opened(shown).options["endpoint"] == value

    def test_a_password_that_is_no_utf8_reaches_the_driver_as_the_same_bytes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PASSWORD", "p\udcff")
        assert opened("redis://h?password_env=PASSWORD").reveal() == "redis://:p%FF@h"


class TestRefused:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "redis",
            "redis:/x",
            "file:~/x",
            "/var/lib",
            "C:\\x",
            "1x://h",
            "re dis://h",
            "redis+://h",
            "://h",
        ],
    )
    def test_no_url(self, text: str) -> None:
        with pytest.raises(ConfigError, match="scheme://host/path"):
            parse_url(text)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("redis://:pa#ss@host/0", "write it as %23"),
            ("file:///a#b", "write it as %23"),
            ("redis://:pa/ss@host/0", "'@' too many"),
            ("redis://u:12/34@host/0", "'@' too many"),
            ("redis://:pa?ss@host/0", "'@' too many"),
            ("redis://u:p@ss@host/0", "'@' too many"),
            ("redis://u:p@ss/word@host/0", "'@' too many"),
            ("redis://u:p@a:1,u:q@b:2/0", "'@' too many"),
            ("redis://host:6379/0?endpoint=a@b", "'@' too many"),
            ("redis://u:secret", "a port number"),
            ("redis://host:63x9/0", "a port number"),
            ("redis://[::1/0", "IPv6 in brackets"),
            ("redis://::1/0", "IPv6 in brackets"),
            ("file://C:\\Users\\Anna", "a name or an address"),
            ("redis://u:%ff@h", "must be UTF-8"),
            ("file:///a%00b", "control character"),
            ("file:///a\nb", "control character"),
            ("file:///a\udcffb", "lone surrogate"),
            ("s3://b?endpoint=%ff", "must be UTF-8"),
            ("s3://b?endpoint=1&endpoint=2", "stands twice"),
        ],
    )
    def test_ambiguous_or_broken(self, text: str, message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            parse_url(text)

    @pytest.mark.parametrize("port", ["0", "65536", "999999999"])
    def test_port_out_of_range(self, port: str) -> None:
        with pytest.raises(ConfigError, match="from 1 to 65535"):
            _ = parse_url(f"redis://host:{port}").port

    def test_a_colon_without_a_port(self) -> None:
        assert parse_url("redis://host:/0").port is None

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ("memory+x://a", "engine"),
            ("memory://u@a", "user"),
            ("memory://:p@a", "password"),
            ("memory://a/p", "path"),
        ],
    )
    def test_a_part_the_backend_has_no_use_for(self, text: str, part: str) -> None:
        with pytest.raises(ConfigError, match=f"memory:// takes no {part}"):
            parse_url(text).allow_only("netloc")

    def test_allowed_parts_pass(self) -> None:
        parse_url("memory://a").allow_only("netloc")


class TestOptions:
    def test_defaults(self) -> None:
        assert dict(opened("s3://b").options) == {
            "timeout": 2.0,
            "max_object": None,
            "pool": 5,
            "tls": False,
            "fsync": "full",
            "endpoint": None,
            "sas": None,
        }

    @pytest.mark.parametrize(
        ("query", "name", "value"),
        [
            ("timeout=30", "timeout", 30.0),
            ("timeout=500ms", "timeout", 0.5),
            ("timeout=15m", "timeout", 900.0),
            ("timeout=1.5h", "timeout", 5400.0),
            ("max_object=65536", "max_object", 65536),
            ("max_object=64KiB", "max_object", 65536),
            ("max_object=1.5 MiB", "max_object", 1572864),
            ("max_object=9007199254740993", "max_object", 9007199254740993),
            ("pool=0", "pool", 0),
            ("tls=Yes", "tls", True),
            ("tls=off", "tls", False),
            ("fsync=none", "fsync", "none"),
            ("endpoint=", "endpoint", ""),
            ("endpoint=http%3A%2F%2Fh%3A9000", "endpoint", "http://h:9000"),
        ],
    )
    def test_typed_values(self, query: str, name: str, value: Any) -> None:
        found = opened(f"s3://b?{query}").options[name]
        assert (found, type(found)) == (value, type(value))

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            ("timeout=soon", "takes a duration such as .*, not 'soon'"),
            ("timeout=-1", "takes a duration"),
            ("timeout=1e9", "takes a duration"),
            ("max_object=64Ki", "takes a size"),
            ("pool=1.5", "takes a whole number from 0, not '1.5'"),
            ("pool=\u0663", "takes a whole number"),
            ("tls=maybe", "takes true or false"),
            ("tls", "takes true or false"),
            ("fsync=Full", "takes one of full, file, none"),
            ("timeuot=1", "has no option 'timeuot'; did you mean 'timeout'"),
            ("x=1", r"has no option 'x' \(known: endpoint, fsync"),
            ("=1", "has no option ''"),
        ],
    )
    def test_wrong_values(self, query: str, message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            opened(f"s3://b?{query}")

    def test_a_wrong_secret_is_not_shown(self) -> None:
        with pytest.raises(ConfigError) as raised:
            Option(name="access_key", kind="integer", help="A key.").parse(SENTINEL)
        assert SENTINEL not in every_text_of(raised.value)

    def test_values_cannot_be_changed(self) -> None:
        with pytest.raises(TypeError):
            opened("s3://b").options["pool"] = 1  # type: ignore[index]

    def test_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REDIS_PASSWORD", "p#/?@:ss")
        monkeypatch.setenv("SAS", "sig")
        url = opened("redis://user@h?password_env=REDIS_PASSWORD&sas_env=SAS")
        assert (url.username, url.password, url.options["sas"]) == ("user", "p#/?@:ss", "sig")

    def test_from_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("pass word\n", encoding="utf-8")
        assert opened(f"redis://h?password_file={tmp_path}/secret").password == "pass word"

    def test_in_the_query(self) -> None:
        assert opened("redis://h?password=x").password == "x"

    @pytest.mark.parametrize("query", ["password=y", "password_env=HOME", "password_env=HOME&password=z"])
    def test_a_password_given_twice(self, query: str) -> None:
        with pytest.raises(ConfigError, match="'password' is given twice"):
            opened(f"redis://:x@h?{query}")

    def test_an_option_given_twice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("POOL", "3")
        with pytest.raises(ConfigError, match="'pool' is given twice"):
            opened("redis://h?pool=1&pool_env=POOL")

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            (f"password_env={SENTINEL}", "'password_env' names an environment variable that is not set"),
            (f"password_file=/{SENTINEL}", "'password_file' names a file that cannot be read: No such file"),
            (f"password_file=%2F{SENTINEL}%00", "the name holds a NUL"),
            (f"sas_file={SENTINEL}", "'sas_file' names a file"),
        ],
    )
    def test_a_source_that_is_not_there_is_not_repeated(self, query: str, message: str) -> None:
        with pytest.raises(ConfigError, match=message) as raised:
            opened(f"redis://h?{query}")
        assert SENTINEL not in every_text_of(raised.value)

    def test_a_secret_file_of_other_bytes(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_bytes(b"\xff" + SENTINEL.encode())
        with pytest.raises(ConfigError, match="no UTF-8 text") as raised:
            opened(f"redis://h?password_file={tmp_path}/secret")
        assert SENTINEL not in every_text_of(raised.value)


class TestSecretsNeverShow:
    URLS = (
        f"redis://user:{SENTINEL}@a:1,b:2/0",
        f"redis://:{SENTINEL}@a/0?timeout=1",
        f"redis://a?password={SENTINEL}",
        f"s3://bucket?sas={SENTINEL}",
        f"s3://bucket?endpoint=http://u:{SENTINEL}@proxy",
    )

    @pytest.mark.parametrize("text", URLS)
    @pytest.mark.parametrize("read", [parse_url, opened], ids=["parsed", "with options"])
    def test_in_no_rendering(self, text: str, read: Any, caplog: pytest.LogCaptureFixture) -> None:
        url = read(text)
        with caplog.at_level(logging.INFO):
            logging.getLogger("test").info("%s %r", url, {"url": url})
        renderings = (str(url), repr(url), f"{url}", json.dumps(url, default=str), repr([url]), caplog.text)
        assert all(SENTINEL not in rendering for rendering in renderings)

    @pytest.mark.parametrize("text", URLS)
    def test_in_no_pickle(self, text: str) -> None:
        with pytest.raises(TypeError, match="is not pickled") as raised:
            pickle.dumps(opened(text))
        assert SENTINEL not in every_text_of(raised.value)

    @pytest.mark.parametrize("text", URLS)
    def test_copies_are_the_same_value(self, text: str) -> None:
        url = opened(text)
        assert copy.copy(url) is url
        assert copy.deepcopy({"url": url})["url"] is url

    def test_they_do_reach_the_driver(self) -> None:
        assert opened("redis://u:a%2Fb@h:1/0?pool=1").reveal() == "redis://u:a%2Fb@h:1/0"

    def test_host_and_options_that_are_no_secret_show(self) -> None:
        shown = str(opened("redis://user:x@h:1/0?pool=1&tls=true"))
        assert shown == "redis://user:***@h:1/0?timeout=2.0&pool=1&tls=true&fsync=full"

    def test_before_the_options_are_declared_any_may_be_secret(self) -> None:
        assert str(parse_url("s3://b?sas=x&pool=1")) == "s3://b?sas=***&pool=***"

    @given(
        st.text(st.sampled_from("ab/?#@:[]%&=+,\\ 1"), max_size=8),
        st.text(st.sampled_from("cd/?#@:[]%=, 2"), max_size=8),
    )
    def test_a_raw_password_is_understood_or_refused_but_never_shown(self, before: str, after: str) -> None:
        text = f"redis://user:{before}{SENTINEL}{after}@host:6379/0?pool=1"
        try:
            shown = str(opened(text))
        except ConfigError as error:
            shown = every_text_of(error)
        assert SENTINEL not in shown

    def test_case_secrets_in_logs(self, cases: dict[str, dict[str, Any]]) -> None:
        for text in cases["LOG-01"]["input"]["urls"]:
            try:
                url = parse_url(text)
                shown = repr(url) + str(url)
                url.with_options(OPTIONS)
            except ConfigError as error:
                shown = every_text_of(error)
            assert "s3cret" not in shown
            assert "p:w" not in shown
