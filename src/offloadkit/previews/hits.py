"""Search hits and compiler messages, whose lines begin with a place in a file: counts and first hits."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, counted, joined, part_of

__all__ = ["recognise", "render"]

_PATH: Final = r"(?P<path>(?:[A-Za-z]:[\\/])?[\w@./\\+-]*[\w@/\\+-](?:\.\w{1,12}|[/\\][\w.@+-]+|(?<=file)))"
_HIT: Final = re.compile(rf"{_PATH}(?::\d+(?::\d+)?:|\(\d+(?:,\d+)?\): ?|:(?!\d|//| \S|$))(?P<rest>.*)")
_HEADING: Final = re.compile(rf"{_PATH}$")
_HIT_BELOW: Final = re.compile(r"\d+:(?P<rest>.*)")
_CONTEXT: Final = re.compile(rf"{_PATH}-\d+-|\d+-|--$")
_CODE: Final = re.compile(
    r"\s*(?:(?P<severity>error|warning|note|info|fatal error)\b:? ?)?(?P<code>[A-Z]{1,5}\d{2,5})?\b"
)
_WIDTH: Final = 1_000
_LEAST: Final = 4
_LEAST_SHARE: Final = 0.4
_LONGEST_PATH: Final = 100


class _Hit(NamedTuple):
    """One hit: the index of its line, the file, and what is said of the place."""

    line: int
    path: str
    rest: str


def recognise(document: Document) -> bool:
    """Say whether enough lines begin with a file and mostly a line number, or stand numbered under a file."""
    hits = _hits(document.sample)
    context = sum(1 for line in document.sample if _CONTEXT.match(line))
    return len(hits) >= _LEAST and len(hits) + context >= _LEAST_SHARE * len(document.sample)


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Show totals, files by number of hits, message codes where there are any, then hits of many files."""
    hits = _hits(document.lines)
    if not hits:
        return None
    files = Counter(hit.path for hit in hits)
    totals = f"{counted(len(hits), 'hit')} in {counted(len(files), 'file')}"
    sheet.title(f"{totals}{document.extent}{_codes(hits)}", document.lead)
    by_file = [f"{path}: {number}" for path, number in files.most_common()]
    listed = sheet.add_all(by_file, share=0.4, rest="file")
    chosen = _spread(hits)
    written = sheet.add_all([document.numbered(index) for index in chosen])
    shown = joined(part_of(listed, len(files), "file"), part_of(written, len(hits), "hit"))
    commonest = files.most_common(1)[0][0]
    if len(files) > 1 and len(commonest) <= _LONGEST_PATH:
        return Draft(shown, f"search={json.dumps(commonest, ensure_ascii=False)}")
    return Draft(shown, f"offset={document.number(chosen[min(written, len(chosen) - 1)])}")


def _hits(lines: Sequence[str]) -> list[_Hit]:
    """Return the hits, each with its file, which stands before it or on a line above."""
    found: list[_Hit] = []
    heading = ""
    for index, line in enumerate(lines):
        if hit := _HIT.match(line, 0, _WIDTH):
            found.append(_Hit(index, hit["path"], hit["rest"]))
        elif heading and (hit := _HIT_BELOW.match(line)):
            found.append(_Hit(index, heading, hit["rest"]))
        elif (named := _HEADING.match(line, 0, _WIDTH)) or not line.strip():
            heading = named["path"] if named else ""
    return found


def _codes(hits: list[_Hit]) -> str:
    """Return the severities and message codes of compilers and linters with their numbers, or ""."""
    codes: Counter[str] = Counter()
    for hit in hits:
        code = _CODE.match(hit.rest)
        if code and (code["severity"] or code["code"]):
            codes[" ".join(word for word in (code["severity"], code["code"]) if word)] += 1
    if sum(codes.values()) < 0.5 * len(hits):
        return ""
    return ": " + ", ".join(f"{number} {code}" for code, number in codes.most_common(6))


def _spread(hits: list[_Hit]) -> list[int]:
    """Return where the hits stand, the first of each file before the second of each."""
    rank: Counter[str] = Counter()
    ranked = []
    for hit in hits:
        ranked.append((rank[hit.path], hit.line))
        rank[hit.path] += 1
    return [index for _, index in sorted(ranked)]
