"""Stores of py-key-value as backends: the contract, and what is left in the store."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from key_value.aio.errors import ReadOnlyError, StoreConnectionError, ValueTooLargeError
from key_value.aio.stores.disk import DiskStore
from key_value.aio.stores.filetree import FileTreeStore
from key_value.aio.stores.memory import MemoryStore

from offloadkit import Offloader
from offloadkit.backend import Backend, BackendError, Denied, NotFound
from offloadkit.errors import ConfigError, Corrupt, TooLarge, Unavailable
from offloadkit.testing import BackendContract
from offloadkit.url import parse_url
from offloadkit_keyvalue import KeyValueBackend


def open_keyvalue(url: str) -> KeyValueBackend:
    """Open a config URL without the registry."""
    return KeyValueBackend.from_url(parse_url(url).with_options(KeyValueBackend.options))


class TestMemoryStoreContract(BackendContract):
    require = frozenset({"ordered"})

    @pytest.fixture
    def backend(self) -> Backend:
        return KeyValueBackend(MemoryStore(), persistent=False)


class TestDiskStoreContract(BackendContract):
    require = frozenset({"ordered", "persistent"})

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Backend]:
        return lambda: KeyValueBackend(lambda: DiskStore(directory=tmp_path / "store"))

    @pytest.fixture
    def backend(self, reopen: Callable[[], Backend]) -> Backend:
        return reopen()


def test_an_offloader_keeps_its_results_in_a_store() -> None:
    backend = KeyValueBackend(MemoryStore(), persistent=False)
    text = "a line of a log\n" * 20_000
    with Offloader(backend, session="run-42") as offloader:
        shown = offloader.offload(text, tool="read_log")
        assert len(shown) < len(text) / 10
        assert backend.list("").items
    backend.close()


def test_a_store_is_named_by_a_url(tmp_path: Path) -> None:
    url = f"keyvalue+filetree://{tmp_path}/store"
    backend = open_keyvalue(url)
    assert not (tmp_path / "store").exists()
    backend.put("a/b", b"data", meta=b"meta")
    backend.close()
    later = open_keyvalue(url)
    assert later.read("a/b", 1, 2) == b"at"
    assert [(item.key, item.meta) for item in later.list("a/").items] == [("a/b", b"meta")]
    later.close()


def test_nothing_is_left_of_a_deleted_object() -> None:
    store = MemoryStore()
    backend = KeyValueBackend(store, persistent=False)
    backend.put("a/b", b"data")
    backend.delete(["a/b"])
    backend.close()
    assert [store._cache[name].keys() for name in ("offloadkit_stats", "offloadkit_data")] == [[], []]


def test_data_without_a_description_is_no_object() -> None:
    class HalfStore(MemoryStore):
        async def put(self, key: str, value: Any, *, collection: str | None = None, ttl: Any = None) -> None:
            if collection == "offloadkit_stats":
                raise StoreConnectionError
            await super().put(key, value, collection=collection, ttl=ttl)

    backend = KeyValueBackend(HalfStore(), persistent=False)
    with pytest.raises(Unavailable):
        backend.put("a", b"data")
    with pytest.raises(NotFound):
        backend.read("a")
    assert backend.list("").items == ()
    backend.close()


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        (StoreConnectionError(), Unavailable),
        (ConnectionResetError(), Unavailable),
        (TimeoutError(), Unavailable),
        (ReadOnlyError(operation="put"), Denied),
        (PermissionError(), Denied),
        (ValueTooLargeError(size=2, max_size=1), TooLarge),
        (ValueError("odd"), BackendError),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_a_trouble_of_the_store_becomes_its_error(trouble: Exception, expected: type[BackendError]) -> None:
    class TroubledStore(MemoryStore):
        async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
            raise trouble

    backend = KeyValueBackend(TroubledStore(), persistent=False)
    with pytest.raises(expected) as caught:
        backend.read("a")
    assert type(caught.value) is expected
    assert type(caught.value.__cause__) is type(trouble)
    backend.close()


@pytest.mark.parametrize("entry", [{}, {"data": "no base64!"}, {"data": 7}])
def test_an_entry_that_is_not_ours_is_corrupt(entry: dict[str, Any]) -> None:
    class ForeignStore(MemoryStore):
        async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
            return entry if collection == "offloadkit_data" else await super().get(key, collection=collection)

    backend = KeyValueBackend(ForeignStore(), persistent=False)
    backend.put("a", b"data")
    with pytest.raises(Corrupt):
        backend.read("a")
    backend.close()


@pytest.mark.parametrize(
    "url", ["keyvalue://", "keyvalue+redis://host", "keyvalue+memory://host", "keyvalue+filetree://x/y"]
)
def test_a_url_that_cannot_be_meant_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        open_keyvalue(url)


def test_an_instance_is_neither_copied_nor_pickled() -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="make it again"):
            attempt(KeyValueBackend(MemoryStore(), persistent=False))


def test_a_store_that_is_closed_is_closed_in_its_own_loop(tmp_path: Path) -> None:
    closed: list[str] = []

    class ClosingStore(FileTreeStore):
        async def close(self) -> None:
            closed.append("in the loop")

    backend = KeyValueBackend(ClosingStore(data_directory=tmp_path))
    backend.put("a", b"data")
    backend.close()
    backend.close()
    assert closed == ["in the loop"]
