"""Rows with one separator (CSV, TSV): columns with their types and ranges, and rows of both ends."""

from __future__ import annotations

import csv
from collections import Counter
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, both_ends, counted, joined, part_of
from offloadkit.previews.values import describe_cells

__all__ = ["recognise", "render"]

_SEPARATORS: Final = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
_SAMPLED_ROWS: Final = 60
_SAMPLED_CHARACTERS: Final = 100_000
_DESCRIBED_ROWS: Final = 2_000
_MEAN_CELL: Final = 60
_LEAST_EVEN: Final = 0.9


def recognise(document: Document) -> bool:
    """Say whether a separator cuts the rows into the same number of short cells."""
    return _separator(document) is not None


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Describe each column, then show the first and the last rows."""
    separator = _separator(document)
    if separator is None:
        return None
    rows = _rows(document.lines[:_DESCRIBED_ROWS], separator)
    columns = Counter(map(len, rows)).most_common(1)[0][0]
    rows = [row for row in rows if len(row) == columns]
    titled = _has_titles(rows)
    count = _row_count(document, separator) - titled
    sheet.title(_title(columns, count, separator, described=len(rows) - titled), document.lead)
    names = rows[0] if titled else [str(number + 1) for number in range(columns)]
    by_column = zip(*rows[titled:], strict=True)
    lines = [f"{name}: {describe_cells(cells)}" for name, cells in zip(names, by_column, strict=True)]
    shown = sheet.add_all(lines, share=0.65, rest="column")
    head, tail = sheet.add_ends(document.lines, first_share=0.55, gap=document.gap)
    phrase = joined(part_of(shown, columns, "column"), both_ends(head, tail, "line"))
    return Draft(phrase, f"offset={document.number(head)}")


def _title(columns: int, rows: int, separator: str, *, described: int) -> str:
    size = f"{counted(rows, 'row')} of {counted(columns, 'column')} separated by {_SEPARATORS[separator]}"
    return f"{size}, the first {described} described" if rows > described + 1 else size


def _separator(document: Document) -> str | None:
    lines = [line for line in document.lines[:_SAMPLED_ROWS] if line.strip()]
    if len(lines) < 4 or sum(map(len, lines)) > _SAMPLED_CHARACTERS:
        return None
    for separator in _SEPARATORS:
        if _cuts_evenly(lines, separator):
            return separator
    return None


def _cuts_evenly(lines: list[str], separator: str) -> bool:
    if sum(1 for line in lines if separator in line) < 0.8 * len(lines):
        return False
    rows = _rows(lines, separator)
    columns, even = Counter(map(len, rows)).most_common(1)[0]
    least = 2 if separator == "\t" else 3
    regular = columns >= least and even >= _LEAST_EVEN * len(rows) and len(rows[0]) == columns
    return regular and _are_cells(rows)


def _are_cells(rows: list[list[str]]) -> bool:
    """Say whether cells are short and set close, as in data; prose and indented code are cut otherwise."""
    cells = [cell for row in rows for cell in row]
    short = sum(map(len, cells)) <= _MEAN_CELL * len(cells)
    spaced = sum(1 for cell in cells if cell.startswith(" "))
    indented = sum(1 for row in rows if not row[0].strip())
    return short and spaced <= 0.5 * len(cells) and indented <= 0.2 * len(rows)


def _rows(lines: list[str], separator: str) -> list[list[str]]:
    kept = (line.rstrip("\r") + "\n" for line in lines if line.strip())
    return [row for row in csv.reader(kept, delimiter=separator) if row]


def _row_count(document: Document, separator: str) -> int:
    """Count records, in which quoted cells may hold line feeds; lines where not all were examined."""
    if document.whole and '"' in document.content:
        return len(_rows(document.lines, separator))
    return sum(1 for line in document.lines if line.strip()) + document.gap


def _has_titles(rows: list[list[str]]) -> bool:
    """Say whether the first row names the columns: words, all different, over columns of another kind."""
    first, values = rows[0], rows[1:]
    if len(set(first)) < len(first) or any(not cell.strip() or len(cell) > 60 for cell in first):
        return False
    return not any(_is_number(cell) for cell in first) and bool(values)


def _is_number(cell: str) -> bool:
    return cell.strip().lstrip("+-").replace(".", "", 1).isdigit()
