"""What S3 and its imitations answer when something is wrong, and what becomes of it. Both engines alike."""

from __future__ import annotations

import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from s3_scripts import LISTING_OF_NOTHING, SmallS3, deletion
from s3_servers import (
    ACCESS_KEY,
    SECRET_KEY,
    Answer,
    Request,
    StubServer,
    error_answer,
    open_s3,
    s3_url,
)

from offloadkit.backend import AlreadyExists, BackendError, Corrupt, Denied, NotFound, PartialDelete
from offloadkit.errors import StorageFull, TooLarge, Unavailable
from offloadkit_fsspec import S3Backend

SLOW_DOWN = error_answer(503, "SlowDown")


@pytest.fixture(params=["s3", "s3+obstore"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stub() -> Iterator[StubServer]:
    server = StubServer()
    yield server
    server.close()


@pytest.fixture
def opened(stub: StubServer, scheme: str) -> Iterator[Callable[..., S3Backend]]:
    """Opens a backend on the stub, whose waits between attempts are none."""
    backends = []

    def open_backend(**options: str) -> S3Backend:
        backend = open_s3(s3_url(stub.endpoint, scheme=scheme, **options))
        backend._sleep = lambda _: None
        backends.append(backend)
        return backend

    yield open_backend
    for backend in backends:
        backend.close()


@pytest.fixture
def backend(opened: Callable[..., S3Backend]) -> S3Backend:
    return opened()


CALLS: dict[str, Callable[[S3Backend], Any]] = {
    "put": lambda backend: backend.put("a/b", b"data"),
    "read": lambda backend: backend.read("a/b"),
    "range": lambda backend: backend.read("a/b", 1, 2),
    "stat": lambda backend: backend.stat("a/b"),
    "list": lambda backend: backend.list("a/"),
    "delete": lambda backend: backend.delete(["a/b"]),
    "set_expiry": lambda backend: backend.set_expiry("a/b", None),
    "ping": lambda backend: backend.ping(),
}


@pytest.fixture(params=CALLS)
def call(request: pytest.FixtureRequest) -> Callable[[S3Backend], Any]:
    return CALLS[request.param]


def test_a_refusal_is_denied(stub: StubServer, backend: S3Backend, call: Callable[[S3Backend], Any]) -> None:
    stub.say(error_answer(403, "AccessDenied"))
    with pytest.raises(Denied):
        call(backend)
    assert len(stub.requests) == 1


def test_a_missing_bucket_is_no_missing_object(
    stub: StubServer, backend: S3Backend, call: Callable[[S3Backend], Any]
) -> None:
    stub.say(error_answer(404, "NoSuchBucket"))
    with pytest.raises(BackendError, match="no bucket") as caught:
        call(backend)
    assert not isinstance(caught.value, NotFound)


def test_an_object_is_missing_where_the_bucket_may_not_be_listed(
    stub: StubServer, backend: S3Backend
) -> None:
    stub.say(error_answer(404, "NoSuchKey"), error_answer(403, "AccessDenied"))
    with pytest.raises(NotFound):
        backend.read("a/b")


def test_the_bucket_is_looked_for_once(stub: StubServer, backend: S3Backend) -> None:
    stub.say(error_answer(404, "NoSuchKey"), LISTING_OF_NOTHING, error_answer(404, "NoSuchKey"))
    for _ in range(3):
        with pytest.raises(NotFound):
            backend.stat("a/b")
    assert [request.method for request in stub.requests] == ["HEAD", "GET", "HEAD", "HEAD"]


def test_throttling_is_unavailable_and_never_missing(
    stub: StubServer, backend: S3Backend, call: Callable[[S3Backend], Any]
) -> None:
    stub.say(SLOW_DOWN)
    with pytest.raises(Unavailable):
        call(backend)
    assert len(stub.requests) == 3


def test_case_fs_05_a_read_survives_throttling(
    stub: StubServer, backend: S3Backend, cases: dict[str, dict[str, Any]]
) -> None:
    stored = cases["FS-05"]["input"]["stored"].encode()
    stub.say(
        SLOW_DOWN,
        SLOW_DOWN,
        Answer(200, stored, {"ETag": '"1"', "Last-Modified": "Tue, 01 Dec 2026 00:00:00 GMT"}),
    )
    assert backend.read("a/b") == stored


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error_answer(500, "InternalError"), Unavailable),
        (error_answer(400, "RequestTimeout"), Unavailable),
        (error_answer(429, "TooManyRequests"), Unavailable),
        (Answer(502, b"<html>Bad Gateway</html>"), Unavailable),
        (error_answer(400, "ExpiredToken"), Denied),
        (error_answer(403, "RequestTimeTooSkewed"), Denied),
        (error_answer(507, "XMinioStorageFull"), StorageFull),
        (error_answer(400, "EntityTooLarge"), TooLarge),
    ],
)
def test_an_answer_becomes_its_error(
    stub: StubServer, backend: S3Backend, answer: Answer, expected: type[BackendError]
) -> None:
    stub.say(answer)
    with pytest.raises(expected) as caught:
        backend.put("a/b", b"data")
    assert caught.value.__cause__ is not None


def test_a_server_without_conditions_is_found_out(stub: StubServer, backend: S3Backend) -> None:
    stub.script = SmallS3(honours_create=False)
    backend.put("a/b", b"first")
    assert backend.caps.atomic_create is False
    with pytest.raises(AlreadyExists):
        backend.put("a/b", b"second")
    assert backend.read("a/b") == b"first"


def test_a_server_with_conditions_is_asked_once(stub: StubServer, opened: Callable[..., S3Backend]) -> None:
    stub.script = SmallS3()
    first, second = opened(), opened()
    first.put("a", b"data")
    assert len(stub.requests) == 3
    second.put("b", b"data")
    second.put("c", b"data")
    assert len(stub.requests) == 6
    assert first.caps.atomic_create is second.caps.atomic_create is True


@pytest.mark.parametrize(
    ("start", "length", "expected"), [(0, 4, b"0123"), (3, 4, b"3456"), (8, 9, b"89"), (10, 5, b"")]
)
@pytest.mark.parametrize("honours_ranges", [True, False])
def test_a_range_is_right_whatever_the_server_makes_of_it(
    stub: StubServer, backend: S3Backend, start: int, length: int, expected: bytes, *, honours_ranges: bool
) -> None:
    stub.script = SmallS3(honours_ranges=honours_ranges)
    backend.put("a", b"0123456789")
    assert backend.read("a", start, length) == expected


@pytest.mark.parametrize(
    ("start", "length"), [(0, None), (0, 4), (3, 4), (3, None), (8, 9), (10, 5), (99, None), (3, 0)]
)
def test_a_read_is_one_request(stub: StubServer, backend: S3Backend, start: int, length: int | None) -> None:
    stub.script = SmallS3()
    backend.put("a", b"0123456789")
    stub.requests.clear()
    backend.read("a", start, length)
    assert len(stub.requests) == 1


def test_a_put_is_one_request(stub: StubServer, backend: S3Backend) -> None:
    stub.script = SmallS3()
    backend.put("a", b"data", meta=b"meta")
    stub.requests.clear()
    backend.put("b", b"data", meta=b"meta", expires_at=4_000_000_000.0)
    assert [request.method for request in stub.requests] == ["PUT"]


@pytest.mark.parametrize("call_name", ["read", "range"])
def test_half_an_answer_is_no_answer(stub: StubServer, backend: S3Backend, call_name: str) -> None:
    small = SmallS3()
    stub.script = small
    backend.put("a/b", bytes(100_000))
    small.after = lambda _, answer: Answer(answer.status, answer.body, answer.headers, cut_at=1)
    with pytest.raises(Unavailable):
        CALLS[call_name](backend)


def test_a_cut_answer_is_asked_for_again(stub: StubServer, backend: S3Backend) -> None:
    small = SmallS3()
    stub.script = small
    backend.put("a/b", bytes(100_000))
    cuts = [1, 50_000]
    small.after = lambda _, answer: Answer(
        answer.status, answer.body, answer.headers, cut_at=cuts.pop() if cuts else None
    )
    assert backend.read("a/b") == bytes(100_000)


def test_a_put_whose_answer_was_lost_is_a_put(stub: StubServer, backend: S3Backend) -> None:
    small = SmallS3()
    stub.script = small
    lost = [True]

    def lose_one(request: Request, answer: Answer) -> Answer:
        if request.method == "PUT" and request.path.endswith("a/b") and lost:
            lost.clear()
            return error_answer(500, "InternalError")
        return answer

    small.after = lose_one
    backend.put("a/b", b"data", meta=b"meta")
    assert backend.read("a/b") == b"data"


def test_a_key_taken_by_another_during_an_outage_is_taken(stub: StubServer, backend: S3Backend) -> None:
    small = SmallS3()
    stub.script = small
    backend.put("b", b"")
    down = [True]

    def be_down_once(request: Request) -> Answer | None:
        if request.method == "PUT" and down:
            down.clear()
            small.objects[request.path] = (b"of another", {})
            return SLOW_DOWN
        return None

    small.before = be_down_once
    with pytest.raises(AlreadyExists):
        backend.put("a", b"ours")


def test_a_conflict_of_two_creators_is_tried_again(stub: StubServer, backend: S3Backend) -> None:
    small = SmallS3()
    stub.script = small
    backend.put("b", b"")
    conflicts = [error_answer(409, "ConditionalRequestConflict")]
    small.before = lambda _: conflicts.pop() if conflicts else None
    backend.put("a", b"data")
    assert backend.read("a") == b"data"


def test_a_bulk_delete_names_what_it_could_not_delete(stub: StubServer, backend: S3Backend) -> None:
    stub.script = lambda request: deletion(request, refused="locked")
    with pytest.raises(PartialDelete) as caught:
        backend.delete(["locked", "open"])
    assert {key: type(error) for key, error in caught.value.failed.items()} == {"locked": Denied}
    assert not caught.value.retryable


def test_a_later_request_of_a_bulk_delete_may_fail(stub: StubServer, backend: S3Backend) -> None:
    stub.script = lambda request: SLOW_DOWN if b"1499" in request.body else deletion(request)
    keys = [f"{number:04}" for number in range(1500)]
    with pytest.raises(PartialDelete) as caught:
        backend.delete(keys)
    assert set(caught.value.failed) == set(keys[1000:])
    assert caught.value.retryable


def test_headers_that_are_not_ours_are_corrupt(stub: StubServer, backend: S3Backend) -> None:
    small = SmallS3()
    stub.script = small
    small.objects["/offloadkit-tests/a"] = (b"data", {"x-amz-meta-offloadkit-expires": "soon"})
    with pytest.raises(Corrupt):
        backend.stat("a")


def test_an_object_without_our_headers_is_described(stub: StubServer, backend: S3Backend) -> None:
    small = SmallS3()
    stub.script = small
    small.objects["/offloadkit-tests/a"] = (b"data", {})
    stat = backend.stat("a")
    assert (stat.size, stat.meta, stat.expires_at, stat.created_at) == (4, b"", None, None)


def test_an_object_that_changes_while_its_expiry_moves_is_left_alone(
    stub: StubServer, backend: S3Backend
) -> None:
    small = SmallS3()
    stub.script = small
    backend.put("a", b"data")

    def refuse_condition(request: Request) -> Answer | None:
        changing = {"if-match", "x-amz-copy-source-if-match"} & set(request.headers)
        return error_answer(412, "PreconditionFailed") if changing else None

    small.before = refuse_condition
    with pytest.raises(Unavailable):
        backend.set_expiry("a", 4_000_000_000.0)


def test_a_refused_connection_fails_soon(scheme: str, call: Callable[[S3Backend], Any]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        backend = open_s3(s3_url(f"http://127.0.0.1:{closed.getsockname()[1]}", scheme=scheme))
        started = time.monotonic()
        with pytest.raises(Unavailable):
            call(backend)
        assert time.monotonic() - started < 5
        backend.close()


def test_a_silent_server_is_given_up(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        backend = open_s3(s3_url(endpoint, scheme=scheme, read_timeout="100ms", retries="1"))
        started = time.monotonic()
        with pytest.raises(Unavailable):
            backend.read("a/b")
        assert time.monotonic() - started < 5
        backend.close()


def test_no_error_shows_a_secret(
    stub: StubServer, backend: S3Backend, call: Callable[[S3Backend], Any]
) -> None:
    told = f"<AWSAccessKeyId>{ACCESS_KEY}</AWSAccessKeyId><StringToSign>{SECRET_KEY}</StringToSign>"
    stub.say(error_answer(403, "InvalidAccessKeyId", told))
    with pytest.raises(Denied) as caught:
        call(backend)
    text = "".join(traceback.format_exception(caught.value)) + repr(_chain(caught.value))
    assert sum(secret in text for secret in (ACCESS_KEY, SECRET_KEY)) == 0


def _chain(error: BaseException) -> list[str]:
    """Return the texts of an error and of all that hangs on it, shown or not."""
    hanging = [other for other in (error.__cause__, error.__context__) if other is not None]
    return [repr(error), *(text for other in hanging for text in _chain(other))]


def test_without_credentials_it_is_denied(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    backend = open_s3(f"s3://offloadkit-tests?endpoint={stub.endpoint}&region=us-east-1")
    with pytest.raises(Denied):
        backend.read("a")
    backend.close()


def test_an_unknown_profile_is_denied(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    backend = open_s3(f"s3://offloadkit-tests?endpoint={stub.endpoint}&profile=nobody")
    with pytest.raises(Denied):
        backend.read("a")
    backend.close()


def test_closing_ends_the_calls_that_wait(stub: StubServer) -> None:
    backend = open_s3(s3_url(stub.endpoint))
    asked, answer = threading.Event(), threading.Event()

    def wait(_: Request) -> Answer:
        asked.set()
        answer.wait(10)
        return Answer(200)

    stub.script = wait
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(backend.read, "a")
        assert asked.wait(10)
        backend.close()
        with pytest.raises(BackendError, match="closed"):
            reading.result(10)
        answer.set()


def test_more_than_s3_takes_is_not_sent(stub: StubServer, backend: S3Backend) -> None:
    class Huge(bytes):
        def __len__(self) -> int:
            return 5 * 2**30 + 1

    with pytest.raises(TooLarge):
        backend.put("a", Huge())
    assert stub.requests == []
