"""The memory backend: the contract, and what is its own."""

from __future__ import annotations

import copy
import gc
import uuid
from typing import cast

import pytest
from hypothesis import settings

from offloadkit.backend import AlreadyExists, Backend, BackendError, NotFound, StorageFull, TooLarge
from offloadkit.errors import ConfigError
from offloadkit.testing import BackendContract, backend_machine
from offloadkit.url import parse_url
from offloadkit_memory import MemoryBackend


class TestMemoryContract(BackendContract):
    require = frozenset({"atomic_create", "fork", "ordered", "set_expiry", "sweep"})

    @pytest.fixture
    def backend(self) -> Backend:
        return MemoryBackend()


class TestBoundedMemoryContract(BackendContract):
    require = frozenset({"atomic_create", "fork", "max_object_bytes", "ordered", "set_expiry", "sweep"})

    @pytest.fixture
    def backend(self) -> Backend:
        return MemoryBackend(max_bytes=4_000_000)


TestMemoryMachine = backend_machine(MemoryBackend).TestCase
TestMemoryMachine.settings = settings(max_examples=30, deadline=None)


@pytest.fixture
def name() -> str:
    """A name that no other test has used in this process."""
    return uuid.uuid4().hex


def opened(url: str) -> MemoryBackend:
    return MemoryBackend.from_url(parse_url(url).with_options(MemoryBackend.options))


class TestNames:
    def test_one_name_is_one_store(self, name: str) -> None:
        opened(f"memory://{name}").put("k", b"data")
        assert opened(f"memory://{name}").read("k") == b"data"

    def test_other_names_are_other_stores(self, name: str) -> None:
        opened(f"memory://{name}").put("k", b"data")
        with pytest.raises(NotFound):
            opened(f"memory://{name}2").read("k")

    def test_without_a_name_each_instance_is_a_store(self) -> None:
        opened("memory://").put("k", b"data")
        with pytest.raises(NotFound):
            opened("memory://").read("k")

    def test_a_named_store_outlives_its_instances(self, name: str) -> None:
        first = opened(f"memory://{name}")
        first.put("k", b"data")
        first.close()
        del first
        gc.collect()
        assert opened(f"memory://{name}").read("k") == b"data"

    def test_closing_one_instance_leaves_the_others_of_its_name(self, name: str) -> None:
        first, second = opened(f"memory://{name}"), opened(f"memory://{name}")
        first.close()
        second.put("k", b"data")
        assert second.read("k") == b"data"
        with pytest.raises(BackendError, match="closed"):
            first.read("k")

    def test_a_named_store_takes_a_key_once(self, name: str) -> None:
        opened(f"memory://{name}").put("k", b"data")
        with pytest.raises(AlreadyExists):
            opened(f"memory://{name}").put("k", b"data")


class TestURL:
    @pytest.mark.parametrize(
        "url", ["memory://name/path", "memory+x://", "memory://user@name", "memory://:p@name"]
    )
    def test_parts_that_mean_nothing_here_are_refused(self, url: str) -> None:
        with pytest.raises(ConfigError, match="memory:// takes no"):
            opened(url)

    def test_a_bound(self) -> None:
        assert opened("memory://?max_bytes=64KiB").caps.max_object_bytes == 65_536

    def test_no_bound(self) -> None:
        assert opened("memory://").caps.max_object_bytes is None


class TestBound:
    def test_an_object_larger_than_the_bound_is_too_large(self) -> None:
        with pytest.raises(TooLarge, match="11 bytes are more than max_bytes=10"):
            MemoryBackend(max_bytes=10).put("k", b"12345678901")

    def test_a_full_store_takes_no_more(self) -> None:
        backend = MemoryBackend(max_bytes=10)
        backend.put("a", b"12345678")
        with pytest.raises(StorageFull, match="8 of max_bytes=10 are in use") as raised:
            backend.put("b", b"123")
        assert raised.value.key == "b"
        assert not raised.value.retryable
        with pytest.raises(NotFound):
            backend.stat("b")

    def test_deleting_makes_room(self) -> None:
        backend = MemoryBackend(max_bytes=10)
        backend.put("a", b"12345678")
        backend.delete(["a"])
        backend.put("b", b"1234567890")
        assert backend.read("b") == b"1234567890"

    def test_a_taken_key_is_told_before_a_full_store(self) -> None:
        backend = MemoryBackend(max_bytes=3)
        backend.put("a", b"123")
        with pytest.raises(AlreadyExists):
            backend.put("a", b"123")


def test_what_is_stored_does_not_change_with_its_source() -> None:
    backend, source = MemoryBackend(), bytearray(b"data")
    backend.put("k", cast("bytes", source))
    source[0] = 0
    assert backend.read("k") == b"data"


def test_keys_may_come_from_a_listing_of_the_same_store() -> None:
    backend = MemoryBackend()
    backend.put("a", b"")
    backend.delete(stat.key for stat in backend.list().items)
    assert backend.list().items == ()


def test_sweeping_at_the_very_moment_of_expiry_is_too_early() -> None:
    backend = MemoryBackend()
    backend.put("k", b"", expires_at=100.0)
    assert (backend.sweep(100.0), backend.sweep(100.5)) == (0, 1)


def test_a_copy_reads_what_was_stored() -> None:
    backend = MemoryBackend()
    backend.put("k", b"data")
    assert copy.deepcopy(backend).read("k") == b"data"


def test_repr_shows_the_name_and_no_content(name: str) -> None:
    backend = MemoryBackend(name)
    backend.put("k", b"content")
    assert repr(backend) == f"MemoryBackend({name!r})"
