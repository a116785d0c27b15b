"""Search hits and compiler messages, whose lines begin with a place in a file: counts and first hits."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, counted, joined, part_of

__all__ = ["recognise", "render"]

_PATH: Final = r"(?P<path>(?:[A-Za-z]:[\\/])?[\w@./\\+-]*[\w@/\\+-](?:\.\w{1,12}|[/\\][\w.@+-]+|(?<=file)))"
_HIT: Final = re.compile(
    rf"{_PATH}(?::(?P<line>\d+)(?::\d+)?:|\((?P<row>\d+)(?:,\d+)?\): ?|:(?!\d|//| \S|$))(?P<rest>.*)"
)
_CONTEXT: Final = re.compile(rf"{_PATH}-\d+-|--$")
_HEADED_HIT: Final = re.compile(r"\d+:")
_CODE: Final = re.compile(
    r"\s*(?:(?P<severity>error|warning|note|info|fatal error)\b:? ?)?(?P<code>[A-Z]{1,5}\d{2,5})?\b"
)


def recognise(document: Document) -> bool:
    """Say whether most lines begin with a file, mostly with a line number."""
    hits = [found for line in document.sample if (found := _HIT.match(line))]
    context = sum(1 for line in document.sample if _CONTEXT.match(line))
    plain = len(document.sample)
    return len(hits) >= 4 and len(hits) + context >= 0.4 * plain


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Show totals, files by number of hits, message codes where there are any, then hits of many files."""
    hits = [(index, found) for index, line in enumerate(document.lines) if (found := _HIT.match(line[:1000]))]
    if not hits:
        return None
    files = Counter(found["path"] for _, found in hits)
    totals = f"{counted(len(hits), 'hit')} in {counted(len(files), 'file')}"
    sheet.title(f"{totals}{document.extent}{_codes(hits)}", document.lead)
    by_file = [f"{path}: {number}" for path, number in files.most_common()]
    listed = sheet.add_all(by_file, share=0.4, rest="file")
    chosen = _spread(hits)
    shown = sheet.add_all([document.numbered(index) for index in chosen], share=1.0)
    phrase = joined(part_of(listed, len(files), "file"), part_of(shown, len(hits), "hit"))
    if len(files) > 1:
        return Draft(phrase, f"search={json.dumps(files.most_common(1)[0][0], ensure_ascii=False)}")
    return Draft(phrase, f"offset={document.number(chosen[min(shown, len(chosen) - 1)])}")


def _codes(hits: list[tuple[int, re.Match[str]]]) -> str:
    """Return the severities and message codes of compilers and linters with their numbers, or ""."""
    codes: Counter[str] = Counter()
    for _, found in hits:
        code = _CODE.match(found["rest"])
        if code and (code["severity"] or code["code"]):
            codes[" ".join(word for word in (code["severity"], code["code"]) if word)] += 1
    if sum(codes.values()) < 0.5 * len(hits):
        return ""
    return ": " + ", ".join(f"{number} {code}" for code, number in codes.most_common(6))


def _spread(hits: list[tuple[int, re.Match[str]]]) -> list[int]:
    """Return where the hits stand, the first of each file before the second of each."""
    rank: Counter[str] = Counter()
    ranked = []
    for index, found in hits:
        ranked.append((rank[found["path"]], index))
        rank[found["path"]] += 1
    return [index for _, index in sorted(ranked)]
