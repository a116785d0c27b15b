"""Tells what happened: to the counters, to the log, and to whoever watches."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Literal

from offloadkit.events import Cleared, Event, Offloaded
from offloadkit.history import Standing
from offloadkit.placeholder import Placeholder
from offloadkit.statistics import Counts, Statistics
from offloadkit.tokens import TokenCounter

__all__ = ["Announcements"]

_log = logging.getLogger("offloadkit")


class Announcements:
    """The events of one session. Safe to use from many threads."""

    def __init__(self, session: str, counter: TokenCounter, on_event: Callable[[Event], None] | None) -> None:
        """Announce nothing yet; ``on_event`` receives each event."""
        self._session = session
        self._counter = counter
        self._on_event = on_event
        self._statistics = Statistics()
        self._told: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    @property
    def counts(self) -> Counts:
        """What happened so far."""
        return self._statistics.counts

    def left(
        self,
        action: Literal["offload", "clear"],
        standing: Standing,
        placeholder: Placeholder | None,
        *,
        before: int,
        after: int,
    ) -> None:
        """Tell once that a result left the history; sizes are in the counter's units."""
        ref = placeholder.ref if placeholder else None
        if not self._is_news(action, f"{ref} {standing.view.call_id} {standing.view.place}"):
            return
        about: dict[str, Any] = {
            "session": self._session,
            "ref": ref,
            "tool": standing.result.tool,
            "call_id": standing.view.call_id,
            "tokens": self._counter.tokens(before),
            "tokens_after": self._counter.tokens(after),
        }
        self.emit(Offloaded(**about) if action == "offload" else Cleared(**about))

    def emit(self, event: Event) -> None:
        """Count an event, log it, and pass it on. Never raises."""
        self._statistics.add(event)
        _log.debug("%s", event)
        if self._on_event is None:
            return
        try:
            self._on_event(event)
        except Exception:  # noqa: BLE001  whatever it raises, the run goes on
            _log.exception("the on_event callback raised for %s", type(event).__name__)

    def _is_news(self, action: str, name: str) -> bool:
        with self._lock:
            if (action, name) in self._told:
                return False
            self._told.add((action, name))
            return True
