"""Text made safe to show, and cut between characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.previews.cleaning import (
    cut,
    cut_front,
    raw_length,
    shorten,
    visible,
    visible_head,
    visible_tail,
    without_colours,
)

FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
FLAG = "\U0001f1e9\U0001f1ea"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\twords\nand lines", "plain\twords\nand lines"),
        ("\x1b[31;1mred\x1b[0m", "red"),
        ("\x1b]8;;https://example.org\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b", "\\x1b"),
        ("a\x00b\x07c\x7fd\x9be", "a\\x00b\\x07c\\x7fd\\x9be"),
        ("\u202eevil\u2066x", "\\u202eevil\\u2066x"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("\U000e0041hidden", "\\U000e0041hidden"),
        (SCOTLAND, SCOTLAND),
        ("\ud83d alone", "\\ud83d alone"),
        ("\ud83d\ude00", "\U0001f600"),
        ("windows\r\nlines\r", "windows\nlines"),
        ("10%\r20%", "10%\\x0d20%"),
        ("\ufeffbegin", "\\ufeffbegin"),
        ("עברית عربي", "עברית عربي"),
        ("数据", "数据"),
    ],
)
def test_what_could_mislead_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_colours_go_and_the_number_of_lines_stays() -> None:
    assert without_colours("\x1b[1mone\x1b[0m\r\ntwo\n") == "one\ntwo\n"


@pytest.mark.parametrize("cluster", [FAMILY, FLAG, "e\u0301", "\r\n", "각", "क्षि"])
@pytest.mark.parametrize("characters", range(12))
def test_a_cut_falls_between_clusters(cluster: str, characters: int) -> None:
    text = cluster * 3

    head, tail = cut(text, characters), cut_front(text, characters)

    if cluster == "\r\n":
        return
    assert len(head) <= max(0, characters)
    assert head in {cluster * number for number in range(4)}
    assert tail in {cluster * number for number in range(4)}


def test_the_window_of_a_long_text_ends_before_a_sequence_that_it_would_cut() -> None:
    text = "x" * 95 + "\x1b[38;5;196m" + "y" * 1_000

    assert visible_head(text, 100) == "x" * 94


def test_the_window_at_the_end_begins_after_a_sequence_that_it_would_cut() -> None:
    text = "x" * 1_000 + "\x1b[38;5;196m" + "y" * 95

    assert visible_tail(text, 100) == "y" * 95


def test_a_run_without_certain_boundaries_has_no_end_to_show() -> None:
    assert visible_tail(FLAG * 20_000, 100) == ""


def test_the_end_after_such_a_run_is_shown() -> None:
    assert visible_tail(FLAG * 20_000 + "plain end", 9) == "lain end"


def test_one_cluster_longer_than_the_window_is_not_cut() -> None:
    assert visible_head("a" + "\u0301" * 10_000, 100) == ""


def test_a_shortened_line_says_how_much_is_lost_when_it_is_much() -> None:
    assert shorten("short", 10) == "short"
    assert shorten("0123456789abcdef", 10) == "012345678…"
    assert shorten("x" * 5_000, 10) == "xxxxxxxxx… (4991 more characters)"


def test_the_raw_length_counts_what_is_hidden() -> None:
    raw = "\x1b[31mred\x1b[0m and\x00more"

    assert raw_length(raw, 0) == 0
    assert raw_length(raw, 3) == len("\x1b[31mred")
    assert raw_length(raw, len("red and")) == len("\x1b[31mred\x1b[0m and")
    assert raw_length(raw, len(visible(raw))) == len(raw)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_visible_text_can_be_encoded_and_stays_as_it_is(text: str) -> None:
    shown = visible(text)

    shown.encode("utf-8")
    assert visible(shown) == shown


@given(st.text(alphabet="ab\u0301\u200d\N{MAN}\N{GIRL}\U0001f1e9\x1b[0m", max_size=60), st.integers(0, 60))
def test_head_and_tail_cuts_agree_on_the_boundaries(text: str, characters: int) -> None:
    shown = visible(text)
    head = cut(shown, characters)

    assert shown.startswith(head)
    assert cut_front(shown, len(shown) - len(head)) == shown[len(head) :]
