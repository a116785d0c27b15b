"""The URL of a place in S3, what is kept from it, and the parts that need no server."""

from __future__ import annotations

import logging
import os
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st
from s3_servers import open_s3

from offloadkit.backend import Stat
from offloadkit.errors import BackendError, ConfigError, Unavailable
from offloadkit.testing.contract.forking import in_child
from offloadkit_fsspec.failures import Failure, without_secrets
from offloadkit_fsspec.lifecycle import CLASSES_DAYS, expiry_tag
from offloadkit_fsspec.obstore_engine import ObstoreEngine
from offloadkit_fsspec.retrying import with_retries
from offloadkit_fsspec.s3_engine import Head
from offloadkit_fsspec.s3_headers import headers_of, stat_of
from offloadkit_fsspec.s3_settings import S3Settings

secret_texts = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=12, max_size=40)
NOWHERE = "http://127.0.0.1:1"


@pytest.mark.parametrize("scheme", ["s3", "s3+s3fs", "s3+obstore"])
def test_a_bucket_and_a_prefix_make_a_place(scheme: str) -> None:
    assert repr(open_s3(f"{scheme}://bucket/agents/prod/")) == "<S3Backend: s3://bucket/agents/prod/>"


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("s3://", "names its bucket"),
        ("s3:///prefix", "names its bucket"),
        ("s3://user:word@bucket", "no user"),
        ("s3://bucket/a//b", "prefix"),
        ("s3://bucket/a%20b", "prefix"),
        ("s3://bucket/../b", "prefix"),
        ("s3://bucket?endpoint=127.0.0.1:9000", "endpoint"),
        ("s3://bucket?endpoint=http://user%40host", "endpoint"),
        ("s3://bucket?access_key=only", "go together"),
        ("s3://bucket?timeout=0", "longer than 0"),
        ("s3://bucket?regoin=us-east-1", "did you mean 'region'"),
        ("s3+boto4://bucket", "no engine 'boto4'"),
        ("s3+obstore://bucket?profile=work", "no AWS profiles"),
    ],
)
def test_a_url_that_cannot_be_meant_is_refused(url: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        open_s3(url)


@given(secret=secret_texts, token=secret_texts)
def test_secrets_are_nowhere(secret: str, token: str) -> None:
    backend = open_s3(
        f"s3://bucket?access_key=who&secret_key={secret}&session_token={token}&retries=0&endpoint={NOWHERE}"
    )
    shown = [repr(backend), str(backend), f"{backend}", repr(backend._settings)]
    record = logging.LogRecord("", 0, "", 0, "%s %r", (backend, backend), None)
    assert not any(
        text in shown_text for text in (secret, token) for shown_text in [*shown, record.getMessage()]
    )


@pytest.mark.parametrize("scheme", ["s3", "s3+obstore"])
def test_an_error_on_the_way_shows_no_secret(scheme: str) -> None:
    backend = open_s3(
        f"{scheme}://bucket?access_key=whoami&secret_key=hunter2hunter2&retries=0&endpoint={NOWHERE}"
    )
    with pytest.raises(Unavailable) as caught:
        backend.read("a")
    backend.close()
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_a_secret_in_the_text_of_an_error_is_masked() -> None:
    masked = without_secrets(ValueError("signed by hunter2"), ["hunter2"])
    assert str(masked) == "ValueError: signed by ***"


def test_an_error_without_a_secret_stays_itself() -> None:
    error = ValueError("signed")
    assert without_secrets(error, ["hunter2"]) is error


@given(meta=st.binary(max_size=1024), created=st.floats(0, 4e9), expires=st.none() | st.floats(0, 4e9))
def test_headers_say_what_was_put(meta: bytes, created: float, expires: float | None) -> None:
    stat = Stat("a", 4, meta, expires, created)
    headers = headers_of(stat)
    assert stat_of("a", Head(4, headers, '"1"')) == stat
    assert sum(len(name) + len(value) for name, value in headers.items()) <= 2048
    assert all(value.isascii() for value in headers.values())


@given(st.floats(0, 365 * 86_400))
def test_an_expiry_class_is_never_shorter_than_the_life(seconds: float) -> None:
    days = int(expiry_tag(seconds)["offloadkit-ttl"].removesuffix("d"))
    assert seconds <= days * 86_400
    assert all(shorter * 86_400 < seconds for shorter in CLASSES_DAYS if shorter < days)


def test_waits_grow_and_end() -> None:
    waits: list[float] = []

    def fail() -> None:
        raise Unavailable("busy")

    with pytest.raises(Unavailable):
        with_retries(fail, 9, sleep=waits.append)
    assert len(waits) == 9
    assert all(0.05 * 2**number <= wait <= 0.1 * 2**number for number, wait in enumerate(waits[:5]))
    assert max(waits) <= 5


def test_what_does_not_pass_is_not_tried_again() -> None:
    attempts: list[int] = []

    def fail() -> None:
        attempts.append(1)
        raise BackendError("broken")

    with pytest.raises(BackendError):
        with_retries(fail, 9, sleep=lambda _: None)
    assert attempts == [1]


def test_obstore_without_credentials_is_no_outage() -> None:
    error = OSError(
        "Error performing PUT http://169.254.169.254/latest/api/token: HTTP error: error sending request"
    )
    assert ObstoreEngine(S3Settings(bucket="bucket")).failure(error) == Failure(401, "NoCredentials")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_case_fs_03_obstore_refuses_even_a_new_instance_in_a_forked_child() -> None:
    url = f"s3+obstore://bucket?access_key=a&secret_key=b&retries=0&endpoint={NOWHERE}"
    parent = open_s3(url)
    with pytest.raises(Unavailable):
        parent.read("a")

    def read_in_child() -> None:
        with pytest.raises(BackendError, match="use s3://"):
            open_s3(url).read("a")

    in_child(read_in_child, 5)
