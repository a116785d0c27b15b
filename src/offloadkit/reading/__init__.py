"""How an agent reads a stored result: pages, matches, selections, the list; always within `page_tokens`.

Everything here is a function of a request and of what `StoredText.fetch` returns. Whatever a model asks, the
answer is one text: what was asked for, fenced as data and followed by the next call, or words that say what
to change.
"""

from __future__ import annotations

from offloadkit.reading.answer import OpenResult, list_page, read_page, read_pages
from offloadkit.reading.selection import ParsedJSON
from offloadkit.reading.setting import MIN_PAGE_TOKENS
from offloadkit.reading.stored import ReadRequest, StoredEntry, StoredText
from offloadkit.reading.words import LostCall, gone, still_gone, unavailable, unknown

__all__ = [
    "MIN_PAGE_TOKENS",
    "LostCall",
    "OpenResult",
    "ParsedJSON",
    "ReadRequest",
    "StoredEntry",
    "StoredText",
    "gone",
    "list_page",
    "read_page",
    "read_pages",
    "still_gone",
    "unavailable",
    "unknown",
]
