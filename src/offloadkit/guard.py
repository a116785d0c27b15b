"""The archive as the offloader uses it: what fails is counted, told once, and leaves the text in place."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from offloadkit.archive import Archive
from offloadkit.breaker import CircuitBreaker
from offloadkit.content import EncodedContent
from offloadkit.errors import BackendError, Corrupt, NotFound, TooLarge
from offloadkit.events import Event, StoreFailed, StoreRecovered
from offloadkit.placeholder import Placeholder

__all__ = ["GuardedArchive", "StorePaused"]

_log = logging.getLogger("offloadkit")
_T = TypeVar("_T")


class StorePaused(BackendError):
    """The store failed a moment ago and is left alone for now."""

    retryable = True


class GuardedArchive:
    """Calls an archive behind a circuit breaker. Safe to use from many threads."""

    def __init__(self, archive: Archive, breaker: CircuitBreaker, emit: Callable[[Event], None]) -> None:
        """Guard ``archive``; ``emit`` receives what happens to the store."""
        self.archive = archive
        self._breaker = breaker
        self._emit = emit

    def save(self, encoded: EncodedContent, placeholder: Placeholder, *, anew: bool = False) -> bool:
        """Store a content and say whether it is stored now. Never raises for what the store does.

        With ``anew`` the store is asked although the content is remembered as stored.
        """
        if not anew and self.archive.remembers(placeholder.ref):
            return True
        try:
            ref = self.ask(
                "save",
                lambda: self.archive.save(
                    encoded,
                    tokens=placeholder.tokens,
                    tool=placeholder.tool,
                    failed=placeholder.failed,
                    anew=anew,
                ),
            )
        except BackendError:
            return False
        return ref == placeholder.ref

    def opens(self, ref: str) -> bool | None:
        """Say whether a reference opens in this session; None when the store cannot be asked."""
        if self.archive.remembers(ref):
            return True
        try:
            return self.ask("find", lambda: self.archive.find(ref)) is not None
        except BackendError:
            return None

    def ask(self, operation: str, call: Callable[[], _T]) -> _T:
        """Return what ``call`` returns.

        Raises:
            NotFound: As an answer; the store is well.
            StorePaused: The store is not asked for now.
            BackendError: The store failed.
        """
        if not self._breaker.allow():
            raise StorePaused("the store failed a moment ago and is not asked for now; try again later")
        try:
            answer = call()
        except (NotFound, TooLarge, Corrupt):
            self._note_success()
            raise
        except BackendError as error:
            self._note_failure(operation, error)
            raise
        self._note_success()
        return answer

    def _note_success(self) -> None:
        if self._breaker.succeeded():
            _log.info("session %r: the store answers again", self.archive.session)
            self._emit(StoreRecovered(session=self.archive.session))

    def _note_failure(self, operation: str, error: BackendError) -> None:
        paused = self._breaker.failed()
        _log.warning(
            "session %r: the store failed to %s (%s); the text stays in place, and it is left alone for %g s",
            self.archive.session,
            operation,
            error,
            paused,
        )
        self._emit(
            StoreFailed(
                session=self.archive.session,
                operation=operation,
                error=type(error).__name__,
                paused_seconds=paused,
            )
        )
