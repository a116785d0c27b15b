"""A stored result as the read tool meets it, and what a model asked of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Self

from offloadkit.lines import Fetch, LineIndex

__all__ = ["ReadRequest", "StoredEntry", "StoredText"]

_LARGEST_NUMBER: Final = 10**15


@dataclass(frozen=True, slots=True)
class StoredText:
    """A stored result, opened for reading in parts.

    Attributes:
        ref: Its reference.
        tool: The name of the tool that returned it as placeholders show it, or None.
        size: Bytes of its text in UTF-8, lone surrogates as they are.
        index: Where its lines and characters are.
        fetch: Returns ``length`` bytes of the text from byte ``start``. What it raises is for the caller.
        stored_at: Seconds since 1970, or None where that is not known.
        is_json: True or False where that is known.
        failed: True when the result was marked as failed.
    """

    ref: str
    tool: str | None
    size: int
    index: LineIndex
    fetch: Fetch
    stored_at: float | None = None
    is_json: bool | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """One stored result in the list of what a session has stored.

    Attributes:
        ref: Its reference.
        tool: The name of the tool that returned it as placeholders show it, or None.
        tokens: Tokens that it holds by the policy's counter.
        lines: Lines of its text.
        stored_at: Seconds since 1970, or None where that is not known.
        failed: True when the result was marked as failed.
    """

    ref: str
    tool: str | None
    tokens: int
    lines: int
    stored_at: float | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What to show of which stored results. Every part of it may be anything that a model says.

    Attributes:
        refs: References; none asks for the list of what is stored.
        offset: The first line, from 1; negative counts from the end.
        limit: At most so many lines; with ``search`` or ``regex`` so many matches.
        column: The first character in the line at ``offset``, from 1.
        search: Show where this text stands.
        regex: Show where this pattern matches, in RE2 syntax, within lines.
        context: Lines around each match.
        query: Show what this JMESPath expression selects from JSON or JSON Lines; the other arguments then
            apply to what it selects.
    """

    refs: tuple[str, ...] = ()
    offset: int | None = None
    limit: int | None = None
    column: int | None = None
    search: str | None = None
    regex: str | None = None
    context: int | None = None
    query: str | None = None

    def bounded(self) -> Self:
        """Return the request with its numbers brought down to what still is more than any text has."""
        return replace(
            self,
            offset=_bounded(self.offset),
            limit=_bounded(self.limit),
            column=_bounded(self.column),
            context=_bounded(self.context),
        )


def _bounded(number: int | None) -> int | None:
    return None if number is None else max(-_LARGEST_NUMBER, min(number, _LARGEST_NUMBER))
