"""The answer to a search: how many matches there are, the first of them, and how to see the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offloadkit.lines import BLOCK_BYTES
from offloadkit.reading.excerpts import Excerpts
from offloadkit.reading.frame import count, fenced, fitting_style, heads, next_call
from offloadkit.reading.position import Position, find_start
from offloadkit.reading.search import (
    AROUND_BYTES,
    Finder,
    Found,
    Hit,
    Literal,
    Pattern,
    compile_pattern,
    find,
)
from offloadkit.reading.setting import Setting
from offloadkit.reading.spans import SEARCH_AHEAD_BYTES, Spans
from offloadkit.reading.stored import ReadRequest, StoredText

__all__ = ["hits_page"]

DEFAULT_CONTEXT: Final = 2
"""Lines around each match when none are asked for and all matches fit with them."""

_NARROWEST: Final = 40
_ENOUGH_MATCHES: Final = 8
_TOKENS_A_MATCH: Final = 4
_TOKENS_A_REGION: Final = 60
_MOST_REGIONS: Final = 12
_LINES_AROUND: Final = 10
_CHARACTERS_AROUND: Final = 500
_NO_LIMIT: Final = 10**9


def hits_page(stored: StoredText, request: ReadRequest, setting: Setting, *, of: str = "") -> str:
    """Return the matches of the request's search text or pattern, from its offset and column on.

    Args:
        stored: The text.
        request: What to look for, where, and how much to show around it.
        setting: The bounds of the answer.
        of: Words that stand before the lines searched, for a text that was made from a result.
    """
    finder = _finder(request)
    if isinstance(finder, str):
        return setting.words(finder)
    spans = Spans(stored.fetch, stored.size, ahead=SEARCH_AHEAD_BYTES)
    start = find_start(stored, request, setting, spans)
    if isinstance(start, str):
        return setting.words(start)
    most = min(setting.page_tokens // _TOKENS_A_MATCH, request.limit or _NO_LIMIT)
    found = find(spans, finder, start, keep=most + 1)
    spans.ahead = BLOCK_BYTES  # from here on only a line here and there is read
    draft = _Draft(stored, request, setting, start, found, of, found.hits[:most], spans)
    return draft.fullest() if found.hits else setting.words(draft.nothing())


def _finder(request: ReadRequest) -> Finder | str:
    if request.search is not None and request.regex is not None:
        return "Give search or regex, not both."
    if request.search is not None:
        return Literal(request.search) if request.search else "search is empty; give the text to look for."
    pattern = compile_pattern(request.regex or "")
    return pattern if isinstance(pattern, str) else Pattern(pattern)


def _details(asked: int | None, most: int) -> Iterator[tuple[int, int]]:
    """Yield lines of context and bytes of a line to show, from most to least."""
    context = DEFAULT_CONTEXT if asked is None else max(0, min(asked, most))
    width = AROUND_BYTES
    while context or width > _NARROWEST:
        yield context, width
        context, width = (0 if asked is None else context // 2), max(width // 2, _NARROWEST)
    yield 0, _NARROWEST


@dataclass(frozen=True, slots=True)
class _Draft:
    """The answer for any number of excerpts shown."""

    stored: StoredText
    request: ReadRequest
    setting: Setting
    start: Position
    found: Found
    of: str
    hits: Sequence[Hit]
    spans: Spans

    def fullest(self) -> str:
        """Return the answer with most detail that shows all matches, or else enough of them."""
        best = self._excerpts(0, 0)
        style = fitting_style(self.setting, lambda style: self._text(best, 1, style))
        enough = 1 if self.request.context else min(_ENOUGH_MATCHES, len(self.hits))
        most = 0
        for context, width in _details(self.request.context, self.setting.page_tokens // _TOKENS_A_MATCH):
            excerpts = self._excerpts(context, width)
            shown = self._largest(excerpts, style)
            matches = sum(len(excerpt.hits) for excerpt in excerpts.items[:shown])
            if matches == self.found.count or matches >= enough:
                return self._text(excerpts, shown, style)
            if matches > most:
                best, most = excerpts, matches
        return self._text(best, max(self._largest(best, style), 1), style)

    def nothing(self) -> str:
        """Return the words for a search that found nothing."""
        if self.found.rest is not None:
            line, column = self.found.rest
            said = f"{self.stored.ref}: no match before line {line:,}; the pattern is slow."
            return f"{said} {self._next(line, column)}"
        said = f"{self.stored.ref}: no match in {self._searched()}."
        if (self.start.line, self.start.column) != (1, 1):
            return f"{said} In all lines: {self._call(offset=None, column=None)}"
        search = self.request.search
        if search is None:
            return f"{said} Case counts; (?i) at the start of a pattern ignores it."
        if search.lower() == search.upper():
            return said
        return f"{said} Case counts; to ignore it: {self._call(search=None, regex=_any_case(search))}"

    def _excerpts(self, context: int, width: int) -> Excerpts:
        most = self.setting.page_bytes
        return Excerpts(self.stored, self.hits, self.spans, context=context, width=width, most=most)

    def _largest(self, excerpts: Excerpts, style: int) -> int:
        return self.setting.largest(lambda shown: self._text(excerpts, shown, style), len(excerpts.items))

    def _text(self, excerpts: Excerpts, shown: int, style: int) -> str:
        hits = [hit for excerpt in excerpts.items[:shown] for hit in excerpt.hits]
        cut = excerpts.items[0].cut_before or excerpts.items[0].cut_after
        head = heads(self.stored, self._summary(len(hits)), self.setting)[style]
        tail = self._more(len(hits), style) or self._done(hits[0], style, in_long_line=cut)
        return fenced(head, excerpts.text(shown), tail, self.stored.ref)

    def _summary(self, shown: int) -> str:
        matches = count(self.found.count, "match", "matches")
        if self.found.rest is not None:
            matches = f"at least {matches}"
        first = f"the first {shown:,} of " if shown < self.found.count else ""
        return f"{first}{matches} in {self._searched()}, as line:column: text"

    def _searched(self) -> str:
        lines, start = self.stored.index.lines, self.start
        column = f", from character {start.column:,} of line {start.line:,}" if start.column > 1 else ""
        if start.line == 1:
            return f"{self.of}{count(lines, 'line')}{start.note}{column}"
        return f"{self.of}lines {start.line:,}-{lines:,} of {lines:,}{start.note}{column}"

    def _more(self, shown: int, style: int) -> str:
        """Name the call that shows the matches after these, or ""."""
        if shown == self.found.count:
            return self._next(*self.found.rest) if self.found.rest else ""
        following = self.found.hits[shown]
        call = self._next(following.line, following.column)
        regions = _merged(
            self.found.regions, min(self.setting.page_tokens // _TOKENS_A_REGION, _MOST_REGIONS)
        )
        if style or len(regions) < 2:
            return call
        places = "; ".join(f"{number:,} from {_place(hit)}" for hit, number in regions)
        return f"{call}\nBy region: {places}. Give offset (and column) to begin elsewhere."

    def _next(self, line: int, column: int) -> str:
        place = {"offset": line, "column": column if column > 1 else None}
        return f"Next: {self._call(**place)}"

    def _call(self, **changes: Any) -> str:
        return next_call(self.setting.tool_name, self.stored.ref, self.request, **changes)

    def _done(self, hit: Hit, style: int, *, in_long_line: bool) -> str:
        if style:
            return "No more matches."
        around = {"offset": max(1, hit.line - _LINES_AROUND), "limit": 2 * _LINES_AROUND + 1, "column": None}
        if in_long_line:
            around = {"offset": hit.line, "limit": None, "column": max(1, hit.column - _CHARACTERS_AROUND)}
        asks = {**around, "search": None, "regex": None, "context": None}
        return f"No more matches. To read on around the first: {self._call(**asks)}"


def _merged(regions: Sequence[tuple[Hit, int]], most: int) -> list[tuple[Hit, int]]:
    """Join neighbouring regions until there are few enough."""
    size = -(-len(regions) // max(most, 1))
    groups = [regions[start : start + size] for start in range(0, len(regions), size)]
    return [(group[0][0], sum(number for _, number in group)) for group in groups]


def _place(hit: Hit) -> str:
    return f"line {hit.line:,}" + (f" character {hit.column:,}" if hit.column > AROUND_BYTES else "")


def _any_case(text: str) -> str:
    import re2  # noqa: PLC0415  loaded by those who search

    escaped: str = re2.escape(text.encode("utf-8", "replace").decode())
    return f"(?i){escaped}"
