"""A listing yields what is there: nothing dropped, nothing invented, page by page."""

from __future__ import annotations

import time

import pytest

from offloadkit.backend import Backend, Page, Stat
from offloadkit.testing.contract.setting import Setting
from offloadkit.testing.driving import at_once, listed, pages
from offloadkit.testing.scratch import NAMES, PREFIXES, Scratch

_MORE_THAN_A_PAGE = 1005


def _fill(backend: Backend, scratch: Scratch, names: tuple[str, ...] = NAMES) -> set[str]:
    keys = [scratch.key(name) for name in names]
    for number, key in enumerate(keys):
        backend.put(key, b"x" * number, meta=b"meta")
    return set(keys)


class ListingContract(Setting):
    """Prefixes, pages, order, and listings while the store changes."""

    @pytest.mark.parametrize("limit", [1, 7, 1000])
    def test_every_object_is_listed(self, backend: Backend, scratch: Scratch, limit: int) -> None:
        keys = _fill(backend, scratch)
        assert {item.key for item in listed(backend, scratch.prefix, limit=limit)} == keys

    @pytest.mark.parametrize("prefix", PREFIXES)
    @pytest.mark.parametrize("limit", [1, 1000])
    def test_a_prefix_is_plain_text(
        self, backend: Backend, scratch: Scratch, prefix: str, limit: int
    ) -> None:
        keys = _fill(backend, scratch)
        whole = scratch.prefix + prefix
        found = {item.key for item in listed(backend, whole, limit=limit)}
        assert found == {key for key in keys if key.startswith(whole)}

    def test_a_prefix_may_end_inside_the_first_segment(self, backend: Backend, scratch: Scratch) -> None:
        keys = _fill(backend, scratch, ("a", "b"))
        assert {item.key for item in listed(backend, scratch.prefix[:-3])} == keys

    def test_without_a_prefix_everything_is_listed(self, backend: Backend, scratch: Scratch) -> None:
        keys = _fill(backend, scratch, ("a", "b"))
        assert keys <= {item.key for item in listed(backend, "")}

    def test_a_listing_of_nothing_ends(self, backend: Backend, scratch: Scratch) -> None:
        assert listed(backend, scratch.prefix) == []

    def test_a_page_is_made_of_stats(self, backend: Backend, scratch: Scratch) -> None:
        _fill(backend, scratch, ("a", "b"))
        for page in pages(backend, scratch.prefix, limit=1):
            assert isinstance(page, Page)
            assert isinstance(page.items, tuple)
            assert all(isinstance(item, Stat) for item in page.items)

    def test_listed_sizes_are_those_of_the_objects(self, backend: Backend, scratch: Scratch) -> None:
        keys = _fill(backend, scratch)
        sizes = {item.key: item.size for item in listed(backend, scratch.prefix)}
        assert sizes == {key: backend.stat(key).size for key in keys}

    def test_listed_metadata_is_whole_or_left_out(self, backend: Backend, scratch: Scratch) -> None:
        _fill(backend, scratch)
        assert {item.meta for item in listed(backend, scratch.prefix)} <= {b"meta", b""}

    def test_listed_expiry_is_right_or_left_out_with_the_metadata(
        self, backend: Backend, scratch: Scratch
    ) -> None:
        expires_at = round(time.time()) + 3600.25
        backend.put(scratch.key("never"), b"data", meta=b"meta")
        backend.put(scratch.key("later"), b"data", meta=b"meta", expires_at=expires_at)
        expected = {scratch.key("never"): None, scratch.key("later"): expires_at}
        for item in listed(backend, scratch.prefix):
            left_out = item.meta == b"" and item.expires_at is None
            assert left_out or self.same_time(item.expires_at, expected[item.key])

    @pytest.mark.parametrize("limit", [1, 7, 1000])
    def test_the_order_is_that_of_the_keys(self, backend: Backend, scratch: Scratch, limit: int) -> None:
        self.need(backend, "ordered")
        _fill(backend, scratch)
        found = [item.key for item in listed(backend, scratch.prefix, limit=limit)]
        assert found == sorted(found)

    def test_the_default_limit_is_a_thousand(self, backend: Backend, scratch: Scratch) -> None:
        keys = [scratch.key(f"{number:04}") for number in range(_MORE_THAN_A_PAGE)]

        def put_some(thread: int) -> None:
            for key in keys[thread::8]:
                backend.put(key, b"")

        at_once(put_some, 8)
        first = backend.list(scratch.prefix)
        assert len(first.items) <= 1000
        assert {item.key for item in listed(backend, scratch.prefix)} == set(keys)

    def test_a_deleted_object_is_not_listed(self, backend: Backend, scratch: Scratch) -> None:
        keys = _fill(backend, scratch)
        gone = scratch.key("a")
        backend.delete([gone])
        assert {item.key for item in listed(backend, scratch.prefix)} == keys - {gone}

    @pytest.mark.parametrize("limit", [1, 7])
    def test_deleting_each_page_drops_no_item(self, backend: Backend, scratch: Scratch, limit: int) -> None:
        keys = _fill(backend, scratch)
        found: set[str] = set()
        for page in pages(backend, scratch.prefix, limit=limit):
            found.update(item.key for item in page.items)
            backend.delete([item.key for item in page.items])
        assert found == keys

    def test_creating_between_pages_drops_no_item(self, backend: Backend, scratch: Scratch) -> None:
        keys = _fill(backend, scratch)
        found: set[str] = set()
        for number, page in enumerate(pages(backend, scratch.prefix, limit=2)):
            found.update(item.key for item in page.items)
            if number < len(keys):
                for before_and_between in ("--", "a/new-"):
                    backend.put(scratch.key(f"{before_and_between}{number}"), b"new")
        assert keys <= found <= scratch.keys
