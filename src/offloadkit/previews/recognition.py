"""Which kinds of content there are, and which of them a text is taken for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from offloadkit.previews import (
    accessibility,
    binary,
    delimited,
    diff,
    failure,
    hits,
    html_page,
    json_data,
    listing,
    log,
    markdown,
    printed,
    source,
    table,
    text,
)
from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet

__all__ = ["KINDS", "PLAIN", "Kind", "recognised"]

PLAIN: Final = "text"


class Kind(NamedTuple):
    """One kind of content.

    Attributes:
        recognise: Says whether a document is of this kind, by a bounded look at it.
        render: Fills a sheet and says what it shows. None when the document turns out to be of another
            kind. What it raises counts as None.
    """

    recognise: Callable[[Document], bool]
    render: Callable[[Document, Sheet], Draft | None]


KINDS: Final[Mapping[str, Kind]] = {
    "printed": Kind(printed.recognise, printed.render),
    "json": Kind(json_data.recognise, json_data.render),
    "binary": Kind(binary.recognise, binary.render),
    "diff": Kind(diff.recognise, diff.render),
    "tests": Kind(failure.recognise_tests, failure.render),
    "html": Kind(html_page.recognise, html_page.render),
    "accessibility": Kind(accessibility.recognise, accessibility.render),
    "hits": Kind(hits.recognise, hits.render),
    "log": Kind(log.recognise, log.render),
    "traceback": Kind(failure.recognise_traceback, failure.render),
    "csv": Kind(delimited.recognise, delimited.render),
    "table": Kind(table.recognise, table.render),
    "listing": Kind(listing.recognise, listing.render),
    "source": Kind(source.recognise, source.render),
    "markdown": Kind(markdown.recognise, markdown.render),
    PLAIN: Kind(text.recognise, text.render),
}
"""The kinds by name, in the order in which they are tried; what is surest to recognise comes first."""


def recognised(document: Document) -> Iterator[str]:
    """Yield the names of the kinds that ``document`` may be, the likeliest first; plain text is the last."""
    return (name for name, kind in KINDS.items() if _recognises(kind, document))


def _recognises(kind: Kind, document: Document) -> bool:
    try:
        return kind.recognise(document)
    except Exception:  # noqa: BLE001 - no text may stop the agent: what fails to recognise it passes it on
        return False
