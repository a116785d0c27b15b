"""What the model sees of a stored result: enough to know whether to open it, and where.

`preview` recognises what kind of content a text is and shows that kind: the shape of JSON, the failure in
test output, the outline of source code, both ends of plain text. It is pure and deterministic, its cost is
bounded, and it raises for no text. A new kind is one module with the functions of `recognition.Kind` and
one entry in `recognition.KINDS`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from offloadkit.errors import ConfigError
from offloadkit.previews.document import Document
from offloadkit.previews.recognition import KINDS, PLAIN, Kind, recognised
from offloadkit.previews.sheet import Draft, Sheet, counted, fits, joined
from offloadkit.tokens import TokenCounter

__all__ = ["KINDS", "Preview", "check_kind", "preview"]

_MAX_SHOWN: Final = 80
_NOTHING_FITS: Final = "…"
_ATTEMPTS: Final = 4
_MAX_DEPTH: Final = 3
_INSIDE: Final = " of the text inside"


@dataclass(frozen=True, slots=True)
class Preview:
    """What is shown of one stored result.

    Attributes:
        text: At most the budget in tokens, never blank. Words, or valid JSON as a whole: never broken JSON.
        kind: The kind that it was shown as, a key of `KINDS`.
        shown: A short phrase on what of the result it shows, of at most 80 characters.
        next_call: The most useful further arguments of the next read, or "".
    """

    text: str
    kind: str
    shown: str
    next_call: str


def preview(
    text: str,
    *,
    budget: int,
    counter: TokenCounter,
    kind: str | None = None,
    is_error: bool = False,
) -> Preview:
    """Return what to show of ``text``.

    Args:
        text: A stored result.
        budget: The most that the preview may hold, in tokens. One character is the least that is shown.
        counter: Counts them.
        kind: Show it as this kind where that is possible, whatever it looks like.
        is_error: The result was marked as failed: its end says more than its beginning.

    Raises:
        ConfigError: ``kind`` is no key of `KINDS`.
    """
    if kind is not None:
        check_kind(kind)
    document = Document(text, is_error=is_error)
    for name in (kind, PLAIN) if kind else recognised(document):
        made = _attempt(name, document, budget, counter)
        if made is not None:
            return made
    return _excerpt(document, budget, counter)


def check_kind(name: str) -> None:
    """Raise `ConfigError` when there is no such kind of preview."""
    if name not in KINDS:
        raise ConfigError(f"there is no preview of the kind {name!r}; known: {', '.join(sorted(KINDS))}")


def _attempt(name: str, document: Document, budget: int, counter: TokenCounter) -> Preview | None:
    """Render as one kind; None when the text is not of it or no attempt fits.

    Counters need not add up: where the lines together cost more than apart, a smaller sheet is tried.
    """
    for attempt in range(_ATTEMPTS):
        sheet = Sheet(budget * (10 - attempt) // 10, counter)
        draft = _rendered(KINDS[name], document, sheet)
        if draft is None or not sheet.text.strip():
            return None
        text = _not_broken_json(sheet.text)
        if fits(text, budget, counter):
            return Preview(text, name, _phrase(draft.shown), draft.next_call)
    return None


def _rendered(kind: Kind, document: Document, sheet: Sheet, depth: int = 0) -> Draft | None:
    """Fill the sheet; a text inside the content follows as what it is recognised as."""
    try:
        draft = kind.render(document, sheet)
    except Exception:  # noqa: BLE001 - a preview is a convenience: no text may stop the agent
        return None
    if draft is None or not draft.inner or depth >= _MAX_DEPTH:
        return draft
    inner = Document(draft.inner, is_error=document.is_error, addressable=False)
    for name in recognised(inner):
        inset = sheet.inset()
        inner_draft = _rendered(KINDS[name], inner, inset, depth + 1)
        if inner_draft is not None and sheet.add_block(inset.text):
            shown = inner_draft.shown.removesuffix(_INSIDE) + _INSIDE
            return Draft(shown, draft.next_call)
    return draft


def _not_broken_json(text: str) -> str:
    """Put a word before a text that would be taken for JSON and is none: model servers have choked on it."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return f"Text:\n{text}"
    return text


def _refuse(constant: str) -> None:
    """Raise for what Python reads as JSON and nobody else does."""
    raise ValueError(constant)


def _phrase(shown: str) -> str:
    """Return as many parts of a phrase as a header line has room for."""
    while len(shown) > _MAX_SHOWN and ", " in shown:
        shown = shown.rpartition(", ")[0]
    return joined(shown[:_MAX_SHOWN])


def _excerpt(document: Document, budget: int, counter: TokenCounter) -> Preview:
    """Return the one line that is left when nothing else fits."""
    lines, characters = counted(document.line_count, "line"), counted(len(document.text), "character")
    summary = f"text of {lines}, {characters}"
    beginnings = (summary[:length] for length in range(len(summary), 0, -1))
    line = next((beginning for beginning in beginnings if fits(beginning, budget, counter)), _NOTHING_FITS)
    return Preview(line, PLAIN, "its size", "offset=1")
