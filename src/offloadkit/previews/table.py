"""Tables in text, with bars (``| a | b |``) or aligned columns: the number of rows, and rows of both ends."""

from __future__ import annotations

import re
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, both_ends, counted, joined

__all__ = ["recognise", "render"]

_BAR_ROW: Final = re.compile(r"\s*[|│┃║].*[|│┃║]\s*$")
_RULE: Final = re.compile(r"\s*[|+┌┬┐├┼┤└┴┘─━═╞╪╡: -]*[-─━═]{3}[|+┌┬┐├┼┤└┴┘─━═╞╪╡: -]*$")
_GAP: Final = re.compile(r" {2,}")
_LEAST_ROWS: Final = 6


def recognise(document: Document) -> bool:
    """Say whether most lines are rows between bars, or stand in columns."""
    rows = document.sample
    if len(rows) < _LEAST_ROWS:
        return False
    bars = sum(1 for line in rows if _BAR_ROW.match(line))
    rules = sum(1 for line in rows if _RULE.match(line))
    if bars >= 3 and bars + rules >= 0.7 * len(rows):
        return True
    return len(_columns(rows)) >= 3


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write the number of rows, then the first rows with the titles, and the last."""
    lines = [line for line in document.lines if line.strip() and not _RULE.match(line)]
    if len(lines) < 2:
        return None
    columns = _cells(lines[0]) if _BAR_ROW.match(lines[0]) else len(_columns(document.sample))
    rows = counted(len(lines) - 1 + document.gap, "row")
    sheet.title(f"Table of {rows}, {counted(columns, 'column')}:", document.lead)
    head, tail = sheet.add_ends(document.lines, first_share=0.65, gap=document.gap)
    return Draft(joined(both_ends(head, tail, "line")), f"offset={document.number(head)}")


def _cells(row: str) -> int:
    return len(re.split(r"[|│┃║]", row.strip().strip("|│┃║")))


def _columns(rows: list[str]) -> list[int]:
    """Return where columns begin: places that follow blanks in nearly every row."""
    rows = [row.expandtabs(8) for row in rows[:100]]
    if sum(1 for row in rows if len(_GAP.split(row.strip())) >= 3) < 0.8 * len(rows):
        return []
    width = min(200, max(map(len, rows)))
    padded = [row[:width].ljust(width) for row in rows]
    blank = [sum(row[place] == " " for row in padded) >= 0.95 * len(padded) for place in range(width)]
    starts = [place for place in range(1, width) if blank[place - 1] and not blank[place]]
    return ([0] if not blank[0] else []) + starts
