"""How far a history was read and decided on, so that the next call of `reduce` can go on from there.

It changes no result: what was remembered serves only while every message that it came from, and every answer
of the store, is still what it was. It holds no text of a result that left, and no long text of any message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from offloadkit.formats import Format
from offloadkit.history import HistoryReader
from offloadkit.imprint import imprint
from offloadkit.policy import Decision
from offloadkit.replacement import Replacement, Replacements
from offloadkit.replay import Replay
from offloadkit.results import MessageView, Place

__all__ = ["Progress"]


@dataclass(slots=True, eq=False)
class Progress:
    """The state of a reduction in front of the last turn of a history.

    Attributes:
        message_format: The format of the messages.
        reader: What reads them; it stands in front of that turn.
        walk: What decides; so does it.
        only_format: True when the messages can be of no other format, whatever follows.
        imprints: Of the messages up to there.
        contents: What stands in place of results that left.
        cleared_calls: The calls that those of them answer that were cleared.
        refs: The references in those contents.
        waiting: Decisions that could not be carried out because the store failed.
    """

    message_format: Format
    reader: HistoryReader
    walk: Replay
    only_format: bool = False
    imprints: list[Any] = field(default_factory=list)
    contents: dict[Place, Any] = field(default_factory=dict)
    cleared_calls: list[Place] = field(default_factory=list)
    refs: set[str] = field(default_factory=set)
    waiting: dict[Place, Decision] = field(default_factory=dict)

    def fits(self, messages: Sequence[Any]) -> bool:
        """Say whether these messages begin with those that were read, unchanged."""
        return self.imprints == list(messages[: len(self.imprints)])

    def fork(self) -> Progress:
        """Return one that goes on from here by itself, though not for another call."""
        return Progress(
            self.message_format,
            self.reader.fork(),
            self.walk.fork(),
            contents=self.contents.copy(),
            cleared_calls=self.cleared_calls.copy(),
        )

    def settle(
        self, decisions: Iterable[Decision], stored: Mapping[Place, Replacement], replacements: Replacements
    ) -> None:
        """Remember what stands in place of results that were decided on."""
        for place, decision in {decision.result.place: decision for decision in decisions}.items():
            made = replacements.of(decision) if place in stored else None
            if made is None:
                self.contents.pop(place, None)
                self.waiting[place] = decision
                continue
            self.contents[place] = made.content
            self.waiting.pop(place, None)
            if made.placeholder is not None:
                self.refs.add(made.placeholder.ref)
            if decision.action == "clear":
                if (call := replacements.standing(place).call) is not None:
                    self.cleared_calls.append(call.place)
                self.reader.forget(place)

    def advance(self, messages: Sequence[Any], views: Sequence[MessageView]) -> None:
        """Remember that the next messages were read; ``views`` are theirs."""
        start = len(self.imprints)
        following = messages[start : start + len(views)]
        self.imprints += [imprint(one, _data(view)) for one, view in zip(following, views, strict=True)]


def _data(view: MessageView) -> set[int]:
    """Return the `id` of each value that would be written as JSON."""
    values = [call.arguments for call in view.calls] + [result.content.value for result in view.results]
    return {id(value) for value in values}
