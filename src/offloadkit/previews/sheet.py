"""A preview while it is written: line after line, as long as they fit its budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from offloadkit.previews.cleaning import cut, cut_front, shorten
from offloadkit.tokens import TokenCounter

__all__ = ["Draft", "Sheet", "both_ends", "counted", "fits", "joined", "longest_fit", "part_of"]

_CHARACTERS_A_TOKEN: Final = 16


@dataclass(frozen=True, slots=True)
class Draft:
    """What the renderer of a kind says of the sheet that it filled.

    Attributes:
        shown: What of the result stands on the sheet, as a short phrase.
        next_call: The most useful further arguments of the next read, or "".
        inner: A text inside the content that deserves a preview of its own on what is left of the sheet.
    """

    shown: str
    next_call: str = ""
    inner: str = ""


class Sheet:
    """The lines of one preview, which never cost more than its budget.

    Attributes:
        width: Characters that one line may have; a longer one is cut.
    """

    def __init__(self, budget: int, counter: TokenCounter) -> None:
        self._budget = budget
        self._counter = counter
        self._lines: list[str] = []
        self._units = 0
        self.width = min(400, max(48, budget * 2 // 3))

    @property
    def left(self) -> int:
        """Tokens that may still be written."""
        return self._budget - self._counter.tokens(self._units)

    @property
    def text(self) -> str:
        """What was written."""
        return "\n".join(self._lines)

    def title(self, line: str, lead: str = "") -> None:
        """Write the first line, which says what the result is; it is cut when it does not fit.

        Args:
            line: The title.
            lead: A second line for what the wrapping of the result says, when there is room for it.
        """
        self._write(longest_fit(shorten(line, 4 * self.width), self.left, self._counter))
        if lead:
            self.add(lead)

    def add(self, line: str) -> bool:
        """Write one line; False, with nothing written, when it does not fit."""
        fitting = self.fitting((line,))
        self._write(*fitting)
        return bool(fitting)

    def add_all(self, lines: Sequence[str], *, share: float = 1.0, rest: str = "") -> int:
        """Write the first of ``lines`` that fit ``share`` of what is left; return how many.

        Args:
            lines: What to write.
            share: From 0 to 1.
            rest: When not all fit, a last line says how many more of these there are ("file").
        """
        fitting = self.fitting(lines, share=share)
        if len(fitting) < len(lines) and rest:
            fitting = self.fitting(lines, share=share, reserve=_more(len(lines), rest))
        self._write(*fitting)
        if fitting and len(fitting) < len(lines) and rest:
            self.add(_more(len(lines) - len(fitting), rest))
        return len(fitting)

    def add_ranked(self, lines: Sequence[str], ranked: Sequence[int], *, share: float) -> list[int]:
        """Write lines in their own order, chosen by rank as long as they fit.

        Args:
            lines: What to choose from.
            ranked: The places of all lines, the most important first.
            share: The part of what is left that they may take, from 0 to 1.

        Returns:
            The places of the lines written, ascending.
        """
        fitting = self.fitting((lines[place] for place in ranked), share=share)
        chosen = sorted(ranked[: len(fitting)])
        self._write(*self.fitting([lines[place] for place in chosen]))
        return chosen

    def add_ends(self, lines: Sequence[str], *, first_share: float, gap: int = 0) -> tuple[int, int]:
        """Write the first and the last of ``lines``, and between them how many are left out.

        Args:
            lines: What to write.
            first_share: The part of what is left that the first lines may take, from 0 to 1.
            gap: Lines that are missing from ``lines`` in its middle.

        Returns:
            How many of the first and of the last lines were written.
        """
        everything = self.fitting(lines)
        if len(everything) == len(lines) and not gap:
            self._write(*everything)
            return len(lines), 0
        omission = f"… {counted(len(lines) + gap, 'line')} left out …"
        head = self.fitting(lines, share=first_share, reserve=omission)
        tail = self.fitting(reversed(lines[len(head) :]), reserve="\n".join((omission, *head)))
        if not head and not tail:
            return 0, 0
        omitted = len(lines) - len(head) - len(tail) + gap
        self._write(*head, f"… {counted(omitted, 'line')} left out …", *reversed(tail))
        return len(head), len(tail)

    def fitting(self, lines: Iterable[str], *, share: float = 1.0, reserve: str = "") -> list[str]:
        """Return the first of ``lines``, cut to the width, that fit ``share`` of what is left.

        Args:
            lines: Candidates.
            share: From 0 to 1.
            reserve: Text that must still fit besides them.
        """
        units = self._units + (self._counter.units(reserve + "\n") if reserve else 0)
        allowed = self._budget - int(self.left * (1 - share))
        fitting: list[str] = []
        for line in lines:
            shown = shorten(line, self.width)
            units += self._units_of(shown, first=not self._lines and not fitting)
            if self._counter.tokens(units) > allowed:
                break
            fitting.append(shown)
        return fitting

    def inset(self) -> Sheet:
        """Return an empty sheet with what is left on this one, one token for the line feed put aside."""
        return Sheet(self.left - 1, self._counter)

    def add_block(self, text: str) -> bool:
        """Write a visible text as it is; False, with nothing written, when it does not fit."""
        units = self._units + self._units_of(text, first=not self._lines)
        if self._counter.tokens(units) > self._budget:
            return False
        self._write(text)
        return True

    def longest(self, text: str, tokens: int, *, from_end: bool = False) -> str:
        """Return the longest beginning (or end) of a visible text that costs at most ``tokens``."""
        return longest_fit(text, tokens, self._counter, from_end=from_end)

    def cost(self, line: str) -> int:
        """Return what one line would cost, in tokens."""
        return self._counter.tokens(self._counter.units(line + "\n"))

    def _write(self, *lines: str) -> None:
        for line in lines:
            self._units += self._units_of(line, first=not self._lines)
            self._lines.append(line)

    def _units_of(self, line: str, *, first: bool) -> int:
        return self._counter.units(line if first else "\n" + line)


def longest_fit(text: str, budget: int, counter: TokenCounter, *, from_end: bool = False) -> str:
    """Return the longest part of a visible text that costs at most ``budget`` tokens, cut between clusters.

    The part is its beginning, or with ``from_end`` its end.
    """
    part = _last if from_end else _first
    low, high = 0, min(len(text), _CHARACTERS_A_TOKEN * max(1, budget))
    if high == len(text) and fits(text, budget, counter):
        return text
    while low < high:
        middle = (low + high + 1) // 2
        if fits(part(text, middle), budget, counter):
            low = middle
        else:
            high = middle - 1
    return cut_front(text, low) if from_end else cut(text, low)


def _first(text: str, characters: int) -> str:
    return text[:characters]


def _last(text: str, characters: int) -> str:
    return text[len(text) - characters :]


def fits(text: str, budget: int, counter: TokenCounter) -> bool:
    """Say whether ``text`` costs at most ``budget`` tokens."""
    return counter.tokens(counter.units(text)) <= budget


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 line``, ``3 lines``, ``2 matches``, ``4 entries``."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith(("ch", "s", "x")):
        return f"{number} {noun}es"
    return f"{number} {noun[:-1]}ies" if noun.endswith("ry") else f"{number} {noun}s"


def both_ends(head: int, tail: int, noun: str) -> str:
    """Return a phrase such as ``first 12 and last 8 lines``, or of the one end that there is, or ""."""
    if head and tail:
        return f"first {head} and last {tail} {noun}s"
    return f"{'first' if head else 'last'} {counted(head or tail, noun)}" if head or tail else ""


def part_of(shown: int, total: int, noun: str) -> str:
    """Return a phrase such as ``2 of 964 items``; "" for none."""
    return f"{shown} of {counted(total, noun)}" if shown else ""


def joined(*parts: str) -> str:
    """Return the phrases that say something, as one."""
    return ", ".join(part for part in parts if part) or "one line on what it is"


def _more(number: int, noun: str) -> str:
    return f"… {counted(number, 'more ' + noun)}"
