"""What the model calls of a session send, added up: tokens, and how many of them the prompt cache holds.

A model call sends all messages before it. The cached part of a call is its longest prefix of messages that
the call before it sent in the same form; that is how the prompt caches of the large providers work, minimum
lengths and lifetimes left aside. Tool definitions and system prompts outside the messages are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from offloadkit.policy import Decision, Entry, Plan
from offloadkit.tokens import TokenCounter

__all__ = ["Comparison", "Usage", "compare"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What all calls of a session sent.

    Attributes:
        calls: How many there were.
        tokens_sent: Tokens of all messages of all calls.
        tokens_cached: Of these, the tokens that the prompt cache held.
        largest_call: Tokens of the largest call.
    """

    calls: int = 0
    tokens_sent: int = 0
    tokens_cached: int = 0
    largest_call: int = 0

    @property
    def cache_share(self) -> float:
        """The cached part of what was sent, from 0 to 1."""
        return self.tokens_cached / self.tokens_sent if self.tokens_sent else 0.0

    def __add__(self, other: Usage) -> Usage:
        """Return the usage of two sessions together."""
        return Usage(
            self.calls + other.calls,
            self.tokens_sent + other.tokens_sent,
            self.tokens_cached + other.tokens_cached,
            max(self.largest_call, other.largest_call),
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """One history, sent as it is and sent as the policy reduces it.

    Attributes:
        before: Usage without reduction.
        after: Usage with it.
        offloaded: Results that were offloaded.
        cleared: Results that were cleared.
        tokens_before: Tokens of all results as they were.
        tokens_after: Tokens of all results at the end.
    """

    before: Usage
    after: Usage
    offloaded: int
    cleared: int
    tokens_before: int
    tokens_after: int

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        return asdict(self)


def compare(entries: Sequence[Entry], plan: Plan, counter: TokenCounter) -> Comparison:
    """Add up what all model calls of a history send, without and with the decisions of ``plan``.

    A model call stands before each message that the model produced.
    """
    points = [index for index, entry in enumerate(entries) if entry.starts_turn]
    actions = [decision.action for decision in plan.decisions]
    return Comparison(
        before=_usage(entries, points, (), counter),
        after=_usage(entries, points, plan.decisions, counter),
        offloaded=actions.count("offload"),
        cleared=actions.count("clear"),
        tokens_before=plan.tokens_before,
        tokens_after=plan.tokens_after,
    )


def _usage(
    entries: Sequence[Entry], points: Sequence[int], decisions: Sequence[Decision], counter: TokenCounter
) -> Usage:
    units = [entry.size + sum(result.size for result in entry.results) for entry in entries]
    tokens = [counter.tokens(size) for size in units]
    waiting = list(reversed(decisions))
    total = Usage()
    sent_messages, sent_tokens = 0, 0
    for point in points:
        cached = sent_tokens
        sent_tokens += sum(tokens[sent_messages:point])
        first_changed = sent_messages
        while waiting and waiting[-1].point <= point:
            decision = waiting.pop()
            message = decision.result.place.message
            units[message] += decision.size_after - decision.size_before
            sent_tokens += counter.tokens(units[message]) - tokens[message]
            tokens[message] = counter.tokens(units[message])
            first_changed = min(first_changed, message)
        if first_changed < sent_messages:
            cached = sum(tokens[:first_changed])
        total += Usage(1, sent_tokens, cached, sent_tokens)
        sent_messages = point
    return total
