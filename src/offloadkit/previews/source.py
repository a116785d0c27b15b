"""Source code: the language, and the definitions with their line numbers.

Definitions are found by patterns in every language, Python included. What tools return is mostly a piece
of a file, or its two ends with the middle left out, which no parser accepts; and Python's own parser may
print warnings about the code that it reads.
"""

from __future__ import annotations

import re
from typing import Final

from offloadkit.previews.cleaning import shorten
from offloadkit.previews.document import Document
from offloadkit.previews.languages import LANGUAGES, Language
from offloadkit.previews.sheet import Draft, Sheet, both_ends, counted, joined, part_of

__all__ = ["recognise", "render"]

_LEAST_MARKED: Final = 0.3
_LEAST_MARKED_WITH_DEFINITIONS: Final = 0.12
_MOST_PROSE: Final = 0.3
_PROSE: Final = re.compile(r"[A-Z][a-z]+(?: [a-z,]+){4,}|#{1,6} \S|[-*] \S")
_COMMENT: Final = re.compile(r"\s*(?:#(?!\s*(?:include|define|if|endif|pragma)\b|\[|!)|//|/?\*|--|;;)")
_OUTLINE_WIDTH: Final = 100
_MATCHED_WIDTH: Final = 400


def recognise(document: Document) -> bool:
    """Say whether enough lines are typical of a language."""
    return _language(document) is not None


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write the definitions, the outer ones first when not all fit, then the first and the last lines."""
    language = _language(document)
    if language is None:
        return None
    found = [
        index
        for index, line in enumerate(document.lines)
        if language.definition.match(line, 0, _MATCHED_WIDTH)
    ]
    sheet.title(_title(document, language, len(found)), document.lead)
    listed = _add_outline(document, sheet, found) if found else 0
    head, tail = sheet.add_ends(document.lines, first_share=0.8, gap=document.gap)
    shown = joined(part_of(listed, len(found), "definition"), both_ends(head, tail, "line"))
    return Draft(shown, f"offset={document.number(head)}")


def _title(document: Document, language: Language, definitions: int) -> str:
    own = "" if document.numbered_from is None else f", its own numbers from {document.numbered_from}"
    lines = counted(document.content_lines, "line")
    defined = f", {counted(definitions, 'definition')}:" if definitions else ""
    return f"{language.name} source, {lines}{own}{document.extent}{defined}"


def _add_outline(document: Document, sheet: Sheet, found: list[int]) -> int:
    """Write definitions in their order, the outer ones first when not all fit; return how many."""
    levels = _levels([document.lines[index] for index in found])
    lines = [
        document.numbered(
            index, "  " * level + shorten(document.lines[index].strip(), _OUTLINE_WIDTH).rstrip("{: ")
        )
        for index, level in zip(found, levels, strict=True)
    ]
    ranked = sorted(range(len(found)), key=lambda place: levels[place])
    return len(sheet.add_ranked(lines, ranked, share=0.75))


def _levels(lines: list[str]) -> list[int]:
    """Return how deep each definition stands, by its indentation."""
    indents = [len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) for line in lines]
    rank = {indent: level for level, indent in enumerate(sorted(set(indents)))}
    return [rank[indent] for indent in indents]


def _language(document: Document) -> Language | None:
    """Return the language that most sampled lines are typical of."""
    code = [line for line in document.sample if not _COMMENT.match(line)]
    fenced = any(line.startswith("```") for line in code)
    if len(code) < 5 or fenced or document.share(_PROSE) > _MOST_PROSE:
        return None
    marked = [sum(1 for line in code if language.mark.match(line)) for language in LANGUAGES]
    best = marked.index(max(marked))
    defined = any(LANGUAGES[best].definition.match(line) for line in document.sample)
    least = _LEAST_MARKED_WITH_DEFINITIONS if defined else _LEAST_MARKED
    return LANGUAGES[best] if marked[best] >= least * len(code) else None
