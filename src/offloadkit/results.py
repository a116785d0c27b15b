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

    Ids may repeat: a result belongs to the nearest earlier call with its id that no other result has
    answered, and otherwise to the nearest earlier one. A result without an id belongs to the call in the
    same position among the calls of the turn before it.
    """
    by_id: dict[str, list[CallView]] = {}
    answered: set[Place] = set()
    turn_calls: list[CallView] = []
    without_id = 0
    found: dict[Place, CallView] = {}
    for message in messages:
        if message.starts_turn:
            turn_calls, without_id = [], 0
        turn_calls.extend(message.calls)
        for call in message.calls:
            by_id.setdefault(call.call_id or "", []).append(call)
        for result in message.results:
            call_for = _answered_call(result, by_id, answered, turn_calls, without_id)
            if not result.call_id:
                without_id += 1
            if call_for is not None:
                answered.add(call_for.place)
                found[result.place] = call_for
    return found


def _answered_call(
    result: ResultView,
    by_id: dict[str, list[CallView]],
    answered: set[Place],
    turn_calls: list[CallView],
    position: int,
) -> CallView | None:
    if not result.call_id:
        return turn_calls[position] if position < len(turn_calls) else None
    same_id = by_id.get(result.call_id, [])
    open_calls = [call for call in reversed(same_id) if call.place not in answered]
    if open_calls:
        return _first_of_its_message(open_calls)
    return same_id[-1] if same_id else None


def _first_of_its_message(open_calls: list[CallView]) -> CallView:
    """Of calls with one id in one message the first is answered first; ``open_calls`` is newest first."""
    message = open_calls[0].place.message
    return [call for call in open_calls if call.place.message == message][-1]
