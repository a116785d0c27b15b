"""The answer to a request: a page, the matches of a search, what a query selects, the list.

Every function returns one text of at most ``page_tokens`` by the counter. They raise `ConfigError` for a page
below `MIN_PAGE_TOKENS`, and let through what `StoredText.fetch` and ``open_result`` raise; nothing in a
request makes them raise. The bound holds for every counter that gives a text no more tokens than it has
characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from offloadkit.errors import ConfigError
from offloadkit.read_call import render_call
from offloadkit.reading.frame import next_call
from offloadkit.reading.hits import hits_page
from offloadkit.reading.listing import listing
from offloadkit.reading.pages import text_page
from offloadkit.reading.selection import ParsedJSON, select
from offloadkit.reading.setting import MIN_PAGE_TOKENS, Setting
from offloadkit.reading.stored import ReadRequest, StoredEntry, StoredText
from offloadkit.tokens import TokenCounter

__all__ = ["OpenResult", "list_page", "read_page", "read_pages"]

OpenResult = Callable[[str], StoredText | str]
"""Returns the stored result of a reference, or the words that say why there is none."""

_PART_TOKENS: Final = 150
_MOST_LEFT: Final = 4


def read_page(
    stored: StoredText,
    request: ReadRequest,
    *,
    page_tokens: int,
    counter: TokenCounter,
    tool_name: str = "read_offloaded",
    now: float | None = None,
    parsed: ParsedJSON | None = None,
) -> str:
    """Return what a request asks of one stored result.

    Args:
        stored: The result; the references in the request are not looked at.
        request: What to show of it.
        page_tokens: The most that the answer may hold, in tokens.
        counter: Counts them.
        tool_name: The name of the read tool, for the calls that the answer names.
        now: Seconds since 1970, or None to leave out how old the result is.
        parsed: Remembers parsed JSON from call to call.
    """
    setting = _setting(page_tokens, counter, tool_name, now)
    return _page(stored, request.bounded(), setting, parsed or ParsedJSON())


def read_pages(
    request: ReadRequest,
    open_result: OpenResult,
    *,
    page_tokens: int,
    counter: TokenCounter,
    tool_name: str = "read_offloaded",
    now: float | None = None,
    parsed: ParsedJSON | None = None,
) -> str:
    """Return what a request asks of each of its references, in turn; they share the page fairly.

    Args:
        request: Names at least one reference.
        open_result: Opens them, as far as the page has room for them.
        page_tokens: The most that the answer may hold, in tokens.
        counter: Counts them.
        tool_name: The name of the read tool, for the calls that the answer names.
        now: Seconds since 1970, or None to leave out how old the results are.
        parsed: Remembers parsed JSON from call to call.
    """
    setting = _setting(page_tokens, counter, tool_name, now)
    asked = _Asked(request.bounded(), open_result, parsed or ParsedJSON())
    refs = list(dict.fromkeys(request.refs))
    if len(refs) == 1:
        return asked.part(refs[0], setting)
    room = page_tokens
    while not setting.holds(answer := asked.together(refs, setting, room)) and room > _PART_TOKENS:
        room = room * 9 // 10
    return answer


def list_page(
    entries: Sequence[StoredEntry],
    request: ReadRequest,
    *,
    page_tokens: int,
    counter: TokenCounter,
    tool_name: str = "read_offloaded",
    now: float | None = None,
) -> str:
    """Return the list of what a session has stored, newest first, from the request's offset on.

    Args:
        entries: What is stored, in any order.
        request: Its offset and limit count results.
        page_tokens: The most that the answer may hold, in tokens.
        counter: Counts them.
        tool_name: The name of the read tool, for the calls that the answer names.
        now: Seconds since 1970, or None to leave out how old the results are.
    """
    return listing(entries, request.bounded(), _setting(page_tokens, counter, tool_name, now))


def _setting(page_tokens: int, counter: TokenCounter, tool_name: str, now: float | None) -> Setting:
    if page_tokens < MIN_PAGE_TOKENS:
        raise ConfigError(f"page_tokens is at least {MIN_PAGE_TOKENS}, not {page_tokens}")
    return Setting(page_tokens, counter, tool_name, now)


def _page(stored: StoredText, request: ReadRequest, setting: Setting, parsed: ParsedJSON) -> str:
    if (words := _too_long(request, setting)) is not None:
        return setting.words(words)
    of = ""
    if request.query is not None:
        selection = select(stored, request, setting, parsed)
        if isinstance(selection, str):
            return setting.words(selection)
        stored, of = selection.text, f"{selection.kind} selected by query, "
    searches = request.search is not None or request.regex is not None
    return (hits_page if searches else text_page)(stored, request, setting, of=of)


def _too_long(request: ReadRequest, setting: Setting) -> str | None:
    """Refuse texts that would not leave room for content, since the next call repeats them."""
    texts = {"search": request.search, "regex": request.regex, "query": request.query}
    name, longest = max(texts.items(), key=lambda item: len(item[1] or ""))
    if setting.tokens(render_call("", None, **texts)) * 4 <= setting.page_tokens:
        return None
    return f"{name} is too long ({len(longest or ''):,} characters); give a shorter part of it."


class _Asked:
    """A request of several references."""

    def __init__(self, request: ReadRequest, open_result: OpenResult, parsed: ParsedJSON) -> None:
        self._request = request
        self._open = open_result
        self._parsed = parsed
        self._opened: dict[str, StoredText | str] = {}

    def part(self, ref: str, setting: Setting) -> str:
        """Answer for one reference."""
        if ref not in self._opened:
            self._opened[ref] = self._open(ref)
        opened = self._opened[ref]
        if isinstance(opened, str):
            return setting.words(opened)
        return _page(opened, self._request, setting, self._parsed)

    def together(self, refs: Sequence[str], setting: Setting, room: int) -> str:
        """Answer for as many as fit, each in its share of the room that is left, and name the others."""
        taken = max(1, min(len(refs), room // _PART_TOKENS))
        left = self._left(refs[taken:], setting)
        room -= setting.tokens(left)
        parts: list[str] = []
        for number, ref in enumerate(refs[:taken]):
            share = Setting(room // (taken - number), setting.counter, setting.tool_name, setting.now)
            parts.append(self.part(ref, share))
            room -= setting.tokens(f"{parts[-1]}\n\n")
        return "\n\n".join([*parts, left] if left else parts)

    def _left(self, refs: Sequence[str], setting: Setting) -> str:
        """Name as many of the references left as a quarter of the page has room for."""
        if not refs:
            return ""
        for named in range(min(len(refs), _MOST_LEFT), 0, -1):
            call = next_call(setting.tool_name, ", ".join(refs[:named]), self._request)
            more = f" Then {len(refs) - named} more." if len(refs) > named else ""
            if setting.tokens(text := f"Not shown yet: {call}{more}") * 4 <= setting.page_tokens:
                return text
        return f"{len(refs)} not shown."
