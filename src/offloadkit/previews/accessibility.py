"""Accessibility trees, as browser tools print pages: the title, headings and controls with line numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set as AbstractSet
from typing import Final

from offloadkit.previews.cleaning import shorten
from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, counted, joined, part_of

__all__ = ["recognise", "render"]

_ROOT: Final = "RootWebArea"
_CONTROLS: Final = frozenset({
    "button", "checkbox", "combobox", "listbox", "menuitem", "option", "radio", "searchbox", "slider",
    "spinbutton", "switch", "tab", "textbox",
})  # fmt: skip
_ROLES: Final = _CONTROLS | frozenset({
    _ROOT, "Iframe", "LabelText", "LayoutTable", "StaticText", "alert", "article", "banner", "cell",
    "columnheader", "contentinfo", "dialog", "form", "generic", "gridcell", "heading", "image", "img", "link",
    "list", "listitem", "main", "menu", "menubar", "navigation", "note", "paragraph", "region", "row",
    "rowgroup", "rowheader", "search", "section", "separator", "status", "table", "tablist", "tabpanel",
    "text", "toolbar",
})  # fmt: skip
_LINE: Final = re.compile(
    r"\s*(?:- )?(?:\[\w+\] ?|BID:\w+ |\w{1,6}:\d+ )?(?P<role>[A-Za-z]+)\b[: ]*(?P<name>.*)"
)
_LEAST_SHARE: Final = 0.6
_LEAST_ROLES: Final = 4
_WIDTH: Final = 100


def recognise(document: Document) -> bool:
    """Say whether there is the root of a page, or most lines begin with one of several roles."""
    roles = [role for line in document.sample if (role := _role(line))]
    if _ROOT in roles[:5]:
        return True
    return len(roles) >= _LEAST_SHARE * len(document.sample) and len(set(roles)) >= _LEAST_ROLES


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write how many elements of each role, the headings, the controls, and the first lines."""
    roles = [_role(line) for line in document.lines]
    totals = Counter(role for role in roles if role)
    if not totals:
        return None
    counts = ", ".join(f"{number} {role}" for role, number in totals.most_common(7))
    page = _page(document.lines, roles)
    sheet.title(f"Accessibility tree{document.extent}{page}: {counts}", document.lead)
    main = roles.index("main") if "main" in roles else 0
    headings = sheet.add_all(_described(document, roles, {"heading"}, main), share=0.5, rest="heading")
    controls = sheet.add_all(_described(document, roles, _CONTROLS, main), share=0.7, rest="control")
    rest = sheet.add_all([line for line in document.lines[main:] if line.strip()])
    shown = joined(
        part_of(headings, totals["heading"], "heading"),
        counted(controls, "control") if controls else "",
        counted(rest, "line") if rest else "",
    )
    return Draft(shown, f"offset={document.number(main)}")


def _role(line: str) -> str | None:
    found = _LINE.match(line, 0, 200)
    return found["role"] if found and found["role"] in _ROLES else None


def _page(lines: list[str], roles: list[str | None]) -> str:
    """Return the title of the page, or ""."""
    for line, role in zip(lines[:20], roles, strict=False):
        if role == _ROOT and (found := _LINE.match(line)):
            return f" of {found['name'].strip()}"
    return ""


def _described(document: Document, roles: list[str | None], wanted: AbstractSet[str], main: int) -> list[str]:
    """Return the lines of some roles that say more than the role, those of the main part first."""
    indices = [index for index, role in enumerate(roles) if role in wanted]
    ordered = [index for index in indices if index >= main] + [index for index in indices if index < main]
    lines = ((index, shorten(document.lines[index].strip(), _WIDTH)) for index in ordered)
    return [document.numbered(index, line) for index, line in lines if " " in line]
