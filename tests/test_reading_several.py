"""Several references in one answer, the list of what is stored, and the words when there is nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_texts import COUNTERS, OTHER_REF, REF, ByteEstimate, stored, texts

from offloadkit.read_call import parse_call
from offloadkit.reading import (
    LostCall,
    ReadRequest,
    StoredEntry,
    StoredText,
    gone,
    list_page,
    read_pages,
    still_gone,
    unavailable,
    unknown,
)

LOG = "".join(f"line {number}\n" for number in range(1_000))


class Results:
    """Stored results by reference; the others are unknown."""

    def __init__(self, **opened: str) -> None:
        self.texts = {ref: stored(text, ref=ref) for ref, text in opened.items()}
        self.opened: list[str] = []

    def open(self, ref: str) -> StoredText | str:
        self.opened.append(ref)
        return self.texts.get(ref) or unknown(ref, "read_offloaded")


def answers(
    results: Results, *refs: str, page_tokens: int = 2000, counter: Any = None, **request: Any
) -> str:
    return read_pages(
        ReadRequest(refs=refs, **request),
        results.open,
        page_tokens=page_tokens,
        counter=counter or ByteEstimate(),
    )


def test_one_reference_has_the_whole_page() -> None:
    answer = answers(Results(**{REF: LOG}), REF)

    assert ByteEstimate().tokens(len(answer.encode())) > 1_900


def test_each_of_several_is_answered_in_turn_within_one_page() -> None:
    results = Results(**{REF: LOG, OTHER_REF: LOG})

    answer = answers(results, REF, "a" * 16, OTHER_REF)

    assert [
        answer.index(f"result {REF}"),
        answer.index("No result aaaaaaaaaaaaaaaa"),
        answer.index(OTHER_REF),
    ] == sorted(
        [answer.index(f"result {REF}"), answer.index("No result aaaaaaaaaaaaaaaa"), answer.index(OTHER_REF)]
    )
    assert f'Next: read_offloaded(ref="{REF}", offset=' in answer
    assert f'Next: read_offloaded(ref="{OTHER_REF}", offset=' in answer
    assert ByteEstimate().tokens(len(answer.encode())) <= 2_000


def test_what_small_results_leave_goes_to_the_others() -> None:
    small = answers(Results(**{REF: "short", OTHER_REF: LOG}), REF, OTHER_REF)
    large = answers(Results(**{REF: LOG, OTHER_REF: LOG}), REF, OTHER_REF)

    assert small.count("\nline ") > large[large.index(OTHER_REF) :].count("\nline ") * 1.5


def test_the_same_reference_twice_is_answered_once() -> None:
    answer = answers(Results(**{REF: "text"}), REF, REF)

    assert answer.count("<data ") == 1


def test_what_does_not_fit_is_named_for_the_next_call_and_not_opened() -> None:
    results = Results(**{REF: LOG})
    many = [f"{letter * 16}" for letter in "abcdefghij"]

    answer = answers(results, REF, *many, page_tokens=300, search="line 7")

    left = parse_call(answer.rpartition("Not shown yet: ")[2])
    assert left is not None
    assert left[1]["ref"].split(", ")[0] == many[1] if results.opened[1:] else many[0]
    assert left[1]["search"] == "line 7"
    assert re.search(r"Then [0-9]+ more\.", answer)
    assert len(set(results.opened)) <= 3


@given(
    st.lists(texts(), min_size=1, max_size=5),
    st.sampled_from([200, 600, 2000]),
    st.sampled_from(COUNTERS),
    st.sampled_from([{}, {"search": "a"}, {"query": "a"}, {"offset": -3}]),
)
def test_several_answers_are_within_one_bound(
    several: list[str], page_tokens: int, counter: Any, request: dict[str, Any]
) -> None:
    refs = [letter * 16 for letter in "abcdef"]
    results = Results(**dict(zip(refs, several, strict=False)))

    answer = answers(results, *refs, page_tokens=page_tokens, counter=counter, **request)

    assert counter.tokens(counter.units(answer)) <= page_tokens


def entries(number: int) -> list[StoredEntry]:
    return [
        StoredEntry(
            f"{index:a>16}".replace("0", "z").replace("1", "y"), "search_code", 5_214, 480, float(index)
        )
        for index in range(number)
    ]


def listed(stored_entries: list[StoredEntry], counter: Any = None, **request: Any) -> str:
    return list_page(
        stored_entries,
        ReadRequest(**request),
        page_tokens=400,
        counter=counter or ByteEstimate(),
        now=10_000.0,
    )


def test_the_list_shows_the_newest_first_with_what_is_known_of_each() -> None:
    old = StoredEntry(REF, "search_code", 5_214, 480, 1_000.0)
    new = StoredEntry(OTHER_REF, None, 1, 1, 9_990.0, failed=True)

    answer = listed([old, new])

    assert answer.splitlines() == [
        "2 stored results of this session, newest first: 1-2.",
        f"{OTHER_REF}: 1 token, 1 line, failed, just now",
        f"{REF}: 5,214 tokens, 480 lines of search_code, 2 hours ago",
        "End of the list.",
    ]


def test_the_list_is_paged_and_following_its_calls_shows_each_once() -> None:
    seen: list[str] = []
    request: dict[str, Any] = {}
    for _ in range(50):
        answer = listed(entries(100), **request)
        assert ByteEstimate().tokens(len(answer.encode())) <= 400
        seen += re.findall(r"^([a-z2-9]{16}):", answer, re.MULTILINE)
        call = parse_call(answer.rpartition("Next: ")[2])
        if call is None:
            break
        request = call[1]

    assert len(seen) == len(set(seen)) == 100


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"offset": 101}, "offset=101 lies past the end: 100 results"),
        ({"offset": -3}, "98-100"),
        ({"offset": 0, "limit": 0}, "1-1"),
    ],
)
def test_the_list_takes_any_numbers(request_: dict[str, int], words: str) -> None:
    assert words in listed(entries(100), **request_)


def test_an_empty_list_says_so() -> None:
    assert listed([]) == "Nothing is stored in this session."


def test_unknown_and_foreign_references_get_the_same_words() -> None:
    words = unknown(REF, "read_offloaded")

    assert words == f"No result {REF} is stored in this session. read_offloaded() lists what is."


def test_a_reference_with_a_slip_is_named_from_this_session_only() -> None:
    slip = f"q{REF[1:]}"

    assert f"Did you mean {REF}?" in unknown(slip, "read_offloaded", known=[REF, OTHER_REF])
    assert "mean" not in unknown("m" * 16, "read_offloaded", known=[REF, OTHER_REF])


def test_a_result_that_is_gone_names_the_call_to_repeat() -> None:
    assert gone(REF, call=LostCall("search_code", '{"q": "x"}')) == (
        f"The result {REF} of search_code has expired or was deleted. "
        'If you need it, call search_code again with {"q": "x"}.'
    )
    assert "call its tool again" in gone(REF)
    assert len(gone(REF, call=LostCall("t", "x" * 10_000))) < 400


def test_a_dead_reference_asked_for_again_gets_a_short_final_answer() -> None:
    assert len(still_gone(REF)) < len(gone(REF))
    assert "do not ask" in still_gone(REF)


def test_a_store_that_does_not_answer_is_not_called_a_loss() -> None:
    assert "not lost" in unavailable("read_offloaded", REF)
    assert "later" in unavailable("read_offloaded")
