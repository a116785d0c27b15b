"""When results leave the history: pure decisions, no I/O, no clock.

`replay` walks a history from its start. At every point where a model call happened it decides as it would
have decided then, so that the untouched history and the one that was reduced last time lead to the same
decisions, and what was cleared once stays cleared.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offloadkit.policy import Costs, Decision, Entry, Plan, Policy, Reason
from offloadkit.results import ToolResult
from offloadkit.tokens import TokenCounter

__all__ = ["Replay", "replay"]


def replay(
    policy: Policy,
    history: Iterable[Entry],
    costs: Costs,
    counter: TokenCounter,
    *,
    read_tool: str | None = None,
) -> Plan:
    """Decide as each model call of ``history`` would have decided.

    Args:
        policy: The rules.
        history: Its messages, oldest first.
        costs: What results would shrink to.
        counter: What ``policy.token_counter`` names.
        read_tool: The name of the read tool, whose results are never offloaded.
    """
    walk = Replay(policy, counter, read_tool)
    for entry in history:
        walk.go_on(entry, costs)
    walk.decide(costs)
    return walk.plan()


@dataclass(slots=True, eq=False)
class _Held:
    """A result on its way through the replay, and what it holds by now."""

    result: ToolResult
    message: int
    size: int


class Replay:
    """The walk, which can stop behind any message and go on from there later.

    A step costs the same however long the history is: both bounds of what is recent only move forward, and a
    result becomes a candidate for clearing once.

    Attributes:
        decisions: What was decided, in order.
        tokens_before: Tokens of all results decided on, as they stood in the history.
    """

    def __init__(self, policy: Policy, counter: TokenCounter, read_tool: str | None) -> None:
        """Stand before the first message; the parameters are those of `replay`."""
        self.decisions: list[Decision] = []
        self.tokens_before = 0
        self._policy = policy
        self._tokens = counter.tokens
        self._read_tool = read_tool
        self._new: list[tuple[Entry, list[_Held]]] = []
        self._messages = 0
        self._uncleared_tokens = 0
        self._cleared_tokens = 0
        self._window: deque[int] = deque()
        self._window_tokens = 0
        self._recent_turns: deque[int] = deque(maxlen=max(policy.keep_recent_turns, 1))
        self._last_turn: int | None = None
        self._kept: deque[_Held] = deque()
        self._candidates: list[tuple[_Held, int]] = []
        self._gain = 0

    def go_on(self, entry: Entry, costs: Costs) -> None:
        """Take the next message in; what it holds is decided at the next model call."""
        if entry.starts_turn:
            self.decide(costs)
        message = self._messages + len(self._new)
        self._new.append((entry, [_Held(result, message, result.size) for result in entry.results]))

    def decide(self, costs: Costs) -> None:
        """Decide as the model call at this point would have; a second time decides nothing more."""
        point = self._messages + len(self._new)
        self._offload(point, costs)
        self._take_in()
        threshold = self._policy.clearing_token_threshold
        if threshold is not None and self._uncleared_tokens > threshold:
            self._find_candidates(costs)
            self._clear(point, threshold)

    def fork(self) -> Replay:
        """Return a walk that goes on from here by itself. Only right behind `decide`."""
        fork = copy.copy(self)
        for name in ("decisions", "_new", "_window", "_recent_turns", "_kept", "_candidates"):
            setattr(fork, name, getattr(self, name).copy())
        return fork

    def plan(self) -> Plan:
        """Return what was decided so far."""
        after = self._uncleared_tokens + self._cleared_tokens
        return Plan(tuple(self.decisions), self.tokens_before, after)

    def take_decisions(self) -> list[Decision]:
        """Return what was decided since this was last asked, and drop it."""
        taken, self.decisions = self.decisions, []
        return taken

    def _offload(self, point: int, costs: Costs) -> None:
        results = [one for _, held in self._new for one in held]
        for one in results:
            tokens = self._tokens(one.size)
            self.tokens_before += tokens
            limit = self._offload_limit(one.result)
            if limit is not None and tokens > limit:
                self._offload_one(one, point, Reason("offloading_token_limit", tokens, limit), costs)
        if self._policy.batch_token_limit is not None:
            self._offload_largest(results, point, self._policy.batch_token_limit, costs)

    def _offload_largest(self, results: Sequence[_Held], point: int, limit: int, costs: Costs) -> None:
        total = sum(self._tokens(one.size) for one in results)
        reason = Reason("batch_token_limit", total, limit)
        for one in sorted(results, key=lambda one: (-one.size, one.result.place)):
            if total <= limit:
                break
            if one.size == one.result.size and self._offload_limit(one.result) is not None:
                total -= self._tokens(one.size)
                self._offload_one(one, point, reason, costs)
                total += self._tokens(one.size)

    def _offload_limit(self, result: ToolResult) -> int | None:
        if result.state != "whole" or (self._read_tool is not None and result.tool == self._read_tool):
            return None
        return self._policy.offload_limit(result.tool)

    def _offload_one(self, one: _Held, point: int, reason: Reason, costs: Costs) -> None:
        after = costs.offloaded(one.result)
        if after < one.size:
            self.decisions.append(Decision(one.result, "offload", point, one.size, after, reason))
            one.size = after

    def _take_in(self) -> None:
        """Let the new messages into the recent window, and out of it what no longer fits."""
        for entry, results in self._new:
            tokens = self._tokens(entry.size + sum(one.size for one in results))
            self._window.append(tokens)
            self._window_tokens += tokens
            for one in results:
                self._take_in_result(one)
        self._messages += len(self._new)
        self._new.clear()
        while self._window and self._window_tokens - self._window[0] > self._policy.keep_recent_tokens:
            self._window_tokens -= self._window.popleft()

    def _take_in_result(self, one: _Held) -> None:
        if one.result.turn != self._last_turn:
            self._last_turn = one.result.turn
            self._recent_turns.append(one.message)
        if one.result.state == "cleared":
            self._cleared_tokens += self._tokens(one.size)
            return
        self._uncleared_tokens += self._tokens(one.size)
        if one.result.state != "fixed" and self._policy.may_clear(one.result.tool):
            self._kept.append(one)

    def _find_candidates(self, costs: Costs) -> None:
        """Move what is no longer recent from the kept results to the candidates."""
        recent = self._messages - len(self._window)
        if self._policy.keep_recent_turns and self._recent_turns:
            recent = min(recent, self._recent_turns[0])
        while self._kept and self._kept[0].message < recent:
            one = self._kept.popleft()
            after = costs.cleared(one.result)
            if after < one.size:
                self._candidates.append((one, after))
                self._gain += self._tokens(one.size) - self._tokens(after)

    def _clear(self, point: int, threshold: int) -> None:
        if not self._candidates or self._gain < self._policy.clear_at_least_tokens:
            return
        reason = Reason(
            "clearing_token_threshold", self._uncleared_tokens, threshold, self._gain, len(self._candidates)
        )
        for one, after in self._candidates:
            self.decisions.append(Decision(one.result, "clear", point, one.size, after, reason))
            self._uncleared_tokens -= self._tokens(one.size)
            self._cleared_tokens += self._tokens(after)
        self._candidates.clear()
        self._gain = 0
