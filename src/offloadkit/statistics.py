"""Counters of what one offloader did."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, replace

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
        match event:
            case Offloaded():
                removed = self.tokens_removed + event.tokens - event.tokens_after
                return replace(self, offloaded=self.offloaded + 1, tokens_removed=removed)
            case Cleared():
                removed = self.tokens_removed + event.tokens - event.tokens_after
                return replace(self, cleared=self.cleared + 1, tokens_removed=removed)
            case ReadAnswered():
                return replace(self, read=self.read + 1, tokens_read=self.tokens_read + event.tokens)
            case ReadDenied():
                return replace(self, denied=self.denied + 1)
            case Restored():
                return replace(self, restored=self.restored + 1)
            case StoreFailed():
                return replace(self, failed=self.failed + 1)
            case _:
                return self


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
