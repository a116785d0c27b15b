"""S3 through s3fs and through obstore: the contract, and what each does with the other's objects."""

from __future__ import annotations

import copy
import itertools
import pickle
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import settings
from s3_servers import ACCESS_KEY, BUCKET, SECRET_KEY, client, moto_server, open_s3, s3_url, used

from offloadkit.backend import AlreadyExists, Backend, NotFound, SupportsSweep
from offloadkit.testing import BackendContract, backend_machine
from offloadkit_fsspec import S3Backend
from offloadkit_fsspec.s3fs_engine import S3fsEngine

pytestmark = pytest.mark.slow

SCHEMES = ("s3", "s3+obstore")
PART = 5 * 2**20


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    with moto_server() as endpoint:
        yield endpoint


class S3Contract(BackendContract):
    require = frozenset(
        {"persistent", "shared", "atomic_create", "ordered", "set_expiry", "sweep", "ping", "secrets"}
    )
    secrets = (ACCESS_KEY, SECRET_KEY)
    scheme: str

    @pytest.fixture
    def reopen(self, moto: str) -> Callable[[], Backend]:
        return lambda: open_s3(s3_url(moto, scheme=self.scheme, place=f"{BUCKET}/{type(self).__name__}"))

    @pytest.fixture
    def backend(self, reopen: Callable[[], Backend]) -> Backend:
        return used(reopen())


class TestS3fsContract(S3Contract):
    require = S3Contract.require | {"fork"}
    scheme = "s3"


class TestObstoreContract(S3Contract):
    scheme = "s3+obstore"


def test_both_engines_and_a_dictionary_stay_the_same(moto: str) -> None:
    schemes = itertools.cycle(SCHEMES)
    machine = backend_machine(
        lambda: open_s3(s3_url(moto, scheme=next(schemes), place=f"{BUCKET}/machine")), instances=2
    )
    machine.TestCase.settings = settings(max_examples=6, stateful_step_count=20, deadline=None)
    machine.TestCase("runTest").debug()


@pytest.fixture
def prefix() -> str:
    """A place in the bucket that no other test uses."""
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
def opened(moto: str, prefix: str) -> Iterator[Callable[..., S3Backend]]:
    backends = []

    def open_backend(scheme: str = "s3", **options: str) -> S3Backend:
        backends.append(open_s3(s3_url(moto, scheme=scheme, place=f"{BUCKET}/{prefix}", **options)))
        return backends[-1]

    yield open_backend
    for backend in backends:
        backend.close()


@pytest.fixture(params=SCHEMES)
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("writer", "reader"), list(itertools.permutations(SCHEMES)))
def test_each_engine_reads_what_the_other_wrote(
    opened: Callable[..., S3Backend], writer: str, reader: str
) -> None:
    ours, theirs = opened(writer), opened(reader)
    ours.put("a/b", b"0123456789", meta=bytes(range(256)) * 4, expires_at=4_000_000_000.25)
    assert theirs.stat("a/b") == ours.stat("a/b")
    assert theirs.read("a/b", 3, 4) == b"3456"
    theirs.set_expiry("a/b", 4_100_000_000.5)
    assert ours.stat("a/b").expires_at == 4_100_000_000.5
    assert theirs.list("a/") == ours.list("a/")
    theirs.delete(["a/b"])
    with pytest.raises(NotFound):
        ours.read("a/b")


def test_case_fs_01_what_another_process_wrote_is_found(
    opened: Callable[..., S3Backend], scheme: str, moto: str, prefix: str
) -> None:
    backend = opened(scheme)
    assert backend.list("").items == ()
    with pytest.raises(NotFound):
        backend.read("r")
    client(moto).put_object(Bucket=BUCKET, Key=f"{prefix}/r", Body=b"of another")
    assert backend.read("r") == b"of another"
    assert [item.key for item in backend.list("").items] == ["r"]


def test_objects_of_others_are_passed_over(
    opened: Callable[..., S3Backend], scheme: str, moto: str, prefix: str
) -> None:
    backend = opened(scheme)
    backend.put("m", b"data")
    for name in ("A", "n o", f"{'x' * 201}"):
        client(moto).put_object(Bucket=BUCKET, Key=f"{prefix}/{name}", Body=b"")
    client(moto).put_object(Bucket=BUCKET, Key=f"{prefix}2/neighbour", Body=b"")
    pages, cursor = 0, None
    found = []
    while pages == 0 or cursor is not None:
        page = backend.list("", cursor=cursor, limit=2)
        found += [item.key for item in page.items]
        cursor, pages = page.cursor, pages + 1
    assert found == ["m"]


@pytest.mark.parametrize("odd", ["A", "a//", "/", "\u00e9", "a b", "..", "../", "a/../a", "%", "*", "\n"])
def test_no_key_begins_like_that(opened: Callable[..., S3Backend], scheme: str, odd: str) -> None:
    backend = opened(scheme)
    backend.put("a/b", b"data")
    assert backend.list(odd).items == ()


def test_metadata_is_part_of_the_object(
    opened: Callable[..., S3Backend], scheme: str, moto: str, prefix: str
) -> None:
    backend = opened(scheme)
    backend.put("a", b"data", meta=b"\xff\x00", expires_at=4_000_000_000.0)
    stored = client(moto).list_objects_v2(Bucket=BUCKET, Prefix=f"{prefix}/")["Contents"]
    assert [item["Key"] for item in stored] == [f"{prefix}/.offloadkit-probe", f"{prefix}/a"]
    metadata = client(moto).head_object(Bucket=BUCKET, Key=f"{prefix}/a")["Metadata"]
    assert metadata.keys() == {"offloadkit-meta", "offloadkit-created", "offloadkit-expires"}


def test_sweeping_continues_where_it_stopped(opened: Callable[..., S3Backend], scheme: str) -> None:
    backend = opened(scheme)
    for number in range(9):
        backend.put(f"{number}", b"data", expires_at=1.0 if number % 3 else None)
    assert isinstance(backend, SupportsSweep)
    assert [backend.sweep(2.0, limit=2) for _ in range(6)] == [2, 1, 1, 2, 0, 0]
    assert [item.key for item in backend.list("").items] == ["0", "3", "6"]


@pytest.mark.parametrize(
    ("days", "tag"), [(0.5, "1d"), (7, "7d"), (8, "14d"), (365, "365d"), (366, None), (None, None)]
)
def test_an_expiry_class_is_a_tag(
    opened: Callable[..., S3Backend], scheme: str, moto: str, prefix: str, days: float | None, tag: str | None
) -> None:
    backend = opened(scheme, expiry_tags="true")
    backend._clock = lambda: 1_000.0
    backend.put("a", b"data", expires_at=None if days is None else 1_000.0 + days * 86_400)
    assert _tags(moto, f"{prefix}/a") == ([] if tag is None else [{"Key": "offloadkit-ttl", "Value": tag}])
    backend.set_expiry("a", 1_000.0 + 20 * 86_400)
    assert _tags(moto, f"{prefix}/a") == [{"Key": "offloadkit-ttl", "Value": "30d"}]
    backend.set_expiry("a", None)
    assert _tags(moto, f"{prefix}/a") == []


def _tags(moto: str, name: str) -> Any:
    return client(moto).get_object_tagging(Bucket=BUCKET, Key=name)["TagSet"]


def test_without_the_option_there_are_no_tags(
    opened: Callable[..., S3Backend], scheme: str, moto: str, prefix: str
) -> None:
    backend = opened(scheme)
    backend.put("a", b"data", expires_at=4_000_000_000.0)
    assert _tags(moto, f"{prefix}/a") == []
    assert backend.caps.native_ttl is False


@pytest.mark.parametrize("place", [BUCKET, f"{BUCKET}/agents"])
def test_the_bucket_takes_the_lifecycle_rules(moto: str, place: str) -> None:
    with closing(open_s3(s3_url(moto, place=place, expiry_tags="true"))) as backend:
        assert backend.caps.native_ttl is True
        rules = backend.lifecycle_rules()
    s3 = client(moto)
    s3.put_bucket_lifecycle_configuration(Bucket=BUCKET, LifecycleConfiguration=rules)
    taken = s3.get_bucket_lifecycle_configuration(Bucket=BUCKET)["Rules"]
    s3.delete_bucket_lifecycle(Bucket=BUCKET)
    assert [rule["ID"] for rule in taken] == [rule["ID"] for rule in rules["Rules"]]


def _sending_parts(backend: S3Backend) -> None:
    engine = S3fsEngine(backend._settings, multipart_bytes=PART, part_bytes=PART)
    backend._engine._make = lambda: engine


def test_a_large_object_is_sent_in_parts(opened: Callable[..., S3Backend], moto: str, prefix: str) -> None:
    backend, data = opened(expiry_tags="true"), bytes(range(256)) * (PART // 256) + b"the end"
    _sending_parts(backend)
    backend.put("a", data, meta=b"meta", expires_at=4_000_000_000.0)
    assert backend.read("a") == data
    assert backend.stat("a").meta == b"meta"
    assert client(moto).head_object(Bucket=BUCKET, Key=f"{prefix}/a")["ETag"].endswith('-2"')
    with pytest.raises(AlreadyExists):
        backend.put("a", data[::-1])
    assert backend.read("a", 0, 3) == data[:3]
    assert "Uploads" not in client(moto).list_multipart_uploads(Bucket=BUCKET)


def test_an_upload_that_fails_is_aborted(
    opened: Callable[..., S3Backend], moto: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = opened()
    _sending_parts(backend)
    backend.put("b", b"")

    async def fail(self: S3fsEngine, *_: object) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(S3fsEngine, "_upload_parts", fail)
    with pytest.raises(Exception, match="did not answer"):
        backend.put("a", bytes(PART + 1))
    assert "Uploads" not in client(moto).list_multipart_uploads(Bucket=BUCKET)


def test_an_instance_is_neither_copied_nor_pickled(opened: Callable[..., S3Backend], scheme: str) -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="open its URL again"):
            attempt(opened(scheme))


def test_closing_frees_the_thread_of_the_loop(opened: Callable[..., S3Backend]) -> None:
    backend = opened()
    backend.ping()
    thread = backend._engine.client()._thread._thread  # type: ignore[attr-defined]
    backend.close()
    assert not thread.is_alive()
