"""Plain text: its beginning and its end, by lines, or by characters where lines are long.

Every text can be shown this way, so it is also what a failed recognition falls back to.
"""

from __future__ import annotations

from typing import Final

from offloadkit.previews.cleaning import raw_length, visible_head, visible_tail
from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, both_ends, joined

__all__ = ["recognise", "render"]

_WINDOW_A_TOKEN: Final = 16


def recognise(_document: Document) -> bool:
    """Say yes: any text is text."""
    return True


def render(document: Document, sheet: Sheet) -> Draft:
    """Show both ends; of a failed result mostly the last."""
    if document.lead:
        sheet.add(document.lead)
    first_share = 0.3 if document.is_error else 0.6
    length = document.stop - document.start
    if length > sheet.width * document.content_lines or document.content_lines < 3:
        return _by_characters(document, sheet, first_share)
    head, tail = sheet.add_ends(document.lines, first_share=first_share, gap=document.gap)
    if head == document.content_lines:
        return Draft("all lines")
    if not head and not tail:
        return _by_characters(document, sheet, first_share)
    return Draft(both_ends(head, tail, "line"), f"offset={document.number(head)}")


def _by_characters(document: Document, sheet: Sheet, first_share: float) -> Draft:
    raw = document.text[document.start : document.stop]
    gap = f"… {len(raw)} characters left out …"
    window = _WINDOW_A_TOKEN * max(1, sheet.left)
    if len(raw) <= window and sheet.add_block(visible_head(raw, window).rstrip("\n")):
        return Draft("all of it")
    left = sheet.left - sheet.cost(gap) - 1
    if left < sheet.cost(gap):
        return _beginning(document, raw, sheet)
    head = sheet.longest(visible_head(raw, window), int(left * first_share))
    shown = raw_length(raw[:window], len(head))
    tail = sheet.longest(visible_tail(raw[shown:], window), left - sheet.cost(head), from_end=True)
    omitted = max(0, len(raw) - shown - len(tail))
    sheet.add_block("\n".join(part for part in (head, f"… {omitted} characters left out …", tail) if part))
    return Draft(
        joined(both_ends(len(head), len(tail), "character")), _place(document, document.start + shown)
    )


def _beginning(document: Document, raw: str, sheet: Sheet) -> Draft:
    """Show the first characters alone, where the room is too small for more."""
    window = _WINDOW_A_TOKEN * max(1, sheet.left)
    head = sheet.longest(visible_head(raw, window), max(1, sheet.left - 1))
    sheet.add_block(head)
    place = _place(document, document.start + raw_length(raw[:window], len(head)))
    return Draft(joined(both_ends(len(head), 0, "character")), place)


def _place(document: Document, position: int) -> str:
    """Return the arguments that read on from a character of the stored text."""
    line = document.text.count("\n", 0, position) + 1
    column = position - document.text.rfind("\n", 0, position)
    return f"offset={line}" if column == 1 else f"offset={line}, column={column}"
