"""Answers the agent's reads of one session: always in words, never with an exception."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from offloadkit.errors import BackendError, Corrupt, NotFound
from offloadkit.events import Event, ReadAnswered, ReadDenied
from offloadkit.guard import GuardedArchive
from offloadkit.reading import (
    LostCall,
    ParsedJSON,
    ReadRequest,
    StoredEntry,
    StoredText,
    gone,
    list_page,
    read_pages,
    still_gone,
    unavailable,
    unknown,
)
from offloadkit.references import is_reference
from offloadkit.tokens import TokenCounter

__all__ = ["Reader"]

REMEMBERED: Final = 4096
_log = logging.getLogger("offloadkit")


class Reader:
    """Answers requests from what one session has stored. Safe to use from many threads."""

    def __init__(
        self,
        guard: GuardedArchive | None,
        *,
        session: str,
        page_tokens: int,
        counter: TokenCounter,
        tool_name: str,
        emit: Callable[[Event], None],
    ) -> None:
        """Make a reader; without a ``guard`` nothing is stored, and it says so."""
        self._guard = guard
        self._session = session
        self._page_tokens = page_tokens
        self._counter = counter
        self._tool_name = tool_name
        self._emit = emit
        self._parsed = ParsedJSON()
        self._calls: OrderedDict[str, LostCall] = OrderedDict()
        self._dead: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def remembers_call(self, ref: str) -> bool:
        """Say whether the call of a reference is noted."""
        return ref in self._calls

    def remember_call(self, ref: str, call: LostCall) -> None:
        """Note which call a reference came from, to name it should the result be gone one day."""
        with self._lock:
            self._calls[ref] = call
            self._calls.move_to_end(ref)
            while len(self._calls) > REMEMBERED:
                self._calls.popitem(last=False)

    def answer(self, request: ReadRequest) -> str:
        """Return the answer to a request: at most ``page_tokens``, whatever is asked and whatever fails."""
        if self._guard is None:
            return (
                "Nothing is stored: results that were cleared are gone. Call the tool again if you need one."
            )
        try:
            return self._answer(self._guard, request)
        except Corrupt:
            return "This result cannot be shown: it is damaged. Call the tool again if you need it."
        except BackendError:
            return unavailable(self._tool_name)
        except Exception:  # noqa: BLE001  an agent's run must not end here
            _log.exception("session %r: a read failed", self._session)
            return "This result cannot be shown in this way; ask for it with ref alone."

    def _answer(self, guard: GuardedArchive, request: ReadRequest) -> str:
        if not request.refs:
            return list_page(
                guard.ask("list", lambda: _entries(guard)),
                request,
                page_tokens=self._page_tokens,
                counter=self._counter,
                tool_name=self._tool_name,
                now=time.time(),
            )
        opened: list[StoredText] = []
        answer = read_pages(
            request,
            lambda ref: self._open(guard, ref, opened),
            page_tokens=self._page_tokens,
            counter=self._counter,
            tool_name=self._tool_name,
            now=time.time(),
            parsed=self._parsed,
        )
        tokens = self._counter.tokens(self._counter.units(answer))
        for stored in opened:
            self._emit(
                ReadAnswered(
                    session=self._session, ref=stored.ref, tool=stored.tool, tokens=tokens // len(opened)
                )
            )
        return answer

    def _open(self, guard: GuardedArchive, ref: str, opened: list[StoredText]) -> StoredText | str:
        """Return a stored result, or the words that say why there is none."""
        try:
            stored = guard.ask("read", lambda: guard.archive.open(ref))
        except NotFound:
            return self._not_found(guard, ref)
        except Corrupt:
            self._deny(ref, "corrupt")
            raise
        except BackendError:
            self._deny(ref, "unavailable")
            return unavailable(self._tool_name, ref)
        opened.append(stored)
        return stored

    def _not_found(self, guard: GuardedArchive, ref: str) -> str:
        with self._lock:
            again = ref in self._dead
            self._dead[ref] = None
            while len(self._dead) > REMEMBERED:
                self._dead.popitem(last=False)
            call = self._calls.get(ref)
        self._deny(ref, "repeated" if again else "unknown")
        if again:
            return still_gone(ref)
        if call is not None:
            return gone(ref, call=call)
        return unknown(ref, self._tool_name, known=guard.archive.remembered())

    def _deny(self, ref: str, reason: str) -> None:
        shown = ref if is_reference(ref) else ""
        _log.warning("session %r: a read of reference %r was denied: %s", self._session, shown, reason)
        self._emit(ReadDenied(session=self._session, ref=shown, reason=reason))


def _entries(guard: GuardedArchive) -> list[StoredEntry]:
    return [
        StoredEntry(ref, meta.tool, meta.tokens, meta.lines, meta.stored_at, meta.failed)
        for ref, meta in guard.archive.entries()
    ]
