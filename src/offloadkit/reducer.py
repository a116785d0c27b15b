"""Reduces the histories of one session, and goes on from where the last call stood where it can."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from offloadkit.departure import Departures
from offloadkit.formats import FORMATS, Format, check_messages, detect, format_named, format_of
from offloadkit.guard import GuardedArchive
from offloadkit.history import History, HistoryReader, Standing
from offloadkit.policy import Decision, Entry, Plan, Policy
from offloadkit.progress import Progress
from offloadkit.replacement import Replacements
from offloadkit.replay import Replay
from offloadkit.results import MessageView, Place
from offloadkit.tokens import TokenCounter
from offloadkit.tool_inputs import empty_inputs

__all__ = ["Reducer"]

_TELLING_MESSAGES: Final = 64
_MESSAGES_AT_ONCE: Final = 256
"""How many messages are read at once, so that little is held beside the history."""


class Reducer:
    """What `Offloader` reduces with. Safe to use from many threads.

    A call takes the progress of the last one away and leaves its own, so that no two share one.
    """

    def __init__(
        self,
        policy: Policy,
        counter: TokenCounter,
        guard: GuardedArchive | None,
        departures: Departures,
        read_tool: str,
    ) -> None:
        """Remember nothing yet. Without a ``guard`` old results become the bare placeholder."""
        self._policy = policy
        self._counter = counter
        self._guard = guard
        self._departures = departures
        self._read_tool = read_tool
        self._progress: Progress | None = None
        self._lock = threading.Lock()

    def plan(self, messages: Sequence[Any], name: str | None) -> tuple[list[Entry], Plan]:
        """Return what the policy sees of the messages, and its decisions. Nothing is written."""
        progress = self._start(messages, name)
        history = History(progress.message_format, messages)
        replacements = self._replacements(progress, history)
        entries = [progress.reader.read(view, history) for view in history.views()]
        for entry in entries:
            progress.walk.go_on(entry, replacements)
        progress.walk.decide(replacements)
        return entries, progress.walk.plan()

    def entries(self, messages: Sequence[Any], name: str | None) -> list[Entry]:
        """Return what the policy sees of the messages."""
        progress = self._start(messages, name)
        history = History(progress.message_format, messages)
        return [progress.reader.read(view, history) for view in history.views()]

    def reduce(self, messages: Sequence[Any], name: str | None) -> list[Any]:
        """Return the messages with the contents put in that the policy and the store allow."""
        check_messages(messages)
        messages = messages if isinstance(messages, list | tuple) else list(messages)
        progress = self._resume(messages, name)
        self._try_again(progress, messages)
        while self._advance(progress, messages):
            pass
        ahead = self._look_ahead(progress, messages)
        emptied = self._emptied_inputs(ahead, messages)
        reduced = progress.message_format.replace(messages, ahead.contents, emptied)
        self._remember(progress, messages, by_name=name is not None)
        return reduced

    def replacements(self, standing: Callable[[Place], Standing], message_format: Format) -> Replacements:
        """Return the replacements for results that stand as ``standing`` says."""
        return Replacements(
            standing,
            policy=self._policy,
            counter=self._counter,
            message_format=message_format,
            archive=self._guard.archive if self._guard else None,
            read_tool=self._read_tool,
        )

    def _replacements(self, progress: Progress, history: History) -> Replacements:
        return self.replacements(partial(progress.reader.standing, history=history), progress.message_format)

    def _start(self, messages: Sequence[Any], name: str | None) -> Progress:
        message_format = format_of(messages, name)
        reader = HistoryReader(
            session=self._guard.archive.session if self._guard else "",
            counter=self._counter,
            placeholder=self._policy.placeholder,
            verify=self._guard.opens if self._guard else lambda _: False,
        )
        return Progress(message_format, reader, Replay(self._policy, self._counter, self._read_tool))

    def _resume(self, messages: Sequence[Any], name: str | None) -> Progress:
        with self._lock:
            progress, self._progress = self._progress, None
        if progress is not None and (
            progress.fits(messages) and _same_format(progress, messages, name) and self._same_store(progress)
        ):
            return progress
        return self._start(messages, name)

    def _try_again(self, progress: Progress, messages: Sequence[Any]) -> None:
        """Carry out what an earlier call could not because the store failed."""
        if progress.waiting:
            history = History(progress.message_format, messages)
            replacements = self._replacements(progress, history)
            self._settle(progress, list(progress.waiting.values()), history, replacements)

    def _advance(self, progress: Progress, messages: Sequence[Any]) -> bool:
        """Go on to the last start of a turn in the next messages, and say whether more of them follow."""
        start = len(progress.imprints)
        history = History(progress.message_format, messages)
        views = history.views(start, start + _MESSAGES_AT_ONCE)
        last = max((index for index, view in enumerate(views) if view.starts_turn), default=0)
        self._go_on(progress, views[:last], history)
        progress.advance(messages, views[:last])
        return last > 0 and start + _MESSAGES_AT_ONCE < len(messages)

    def _look_ahead(self, progress: Progress, messages: Sequence[Any]) -> Progress:
        """Return how all stands at the model call that comes, which may not be where the next turn starts."""
        ahead = progress.fork()
        history = History(progress.message_format, messages)
        self._go_on(ahead, history.views(len(progress.imprints)), history)
        return ahead

    def _go_on(self, progress: Progress, views: Sequence[MessageView], history: History) -> None:
        """Read, decide and let go as far as ``views`` reach, as a model call behind them would."""
        replacements = self._replacements(progress, history)
        for view in views:
            progress.walk.go_on(progress.reader.read(view, history), replacements)
        progress.walk.decide(replacements)
        self._settle(progress, progress.walk.take_decisions(), history, replacements)

    def _settle(
        self,
        progress: Progress,
        decisions: Sequence[Decision],
        history: History,
        replacements: Replacements,
    ) -> None:
        """Store what was decided on, tell of it, and note the calls that all this came from."""
        stored = self._departures.carry_out(decisions, replacements)
        self._departures.tell(decisions, stored, replacements)
        for place, standing in history.standings.items():
            if place in stored:
                self._departures.note_call(standing, stored[place].placeholder)
            elif standing.found is not None:
                self._departures.note_call(standing, standing.found.placeholder)
        progress.settle(decisions, stored, replacements)

    def _same_store(self, progress: Progress) -> bool:
        """Say whether the store would answer as it did, as far as that is known without asking it."""
        if self._guard is None:
            return True
        opens, remembers_all = self._guard.opens, self._guard.archive.remembers_all
        reader = progress.reader
        return (
            remembers_all(progress.refs)
            and remembers_all(reader.opened)
            and all(opens(ref) is answer for ref, answer in reader.unopened.items())
        )

    def _remember(self, progress: Progress, messages: Sequence[Any], *, by_name: bool) -> None:
        """Leave the progress for the next call."""
        if not (by_name or progress.only_format):
            progress.only_format = _is_only_format(progress.message_format, messages)
        with self._lock:
            self._progress = progress

    def _emptied_inputs(self, progress: Progress, messages: Sequence[Any]) -> dict[Place, Any]:
        if not self._policy.clear_tool_inputs or self._guard is None:
            return {}
        history = History(progress.message_format, messages)
        calls = [history.call_at(place) for place in progress.cleared_calls]
        return empty_inputs(calls, self._guard, self._counter)


def _same_format(progress: Progress, messages: Sequence[Any], name: str | None) -> bool:
    """Say whether these messages, which begin as those of ``progress``, are of its format.

    Raises:
        FormatError: They are of no known format, or there is none of this name.
    """
    if name is not None:
        return format_named(name) is progress.message_format
    if progress.only_format:
        return progress.message_format.recognises(messages[len(progress.imprints) :]) is not False
    return detect(messages) is progress.message_format


def _is_only_format(message_format: Format, messages: Sequence[Any]) -> bool:
    """Say whether the first messages rule every other format out."""
    others = [format_named(name) for name in FORMATS if name != message_format.name]
    return all(other.recognises(messages[:_TELLING_MESSAGES]) is False for other in others)
