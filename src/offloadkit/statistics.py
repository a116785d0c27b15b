"""Counters of what one offloader did."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass

from offloadkit.events import Cleared, Event, Offloaded, ReadAnswered, ReadDenied, Restored, StoreFailed

__all__ = ["Counts", "Statistics"]


@dataclass(frozen=True, slots=True)
class Counts:
    """What happened so far.

    Attributes:
        offloaded: Results that a preview took the place of.
        cleared: Results that became a placeholder.
        read: Answers that showed stored content.
        denied: Reads of a reference that does not open, or that the store could not answer.
        restored: Results that were put back.
        failed: Times the store failed.
        tokens_removed: Tokens that left the history by all of it.
        tokens_read: Tokens of all answers that showed stored content.
    """

    offloaded: int = 0
    cleared: int = 0
    read: int = 0
    denied: int = 0
    restored: int = 0
    failed: int = 0
    tokens_removed: int = 0
    tokens_read: int = 0

    def to_json(self) -> dict[str, int]:
        """Return the counts as a JSON object."""
        return asdict(self)

    def plus(self, event: Event) -> Counts:
        """Return the counts after ``event``."""
        changes = asdict(self)
        match event:
            case Offloaded() | Cleared():
                changes["offloaded" if isinstance(event, Offloaded) else "cleared"] += 1
                changes["tokens_removed"] += event.tokens - event.tokens_after
            case ReadAnswered():
                changes["read"] += 1
                changes["tokens_read"] += event.tokens
            case ReadDenied():
                changes["denied"] += 1
            case Restored():
                changes["restored"] += 1
            case StoreFailed():
                changes["failed"] += 1
        return Counts(**changes)


class Statistics:
    """Adds events up. Safe to use from many threads."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._counts = Counts()
        self._lock = threading.Lock()

    def add(self, event: Event) -> None:
        """Count one event."""
        with self._lock:
            self._counts = self._counts.plus(event)

    @property
    def counts(self) -> Counts:
        """The counts so far."""
        with self._lock:
            return self._counts
