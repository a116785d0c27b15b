"""What a policy needs to know of a history, read off its messages."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from offloadkit.content import readable_text
from offloadkit.formats import Format
from offloadkit.placeholder import Found, parse, seal_holds
from offloadkit.policy import Entry
from offloadkit.results import CallView, Content, MessageView, OpenCalls, Place, ResultView, ToolResult
from offloadkit.tokens import TokenCounter, media_units

__all__ = ["History", "HistoryReader", "Standing", "content_units", "text_of"]

State = Literal["whole", "offloaded", "cleared", "fixed"]
Verify = Callable[[str], bool | None]
"""Says of a reference: True, it opens in this session; False, it does not; None, the store did not answer."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One result as it stands in the history.

    Attributes:
        view: What its message says.
        result: What the policy may know of it.
        call: The call it answers, if that is in the history.
        found: Our placeholder or preview that stands there already, verified; else None.
    """

    view: ResultView
    result: ToolResult
    call: CallView | None
    found: Found | None


@dataclass(slots=True, eq=False)
class History:
    """A history as one call reads it: the messages, and what of them was read in this call.

    Attributes:
        message_format: The format of the messages.
        messages: All of them.
        calls: The tool calls that were read, by their place.
        standings: The results that were read, by their place.
    """

    message_format: Format
    messages: Sequence[Any]
    calls: dict[Place, CallView] = field(default_factory=dict)
    standings: dict[Place, Standing] = field(default_factory=dict)

    def views(self, start: int = 0, stop: int | None = None) -> list[MessageView]:
        """Return the facts of the messages from ``start`` on, which is 0 or starts a turn."""
        if start == 0 and stop is None:
            return self.message_format.views(self.messages)
        return [_moved(view, start) for view in self.message_format.views(self.messages[start:stop])]

    def call_at(self, place: Place) -> CallView:
        """Return the call at a place, whenever it was read."""
        if place not in self.calls:
            self.calls |= {call.place: call for call in self._view(place.message).calls}
        return self.calls[place]

    def result_at(self, place: Place) -> ResultView:
        """Return the result at a place, read again."""
        return next(result for result in self._view(place.message).results if result.place == place)

    def _view(self, index: int) -> MessageView:
        return _moved(self.message_format.views(self.messages[index : index + 1])[0], index)


class HistoryReader:
    """Reads messages one by one; it can stop where a turn starts, and go on from there in a later call.

    It keeps no text of what it read.

    Attributes:
        opened: The references that ``verify`` said yes to.
        unopened: Its answers on the others.
    """

    def __init__(self, *, session: str, counter: TokenCounter, placeholder: str, verify: Verify) -> None:
        """Stand before the first message. ``verify`` is asked for texts sealed in this session only."""
        self.opened: set[str] = set()
        self.unopened: dict[str, bool | None] = {}
        self._session = session
        self._counter = counter
        self._placeholder = placeholder
        self._session = session
        self._verify = verify
        self._turn = 0
        self._open = OpenCalls()
        self._whole: dict[Place, tuple[ToolResult, Place | None]] = {}

    def fork(self) -> HistoryReader:
        """Return a reader that goes on from here by itself."""
        fork = copy.copy(self)
        fork.opened, fork.unopened = self.opened.copy(), self.unopened.copy()
        fork._open = self._open.copy()  # noqa: SLF001  a copy of itself
        fork._whole = self._whole.copy()  # noqa: SLF001  a copy of itself
        return fork

    def read(self, view: MessageView, history: History) -> Entry:
        """Read the next message of ``history``."""
        self._turn += view.starts_turn
        history.calls |= {call.place: call for call in view.calls}
        self._open.add(MessageView(view.starts_turn, calls=tuple(map(_without_arguments, view.calls))))
        results = tuple(self._read(result, history) for result in view.results)
        return Entry(view.starts_turn, _outside_units(view, self._counter), results)

    def standing(self, place: Place, history: History) -> Standing:
        """Return a result that may still leave, whenever it was read."""
        if place not in history.standings:
            result, call = self._whole[place]
            view = history.result_at(place)
            found = parse(view.content.texts[0][1]) if result.state == "offloaded" else None
            history.standings[place] = Standing(view, result, call and history.call_at(call), found)
        return history.standings[place]

    def forget(self, place: Place) -> None:
        """Drop what is known of a result that has left."""
        self._whole.pop(place, None)

    def _read(self, view: ResultView, history: History) -> ToolResult:
        answered = self._open.answered_by(view)
        call = history.call_at(answered.place) if answered else None
        standing = self._standing(view, call)
        history.standings[view.place] = standing
        if standing.result.state in {"whole", "offloaded"}:
            self._whole[view.place] = (standing.result, call.place if call else None)
        return standing.result

    def _standing(self, view: ResultView, call: CallView | None) -> Standing:
        result = ToolResult(
            place=view.place,
            turn=self._turn,
            tool=view.tool or (call.tool if call else None),
            size=content_units(view.content, self._counter),
            is_error=view.is_error,
            media=len(view.content.media),
        )
        texts = view.content.texts
        text = texts[0][1] if len(texts) == 1 else ""
        if text == self._placeholder:
            return Standing(view, replace(result, state="cleared"), call, None)
        found = parse(text)
        if found is None or not seal_holds(text, self._session):
            return Standing(view, result, call, None)
        opens = self._opens(found.placeholder.ref)
        if opens is None:
            state: State = "fixed" if found.offloaded else "cleared"
            return Standing(view, replace(result, state=state), call, None)
        if not opens:
            return Standing(view, result, call, None)
        return Standing(
            view, replace(result, state="offloaded" if found.offloaded else "cleared"), call, found
        )

    def _opens(self, ref: str) -> bool | None:
        if ref in self.opened:
            return True
        if ref not in self.unopened:
            answer = self._verify(ref)
            if answer:
                self.opened.add(ref)
                return True
            self.unopened[ref] = answer
        return self.unopened[ref]


def content_units(content: Content, counter: TokenCounter) -> int:
    """Return the size of a result's content: its texts and its media; a JSON value counts as JSON."""
    media = sum(media_units(part, counter) for part in content.media)
    if content.texts:
        return media + sum(counter.units(text) for _, text in content.texts)
    if not content.value or content.media:
        return media
    return media + counter.units(text_of(content))


def text_of(content: Content) -> str:
    """Return the text of a content as a reader sees it."""
    if content.texts:
        return "\n".join(text for _, text in content.texts)
    return readable_text(content.value) if content.value else ""


def arguments_text(arguments: Any) -> str:
    """Return the arguments of a call as JSON text."""
    if isinstance(arguments, str):
        return arguments
    try:
        return "" if arguments is None else json.dumps(arguments, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return readable_text(arguments)


def _outside_units(view: MessageView, counter: TokenCounter) -> int:
    return (
        sum(counter.units(text) for text in view.texts)
        + sum(counter.units(arguments_text(call.arguments)) for call in view.calls)
        + sum(media_units(part, counter) for part in view.media)
    )


def _without_arguments(call: CallView) -> CallView:
    return CallView(call.place, call.call_id, call.tool, None)


def _moved(view: MessageView, by: int) -> MessageView:
    """Return a view of a message that stands further back."""
    calls = [CallView(_behind(c.place, by), c.call_id, c.tool, c.arguments) for c in view.calls]
    results = [
        ResultView(_behind(r.place, by), r.call_id, r.tool, r.content, r.is_error) for r in view.results
    ]
    return MessageView(view.starts_turn, view.texts, view.media, tuple(calls), tuple(results))


def _behind(place: Place, by: int) -> Place:
    return Place(place.message + by, place.block)
