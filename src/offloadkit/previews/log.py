"""Logs: counts by level, the errors with their line numbers, and above all the last lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, both_ends, counted, joined, part_of

__all__ = ["fold", "recognise", "render"]

_TIME: Final = re.compile(
    r"[\[(<]?(?:\d{4}[-/.]\d\d?[-/.]\d\d?[T ,]+)?\d{1,2}:\d\d:\d\d|[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|"
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |\S+ - \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}|[\[]\s*\d+\.\d{6}\]|"
    r"(?:time|ts|timestamp)=\"?\d|\S{1,40} *\| +\d{4}-\d\d-\d\d|\d{10,13}(?:\.\d+)? "
)
_LEVEL: Final = re.compile(
    r"(?:^|[\s\[(<|:=\"])(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|SEVERE|CRITICAL|FATAL|PANIC|"
    r"trace|debug|info|notice|warn(?:ing)?|error|critical|fatal|panic)(?=[\s\])>|:,\"]|$)"
)
_LEVEL_WIDTH: Final = 100
_NAMES: Final = {"WARNING": "WARN", "ERR": "ERROR", "SEVERE": "ERROR", "CRITICAL": "FATAL", "PANIC": "FATAL"}
_BAD: Final = ("FATAL", "ERROR", "WARN")
_WITHOUT_DIGITS: Final = str.maketrans("", "", "0123456789")
_FOLDED_WIDTH: Final = 200
_FRACTION: Final = re.compile(r"^[.,]\d+")


def recognise(document: Document) -> bool:
    """Say whether lines begin with a time or carry different levels."""
    sample = document.sample
    if len(sample) < 5:
        return False
    timed = sum(1 for line in sample if _TIME.match(line))
    levels = [level for line in sample if (level := _level(line))]
    return timed >= 0.4 * len(sample) or (len(levels) >= 0.5 * len(sample) and len(set(levels)) > 1)


def render(document: Document, sheet: Sheet) -> Draft:
    """Write the counts, the first and last of the worst lines, then the first lines and most of the last."""
    lines = document.lines
    levels = [_level(line) for line in lines]
    totals = Counter(level for level in levels if level)
    sheet.title(_title(document, totals), document.lead)
    worst = next((level for level in _BAD if totals[level]), "")
    bad = [index for index, level in enumerate(levels) if level and level == worst]
    groups = list(fold(lines, _from_both_ends(bad), _without_numbers))
    fitting = sheet.fitting((_described(document, group) for group in groups), share=0.4)
    chosen = sorted(groups[: len(fitting)])
    sheet.add_all([_described(document, group) for group in chosen])
    head, tail = _add_ends(document, sheet)
    written = part_of(sum(map(len, chosen)), len(bad), f"{worst} line")
    return Draft(
        joined(written, both_ends(head, tail, "line")),
        _next_call(lines, bad, worst) or f"offset={document.number(head)}",
    )


def fold(lines: list[str], indices: Iterable[int], saying: Callable[[str], str]) -> Iterator[list[int]]:
    """Group neighbours for which ``saying`` is the same."""
    for _, group in groupby(indices, key=lambda index: saying(lines[index])):
        yield list(group)


def _without_numbers(line: str) -> str:
    """Return what a line says, numbers aside: enough to tell errors apart."""
    return line[:_FOLDED_WIDTH].translate(_WITHOUT_DIGITS)


def _is_monotonous(lines: list[str]) -> bool:
    """Say whether all lines are alike but for their numbers: then the numbers are what there is to see."""
    said = (_without_numbers(line) for line in lines if line.strip())
    first = next(said, None)
    return all(other == first for other in said)


def _without_time(line: str) -> str:
    """Return what a line says after its time: what differs in a number may be what is looked for."""
    found = _TIME.match(line)
    return _FRACTION.sub("", line[found.end() :]) if found else line


def _level(line: str) -> str | None:
    found = _LEVEL.search(line, 0, _LEVEL_WIDTH)
    if found is None:
        return None
    level = found["level"].upper()
    return _NAMES.get(level, level)


def _title(document: Document, totals: Counter[str]) -> str:
    counts = ", ".join(f"{number} {level}" for level, number in _by_severity(totals))
    return (
        f"Log of {counted(document.content_lines, 'line')}{': ' + counts if counts else ''}{document.extent}"
    )


def _by_severity(totals: Counter[str]) -> list[tuple[str, int]]:
    order = {level: rank for rank, level in enumerate((*_BAD, "NOTICE", "INFO", "DEBUG", "TRACE"))}
    return sorted(totals.items(), key=lambda item: order[item[0]])


def _from_both_ends(indices: list[int]) -> list[int]:
    """Return the last first, then the first, so that both are written when not all fit."""
    ordered: list[int] = []
    for near, far in zip(indices, reversed(indices), strict=True):
        if near > far:
            break
        ordered += [far] if near == far else [far, near]
    return ordered


def _described(document: Document, group: list[int]) -> str:
    line = document.numbered(min(group))
    if len(group) == 1:
        return line
    same = len({_without_time(document.lines[index]) for index in group}) == 1
    return f"{line} (x{len(group)}{'' if same else ', numbers differ'})"


def _add_ends(document: Document, sheet: Sheet) -> tuple[int, int]:
    """Write the last lines, and before them the first ones; return how many lines of each."""
    indices = [index for index, line in enumerate(document.lines) if line.strip()]
    tail = _fitting(document, sheet, reversed(indices), share=0.7)
    before = [index for index in indices if not tail or index < min(tail[-1][1])]
    reserve = "\n".join((_omission(len(before)), *(line for line, _ in tail)))
    head = _fitting(document, sheet, before, reserve=reserve)
    first, last = sum(len(group) for _, group in head), sum(len(group) for _, group in tail)
    sheet.add_all([line for line, _ in head])
    if len(indices) > first + last or document.gap:
        sheet.add(_omission(len(indices) - first - last + document.gap))
    sheet.add_all([line for line, _ in reversed(tail)])
    return first, last


def _fitting(
    document: Document, sheet: Sheet, indices: Iterable[int], *, share: float = 1.0, reserve: str = ""
) -> list[tuple[str, list[int]]]:
    """Return the folded lines that fit, each with the lines that it stands for."""
    groups: list[list[int]] = []
    saying = _without_time if _is_monotonous(document.lines) else _without_numbers

    def described() -> Iterator[str]:
        for group in fold(document.lines, indices, saying):
            groups.append(group)
            yield _described(document, group)

    fitting = sheet.fitting(described(), share=share, reserve=reserve)
    return list(zip(fitting, groups, strict=False))


def _omission(number: int) -> str:
    return f"… {counted(number, 'line')} left out …"


def _next_call(lines: list[str], bad: list[int], worst: str) -> str:
    """Return a search that finds the worst lines, spelled as the log spells it."""
    if not bad:
        return ""
    found = _LEVEL.search(lines[bad[0]], 0, _LEVEL_WIDTH)
    return f'search="{found["level"] if found else worst}"'
