"""A sheet takes lines as long as they fit."""

from __future__ import annotations

from offloadkit.previews.sheet import Sheet, both_ends, counted, joined, longest_fit, part_of
from offloadkit.tokens import token_counter

BYTES = token_counter("bytes")


class Characters:
    """One character, one token."""

    def units(self, text: str) -> int:
        return len(text)

    def tokens(self, units: int) -> int:
        return units


def sheet(budget: int) -> Sheet:
    return Sheet(budget, Characters())


def test_lines_are_written_until_the_budget_is_used() -> None:
    written = sheet(10)

    assert [written.add("abc"), written.add("defg"), written.add("hi"), written.add("j")] == [
        True,
        True,
        False,
        True,
    ]
    assert written.text == "abc\ndefg\nj"
    assert written.left == 0


def test_a_title_is_cut_to_fit() -> None:
    written = sheet(5)
    written.title("Python source")

    assert written.text == "Pytho"


def test_what_does_not_fit_is_counted() -> None:
    written = sheet(40)

    assert written.add_all([f"line {number}" for number in range(9)], rest="line") == 3
    assert written.text == "line 0\nline 1\nline 2\n… 6 more lines"


def test_everything_fits_without_a_remark() -> None:
    written = sheet(40)

    assert written.add_all(["one", "two"], rest="line") == 2
    assert written.text == "one\ntwo"


def test_both_ends_are_written_around_a_gap() -> None:
    written = sheet(60)
    head, tail = written.add_ends([f"line {number}" for number in range(100)], first_share=0.6)

    lines = written.text.split("\n")
    assert lines[:head] == [f"line {number}" for number in range(head)]
    assert lines[head] == f"… {100 - head - tail} lines left out …"
    assert lines[head + 1 :] == [f"line {number}" for number in range(100 - tail, 100)]
    assert head
    assert tail
    assert written.left >= 0


def test_lines_that_were_never_examined_count_as_left_out() -> None:
    written = sheet(100)
    written.add_ends(["first", "last"], first_share=0.5, gap=1_000)

    assert "… 1000 lines left out …" in written.text


def test_ranked_lines_are_chosen_by_rank_and_written_in_order() -> None:
    written = sheet(12)

    assert written.add_ranked(["a" * 5, "b" * 5, "c" * 5], [2, 0, 1], share=1.0) == [0, 2]
    assert written.text == "aaaaa\nccccc"


def test_a_long_line_is_cut_to_the_width() -> None:
    written = sheet(90)
    written.add("x" * 500)

    assert written.text == "x" * (written.width - 1) + "…"


def test_the_longest_part_that_fits_is_exact() -> None:
    assert longest_fit("abcdef", 3, Characters()) == "abc"
    assert longest_fit("abcdef", 3, Characters(), from_end=True) == "def"
    assert longest_fit("abcdefgh", 2, BYTES) == "abcdefg"
    assert longest_fit("abc", 0, Characters()) == ""


def test_numbers_have_their_nouns() -> None:
    assert [counted(number, "line") for number in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]
    assert [counted(2, noun) for noun in ("match", "entry", "box")] == ["2 matches", "2 entries", "2 boxes"]


def test_phrases_leave_out_what_is_not_there() -> None:
    assert both_ends(3, 2, "line") == "first 3 and last 2 lines"
    assert both_ends(1, 0, "line") == "first 1 line"
    assert both_ends(0, 4, "line") == "last 4 lines"
    assert joined(part_of(0, 9, "item"), both_ends(0, 0, "line")) == "one line on what it is"
    assert joined("its shape", part_of(2, 9, "item")) == "its shape, 2 of 9 items"
