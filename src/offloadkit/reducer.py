"""Reduces the histories of one session, and goes on from where the last call stood where it can."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from offloadkit.departure import Departures
from offloadkit.formats import FORMATS, Format, detect, format_named, format_of
from offloadkit.guard import GuardedArchive
from offloadkit.history import History, HistoryReader, Standing
from offloadkit.policy import Decision, Entry, Plan, Policy
from offloadkit.progress import Progress
from offloadkit.replacement import Replacement, Replacements
from offloadkit.replay import Replay
from offloadkit.results import MessageView, Place
from offloadkit.tokens import TokenCounter
from offloadkit.tool_inputs import empty_inputs

__all__ = ["Reducer"]

_TELLING_MESSAGES: Final = 64


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
        progress, history = self._start(messages, name)
        replacements = self._replacements(progress, history)
        entries = [progress.reader.read(view, history) for view in history.views()]
        for entry in entries:
            progress.walk.go_on(entry, replacements)
        progress.walk.decide(replacements)
        return entries, progress.walk.plan()

    def entries(self, messages: Sequence[Any], name: str | None) -> list[Entry]:
        """Return what the policy sees of the messages."""
        progress, history = self._start(messages, name)
        return [progress.reader.read(view, history) for view in history.views()]

    def reduce(self, messages: Sequence[Any], name: str | None) -> list[Any]:
        """Return the messages with the contents put in that the policy and the store allow."""
        progress, history = self._resume(messages, name)
        replacements = self._replacements(progress, history)
        views = history.views(len(progress.imprints))
        last = max((index for index, view in enumerate(views) if view.starts_turn), default=0)
        _go_on(progress.reader, progress.walk, views[:last], history, replacements)
        settled = [*progress.waiting.values(), *progress.walk.take_decisions()]
        walk = progress.walk.fork()
        _go_on(progress.reader.fork(), walk, views[last:], history, replacements)
        decisions = settled + walk.decisions
        stored = self._departures.carry_out(decisions, replacements)
        self._departures.tell(decisions, stored, replacements)
        self._note_calls(history, stored)
        progress.settle(settled, stored, replacements)
        contents = {**progress.contents, **{place: made.content for place, made in stored.items()}}
        emptied = self._emptied_inputs(decisions, history, stored)
        reduced = progress.message_format.replace(messages, contents, emptied)
        self._remember(progress, messages, views[:last], by_name=name is not None)
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

    def _start(self, messages: Sequence[Any], name: str | None) -> tuple[Progress, History]:
        message_format = format_of(messages, name)
        reader = HistoryReader(
            session=self._guard.archive.session if self._guard else "",
            counter=self._counter,
            placeholder=self._policy.placeholder,
            verify=self._guard.opens if self._guard else lambda _: False,
        )
        walk = Replay(self._policy, self._counter, self._read_tool)
        return Progress(message_format, reader, walk), History(message_format, messages)

    def _resume(self, messages: Sequence[Any], name: str | None) -> tuple[Progress, History]:
        with self._lock:
            progress, self._progress = self._progress, None
        if progress is None or not (
            progress.fits(messages) and _same_format(progress, messages, name) and self._same_store(progress)
        ):
            return self._start(messages, name)
        return progress, History(progress.message_format, messages)

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

    def _remember(
        self, progress: Progress, messages: Sequence[Any], views: Sequence[MessageView], *, by_name: bool
    ) -> None:
        """Leave the progress for the next call. Emptied arguments are not remembered, so neither is it."""
        if self._policy.clear_tool_inputs or not isinstance(messages, list | tuple):
            return
        progress.advance(messages, views)
        if not (by_name or progress.only_format):
            progress.only_format = _is_only_format(progress.message_format, messages)
        with self._lock:
            self._progress = progress

    def _note_calls(self, history: History, stored: Mapping[Place, Replacement]) -> None:
        for place, standing in history.standings.items():
            if place in stored:
                self._departures.note_call(standing, stored[place].placeholder)
            elif standing.found is not None:
                self._departures.note_call(standing, standing.found.placeholder)

    def _emptied_inputs(
        self, decisions: Sequence[Decision], history: History, stored: Mapping[Place, Replacement]
    ) -> dict[Place, Any]:
        if not self._policy.clear_tool_inputs or self._guard is None:
            return {}
        final = {decision.result.place: decision.action for decision in decisions}
        cleared = [place for place, action in final.items() if action == "clear" and place in stored]
        calls = [history.standings[place].call for place in cleared]
        return empty_inputs([call for call in calls if call is not None], self._guard, self._counter)


def _go_on(
    reader: HistoryReader,
    walk: Replay,
    views: Sequence[MessageView],
    history: History,
    replacements: Replacements,
) -> None:
    """Read and decide as far as ``views`` reach, and decide as a model call behind them would."""
    for view in views:
        walk.go_on(reader.read(view, history), replacements)
    walk.decide(replacements)


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
