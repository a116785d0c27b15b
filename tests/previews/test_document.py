"""What wraps a result is taken off, and line numbers stay those of the stored text."""

from __future__ import annotations

import pytest

from offloadkit.previews import preview
from offloadkit.previews.document import EXAMINED_CHARACTERS, Document
from offloadkit.tokens import token_counter


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 1),
        ("a", 1),
        ("a\n", 1),
        ("a\nb", 2),
        ("a\nb\n", 2),
        ("\n\n", 2),
        ("a\r\nb\x0bc\x0cd\x85e\u2028f", 2),
    ],
)
def test_a_line_ends_at_a_line_feed_and_nowhere_else(text: str, lines: int) -> None:
    assert Document(text).line_count == lines


def test_tags_around_the_output_are_taken_off_and_the_status_is_kept() -> None:
    document = Document("<returncode>1</returncode>\n<output>\nfirst\nsecond\n</output>\n")

    assert document.lines == ["first", "second"]
    assert document.lead == "<returncode>1</returncode>"
    assert [document.number(index) for index in range(2)] == [3, 4]


def test_a_warning_before_the_output_is_passed_over() -> None:
    warning = "<warning>\nToo long.\nUse head.\n</warning>"
    document = Document(f"<returncode>0</returncode>\n{warning}<output_head>\nfirst\n</output_head>\n")

    assert document.lines == ["first"]
    assert document.number(0) == 6


@pytest.mark.parametrize("frame", ["Exit code: 2\nWall time: 0.3 seconds\nOutput:\n", "exit status 2\n"])
def test_facts_before_the_output_are_taken_off(frame: str) -> None:
    document = Document(f"{frame}body line\n")

    assert document.lines == ["body line"]
    assert "2" in document.lead


@pytest.mark.parametrize(
    "text", ["<output>\n</output>\n", "Output:\n", "<html>\n<body>text</body>\n</html>\n"]
)
def test_what_holds_nothing_else_is_no_wrapping(text: str) -> None:
    document = Document(text)

    assert document.bare
    assert document.lead == ""


@pytest.mark.parametrize("mark", ["\t", "\N{RIGHTWARDS ARROW}", ":", "|"])
def test_the_numbers_of_a_numbered_listing_are_taken_off(mark: str) -> None:
    document = Document("".join(f"{number:6}{mark}line {number}\n" for number in range(41, 61)))

    assert document.numbered_from == 41
    assert document.lines[:2] == ["line 41", "line 42"]
    assert document.content.startswith("line 41\nline 42\n")
    assert document.number(0) == 1


def test_numbers_that_do_not_count_lines_stay() -> None:
    document = Document("".join(f"{number * 7}: value\n" for number in range(30)))

    assert document.numbered_from is None
    assert document.lines[1] == "7: value"


def test_of_a_very_long_text_both_ends_are_examined_with_their_line_numbers() -> None:
    line = "x" * 99
    count = 2 * EXAMINED_CHARACTERS // 100
    document = Document("".join(f"{line}\n" for _ in range(count)) + "the last\n")

    assert not document.whole
    assert document.gap > 0
    assert document.content_lines == count + 1
    assert document.lines[-1] == "the last"
    assert document.number(len(document.lines) - 1) == count + 1
    assert document.number(0) == 1


def test_one_very_long_line_is_examined_whole() -> None:
    document = Document("x" * (2 * EXAMINED_CHARACTERS))

    assert document.whole
    assert len(document.lines) == 1


def test_the_sample_is_bounded() -> None:
    document = Document("".join(f"line {number} {'x' * 2_000}\n\n" for number in range(600)))

    assert len(document.sample) <= 400
    assert max(map(len, document.sample)) <= 400
    assert document.sample[0].startswith("line 0 ")
    assert document.sample[-1].startswith("line 599 ")


def test_a_text_inside_another_has_no_numbers_to_ask_for() -> None:
    assert Document("one\ntwo\n", addressable=False).numbered(1) == "two"
    assert Document("one\ntwo\n").numbered(1) == "2: two"


def test_a_first_column_that_counts_is_no_numbering_by_a_tool() -> None:
    rows = "".join(f"{n}\t{n * 3}\tname {n}\n" for n in range(1, 100))

    assert preview(rows, budget=200, counter=token_counter("bytes")).text.startswith("99 rows of 3 columns")
