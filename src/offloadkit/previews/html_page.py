"""HTML: its title, its headings with line numbers, and the text without tags."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, counted, joined, part_of

__all__ = ["recognise", "render"]

_PARSED_CHARACTERS: Final = 300_000
_START: Final = re.compile(
    r"\s*(?:<!--.{0,2000}?-->\s*)?(?:<!doctype html|<html\b|<head\b|<body\b)", re.IGNORECASE | re.DOTALL
)
_TAG: Final = re.compile(
    r"</?(?:html|head|body|div|span|p|a|ul|ol|li|table|tr|td|th|h[1-6]|section|article|header|footer|nav|main|script|"
    r"style|form|input|button|img|link|meta|svg|path)\b[^<>]{0,2000}>",
    re.IGNORECASE,
)
_SILENT: Final = frozenset({"script", "style", "noscript", "template", "svg"})
_BLOCKS: Final = frozenset({
    "article", "br", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "li", "ol", "p",
    "section", "table", "td", "th", "tr", "ul",
})  # fmt: skip


class _Reader(HTMLParser):
    """Collects the title, the headings and the text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.headings: list[tuple[int, int, str]] = []
        self.blocks: list[str] = [""]
        self._open = ""
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where titles and headings begin."""
        del attrs
        if tag in _SILENT:
            self._silent += 1
        if tag == "title" or (len(tag) == 2 and tag[0] == "h" and tag[1].isdigit()):
            self._open = tag
            if tag != "title":
                self.headings.append((self.getpos()[0], int(tag[1]), ""))
        if tag in _BLOCKS and self.blocks[-1]:
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        """Note where they end."""
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        if tag == self._open:
            self._open = ""

    def handle_data(self, data: str) -> None:
        """Add text to where it belongs."""
        words = " ".join(data.split())
        if not words or self._silent:
            return
        if self._open == "title":
            self.title = f"{self.title} {words}".strip()
        elif self._open:
            line, level, text = self.headings[-1]
            self.headings[-1] = (line, level, f"{text} {words}".strip())
        else:
            self.blocks[-1] = f"{self.blocks[-1]} {words}".strip()


def recognise(document: Document) -> bool:
    """Say whether the text begins as a page does or consists of tags."""
    beginning = document.content[:20_000]
    if _START.match(beginning):
        return True
    tags = sum(len(found[0]) for found in _TAG.finditer(beginning))
    return beginning.lstrip().startswith("<") and tags >= 0.25 * len(beginning)


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write the title, the outline and the first text."""
    reader = _Reader()
    reader.feed(document.content[:_PARSED_CHARACTERS])
    reader.close()
    headings = [heading for heading in reader.headings if heading[2]]
    blocks = [block for block in reader.blocks if len(block) > 30] or [
        block for block in reader.blocks if block
    ]
    if not (reader.title or headings or blocks):
        return None
    sheet.title(_title(document, reader.title, len(headings)), document.lead)
    outline = [document.numbered(line - 1, f"{'  ' * (level - 1)}{text}") for line, level, text in headings]
    listed = sheet.add_all(outline, share=0.5, rest="heading")
    written = sheet.add_all(blocks)
    shown = joined(
        part_of(listed, len(headings), "heading"),
        f"first {counted(written, 'line')} of its text without tags" if written else "",
    )
    return Draft(shown, f"offset={document.number(headings[0][0] - 1)}" if headings else "")


def _title(document: Document, title: str, headings: int) -> str:
    named = f": {title}" if title else ""
    whole = len(document.content) <= _PARSED_CHARACTERS
    part = "" if whole else f", in its first {_PARSED_CHARACTERS} characters"
    return f"HTML page{named}, {counted(headings, 'heading')}{part}"
