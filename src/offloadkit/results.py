"""What the rest of the library knows of a history: which messages, calls and results stand in it.

This is no message model. A format reads these facts off messages that stay what they are, and a policy
decides by them. Nothing here is ever turned back into a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple


class Place(NamedTuple):
    """Where something stands: the index of a message, and of the block inside it (0 where there is one).

    Calls and results are numbered apart: a place is unique among results, and among calls.
    """

    message: int
    block: int = 0


@dataclass(frozen=True, slots=True)
class Media:
    """One part of a content that is no text.

    Attributes:
        kind: "image", "document", "audio", "video", or "other".
        data: Its base64 text where the message holds one, else "".
        media_type: For instance "image/png", or "".
    """

    kind: str
    data: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of one tool result, taken apart by its format.

    Attributes:
        value: What the message holds: text, a list of blocks, any JSON value.
        texts: Every text in ``value`` that a reader would want to see, in order, each with the path that
            leads to it (keys and indices; the empty path when ``value`` is itself the text). Empty when
            ``value`` is a JSON value without text parts of its own; it is then shown as JSON.
        media: Its parts that are no text, in order.
    """

    value: Any
    texts: tuple[tuple[tuple[str | int, ...], str], ...] = ()
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class CallView:
    """One tool call in an assistant message.

    Attributes:
        place: Where it stands.
        call_id: As the provider gave it. May be None or empty, and may repeat within a history.
        tool: The tool's name, or None.
        arguments: The arguments as the message holds them: JSON text, or a JSON object.
    """

    place: Place
    call_id: str | None
    tool: str | None
    arguments: Any


@dataclass(frozen=True, slots=True)
class ResultView:
    """One tool result in a message.

    Attributes:
        place: Where it stands.
        call_id: The id of the call it answers; may be None or empty.
        tool: The tool's name if the result itself says it; `name_results` looks the others up.
        content: What it holds.
        is_error: True when the message marks it as failed.
    """

    place: Place
    call_id: str | None
    tool: str | None
    content: Content
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class MessageView:
    """What matters of one message.

    Attributes:
        starts_turn: True when a model call ended with this message: it is the first (or only) message
            that the model produced in one answer.
        texts: Its texts outside tool results and tool calls, for counting.
        media: Its parts that are no text, outside tool results.
        calls: The tool calls in it.
        results: The tool results in it.
    """

    starts_turn: bool
    texts: tuple[str, ...] = ()
    media: tuple[Media, ...] = ()
    calls: tuple[CallView, ...] = ()
    results: tuple[ResultView, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a policy may know of one tool result.

    Attributes:
        place: Where it stands.
        turn: How many turns of the model stand before it; results of parallel calls share one.
        tool: The tool's name, or None.
        size: Its size in the counter's units (see `offloadkit.tokens.TokenCounter`), media included.
        state: "whole" as the tool returned it, or as an earlier pass left it: "offloaded" (a preview
            stands there) or "cleared" (a placeholder). "fixed": it looks like a preview, but the store
            could not be asked; it counts and is left alone.
        is_error: True when the result is marked as failed.
        media: How many of its parts are no text.
    """

    place: Place
    turn: int
    tool: str | None
    size: int
    state: Literal["whole", "offloaded", "cleared", "fixed"] = "whole"
    is_error: bool = False
    media: int = 0


def name_results(messages: Sequence[MessageView]) -> dict[Place, CallView]:
    """Return for each result the call that it answers, where there is one.

    Ids may repeat. A result belongs to a call with its id that no other result has answered: of the newest
    turn that has one, the first. When all are answered, it belongs to the newest call with its id.
    A result without an id belongs to the next unanswered call of its turn: to one without an id where there
    is one, and to one of the tool that the result names where there is one.
    """
    calls = OpenCalls()
    found: dict[Place, CallView] = {}
    for message in messages:
        calls.add(message)
        for result in message.results:
            call = calls.answered_by(result)
            if call is not None:
                found[result.place] = call
    return found


class OpenCalls:
    """The calls read so far, and which of them still wait for a result; see `name_results`."""

    def __init__(self) -> None:
        """Know no call yet."""
        self._turn = 0
        self._open_in_turn: dict[Place, CallView] = {}
        self._open_by_id: dict[str, tuple[tuple[int, CallView], ...]] = {}
        self._newest_by_id: dict[str, CallView] = {}

    def copy(self) -> OpenCalls:
        """Return the same calls, to go on from twice."""
        copied = OpenCalls()
        copied._turn = self._turn
        copied._open_in_turn = self._open_in_turn.copy()
        copied._open_by_id = self._open_by_id.copy()
        copied._newest_by_id = self._newest_by_id.copy()
        return copied

    def add(self, message: MessageView) -> None:
        """Take in the calls of the next message."""
        if message.starts_turn:
            self._turn += 1
            self._open_in_turn = {}
        for call in message.calls:
            self._open_in_turn[call.place] = call
            if call.call_id:
                waiting = self._open_by_id.get(call.call_id, ())
                self._open_by_id[call.call_id] = (*waiting, (self._turn, call))
                self._newest_by_id[call.call_id] = call

    def answered_by(self, result: ResultView) -> CallView | None:
        """Return the call that the next result answers, which is then no longer open."""
        call = self._first_with_id(result.call_id) if result.call_id else self._next_of_turn(result.tool)
        if call is not None:
            self._close(call)
        return call

    def _first_with_id(self, call_id: str) -> CallView | None:
        """Return the first of the open calls with this id in the newest turn that has one."""
        waiting = self._open_by_id.get(call_id)
        if not waiting:
            return self._newest_by_id.get(call_id)
        first = len(waiting) - 1
        while first > 0 and waiting[first - 1][0] == waiting[-1][0]:
            first -= 1
        return waiting[first][1]

    def _next_of_turn(self, tool: str | None) -> CallView | None:
        waiting = list(self._open_in_turn.values())
        waiting = [call for call in waiting if not call.call_id] or waiting
        named = [call for call in waiting if tool and call.tool == tool]
        return next(iter(named or waiting), None)

    def _close(self, call: CallView) -> None:
        self._open_in_turn.pop(call.place, None)
        waiting = self._open_by_id.pop(call.call_id or "", ())
        left = tuple(entry for entry in waiting if entry[1].place != call.place)
        if left and call.call_id:
            self._open_by_id[call.call_id] = left
