"""Logs: levels counted, errors with their lines, repeated lines folded, the end before the beginning."""

from __future__ import annotations

from preview_examples import EXAMPLES

from offloadkit.previews import Preview, preview
from offloadkit.tokens import token_counter

BYTES = token_counter("bytes")


def made(text: str, *, budget: int = 300) -> Preview:
    return preview(text, budget=budget, counter=BYTES)


def test_levels_are_counted_worst_first() -> None:
    assert made(EXAMPLES["log"]).text.startswith("Log of 601 lines: 2 ERROR, 7 WARN, 592 INFO\n")


def test_errors_are_shown_with_their_line_numbers() -> None:
    text = "".join(
        f"10:00:{number % 60:02d} {'ERROR disk full' if number == 700 else 'INFO ' + 'abcde'[number % 5]}\n"
        for number in range(1_000)
    )

    assert "\n701: 10:00:40 ERROR disk full\n" in made(text).text


def test_the_search_for_errors_is_spelled_as_in_the_log() -> None:
    text = "".join(
        f"2024-01-01T10:00:00 level={'error' if number % 50 == 1 else 'info'} {'y' * (number % 9)}\n"
        for number in range(300)
    )

    assert made(text).next_call == 'search="error"'


def test_a_log_without_errors_reads_on_after_its_first_lines() -> None:
    text = "".join(f"2024-01-01 10:00:00 INFO {'step ' * (number % 40)}\n" for number in range(300))

    assert made(text).next_call.startswith("offset=")


def test_a_log_whose_lines_differ_in_numbers_only_shows_its_numbers() -> None:
    text = "".join(f"10:00:{n % 60:02} INFO request {n} 200\n" for n in range(5_000))

    lines = made(text).text.split("\n")

    assert lines[1] == "1: 10:00:00 INFO request 0 200"
    assert lines[-1] == "5000: 10:00:19 INFO request 4999 200"


def test_lines_that_differ_in_numbers_only_are_folded() -> None:
    text = (
        "".join(f"10:00:{number % 60:02d} INFO retry {number}\n" for number in range(500))
        + "10:09:00 INFO stopped\n"
    )

    assert made(text).text.split("\n")[1:] == [
        "1: 10:00:00 INFO retry 0 (x500, numbers differ)",
        "501: 10:09:00 INFO stopped",
    ]


def test_the_last_lines_are_there_when_little_fits() -> None:
    assert "shop shutting down" in made(EXAMPLES["log"], budget=60).text


def test_the_end_weighs_more_than_the_beginning() -> None:
    text = "".join(
        f"10:00:00 INFO {'abcdefghij'[number % 10]} happened {'x' * (number % 7)}\n" for number in range(900)
    )
    head, _, tail = made(text).text.partition(" left out …")

    assert len(tail) > len(head)


def test_levels_in_other_spellings_count_together() -> None:
    words = ["[WARNING] hot", "[warn] hot", "[ERR] lost", "[SEVERE] lost", "[INFO] fine"]
    text = "".join(f"{words[number % 5]} {'z' * (number % 11)}\n" for number in range(200))

    assert made(text).text.startswith("Log of 200 lines: 80 ERROR, 80 WARN, 40 INFO")


def test_words_that_merely_contain_a_level_do_not_count() -> None:
    text = "".join(
        f"2024-01-01 10:00:00 INFO {word} informed\n"
        for word in ["terror", "warned", "errors.log", "my-error"] * 50
    )

    assert made(text).text.startswith("Log of 200 lines: 200 INFO\n")
