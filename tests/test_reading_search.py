"""Searching a stored text: every match once, counted, with its place, within the bound, in linear time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_texts import COUNTERS, REF, Store, content, next_arguments, read, stored, texts, walk

from offloadkit.lines import BLOCK_BYTES
from offloadkit.reading import search as searching
from offloadkit.reading.position import Position
from offloadkit.reading.search import Literal, Pattern, compile_pattern, find
from offloadkit.reading.spans import SEARCH_AHEAD_BYTES, Spans

LOG = "".join(f"2024-01-{number % 28 + 1:02d} INFO request {number} done\n" for number in range(20_000))
START = Position(byte=0, line=1, column=1, line_start=0)


def places(data: bytes, finder: Any, *, ahead: int = SEARCH_AHEAD_BYTES, keep: int = 10**6) -> Any:
    return find(Spans(Store(data).fetch, len(data), ahead=ahead), finder, START, keep=keep)


def shown_places(answer: str) -> list[tuple[int, int]]:
    """Return line and column of every match that an answer shows."""
    found = re.findall(r"^([0-9]+):([0-9,]+)(?::|$)", content(answer), re.MULTILINE)
    return [(int(line), int(column)) for line, columns in found for column in columns.split(",")]


def shown_rows(answer: str) -> list[tuple[list[tuple[int, int]], int]]:
    """Return for each line of matches the places listed, and how many more are counted."""
    found = re.findall(r"^([0-9]+):([0-9,]+)(?:,\+([0-9]+))?(?::|$)", content(answer), re.MULTILINE)
    return [
        ([(int(line), int(column)) for column in columns.split(",")], int(more or 0))
        for line, columns, more in ((line, columns.strip(","), more) for line, columns, more in found)
    ]


def expected_places(text: str, matches: Iterator[re.Match[str]]) -> list[tuple[int, int]]:
    return [
        (text.count("\n", 0, found.start()) + 1, found.start() - (text.rfind("\n", 0, found.start()) + 1) + 1)
        for found in matches
    ]


@given(
    texts(),
    st.sampled_from(["a", "aa", "aba", "x" * 40, "\n", "\r\n", "数", "据数", " b,", "\ud800", "</data>"]),
)
def test_a_literal_is_found_wherever_it_stands(text: str, literal: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Literal, "pieces", (5, 5))
        found = places(text.encode("utf-8", "surrogatepass"), Literal(literal))

    expected = expected_places(text, re.finditer(re.escape(literal), text))
    assert found.count == len(expected)
    assert [(hit.line, hit.column) for hit in found.hits] == expected


@given(texts(), st.sampled_from(["a", "aa", "x", "数"]), st.integers(0, 4))
def test_counting_does_not_depend_on_how_many_matches_are_kept(text: str, literal: str, keep: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Literal, "pieces", (5, 5))
        found = places(text.encode("utf-8", "surrogatepass"), Literal(literal), keep=keep)

    assert found.count == text.count(literal)
    assert len(found.hits) == min(keep, found.count)
    assert sum(number for _, number in found.regions) == found.count


@given(
    st.text("ab \n数1", max_size=120),
    st.sampled_from(["a+", "^a", "b$", r"\ba", "[^a]b", "a.*b", "数", r"\d|^b"]),
)
def test_a_pattern_matches_line_by_line(text: str, pattern: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pattern, "pieces", (5, 5))
        found = places(text.encode(), Pattern(compile_pattern(pattern)))

    expected: list[tuple[int, int]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        expected += [(number, match.start() + 1) for match in re.finditer(pattern, line, re.ASCII)]
    assert [(hit.line, hit.column) for hit in found.hits] == expected


def test_an_empty_match_is_counted_once_and_not_after_the_last_newline() -> None:
    found = places(b"a\n\nb\n", Pattern(compile_pattern("^$")))

    assert [(hit.line, hit.column) for hit in found.hits] == [(2, 1)]


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(["needle", "x", "数据 ", "\n", "y" * 90, "needle needle"]), max_size=60).map(
        "".join
    ),
    st.sampled_from([200, 400, 2000]),
    st.sampled_from(COUNTERS),
    st.sampled_from([{"search": "needle"}, {"regex": "need.e"}, {"search": "needle", "context": 3}]),
)
def test_following_the_hints_shows_every_match_once(
    text: str, page_tokens: int, counter: Any, request: dict[str, Any]
) -> None:
    if "needle" not in text:
        return
    answers = list(walk(stored(text), page_tokens=page_tokens, counter=counter, **request))

    expected = expected_places(text, re.finditer("needle", text))
    for listed, more in (row for answer in answers for row in shown_rows(answer)):
        assert expected[: len(listed)] == listed
        del expected[: len(listed) + more]
    assert not expected
    assert all(counter.tokens(counter.units(answer)) <= page_tokens for answer in answers)


@given(texts(), st.text(max_size=300), st.text(max_size=40), st.integers(), st.sampled_from(COUNTERS))
def test_whatever_is_searched_for_the_answer_is_within_its_bound(
    text: str, search: str, regex: str, context: int, counter: Any
) -> None:
    for request in ({"search": search}, {"regex": regex}, {"search": search, "regex": regex}):
        answer = read(text, page_tokens=200, counter=counter, context=context, **request)

        assert answer
        assert counter.tokens(counter.units(answer)) <= 200


def test_one_match_is_shown_with_its_place_and_the_lines_around_it() -> None:
    answer = read(LOG, search="request 4711 ")

    assert "1 match in 20,000 lines" in answer
    assert "4712:17: 2024-01-08 INFO request 4711 done\n" in content(answer)
    assert content(answer).startswith("4710- ")
    assert 'around the first: read_offloaded(ref="abcdefgh234567xy", offset=4702, limit=21)' in answer


def test_context_is_what_was_asked_for_and_groups_are_set_apart() -> None:
    answer = read(LOG, regex="request [12]00 ", context=1)

    assert content(answer).count("\n--\n") == 1
    assert [line.split(" ")[0] for line in content(answer).splitlines()] == [
        "100-",
        "101:17:",
        "102-",
        "--",
        "200-",
        "201:17:",
        "202-",
    ]


def test_more_context_than_fits_is_cut_to_what_fits() -> None:
    answer = read(LOG, search="request 4711 ", context=10**9, page_tokens=500)

    assert "4712:17:" in content(answer)
    assert content(answer).count("\n") > 5


def test_many_matches_are_counted_and_folded_by_region() -> None:
    answer = read(LOG, search="INFO")

    assert " of 20,000 matches in 20,000 lines" in answer
    regions = re.findall(r"([0-9,]+) from line ([0-9,]+)", answer)
    assert 2 <= len(regions) <= 12
    assert sum(int(number.replace(",", "")) for number, _ in regions) == 20_000
    arguments = next_arguments(answer)
    assert arguments is not None
    assert arguments["offset"] == len(shown_places(answer)) + 1


def test_a_region_can_be_gone_to() -> None:
    answer = read(LOG, search="INFO")
    line = int(re.findall(r"from line ([0-9,]+)", answer)[3].replace(",", ""))

    there = read(LOG, search="INFO", offset=line)

    assert shown_places(there)[0] == (line, 12)
    assert f"lines {line:,}-20,000 of 20,000" in there


def test_matches_in_one_long_line_have_windows_and_columns() -> None:
    text = LOG.replace("\n", " ")
    answer = read(text, search="request 4711 ")

    column = text.index("request 4711 ") + 1
    assert shown_places(answer) == [(1, column)]
    assert content(answer).startswith(f"1:{column}: …")
    assert content(answer).endswith("…\n")
    assert f"offset=1, column={column - 500})" in answer


def test_many_matches_in_one_long_line_are_folded_by_column() -> None:
    text = LOG.replace("\n", " ")
    answer = read(text, search="INFO")

    assert "matches in 1 line" in answer
    assert len(re.findall(r"from line 1 character [0-9,]+", answer)) > 3


def test_a_window_cuts_no_character() -> None:
    answer = read("数据" * 3_000 + "NEEDLE" + "据数" * 3_000, search="NEEDLE")

    assert "�" not in answer
    assert "1:6001: …" in content(answer)


def test_a_limit_is_the_most_matches_shown_not_the_lines_searched() -> None:
    answer = read(LOG, search="request 19999 ", limit=5)
    assert shown_places(answer) == [(20_000, 17)]

    several = read(LOG, search="INFO", limit=3)
    assert len(shown_places(several)) == 3
    assert next_arguments(several) == {"search": "INFO", "offset": 4, "column": 12, "limit": 3}


def test_nothing_found_says_where_and_how_to_ignore_case() -> None:
    answer = read(LOG, search="info request 7")

    assert "no match in 20,000 lines" in answer
    again = answer.rpartition("to ignore it: ")[2]
    assert r'regex="(?i)info\\ request\\ 7"' in again
    assert shown_places(read(LOG, regex=r"(?i)info\ request\ 7 "))


def test_nothing_found_after_an_offset_names_the_search_of_all_lines() -> None:
    answer = read(LOG, search="request 5 ", offset=100)

    assert 'In all lines: read_offloaded(ref="abcdefgh234567xy", search="request 5 ")' in answer


def test_a_literal_may_cross_lines() -> None:
    assert shown_places(read("one\ntwo\nthree", search="two\nthr")) == [(2, 1)]


@pytest.mark.parametrize("pattern", ["(", "[", "*a", "(?=a)", r"(a)\1", "(a{1000}){1000}", "a)(b", "\ud800"])
def test_a_pattern_that_is_none_is_answered_in_words(pattern: str) -> None:
    answer = read("text", regex=pattern)

    assert answer.startswith("regex ")
    assert "<data" not in answer


def test_a_search_text_that_grows_when_it_is_quoted_still_leaves_room() -> None:
    for size in (5, 20, 60, 200):
        answer = read("\u2028" * 2_000, search="\u2028" * size, page_tokens=200, counter=COUNTERS[1])

        assert len(answer) <= 200


def test_search_and_regex_together_and_empty_ones_are_answered_in_words() -> None:
    assert "not both" in read("text", search="a", regex="b")
    assert "search is empty" in read("text", search="")


def test_a_search_text_too_long_to_repeat_is_answered_in_words() -> None:
    answer = read("text", search="x" * 5_000)

    assert answer == "search is too long (5,000 characters); give a shorter part of it."


@pytest.mark.parametrize("pattern", ["(x+x+)+y", "(a|aa)+$", "(.*)*z", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_patterns_that_are_catastrophic_elsewhere_are_answered(pattern: str) -> None:
    answer = read("a" * 200_000 + "xx", regex=pattern)

    assert "the pattern is slow" not in answer


class Ticking:
    """A clock that goes forward by one second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_a_pattern_is_given_up_after_a_while_and_the_rest_can_be_searched() -> None:
    data = b"a b\n" * 200_000
    finder = Pattern(compile_pattern("zzz"), clock=Ticking())

    found = places(data, finder)

    assert found.count == 0
    assert found.rest is not None
    line, column = found.rest
    assert 1 < line < 200_001
    assert column == 1


def test_what_was_given_up_is_said_with_the_call_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_COUNTED", 50)
    answers = list(walk(stored(LOG[:10_000]), regex="INFO", page_tokens=1_000))

    assert "at least 50 matches" in answers[0]
    assert [place for answer in answers for place in shown_places(answer)] == expected_places(
        LOG[:10_000], re.finditer("INFO", LOG[:10_000])
    )


def test_a_slow_pattern_that_found_nothing_yet_names_the_call_that_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "MOST_SECONDS", -1.0)

    answer = read(LOG, regex="nothing like it")

    assert "the pattern is slow" in answer
    arguments = next_arguments(answer)
    assert arguments is not None
    assert 1 < arguments["offset"] < 20_000


def test_a_literal_search_reads_the_text_once_in_few_large_pieces() -> None:
    store = Store(LOG.encode() * 14)
    opened = stored("", store=store)
    store.fetched.clear()

    answer = read(opened, search="no such text")

    assert "no match" in answer
    assert sum(length for _, length in store.fetched) < 1.2 * len(store.data)
    assert len(store.fetched) < 20


def test_showing_matches_of_a_large_text_reads_it_about_once() -> None:
    store = Store(LOG.encode() * 14)
    opened = stored("", store=store)

    read(opened, search="request 19999 ")

    assert sum(length for _, length in store.fetched) < 1.5 * len(store.data) + 20 * BLOCK_BYTES


def test_a_search_in_another_script_is_repeated_readably() -> None:
    answer = read("数据库 " * 5_000, search="数据", page_tokens=400)

    assert 'search="数据"' in answer
    assert "\\u" not in answer
    assert json.dumps(REF) in answer
