"""Many values of one place (a JSON path, a table's column) described in a few words."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from offloadkit.previews.cleaning import shorten, visible

__all__ = ["describe_cells", "describe_scalars", "quoted", "range_of"]

_MAX_DISTINCT: Final = 5
_MAX_VALUE: Final = 24
_LARGEST_WRITTEN: Final = 10**30
_INTEGER: Final = re.compile(r"[+-]?\d{1,18}")
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,3})?")


def describe_scalars(values: Sequence[Any]) -> str:
    """Describe strings, numbers, booleans and nulls, which may be mixed; "" for none."""
    nulls = sum(1 for value in values if value is None)
    flags = [value for value in values if isinstance(value, bool)]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    strings = [value for value in values if isinstance(value, str)]
    parts = [
        _describe_flags(flags),
        _describe_numbers(numbers),
        _describe_strings(strings),
        "null" if nulls == len(values) else f"{nulls} null",
    ]
    counts = (len(flags), len(numbers), len(strings), nulls)
    return ", ".join(part for part, count in zip(parts, counts, strict=True) if count)


def describe_cells(cells: Sequence[str]) -> str:
    """Describe the texts of a table's column: as numbers where all are, with the number of empty ones."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    if not filled:
        return "empty"
    empty = f", {len(cells) - len(filled)} empty" if len(filled) < len(cells) else ""
    if all(_INTEGER.fullmatch(cell) for cell in filled):
        return f"{_describe_numbers([int(cell) for cell in filled])}{empty}"
    if all(_NUMBER.fullmatch(cell) for cell in filled):
        return f"{_describe_numbers([float(cell) for cell in filled])}{empty}"
    return f"{_describe_strings(filled)}{empty}"


def quoted(text: str, width: int = _MAX_VALUE) -> str:
    """Return a text in JSON quotes, shortened, with characters beyond ASCII as they are."""
    written = json.dumps(text[: 2 * width], ensure_ascii=False)
    if len(text) <= width and len(written) <= 2 * width:
        return visible(written)
    return shorten(written[:-1], width + 1).removesuffix("…") + '…"'


def range_of(numbers: Sequence[float]) -> str:
    """Return ``3`` or ``1..9``; numbers that cannot be compared are left out."""
    finite = [number for number in numbers if not (isinstance(number, float) and not math.isfinite(number))]
    if not finite:
        return "NaN or infinite"
    low, high = min(finite), max(finite)
    return _number(low) if low == high else f"{_number(low)}..{_number(high)}"


def _describe_flags(flags: Sequence[bool]) -> str:
    yes = sum(flags)
    if yes in {0, len(flags)}:
        return "true" if yes else "false"
    return f"{yes} true and {len(flags) - yes} false"


def _describe_numbers(numbers: Sequence[float]) -> str:
    if not numbers:
        return ""
    kind = "integer" if all(isinstance(number, int) for number in numbers) else "number"
    return range_of(numbers) if len(numbers) == 1 else f"{kind} {range_of(numbers)}"


def _describe_strings(strings: Sequence[str]) -> str:
    """Name the values where they are few and short, else an example and the lengths."""
    if not strings:
        return ""
    distinct = Counter(strings[:2_000])
    few = len(distinct) <= _MAX_DISTINCT and (len(distinct) < len(strings) or len(strings) == 1)
    if few and all(len(value) <= 2 * _MAX_VALUE for value in distinct):
        named = [
            f"{quoted(value, 2 * _MAX_VALUE)}{_times(number)}" for value, number in distinct.most_common()
        ]
        return ", ".join(named)
    lengths = range_of([len(value) for value in strings])
    return f"text {lengths} long, as {quoted(strings[0])}"


def _times(number: int) -> str:
    return f" x{number}" if number > 1 else ""


def _number(number: float) -> str:
    if not isinstance(number, int):
        return f"{number:.6g}"
    if abs(number) < _LARGEST_WRITTEN:
        return str(number)
    return f"{'-' if number < 0 else ''}10^{int(abs(number).bit_length() * math.log10(2))}"
