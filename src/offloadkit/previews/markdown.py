"""Markdown and other marked-up prose: its headings with line numbers, and how it begins."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, both_ends, counted, joined, part_of

__all__ = ["recognise", "render"]

_HEADING: Final = re.compile(r"(#{1,6}) +(\S.*?)\s*#*\s*$")
_UNDERLINE: Final = re.compile(r"([=\-~^\"*+#])\1{2,}\s*$")
_UNDERLINES: Final = '=-~^"*+#'
_FENCE: Final = re.compile(r"\s{0,3}(```|~~~)")
_LINKED_ITEM: Final = re.compile(
    r"(\d{1,3}[.)]) +\[(?P<title>[^\]]{1,300})\]\((?:https?://)?(?P<host>[^/)\s]{0,100})"
)
_MARK: Final = re.compile(r"\s*(?:[-*+] \S|\d{1,3}[.)] \S|> |```|!?\[[^\]]+\]\(|\|.*\||#{1,6} \S|\*\*\S)")
_LEAST_MARKED: Final = 0.2
_ITEM_LEVEL: Final = 7
_OPENING_LINES: Final = 200


class _Entry(NamedTuple):
    """One line of the outline; ``sure`` when nothing but a document writes it like that."""

    place: int
    level: int
    title: str
    sure: bool = True


def recognise(document: Document) -> bool:
    """Say whether there are headings of the lower levels, or headings besides lists, links and fences."""
    entries = _outline(document.sample)
    sure = sum(1 for entry in entries if entry.sure)
    marked = document.share(_MARK)
    return (
        sure >= 3
        or (len(entries) >= 2 and marked >= _LEAST_MARKED)
        or (bool(entries) and marked >= 2 * _LEAST_MARKED)
    )


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write the outline, the upper levels first when not all fit, and the beginning of the text."""
    entries = _outline(document.lines)
    if not entries:
        return None
    lines = counted(document.content_lines, "line")
    headings = counted(sum(1 for entry in entries if entry.level < _ITEM_LEVEL), "heading")
    sheet.title(f"Document of {lines}, {headings}{document.extent}:", document.lead)
    depth = {level: rank for rank, level in enumerate(sorted({entry.level for entry in entries}))}
    outline = [
        document.numbered(place, f"{'  ' * depth[level]}{title}") for place, level, title, _ in entries
    ]
    ranked = sorted(range(len(entries)), key=lambda place: entries[place].level)
    chosen = sheet.add_ranked(outline, ranked, share=0.8)
    begun = sheet.add_all(_opening(document.lines, entries))
    shown = joined(
        f"{part_of(len(chosen), len(entries), 'entry')} of its outline" if chosen else "",
        both_ends(begun, 0, "line"),
    )
    return Draft(shown, f"offset={document.number(entries[min(1, len(entries) - 1)].place)}")


def _outline(lines: list[str]) -> list[_Entry]:
    """Return the headings outside code fences, and the numbered links that search results are."""
    found: list[_Entry] = []
    fenced = False
    for index, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _HEADING.match(line)):
            level = len(heading[1])
            found.append(_Entry(index, level, heading[2], sure=level > 1))
        elif not fenced and (item := _LINKED_ITEM.match(line)):
            found.append(_Entry(index, _ITEM_LEVEL, f"{item[1]} {item['title']} ({item['host']})"))
        elif not fenced and index and (level := _underlined(lines[index - 1], line)):
            found.append(_Entry(index - 1, level, lines[index - 1].strip()))
    return _without_comments(found)


def _without_comments(entries: list[_Entry]) -> list[_Entry]:
    """Leave out first-level headings in neighbouring lines: those are comments in a program."""
    unsure = {entry.place for entry in entries if not entry.sure}
    return [entry for entry in entries if entry.sure or not {entry.place - 1, entry.place + 1} & unsure]


def _underlined(title: str, line: str) -> int:
    """Return the level of a heading that is underlined, by Markdown's two marks or any other; 0 for none."""
    mark = _UNDERLINE.match(line)
    text = title.strip()
    if (
        mark is None
        or not text
        or len(text) > 100
        or not 0.7 * len(text) <= len(line.strip()) <= 2 * len(text) + 3
    ):
        return 0
    if title.startswith((" ", "\t", "-", "*", "|", "+")) or _UNDERLINE.match(title):
        return 0
    return _UNDERLINES.index(mark[1]) + 1


def _opening(lines: list[str], entries: list[_Entry]) -> list[str]:
    """Return the lines from the beginning on that say something and are not in the outline."""
    outlined = {entry.place for entry in entries}
    return [
        line
        for index, line in enumerate(lines[:_OPENING_LINES])
        if index not in outlined and line.strip() and not _UNDERLINE.match(line)
    ]
