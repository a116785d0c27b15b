"""What is stored comes back: data, metadata, description, under every legal key."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from offloadkit.backend import (
    MAX_KEY_CHARACTERS,
    MAX_META_BYTES,
    Backend,
    Caps,
    NotFound,
    SupportsLocalPath,
    SupportsPing,
    SupportsSetExpiry,
    TooLarge,
)
from offloadkit.testing.contract.setting import Setting
from offloadkit.testing.driving import listed
from offloadkit.testing.scratch import CHUNK_BYTES, NAMES, Scratch, difference, pattern

_SIZES = (0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 1_500_000)
_CONTENTS = {
    "every byte value": bytes(range(256)),
    "NUL bytes": bytes(1000),
    "line ends": b"\r\n\n\r\x0b\x0c\x1c\x85\xe2\x80\xa8\xe2\x80\xa9",
    "blanks at the ends": b" \t text \n ",
    "characters of four bytes": "\N{GRINNING FACE} \N{GOTHIC LETTER HWAIR}".encode(),
    "no UTF-8": b"\xff\xfe\xed\xa0\x80",
}
_METADATA = {"none": b"", "the most": bytes(range(256)) * (MAX_META_BYTES // 256), "blanks": b" \r\n\t\x00 "}
_LARGEST_TESTED = 64 * 2**20
_CLOCK_SKEW_SECONDS = 600


class ObjectContract(Setting):
    """Round trips of objects, and what is said of those that are not there."""

    def test_it_is_a_backend(self, backend: Backend) -> None:
        assert isinstance(backend, Backend)
        assert isinstance(backend.caps, Caps)

    @pytest.mark.parametrize("size", _SIZES)
    def test_data_of_any_size_comes_back(self, backend: Backend, scratch: Scratch, size: int) -> None:
        self.need_room(backend, size)
        key, data = scratch.key(), pattern(size)
        backend.put(key, data)
        assert not difference(backend.read(key), data)

    @pytest.mark.parametrize("content", _CONTENTS)
    def test_any_content_comes_back(self, backend: Backend, scratch: Scratch, content: str) -> None:
        key, data = scratch.key(), _CONTENTS[content]
        backend.put(key, data)
        assert not difference(backend.read(key), data)

    @pytest.mark.parametrize("metadata", _METADATA)
    def test_metadata_comes_back(self, backend: Backend, scratch: Scratch, metadata: str) -> None:
        key, meta = scratch.key(), _METADATA[metadata]
        backend.put(key, b"data", meta=meta)
        assert not difference(backend.stat(key).meta, meta)

    def test_metadata_is_no_part_of_the_data(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data", meta=b"m" * MAX_META_BYTES)
        assert backend.stat(key).size == len(b"data")
        assert not difference(backend.read(key), b"data")

    def test_stat_names_key_and_size(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, pattern(1000))
        stat = backend.stat(key)
        assert (stat.key, stat.size) == (key, 1000)

    def test_an_object_without_expiry_never_expires(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key()
        backend.put(key, b"data")
        assert backend.stat(key).expires_at is None

    def test_the_time_of_creation_is_in_seconds_of_utc_or_unknown(
        self, backend: Backend, scratch: Scratch
    ) -> None:
        key = scratch.key()
        backend.put(key, b"data")
        created_at = backend.stat(key).created_at
        assert created_at is None or abs(created_at - time.time()) < _CLOCK_SKEW_SECONDS

    def test_each_key_holds_its_own_object(self, backend: Backend, scratch: Scratch) -> None:
        for name in NAMES:
            backend.put(scratch.key(name), name.encode(), meta=name.encode())
        for name in NAMES:
            assert not difference(backend.read(scratch.key(name)), name.encode()), name
            assert backend.stat(scratch.key(name)).meta == name.encode()

    @pytest.mark.parametrize("segment", ["k", "k/"])
    def test_the_longest_key_is_taken(self, backend: Backend, scratch: Scratch, segment: str) -> None:
        length = MAX_KEY_CHARACTERS - len(scratch.prefix)
        key = scratch.key((segment * length)[: length - 1] + "k")
        backend.put(key, b"data")
        assert backend.stat(key).key == key
        assert {item.key for item in listed(backend, key)} == {key}
        assert not difference(backend.read(key), b"data")

    def test_reading_a_missing_key_is_not_found(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key("missing")
        with pytest.raises(NotFound) as caught:
            backend.read(key)
        assert caught.value.key == key

    def test_describing_a_missing_key_is_not_found(self, backend: Backend, scratch: Scratch) -> None:
        key = scratch.key("missing")
        with pytest.raises(NotFound) as caught:
            backend.stat(key)
        assert caught.value.key == key

    def test_a_key_is_missing_beside_longer_ones(self, backend: Backend, scratch: Scratch) -> None:
        backend.put(scratch.key("a/b"), b"data")
        for name in ("a", "a/b/c"):
            with pytest.raises(NotFound):
                backend.stat(scratch.key(name))

    def test_more_bytes_than_declared_are_too_large(self, backend: Backend, scratch: Scratch) -> None:
        self.need(backend, "max_object_bytes")
        most = backend.caps.max_object_bytes or 0
        if most > _LARGEST_TESTED:
            pytest.skip(f"caps.max_object_bytes is {most}: more than this test makes")
        key = scratch.key()
        with pytest.raises(TooLarge):
            backend.put(key, bytes(most + 1))
        with pytest.raises(NotFound):
            backend.stat(key)

    def test_as_many_bytes_as_declared_are_taken(self, backend: Backend, scratch: Scratch) -> None:
        self.need(backend, "max_object_bytes")
        most = backend.caps.max_object_bytes or 0
        if most > _LARGEST_TESTED:
            pytest.skip(f"caps.max_object_bytes is {most}: more than this test makes")
        key = scratch.key()
        backend.put(key, bytes(most), meta=b"m" * MAX_META_BYTES)
        assert backend.stat(key).size == most

    def test_the_local_path_leads_to_the_data(self, backend: Backend, scratch: Scratch) -> None:
        self.need(backend, "local_path")
        assert isinstance(backend, SupportsLocalPath)
        key = scratch.key()
        backend.put(key, pattern(1000))
        path = backend.local_path(key)
        assert path is not None
        assert Path(path).is_absolute()
        assert pattern(1000) in Path(path).read_bytes()

    def test_a_missing_key_has_no_local_path(self, backend: Backend, scratch: Scratch) -> None:
        self.need(backend, "local_path")
        assert isinstance(backend, SupportsLocalPath)
        assert backend.local_path(scratch.key("missing")) is None

    def test_a_store_that_answers_can_be_pinged(self, backend: Backend) -> None:
        self.need(backend, "ping")
        assert isinstance(backend, SupportsPing)
        backend.ping()
        backend.ping()

    def test_setting_the_expiry_of_a_missing_key_is_not_found(
        self, backend: Backend, scratch: Scratch
    ) -> None:
        self.need(backend, "set_expiry")
        assert isinstance(backend, SupportsSetExpiry)
        key = scratch.key("missing")
        with pytest.raises(NotFound) as caught:
            backend.set_expiry(key, time.time() + 3600)
        assert caught.value.key == key
