"""What a session sends: added up call by call, with what the prompt cache holds."""

from __future__ import annotations

from offloadkit.policy import Decision, Entry, Plan, Reason
from offloadkit.results import Place, ToolResult
from offloadkit.usage import Usage, compare


class OneUnitOneToken:
    def units(self, text: str) -> int:
        return len(text)

    def tokens(self, units: int) -> int:
        return units


RESULT = ToolResult(Place(2), 1, "t", 100)
OTHER = ToolResult(Place(4), 2, "t", 50)
HISTORY = [
    Entry(False, 10),
    Entry(True, 5),
    Entry(False, 0, (RESULT,)),
    Entry(True, 5),
    Entry(False, 0, (OTHER,)),
    Entry(True, 5),
]
REASON = Reason("clearing_token_threshold", 1, 1)


def test_every_call_sends_all_before_it_and_reads_what_the_last_call_sent_from_the_cache() -> None:
    usage = compare(HISTORY, Plan((), 150, 150), OneUnitOneToken()).before

    assert usage == Usage(calls=3, tokens_sent=10 + 115 + 170, tokens_cached=0 + 10 + 115, largest_call=170)


def test_an_offloaded_result_is_small_from_its_first_sending_and_never_breaks_the_cache() -> None:
    plan = Plan((Decision(RESULT, "offload", 3, 100, 20, REASON),), 150, 70)

    usage = compare(HISTORY, plan, OneUnitOneToken()).after

    assert usage == Usage(3, 10 + 35 + 90, 0 + 10 + 35, 90)


def test_a_clear_breaks_the_cache_from_the_first_cleared_result_on() -> None:
    plan = Plan((Decision(RESULT, "clear", 5, 100, 8, REASON),), 150, 58)

    usage = compare(HISTORY, plan, OneUnitOneToken()).after

    assert usage == Usage(3, 10 + 115 + 78, 0 + 10 + 15, 115)


def test_usages_add_up() -> None:
    total = Usage(1, 100, 40, 100) + Usage(2, 300, 60, 200)

    assert total == Usage(3, 400, 100, 200)
    assert total.cache_share == 0.25
