"""A stored result as the previews see it: its lines, their numbers, and what wraps them.

Tools wrap what they return: an exit status before the output, the line numbers of ``cat -n``, tags around
it. The wrapping is taken off, so that the content inside is recognised for what it is; line numbers always
count the lines of the stored text. Of a very long text only both ends are examined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from offloadkit.previews.cleaning import visible, without_colours

__all__ = ["Document"]

EXAMINED_CHARACTERS: Final = 2_000_000
_SAMPLED_HEAD: Final = 300
_SAMPLED_TAIL: Final = 100
_SAMPLED_WIDTH: Final = 400
_FRAME_LINES: Final = 12

_WRAPPER_TAGS: Final = (
    "returncode|return_code|exit_code|exitcode|status|output|output_head|output_tail|stdout|stderr|result|"
    "results|tool_result|function_results|response|content|contents|file|path|file_content|document"
)
_TAG_LINE: Final = re.compile(rf"</?(?:{_WRAPPER_TAGS})(?: [^<>]*)?>(?:[^<>]*</(?:{_WRAPPER_TAGS})>)?")
_FACT_LINE: Final = re.compile(
    r"(?i:(?:exit|return)[ _-]?(?:code|status)|exit|wall[ _-]time|duration|chunk id|cwd|command|stdout|"
    r"stderr|output|total output lines)\b(?: ?[:=].{0,200}| \d{1,5})?|"
    r"Here's the (?:result|output) of .{0,300}:|"
    r"\[File: .{1,300} lines total\)\]|\(\d+ more lines (?:above|below)\)"
)
_WARNING: Final = re.compile(r"<(warning|system-reminder|note)>")
_FACT: Final = re.compile(r".*\d|.*[:=]\s*\S|.*>[^<]+<|Here's|\[File")
_PADDED: Final = re.compile(r"[ ]{2,12}\d")
_NUMBERED: Final = re.compile(r"[ ]{0,12}(\d{1,9})(?:\t|→|:|\|)")


class Document:
    """One stored result.

    Attributes:
        text: All of it.
        is_error: True when the result was marked as failed.
        line_count: How many lines ``text`` has; a line ends at a line feed and nowhere else.
        addressable: False for a text inside another one, whose lines the read tool cannot find by number.
        lead: What its wrapping says, such as the exit status, in one line, or "".
        start: Where the content inside the wrapping begins, in characters of ``text``.
        stop: Where it ends.
        numbered_from: The first number when every line of the content carries its own, else None.
    """

    def __init__(self, text: str, *, is_error: bool = False, addressable: bool = True) -> None:
        self.text = text
        self.addressable = addressable
        self.is_error = is_error
        self.line_count = text.count("\n") + (not text.endswith("\n"))
        self.start, self.stop, self.lead = _unwrap(text)
        self._first_number = text.count("\n", 0, self.start) + 1
        raw = _examined(text, self.start, self.stop)
        self._head, self._skipped = raw.head_lines, raw.skipped_lines
        self.numbered_from = _numbered_from(raw.lines)
        self.lines = (
            raw.lines if self.numbered_from is None else [_without_number(line) for line in raw.lines]
        )

    @cached_property
    def content(self) -> str:
        """All of the content, without wrapping and line numbers, examined or not."""
        content = without_colours(self.text[self.start : self.stop])
        if self.numbered_from is None:
            return content
        return "\n".join(map(_without_number, content.split("\n")))

    @cached_property
    def sample(self) -> list[str]:
        """Lines of both ends that are not blank, cut to a few hundred characters, to recognise a kind by."""
        lines = self.lines
        if len(lines) > _SAMPLED_HEAD + _SAMPLED_TAIL:
            lines = lines[:_SAMPLED_HEAD] + lines[-_SAMPLED_TAIL:]
        return [line[:_SAMPLED_WIDTH].rstrip("\r") for line in lines if line and not line.isspace()]

    @property
    def whole(self) -> bool:
        """True when all of the content was examined."""
        return self._skipped == 0

    @property
    def bare(self) -> bool:
        """True when the content is the whole text: nothing wraps it and its lines carry no numbers."""
        return self.start == 0 and self.stop == len(self.text) and self.numbered_from is None

    @property
    def extent(self) -> str:
        """What counts hold for, in words: "" when all was examined."""
        return "" if self.whole else " in both ends examined"

    @property
    def content_lines(self) -> int:
        """How many lines the content has, the ones that were not examined included."""
        return len(self.lines) + self._skipped

    @property
    def gap(self) -> int:
        """How many lines between the two examined ends were not examined."""
        return self._skipped

    def number(self, index: int) -> int:
        """Return the number, in the stored text, of the examined line with this index."""
        return self._first_number + index + (self._skipped if index >= self._head else 0)

    def numbered(self, index: int, words: str | None = None) -> str:
        """Return an examined line, or ``words`` in its place, after its number."""
        shown = self.lines[index] if words is None else words
        return f"{self.number(index)}: {shown}" if self.addressable else shown

    def share(self, pattern: re.Pattern[str]) -> float:
        """Return which part of the sampled lines match ``pattern`` at their start, from 0 to 1."""
        matching = sum(1 for line in self.sample if pattern.match(line))
        return matching / len(self.sample) if self.sample else 0.0


@dataclass(frozen=True, slots=True)
class _Lines:
    lines: list[str]
    head_lines: int
    skipped_lines: int


def _examined(text: str, start: int, stop: int) -> _Lines:
    """Split the content into lines; of a very long one only both ends, cut where lines end."""
    if stop - start <= EXAMINED_CHARACTERS:
        lines = _split(text[start:stop])
        return _Lines(lines, len(lines), 0)
    half = EXAMINED_CHARACTERS // 2
    head_stop = text.rfind("\n", start, start + half) + 1
    tail_start = text.find("\n", stop - half, stop) + 1
    if head_stop <= start or tail_start == 0:
        lines = _split(text[start:stop])
        return _Lines(lines, len(lines), 0)
    head, tail = _split(text[start:head_stop]), _split(text[tail_start:stop])
    return _Lines(head + tail, len(head), text.count("\n", head_stop, tail_start))


def _split(text: str) -> list[str]:
    lines = without_colours(text).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _unwrap(text: str) -> tuple[int, int, str]:
    """Return where the content inside known wrapping begins and ends, and what the wrapping says."""
    start, facts = 0, []
    for _ in range(_FRAME_LINES):
        end = text.find("\n", start, start + 2000)
        line = text[start:end].strip() if end >= 0 else ""
        warning = _WARNING.match(line)
        if warning and (closed := text.find(f"</{warning[1]}>", start, start + 5000)) >= 0:
            start = closed + len(warning[1]) + 3
            start += text.startswith("\n", start)
        elif line and (_TAG_LINE.fullmatch(line) or _FACT_LINE.fullmatch(line)):
            facts += [line] if _FACT.match(line) else []
            start = end + 1
        else:
            break
    stop = _unwrapped_stop(text, start) if start else len(text)
    return (start, stop, visible(", ".join(facts))) if text[start:stop].strip() else (0, len(text), "")


def _unwrapped_stop(text: str, start: int) -> int:
    """Return where the content ends before closing tags in the last lines."""
    stop = len(text)
    for _ in range(3):
        before = text.rfind("\n", start, stop - 1) + 1
        if before <= start or not _TAG_LINE.fullmatch(text[before:stop].strip()[:300]):
            break
        stop = before
    return stop


def _numbered_from(lines: list[str]) -> int | None:
    """Return the first of the numbers that consecutive lines begin with, as ``cat -n`` writes them."""
    if not any(_PADDED.match(line) for line in lines[:60]) and any("\t" in line for line in lines[:60]):
        return None  # a table whose first column counts
    found = [_NUMBERED.match(line) for line in lines[:60] if line.strip()]
    numbers = [int(match[1]) for match in found if match]
    if len(numbers) < 5 or len(numbers) < 0.9 * len(found):
        return None
    rising = sum(1 for before, after in pairwise(numbers) if after == before + 1)
    return numbers[0] if rising >= 0.9 * (len(numbers) - 1) else None


def _without_number(line: str) -> str:
    found = _NUMBERED.match(line)
    return line[found.end() :] if found else line
