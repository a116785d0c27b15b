"""Test output and tracebacks: the verdict and the failures first, whatever stands before them."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.patterns import any_of
from offloadkit.previews.sheet import Draft, Sheet, counted

__all__ = ["recognise_tests", "recognise_traceback", "render"]

_VERDICT: Final = any_of(
    r"=+ .*\b\d+ (?:passed|failed|errors?|skipped|deselected|warnings?)\b.*=+$",  # pytest
    r"\d+ (?:passed|failed)(?:,| in )",  # pytest -q
    r"Ran \d+ tests? in |(?:FAILED|OK) ?\(.*\)$|OK$",  # unittest
    r"(?:Tests|Test Suites|Test Files):? .*\b\d+ (?:passed|failed)",  # jest, vitest
    r"test result: ",  # cargo
    r"(?:FAIL|ok)\t\S+",  # go
    r"Tests run: \d+|BUILD (?:FAILED|FAILURE|SUCCESS)",  # maven, gradle
    r"\d+ examples?, \d+ failures?",  # rspec
    r"\s*\d+ (?:passing|failing)\b",  # mocha
    r".{0,100}\b[Ff]ound \d+ (?:errors?|warnings?)\b",  # linters and type checkers
)
_FAILED: Final = any_of(
    r"(?:FAILED|ERROR) \S+(?:::|\.py)",
    r"(?:FAIL|ERROR): \S",
    r"--- FAIL: ",
    r"\s*● \S",
    r"test \S+ \.\.\. FAILED",
    r"\s*(?:\u2717|\u2715|\u00d7|not ok) ",
    r"\[ERROR\] {2}\S+\.\S+:\d+",
)
_PYTEST_REASON: Final = re.compile(r"E {3,}\S")
_REASON: Final = any_of(
    r"(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Failure|Fault)\b(?:: |$)",
    r"(?:Uncaught )?(?:[A-Z]\w*)?Error: \S|Unhandled \w+|npm ERR! \S",
    r"thread '.*' panicked at |panic: |Caused by: |fatal error: |Segmentation fault",
)
_CALL_BELOW: Final = re.compile(r"\s+at \S")
_TRACEBACK: Final = re.compile(r"\s*Traceback \(most recent call last\):")
_CALL: Final = any_of(
    _TRACEBACK.pattern,
    r"Exception in thread |thread '.*' panicked|goroutine \d+ \[",
    r"\s+at \S.*[:(]\S*\d+\)?$",
    r"\s+File \".+\", line \d+",
)
_TEST_RUN: Final = any_of(
    r"=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+",
    r"Ran \d+ tests? in |FAILED \((?:errors|failures)=|(?:ERROR|FAIL): test\w* \(",
    r"=== RUN |--- FAIL: ",
    r"test result: |running \d+ tests?$",
    r"(?:Tests|Test Suites|Test Files):? +\d+|(?:PASS|FAIL) \S+\.(?:js|ts|jsx|tsx)\b",
    r"Tests run: \d+|collected \d+ items?\b",
)
_MAX_FAILURES: Final = 200
_LINES_WITH_VERDICT: Final = 400
_LEADING_LINES: Final = 40
_WIDTH: Final = 300
_CODE_WIDTH: Final = 1_000


def recognise_tests(document: Document) -> bool:
    """Say whether there are the marks of a test run in the first or the last lines."""
    return any(_TEST_RUN.match(line) for line in document.sample[-40:] + document.sample[:60])


def recognise_traceback(document: Document) -> bool:
    """Say whether a traceback makes up much of the text, or ends it."""
    if any(_TRACEBACK.match(line) for line in document.sample[-30:]):
        return True
    calls = sum(1 for line in document.sample if _CALL.match(line))
    return calls >= 3 and calls >= 0.1 * len(document.sample)


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write the verdict, what failed, a reason with the lines around it, others, and the last lines."""
    lines = document.lines
    verdicts = _verdicts(lines)
    failed = _without_repeats(lines, _matching(lines, _FAILED))
    reasons = _reasons(lines, failed)
    if not (verdicts or failed or reasons):
        return None
    tested = bool(verdicts or failed)
    reason = (reasons[0] if tested else reasons[-1]) if reasons else None
    sheet.title(_title(lines, verdicts, reason, tested=tested), document.lead)
    listed = sheet.add_all([document.numbered(index) for index in failed], share=0.4, rest="failure")
    written = {*verdicts, *failed[:listed]}
    block = _around(document, sheet, reason, written, share=0.6 if tested else 0.9)
    sheet.add_all([document.numbered(index) for index in block])
    others = [index for index in reasons if index not in written and index not in block]
    more = sheet.add_all([document.numbered(index) for index in others], share=0.5)
    last = _last(document, sheet, block[-1] if block else -1, written.union(others[:more]))
    sheet.add_all([document.numbered(index) for index in last])
    next_call = f"offset={document.number(block[0])}" if block else ""
    return Draft(
        _phrase("the verdict" if tested else "the error", listed, bool(block) + more, len(last)), next_call
    )


def _verdicts(lines: list[str]) -> list[int]:
    """Return where the last verdict stands, and a second one close before it (unittest writes two)."""
    start = max(0, len(lines) - _LINES_WITH_VERDICT)
    found = [index for index in range(start, len(lines)) if _VERDICT.match(lines[index][:_WIDTH])]
    return [index for index in found[-2:] if found[-1] - index < 6]


def _title(lines: list[str], verdicts: list[int], reason: int | None, *, tested: bool) -> str:
    if verdicts:
        return "Test output: " + "; ".join(lines[index].strip(" =\r") for index in verdicts)
    subject = "Test output" if tested else "Traceback"
    return f"{subject}: {lines[reason].strip()}" if reason is not None else subject


def _matching(lines: list[str], pattern: re.Pattern[str]) -> list[int]:
    return [index for index, line in enumerate(lines) if pattern.match(line, 0, _WIDTH)]


def _without_repeats(lines: list[str], indices: list[int]) -> list[int]:
    """Return the first place of each text."""
    first: dict[str, int] = {}
    for index in indices[:_MAX_FAILURES]:
        first.setdefault(lines[index].strip(), index)
    return list(first.values())


def _reasons(lines: list[str], failed: list[int]) -> list[int]:
    """Return where reasons stand, each once: those that pytest marks, else those after the first failure."""
    marked = _matching(lines, _PYTEST_REASON)
    if marked:
        return _without_repeats(lines, marked)
    found = _matching(lines, _REASON)
    after = [index for index in found if failed and index > failed[0]]
    return _without_repeats(lines, after or found)


def _around(
    document: Document, sheet: Sheet, reason: int | None, written: set[int], *, share: float
) -> list[int]:
    """Return the reason, calls listed below it, and the lines that lead to it, as many as fit."""
    if reason is None:
        return []
    lines = document.lines
    below = list(
        takewhile(
            lambda index: _CALL_BELOW.match(lines[index]), range(reason + 1, min(len(lines), reason + 4))
        )
    )
    above = [
        index
        for index in range(reason - 1, max(-1, reason - _LEADING_LINES), -1)
        if index not in written and lines[index].strip() and len(lines[index]) < _CODE_WIDTH
    ]
    nearest = [reason, *below, *above]
    fitting = sheet.fitting([document.numbered(index) for index in nearest], share=share)
    return sorted(nearest[: len(fitting)])


def _last(document: Document, sheet: Sheet, after: int, written: set[int]) -> list[int]:
    """Return the last lines that still fit, say something not yet written, and stand after a place."""
    lines, end = document.lines, len(document.lines)
    said = {lines[index].strip() for index in written} | {""}
    backwards = [
        index
        for index in range(end - 1, max(after, end - _LEADING_LINES), -1)
        if lines[index].strip() not in said
    ]
    fitting = sheet.fitting([document.numbered(index) for index in backwards])
    return backwards[: len(fitting)][::-1]


def _phrase(verdict: str, failures: int, reasons: int, last: int) -> str:
    parts = [verdict]
    parts += [counted(failures, "failure")] if failures else []
    parts += [counted(reasons, "reason")] if reasons else []
    parts += [counted(last, "last line")] if last else []
    return ", ".join(parts)
