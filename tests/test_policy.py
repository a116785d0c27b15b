"""The policy decides as the reference design does, and keeps its own laws on top."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.errors import ConfigError
from offloadkit.policy import Entry, Plan, Policy, Reason, ToolRule
from offloadkit.replay import replay
from offloadkit.results import Place, ToolResult

PLACEHOLDER_UNITS = 33
PREVIEW_UNITS = 60


class Quarter:
    """The reference design's estimate: bytes / 4, rounded up."""

    def units(self, text: str) -> int:
        return len(text.encode())

    def tokens(self, units: int) -> int:
        return math.ceil(units / 4)


class FixedCosts:
    """A placeholder and a preview of one size each; counts how often it is asked."""

    def __init__(self, cleared: int = PLACEHOLDER_UNITS, offloaded: int = PREVIEW_UNITS) -> None:
        self._cleared, self._offloaded = cleared, offloaded
        self.asked = 0

    def cleared(self, result: ToolResult) -> int:
        self.asked += 1
        return self._cleared

    def offloaded(self, result: ToolResult) -> int:
        self.asked += 1
        return self._offloaded


def run(policy: Policy, history: list[Entry], costs: FixedCosts | None = None) -> Plan:
    return replay(policy, history, costs or FixedCosts(), Quarter(), read_tool="read_offloaded")


def actions(plan: Plan) -> list[tuple[int, str, int]]:
    return [(d.result.place.message, d.action, d.point) for d in plan.decisions]


def history_of(*messages: tuple[str, Any]) -> list[Entry]:
    """Build a history: ("a", size) assistant, ("u", size) user, ("t", size) or ("t", (size, tool)) result."""
    entries: list[Entry] = []
    turn = 0
    for index, (role, value) in enumerate(messages):
        if role == "t":
            size, tool = value if isinstance(value, tuple) else (value, "t")
            entries.append(Entry(False, 0, (ToolResult(Place(index), turn, tool, size),)))
        else:
            turn += role == "a"
            entries.append(Entry(role == "a", value))
    return entries


def applied(history: list[Entry], plan: Plan) -> list[Entry]:
    """Return the history as it looks after the plan was carried out."""
    final = plan.final()

    def after(result: ToolResult) -> ToolResult:
        decision = final.get(result.place)
        if decision is None:
            return result
        size = decision.size_after
        if decision.action == "clear":
            return replace(result, size=size, state="cleared")
        return replace(result, size=size, state="offloaded")

    return [replace(entry, results=tuple(after(result) for result in entry.results)) for entry in history]


REFERENCE: dict[str, Any] = {
    "keep_recent_turns": 0,
    "clear_at_least_tokens": 0,
    "offloading_token_limit": None,
}


def test_decides_as_recorded_from_the_reference_design(
    reference_vectors: dict[str, list[dict[str, Any]]],
) -> None:
    for vector in reference_vectors["gen1_clear"]:
        history = [
            Entry(False, message["bytes"])
            if message["role"] != "tool"
            else Entry(
                False,
                0,
                (
                    ToolResult(
                        Place(index),
                        0,
                        message["tool"],
                        message["bytes"],
                        "cleared" if message["is_placeholder"] else "whole",
                    ),
                ),
            )
            for index, message in enumerate(vector["messages"] or [])
        ]
        policy = Policy(
            clearing_token_threshold=vector["threshold"],
            keep_recent_tokens=vector["keep_recent"],
            exclude_tools=vector["exclude"] or (),
            **REFERENCE,
        )

        plan = run(policy, history, FixedCosts(cleared=0))

        assert [place for place, _, _ in actions(plan)] == (vector["newly_cleared_indices"] or [])


def reference_step(messages: list[list[Any]], threshold: int, keep: int, excluded: set[str]) -> list[int]:
    """The rule of the reference design at one model call, transcribed plainly; changes ``messages``.

    A message is [role, bytes, tool, cleared].
    """

    def tokens(message: list[Any]) -> int:
        size: int = message[1]
        return math.ceil(size / 4)

    if sum(tokens(m) for m in messages if m[0] == "t" and not m[3]) <= threshold:
        return []
    boundary, total = 0, 0
    for index in range(len(messages) - 1, -1, -1):
        if total + tokens(messages[index]) > keep:
            boundary = index
            break
        total += tokens(messages[index])
    cleared = []
    for index in range(boundary):
        message = messages[index]
        if message[0] == "t" and not message[3] and message[2] not in excluded:
            message[1], message[3] = PLACEHOLDER_UNITS, True
            cleared.append(index)
    return cleared


# The reference design also clears results that are smaller than its placeholder; we never do.
LARGER_THAN_A_PLACEHOLDER = st.integers(PLACEHOLDER_UNITS + 1, 400)
MESSAGES = st.lists(
    st.one_of(
        st.tuples(st.just("u"), st.integers(0, 200)),
        st.tuples(st.just("a"), st.integers(0, 200)),
        st.tuples(st.just("t"), st.tuples(LARGER_THAN_A_PLACEHOLDER, st.sampled_from(["t", "ex", None]))),
    ),
    max_size=40,
)


@given(MESSAGES, st.integers(0, 200), st.integers(0, 200))
def test_a_whole_session_decides_as_the_reference_design_step_by_step(
    messages: list[tuple[str, Any]], threshold: int, keep: int
) -> None:
    session: list[list[Any]] = []
    expected: list[tuple[int, str, int]] = []
    for index, (role, value) in enumerate([*messages, ("a", 0)]):
        if role == "a":
            newly = reference_step(session, threshold, keep, {"ex"})
            expected += [(place, "clear", index) for place in newly]
        size, tool = value if role == "t" else (value, None)
        session.append([role, size, tool, False])

    policy = Policy(
        clearing_token_threshold=threshold, keep_recent_tokens=keep, exclude_tools=("ex",), **REFERENCE
    )

    assert actions(run(policy, history_of(*messages))) == expected


def test_the_message_that_crosses_the_budget_still_belongs_to_the_window() -> None:
    history = history_of(("t", 40), ("t", 40), ("t", 40))

    def cleared(keep: int) -> list[int]:
        policy = Policy(clearing_token_threshold=0, keep_recent_tokens=keep, **REFERENCE)
        return [place for place, _, _ in actions(run(policy, history))]

    assert [cleared(20), cleared(19), cleared(9)] == [[], [0], [0, 1]]


def test_a_total_equal_to_the_threshold_clears_nothing() -> None:
    history = history_of(("t", 40), ("u", 400))

    def cleared(threshold: int) -> int:
        return len(
            actions(
                run(Policy(clearing_token_threshold=threshold, keep_recent_tokens=0, **REFERENCE), history)
            )
        )

    assert [cleared(10), cleared(9)] == [0, 1]


def test_a_result_of_the_limit_stays_and_one_token_more_is_offloaded() -> None:
    policy = Policy(offloading_token_limit=100)

    assert actions(run(policy, history_of(("t", 400)))) == []
    assert actions(run(policy, history_of(("t", 401)))) == [(0, "offload", 1)]


def test_nothing_is_replaced_by_something_as_large() -> None:
    policy = Policy(
        offloading_token_limit=0, clearing_token_threshold=0, keep_recent_tokens=0, clear_at_least_tokens=0
    )
    history = history_of(("t", 50), ("u", 999))

    assert actions(run(policy, history, FixedCosts(cleared=50, offloaded=50))) == []


def test_small_old_results_stay_when_they_gain_too_little_together() -> None:
    policy = Policy(
        clearing_token_threshold=10, keep_recent_tokens=0, clear_at_least_tokens=50, keep_recent_turns=0
    )
    history = history_of(("t", 100), ("t", 100), ("u", 4), ("a", 4), ("t", 200), ("u", 4))

    assert actions(run(policy, history)) == [(0, "clear", 6), (1, "clear", 6), (4, "clear", 6)]


def test_the_results_of_the_last_turns_stay_however_large() -> None:
    policy = Policy(
        clearing_token_threshold=0,
        keep_recent_tokens=0,
        clear_at_least_tokens=0,
        keep_recent_turns=2,
        offloading_token_limit=None,
    )
    history = history_of(
        ("a", 1), ("t", 900), ("a", 1), ("t", 900), ("a", 1), ("t", 900), ("t", 900), ("u", 9)
    )

    assert [place for place, _, _ in actions(run(policy, history))] == [1]


def test_the_largest_results_of_one_turn_are_offloaded_until_the_batch_fits() -> None:
    policy = Policy(batch_token_limit=110, clearing_token_threshold=None)
    history = history_of(("a", 1), ("t", 160), ("t", 240), ("t", 200), ("a", 1), ("t", 240))

    assert actions(run(policy, history)) == [(2, "offload", 4)]


def test_a_result_of_the_read_tool_is_cleared_but_never_offloaded() -> None:
    policy = Policy(
        offloading_token_limit=10, clearing_token_threshold=10, keep_recent_tokens=0, clear_at_least_tokens=0
    )
    history = history_of(("a", 1), ("t", (4000, "read_offloaded")), ("a", 1), ("t", 4), ("u", 1))

    assert actions(run(policy, history)) == [(1, "clear", 5)]


def test_an_offloaded_result_is_later_cleared_from_its_preview() -> None:
    policy = Policy(
        offloading_token_limit=100, clearing_token_threshold=20, keep_recent_tokens=0, clear_at_least_tokens=0
    )
    history = history_of(("a", 1), ("t", 4000), ("a", 1), ("t", 40), ("u", 1))

    decisions = run(policy, history).decisions

    assert [(d.action, d.size_before, d.size_after) for d in decisions] == [
        ("offload", 4000, PREVIEW_UNITS),
        ("clear", PREVIEW_UNITS, PLACEHOLDER_UNITS),
    ]


def test_a_rule_for_one_tool_beats_the_policy() -> None:
    policy = Policy(
        offloading_token_limit=10,
        clearing_token_threshold=0,
        keep_recent_tokens=0,
        clear_at_least_tokens=0,
        keep_recent_turns=0,
        tools={"keep_*": ToolRule(offloading_token_limit=None, clear=False), "keep_not": ToolRule()},
    )
    history = history_of(("t", (400, "keep_this")), ("t", (400, "keep_not")), ("u", 1))

    assert [place for place, _, _ in actions(run(policy, history))] == [1, 1]


def test_costs_are_not_asked_while_nothing_is_to_be_done() -> None:
    costs = FixedCosts()

    run(Policy(), history_of(*[("a", 10), ("t", 400)] * 50), costs)

    assert costs.asked == 0


def test_each_cost_is_asked_once_however_long_the_history_is() -> None:
    costs = FixedCosts()
    policy = Policy(clearing_token_threshold=0, keep_recent_tokens=0, clear_at_least_tokens=10**9)

    run(policy, history_of(*[("a", 10), ("t", 400)] * 200), costs)

    assert costs.asked == 199


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (Reason("offloading_token_limit", 5214, 4000), "5,214 tokens are above offloading_token_limit 4,000"),
        (Reason("batch_token_limit", 5214, 4000), "the results of the turn hold 5,214 tokens"),
        (
            Reason("clearing_token_threshold", 24100, 20000, 15300, 12),
            "24,100 tokens, above clearing_token_threshold 20,000; clearing 12 of them gains 15,300",
        ),
    ],
)
def test_a_reason_says_what_was_measured_and_what_is_allowed(reason: Reason, words: str) -> None:
    assert words in str(reason)


SIZES = st.one_of(st.just(0), st.integers(1, 100), st.integers(100, 2000), st.just(100_000))
TOOLS = st.sampled_from(["t", "ex", None, "read_offloaded", "whole"])
TURNS = st.lists(
    st.tuples(
        st.integers(0, 300),
        st.lists(st.tuples(SIZES, TOOLS), max_size=4),
        st.one_of(st.none(), st.integers(0, 300)),
    ),
    max_size=12,
)
POLICIES = st.builds(
    Policy,
    clearing_token_threshold=st.one_of(st.none(), st.integers(0, 600)),
    keep_recent_tokens=st.integers(0, 600),
    offloading_token_limit=st.one_of(st.none(), st.integers(0, 300)),
    keep_recent_turns=st.integers(0, 3),
    clear_at_least_tokens=st.integers(0, 300),
    batch_token_limit=st.one_of(st.none(), st.integers(0, 600)),
    exclude_tools=st.just(("ex",)),
    tools=st.just({"whole": ToolRule(clear=False, offloading_token_limit=None)}),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Entry]:
    """Turns with parallel results, as one message each or all in one, with user texts between."""
    entries: list[Entry] = [Entry(False, draw(st.integers(0, 300)))]
    in_one_message = draw(st.booleans())
    for turn, (said, results, user) in enumerate(draw(TURNS), 1):
        entries.append(Entry(True, said))
        if in_one_message and results:
            entries.append(_results_in_one(len(entries), turn, results))
        else:
            for size, tool in results:
                entries.append(Entry(False, 0, (ToolResult(Place(len(entries)), turn, tool, size),)))
        if user is not None:
            entries.append(Entry(False, user))
    return entries


def _results_in_one(message: int, turn: int, results: list[tuple[int, str | None]]) -> Entry:
    return Entry(
        False,
        5,
        tuple(ToolResult(Place(message, i), turn, tool, size) for i, (size, tool) in enumerate(results)),
    )


@given(histories(), POLICIES)
def test_a_reduced_history_reduces_to_itself(history: list[Entry], policy: Policy) -> None:
    reduced = applied(history, run(policy, history))

    assert run(policy, reduced).decisions == ()


@given(histories(), POLICIES)
def test_reducing_step_by_step_equals_reducing_at_once(history: list[Entry], policy: Policy) -> None:
    stepwise: list[Entry] = []
    for entry in history:
        if entry.starts_turn:
            stepwise = applied(stepwise, run(policy, stepwise))
        stepwise.append(entry)
    stepwise = applied(stepwise, run(policy, stepwise))

    assert stepwise == applied(history, run(policy, history))


@given(histories(), POLICIES, st.data())
def test_a_longer_history_repeats_every_earlier_decision(
    history: list[Entry], policy: Policy, data: st.DataObject
) -> None:
    calls = [index for index, entry in enumerate(history) if entry.starts_turn]
    cut = data.draw(st.sampled_from([*calls, len(history)]))

    earlier = run(policy, history[:cut]).decisions

    assert run(policy, history).decisions[: len(earlier)] == earlier


@given(histories(), POLICIES)
def test_nothing_grows_and_the_totals_add_up(history: list[Entry], policy: Policy) -> None:
    plan = run(policy, history)
    tokens = [Quarter().tokens(r.size) for entry in applied(history, plan) for r in entry.results]

    assert all(decision.size_after < decision.size_before for decision in plan.decisions)
    assert plan.tokens_after == sum(tokens) <= plan.tokens_before


@given(histories(), POLICIES)
def test_what_the_policy_protects_is_never_touched(history: list[Entry], policy: Policy) -> None:
    plan = run(policy, history)

    assert not {"ex", "whole"} & {decision.result.tool for decision in plan.decisions}
    assert not [d for d in plan.decisions if d.action == "offload" and d.result.tool == "read_offloaded"]


@given(histories(), POLICIES)
def test_recent_results_are_not_cleared(history: list[Entry], policy: Policy) -> None:
    for decision in run(policy, history).decisions:
        if decision.action == "clear":
            later_turns = {
                result.turn
                for entry in history[: decision.point]
                for result in entry.results
                if result.turn > decision.result.turn
            }
            assert len(later_turns) >= policy.keep_recent_turns


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"exclude_tools": "search"}, r"exclude_tools=\('search',\)"),
        ({"keep_recent_tokens": -1}, "keep_recent_tokens takes a whole number of at least 0, not -1"),
        ({"keep_recent_tokens": None}, "keep_recent_tokens takes a whole number of at least 0, not None"),
        (
            {"clearing_token_threshold": 1.5},
            "clearing_token_threshold takes a whole number of at least 0 or None",
        ),
        ({"page_tokens": 10}, "page_tokens takes a whole number of at least 200"),
        ({"preview_tokens": True}, "preview_tokens takes a whole number"),
        ({"placeholder": " \t"}, "placeholder takes one line of text that is not blank"),
        ({"placeholder": "two\nlines"}, "placeholder takes one line"),
        ({"placeholder": "x" * 201}, "placeholder takes at most 200 characters"),
        ({"placeholder": "[Tool result offloaded] x"}, "does not begin with"),
        ({"keep_recent_turns": 10**20}, "keep_recent_turns takes a whole number"),
        ({"exclude_tools": None}, "exclude_tools takes a collection of names"),
        ({"tools": {"x": 5}}, r"tools\['x'\] takes a ToolRule, not int"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        Policy(**change)


def test_frugal_takes_changes() -> None:
    policy = Policy.frugal(keep_recent_tokens=1)

    assert (policy.keep_recent_tokens, policy.offloading_token_limit) == (1, 1_000)


def test_a_policy_is_a_value() -> None:
    assert Policy(exclude_tools=["a"]) == Policy(exclude_tools=("a",))
    assert hash(Policy()) == hash(Policy())
