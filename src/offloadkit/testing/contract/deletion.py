"""Deleting takes any number of keys, those that are not there included, and nothing else."""

from __future__ import annotations

import pytest

from offloadkit.backend import Backend, NotFound
from offloadkit.testing.contract.setting import Setting
from offloadkit.testing.driving import listed
from offloadkit.testing.scratch import CHUNK_BYTES, NAMES, Scratch, difference, pattern

_MANY = 2_003


class DeletionContract(Setting):
    """One key, many keys, no key, and the neighbours that stay."""

    def test_a_deleted_object_cannot_be_read(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data")
        backend.delete([key])
        with pytest.raises(NotFound):
            backend.read(key)

    def test_a_deleted_object_cannot_be_described(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data", meta=b"meta")
        backend.delete([key])
        with pytest.raises(NotFound):
            backend.stat(key)

    @pytest.mark.parametrize("name", ["a", "a/b", "a_b"])
    def test_only_the_key_itself_is_deleted(self, backend: Backend, scratch: Scratch, name: str) -> None:
        keys = {scratch.key(each) for each in NAMES}
        for key in keys:
            backend.put(key, b"data")
        backend.delete([scratch.key(name)])
        assert {item.key for item in listed(backend, scratch.prefix)} == keys - {scratch.key(name)}

    def test_a_missing_key_is_no_error(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key("missing")
        backend.delete([key])
        backend.delete([key, key])

    def test_missing_keys_do_not_save_the_others(self, backend: Backend, scratch: Scratch) -> None:
        keys = [scratch.key(name) for name in ("a", "b", "c", "d")]
        for key in keys[1::2]:
            backend.put(key, b"data")
        backend.delete(keys)
        assert listed(backend, scratch.prefix) == []

    def test_deleting_nothing_deletes_nothing(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data")
        backend.delete([])
        assert not difference(backend.read(key), b"data")

    def test_the_keys_may_come_from_a_generator(self, backend: Backend, scratch: Scratch) -> None:
        keys = [scratch.key(name) for name in ("a", "b", "c")]
        for key in keys:
            backend.put(key, b"data")
        backend.delete(key for key in keys)
        assert listed(backend, scratch.prefix) == []

    def test_more_than_two_thousand_keys_are_deleted(self, backend: Backend, scratch: Scratch) -> None:
        keys = [scratch.key(f"{number:04}") for number in range(_MANY)]
        for position in (0, 499, 500, 999, 1000, 1001, 1999, 2000, _MANY - 1):
            backend.put(keys[position], b"data")
        backend.delete(keys)
        assert listed(backend, scratch.prefix) == []

    def test_a_deleted_key_is_free_again(self, backend: Backend, scratch: Scratch) -> None:
        self.need_room(backend, 2 * CHUNK_BYTES)
        key = scratch.key()
        backend.put(key, pattern(2 * CHUNK_BYTES), meta=b"first", expires_at=4_000_000_000.25)
        backend.delete([key])
        backend.put(key, b"second")
        stat = backend.stat(key)
        assert (stat.size, stat.meta, stat.expires_at) == (6, b"", None)
        assert not difference(backend.read(key), b"second")
