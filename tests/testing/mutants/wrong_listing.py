"""Listings that drop, invent or never end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from testing.mutants.mutant import Mutant
from testing.reference import Record

from offloadkit.backend import BackendError, Page, Stat


class _ChangesItems(Mutant):
    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        page = super().list(prefix, cursor=cursor, limit=limit)
        return Page(tuple(self._changed(item) for item in page.items), page.cursor)

    def _changed(self, item: Stat) -> Stat:
        raise NotImplementedError


class DropsTheFirstOfEachPage(Mutant):
    caught_by = ("test_every_object_is_listed", "test_the_default_limit_is_a_thousand")

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        page = super().list(prefix, cursor=cursor, limit=limit)
        return Page(page.items[1:] if cursor else page.items, page.cursor)


class DropsTheLastPage(Mutant):
    caught_by = ("test_every_object_is_listed",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        page = super().list(prefix, cursor=cursor, limit=limit)
        return page if page.cursor or not cursor else Page(())


class EndsAtAShortPage(Mutant):
    """Takes an empty page in the middle for the end."""

    caught_by = ("test_every_object_is_listed",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        page = super().list(prefix, cursor=cursor, limit=limit)
        kept = tuple(item for item in page.items if not item.key.endswith("/b"))
        return Page(kept, page.cursor if kept else None)


class IgnoresTheLimit(Mutant):
    caught_by = ("test_every_object_is_listed",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        return super().list(prefix, cursor=cursor)


class RepeatsTheFirstPage(Mutant):
    caught_by = ("test_every_object_is_listed",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        return super().list(prefix, limit=limit)


class RepeatsWithFreshCursors(Mutant):
    caught_by = ("test_a_listing_of_nothing_ends",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        return Page(super().list(prefix, limit=limit).items, str(int(cursor or 0) + 1))


class NeverEndsAnEmptyListing(Mutant):
    caught_by = ("test_a_listing_of_nothing_ends",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        page = super().list(prefix, cursor=cursor, limit=limit)
        return page if page.items else Page((), "")


class ListsFolders(Mutant):
    caught_by = ("test_a_prefix_is_plain_text",)

    def _matching(self, prefix: str) -> Iterable[Record]:
        folder = prefix.rstrip("/")
        return [r for r in self._records() if r.key == folder or r.key.startswith(folder + "/")]


class ListsOneLevel(Mutant):
    caught_by = ("test_a_prefix_is_plain_text", "test_every_object_is_listed")

    def _matching(self, prefix: str) -> Iterable[Record]:
        return [record for record in super()._matching(prefix) if "/" not in record.key[len(prefix) :]]


class MatchesAsSqlDoes(Mutant):
    caught_by = ("test_a_prefix_is_plain_text",)

    def _matching(self, prefix: str) -> Iterable[Record]:
        def fits(key: str) -> bool:
            return len(key) >= len(prefix) and all(p in ("_", k) for p, k in zip(prefix, key, strict=False))

        return [record for record in self._records() if fits(record.key)]


class MatchesAnywhere(Mutant):
    caught_by = ("test_a_prefix_is_plain_text",)

    def _matching(self, prefix: str) -> Iterable[Record]:
        parts = prefix.split("/")
        return [r for r in self._records() if r.key.startswith(parts[0]) and parts[-1] in r.key]


class InventsTheFolder(Mutant):
    caught_by = ("test_a_prefix_is_plain_text", "test_every_object_is_listed")

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        page = super().list(prefix, cursor=cursor, limit=limit)
        room = page.items and prefix.endswith("/") and len(page.items) < limit
        return Page((*page.items, Stat(prefix, 0)), page.cursor) if room else page


class WantsAWholeSegment(Mutant):
    caught_by = ("test_a_prefix_may_end_inside_the_first_segment",)

    def _matching(self, prefix: str) -> Iterable[Record]:
        return super()._matching(prefix) if "/" in prefix or not prefix else []


class WantsAPrefix(Mutant):
    caught_by = ("test_without_a_prefix_everything_is_listed",)

    def _matching(self, prefix: str) -> Iterable[Record]:
        return super()._matching(prefix) if prefix else []


class ReturnsLists(Mutant):
    caught_by = ("test_a_page_is_made_of_stats",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Any:
        page: Any = super().list(prefix, cursor=cursor, limit=limit)
        return Page([*page.items], page.cursor)  # type: ignore[arg-type]


class ListsNoSizes(_ChangesItems):
    caught_by = ("test_listed_sizes_are_those_of_the_objects",)

    def _changed(self, item: Stat) -> Stat:
        return replace(item, size=0)


class ListsHalfTheMetadata(_ChangesItems):
    caught_by = ("test_listed_metadata_is_whole_or_left_out",)

    def _changed(self, item: Stat) -> Stat:
        return replace(item, meta=item.meta[:2])


class ListsNoExpiry(_ChangesItems):
    """With the metadata there, a caller has to think that the object never expires."""

    caught_by = ("test_listed_expiry_is_right_or_left_out_with_the_metadata",)

    def _changed(self, item: Stat) -> Stat:
        return replace(item, expires_at=None)


class ListsWholeSeconds(_ChangesItems):
    caught_by = ("test_listed_expiry_is_right_or_left_out_with_the_metadata",)

    def _changed(self, item: Stat) -> Stat:
        return replace(item, expires_at=item.expires_at and int(item.expires_at))


class OrdersByLocale(Mutant):
    """As a database whose collation leaves out punctuation."""

    caught_by = ("test_the_order_is_that_of_the_keys",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        items = sorted(
            super().list(prefix).items, key=lambda item: item.key.replace("-", "").replace(".", "")
        )
        start = int(cursor or 0)
        return Page(
            tuple(items[start : start + limit]), str(start + limit) if start + limit < len(items) else None
        )


class ListsAThousandAtMost(Mutant):
    caught_by = ("test_the_default_limit_is_a_thousand",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        page = super().list(prefix, cursor=cursor, limit=limit)
        return page if len(page.items) < 1000 else Page(page.items)


class HasNoDefaultLimit(Mutant):
    caught_by = ("test_the_default_limit_is_a_thousand",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 10_000) -> Page:
        return super().list(prefix, cursor=cursor, limit=limit)


class ListsTheDead(Mutant):
    caught_by = ("test_a_deleted_object_is_not_listed",)

    def _remove(self, key: str) -> None:
        if self._path(key).exists():
            self._replace(replace(self._load(key), key=key + ".deleted"))
        super()._remove(key)


class PagesByPosition(Mutant):
    """As OFFSET does: what is deleted moves the rest into pages that are over."""

    caught_by = ("test_deleting_each_page_drops_no_item",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        start, items = int(cursor or 0), super().list(prefix).items
        return Page(items[start : start + limit], str(start + limit) if start + limit < len(items) else None)


class WantsItsLastItemBack(Mutant):
    """Goes on after the last key, if it finds it."""

    caught_by = ("test_deleting_each_page_drops_no_item",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        if cursor and not self._path(cursor).exists():
            return Page(())
        return super().list(prefix, cursor=cursor, limit=limit)


class RefusesToListWhatChanges(Mutant):
    caught_by = ("test_creating_between_pages_drops_no_item",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        count, _, last = (cursor or "").partition(":")
        now = str(len(super().list(prefix).items))
        if cursor and count != now:
            raise BackendError("the store changed during the listing")
        page = super().list(prefix, cursor=last or None, limit=limit)
        return Page(page.items, page.cursor and f"{now}:{page.cursor}")


class ListsAFixedNumber(Mutant):
    """Ends after as many items as there were at the start."""

    caught_by = ("test_creating_between_pages_drops_no_item",)

    def list(self, prefix: str = "", *, cursor: str | None = None, limit: int = 1000) -> Page:
        left, _, last = (cursor or f"{len(super().list(prefix).items)}:").partition(":")
        page = super().list(prefix, cursor=last or None, limit=min(limit, int(left)) or 1)
        rest = int(left) - len(page.items)
        return Page(page.items, page.cursor and f"{rest}:{page.cursor}" if rest > 0 else None)
