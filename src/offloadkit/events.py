"""What happened, as frozen facts: for logs, metrics and audit. No event holds content or a secret.

Pass ``on_event`` to `offloadkit.Offloader` to receive them, on the thread on which they happen. A callback
that raises is logged and otherwise ignored: watching never breaks the run.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

__all__ = [
    "Cleared",
    "Event",
    "Offloaded",
    "ReadAnswered",
    "ReadDenied",
    "RestoreMissed",
    "Restored",
    "StoreFailed",
    "StoreRecovered",
    "UsageReported",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The root of all events.

    Attributes:
        session: In which session it happened.
    """

    session: str

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object; "event" is its name."""
        return {"event": type(self).__name__, **{f.name: getattr(self, f.name) for f in fields(self)}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offloaded(Event):
    """A result was stored and a preview took its place.

    Attributes:
        ref: Its reference.
        tool: The tool's name, or None.
        call_id: The call's id, or None.
        tokens: Tokens before.
        tokens_after: Tokens of what took its place.
    """

    ref: str
    tool: str | None
    call_id: str | None
    tokens: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared(Event):
    """A result became a one-line placeholder. Sent once a result, however often `reduce` runs.

    Attributes:
        ref: Its reference, or None in clear-only mode.
        tool: The tool's name, or None.
        call_id: The call's id, or None.
        tokens: Tokens before: of the result, or of its preview.
        tokens_after: Tokens of the placeholder.
    """

    ref: str | None
    tool: str | None
    call_id: str | None
    tokens: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswered(Event):
    """The agent read a stored result.

    Attributes:
        ref: What it read.
        tool: The tool whose result that is, or None.
        tokens: Tokens of the answer.
    """

    ref: str
    tool: str | None
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDenied(Event):
    """The agent asked for a reference that does not open in this session, or no longer does.

    Attributes:
        ref: What it asked for, if it has the form of a reference, else "".
        reason: "unknown", "unavailable", "corrupt" or "repeated".
    """

    ref: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Event):
    """A result stands in the history again as it was.

    Attributes:
        ref: Its reference.
    """

    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreMissed(Event):
    """A text of the exact form of a placeholder was left in place: its reference does not open.

    Attributes:
        ref: The reference in it.
    """

    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFailed(Event):
    """The store failed; the text stayed where it was.

    Attributes:
        operation: "save", "find" or "read".
        error: The name of the error class.
        paused_seconds: For how long the store is not asked again.
    """

    operation: str
    error: str
    paused_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRecovered(Event):
    """The store answered again after it had failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReported(Event):
    """The provider told how many tokens a request held. It changes no decision: law two would break.

    Attributes:
        estimated: Tokens by the policy's counter.
        reported: Input tokens by the provider, cached ones included.
        drift: Reported over estimated; above 1.0 the estimate is too low.
    """

    estimated: int
    reported: int
    drift: float
