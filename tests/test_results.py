"""Each result is named for the call that it answers, whatever ids a provider gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.results import CallView, Content, MessageView, Place, ResultView, name_results

Call = tuple[str | None, str | None]
"""Its id and its tool."""


class Transcript:
    """Builds views message by message."""

    def __init__(self) -> None:
        self.views: list[MessageView] = []

    def calls(self, *calls: Call, starts_turn: bool = True) -> Transcript:
        here = len(self.views)
        made = tuple(CallView(Place(here, block), *call, "{}") for block, call in enumerate(calls))
        self.views.append(MessageView(starts_turn, calls=made))
        return self

    def results(self, *results: Call) -> Transcript:
        here = len(self.views)
        made = tuple(
            ResultView(Place(here, block), *result, Content("x")) for block, result in enumerate(results)
        )
        self.views.append(MessageView(starts_turn=False, results=made))
        return self

    def said(self) -> Transcript:
        self.views.append(MessageView(starts_turn=False, texts=("go on",)))
        return self

    def named(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return for the place of each result the place of its call, as plain tuples."""
        return {
            (place.message, place.block): (call.place.message, call.place.block)
            for place, call in name_results(self.views).items()
        }


def test_a_history_without_results_names_none() -> None:
    assert Transcript().said().calls(("a", "t")).named() == {}


def test_a_result_belongs_to_the_call_with_its_id() -> None:
    parallel = Transcript().calls(("a", "t"), ("b", "u")).results(("b", None)).results(("a", None))

    assert parallel.named() == {(1, 0): (0, 1), (2, 0): (0, 0)}


def test_a_result_whose_call_is_not_there_belongs_to_none() -> None:
    assert Transcript().calls(("a", "t")).results(("gone", None)).named() == {}


def test_a_result_before_any_call_belongs_to_none() -> None:
    assert Transcript().results(("a", None), (None, None)).calls(("a", "t")).named() == {}


def test_an_id_that_repeats_in_each_turn_means_the_newest_call() -> None:
    repeated = Transcript().calls(("a", "t")).results(("a", None)).calls(("a", "u")).results(("a", None))

    assert repeated.named() == {(1, 0): (0, 0), (3, 0): (2, 0)}


def test_a_repeated_id_means_the_newest_call_although_an_older_one_waits() -> None:
    lost = Transcript().calls(("a", "t")).said().calls(("a", "u")).results(("a", None))

    assert lost.named() == {(3, 0): (2, 0)}


def test_calls_of_one_message_that_share_an_id_are_answered_in_order() -> None:
    shared = Transcript().calls(("dup", "t"), ("dup", "u")).results(("dup", None)).results(("dup", None))

    assert shared.named() == {(1, 0): (0, 0), (2, 0): (0, 1)}


def test_calls_of_one_turn_that_share_an_id_are_answered_in_order_across_messages() -> None:
    items = Transcript().calls(("dup", "t")).calls(("dup", "u"), starts_turn=False)

    assert items.results(("dup", None), ("dup", None)).named() == {(2, 0): (0, 0), (2, 1): (1, 0)}


def test_a_second_result_with_an_answered_id_belongs_to_the_same_call() -> None:
    assert Transcript().calls(("a", "t")).results(("a", None), ("a", None)).named() == {
        (1, 0): (0, 0),
        (1, 1): (0, 0),
    }


@pytest.mark.parametrize("no_id", [None, ""])
def test_results_without_ids_answer_the_calls_of_their_turn_in_order(no_id: str | None) -> None:
    turns = Transcript().calls((no_id, "t"), (no_id, "t")).results((no_id, None), (no_id, None))
    turns.calls((no_id, "t")).results((no_id, None))

    assert turns.named() == {(1, 0): (0, 0), (1, 1): (0, 1), (3, 0): (2, 0)}


def test_results_without_ids_in_messages_of_their_own_answer_in_order() -> None:
    several = Transcript().calls((None, "t"), (None, "t")).results((None, None)).said().results((None, None))

    assert several.named() == {(1, 0): (0, 0), (3, 0): (0, 1)}


def test_more_results_without_ids_than_calls_leave_the_rest_unnamed() -> None:
    assert Transcript().calls((None, "t")).results((None, None), (None, None)).named() == {(1, 0): (0, 0)}


def test_a_result_without_an_id_never_reaches_back_over_a_turn() -> None:
    assert Transcript().calls((None, "t")).calls().results((None, None)).named() == {}


def test_a_result_without_an_id_prefers_the_call_without_one() -> None:
    assert Transcript().calls(("a", "t"), (None, "u")).results((None, None), ("a", None)).named() == {
        (1, 0): (0, 1),
        (1, 1): (0, 0),
    }


def test_a_result_without_an_id_answers_the_next_open_call_when_all_have_ids() -> None:
    assert Transcript().calls(("a", "t"), ("b", "t")).results(("a", None), (None, None)).named() == {
        (1, 0): (0, 0),
        (1, 1): (0, 1),
    }


def test_a_result_without_an_id_that_names_its_tool_answers_a_call_of_that_tool() -> None:
    assert Transcript().calls((None, "t"), (None, "u")).results((None, "u"), (None, "t")).named() == {
        (1, 0): (0, 1),
        (1, 1): (0, 0),
    }


def test_a_call_answered_by_position_is_not_answered_again_by_id() -> None:
    mixed = Transcript().calls(("a", "t")).calls(("a", "u")).results((None, None), ("a", None))

    assert mixed.named() == {(2, 0): (1, 0), (2, 1): (0, 0)}


IDS = st.sampled_from(["a", "b", "", None])
TURNS = st.lists(st.lists(IDS, max_size=4), max_size=6)


@given(TURNS)
def test_every_result_of_a_paired_history_is_named_and_every_call_once(turns: list[list[str | None]]) -> None:
    paired = Transcript()
    for ids in turns:
        paired.calls(*((call_id, "t") for call_id in ids)).results(*((call_id, "t") for call_id in ids))

    assert paired.named() == {
        (2 * turn + 1, block): (2 * turn, block)
        for turn, ids in enumerate(turns)
        for block in range(len(ids))
    }


@given(TURNS)
def test_a_named_result_has_the_id_of_its_call(turns: list[list[str | None]]) -> None:
    mixed = Transcript()
    for ids in turns:
        mixed.calls(*((call_id, "t") for call_id in ids)).results(*((call_id, "t") for call_id in ids[::-1]))

    calls = name_results(mixed.views)

    results = [result for view in mixed.views for result in view.results]
    assert all(not one.call_id or calls[one.place].call_id == one.call_id for one in results)
