"""Test output and tracebacks: the verdict and the failure first."""

from __future__ import annotations

import pytest
from preview_examples import EXAMPLES

from offloadkit.previews import Preview, preview
from offloadkit.tokens import token_counter

BYTES = token_counter("bytes")


def made(text: str, *, budget: int = 300) -> Preview:
    return preview(text, budget=budget, counter=BYTES)


def test_the_verdict_stands_first_then_what_failed_then_why() -> None:
    lines = made(EXAMPLES["tests"]).text.split("\n")

    assert lines[0] == "Test output: 1 failed, 721 passed in 12.31s"
    assert lines[1] == "93: FAILED tests/test_total.py::test_total_is_sum - assert 5 == 6"
    assert "88: >       assert total([1, 2, 3]) == 6" in lines
    assert "89: E       assert 5 == 6" in lines


def test_the_next_call_leads_to_the_reason() -> None:
    shown = made(EXAMPLES["tests"], budget=80)

    first = int(shown.next_call.removeprefix("offset="))
    assert 80 <= first <= 89
    assert f"\n{first}: " in shown.text


def test_a_reason_is_shown_when_little_fits() -> None:
    assert "E       assert 5 == 6" in made(EXAMPLES["tests"], budget=60).text


def test_colours_do_not_hide_the_verdict() -> None:
    plain = EXAMPLES["tests"]
    coloured = plain.replace("FAILED", "\x1b[31mFAILED\x1b[0m").replace("1 failed", "\x1b[1m1 failed\x1b[0m")

    assert made(coloured).text == made(plain).text


def test_unittest_says_its_verdict_in_two_lines() -> None:
    noise = "".join(f"creating table {number}\n" for number in range(300))
    text = (
        f"{noise}{'=' * 70}\nERROR: test_save (shop.tests.StoreTests)\n{'-' * 70}\n"
        "Traceback (most recent call last):\n"
        '  File "shop/tests.py", line 9, in test_save\n    store.save(1)\nOSError: disk full\n\n'
        f"{'-' * 70}\nRan 12 tests in 0.5s\n\nFAILED (errors=1)\n"
    )
    lines = made(text).text.split("\n")

    assert lines[0] == "Test output: Ran 12 tests in 0.5s; FAILED (errors=1)"
    assert lines[1] == "302: ERROR: test_save (shop.tests.StoreTests)"
    assert "307: OSError: disk full" in lines


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        (
            "running 3 tests\ntest area::adds ... FAILED\n",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored",
        ),
        (
            "=== RUN   TestAdd\n--- FAIL: TestAdd (0.00s)\n    add_test.go:9: got 5\n",
            "FAIL\texample.org/add\t0.01s",
        ),
        (
            "FAIL src/add.test.ts\n  ● adds two numbers\n    Expected: 3\n",
            "Tests:       1 failed, 4 passed, 5 total",
        ),
    ],
)
def test_other_runners_are_read_too(run: str, verdict: str) -> None:
    text = run + "".join(f"some words of output {number}\n" for number in range(300)) + verdict + "\n"
    shown = made(text)

    assert shown.kind == "tests"
    assert verdict.strip() in shown.text.split("\n")[0]


def test_a_traceback_begins_with_its_error() -> None:
    lines = made(EXAMPLES["traceback"]).text.split("\n")

    assert lines[0] == "Traceback: KeyError: 'customer_id'"
    assert lines[-1] == "382: KeyError: 'customer_id'"


def test_a_java_exception_shows_the_calls_below_it() -> None:
    calls = "".join(f"\tat org.example.Shop.step{number}(Shop.java:{number})\n" for number in range(60))
    text = f'starting\nException in thread "main" java.lang.IllegalStateException: no stock\n{calls}'
    text = text.replace('Exception in thread "main" java', "java")
    shown = made(text)

    assert shown.kind == "traceback"
    assert shown.text.startswith("Traceback: java.lang.IllegalStateException: no stock\n")
    assert "step0(Shop.java:0)" in shown.text


def test_a_log_with_a_traceback_in_it_is_a_log() -> None:
    text = EXAMPLES["log"] + EXAMPLES["traceback"][-200:] + EXAMPLES["log"]

    assert made(text).kind == "log"


def test_each_failure_is_listed_once() -> None:
    failed = "FAILED tests/test_a.py::test_one - assert 0\n"
    text = EXAMPLES["tests"] + failed * 30

    assert made(text).text.count("test_one") == 1
