"""The text left behind where a result stood: written and read here, and nowhere else.

A cleared result leaves one line::

    [Old tool result content cleared] 5,214 tokens, 480 lines of search_code.
    read_offloaded(ref="…") returns it. (seal 1f0c9a)

An offloaded one leaves a header line of the same shape and, below it, a preview::

    [Tool result offloaded] 5,214 tokens, 480 lines of search_code. Below: first 12 and last 8 lines.
    read_offloaded(ref="…") returns all of it; add offset=13 to read on. (seal 93d27b)

(each in one line). Both hold no clock and no random part: the same facts give the same bytes. `parse` reads
the facts back, so that a history which was reduced before leads to the same bytes as the untouched one.

The seal is a digest over the session and all the rest of the text. Text of this shape is ours only if its
seal holds and the archive knows the reference: a tool that prints a placeholder with something added or
changed must not lose what it added.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

__all__ = [
    "OFFLOADED_WORDS",
    "Found",
    "Placeholder",
    "parse",
    "render_cleared",
    "render_offloaded",
    "seal",
    "seal_holds",
    "shown_tool",
]

OFFLOADED_WORDS: Final = "[Tool result offloaded]"
MAX_TOOL_CHARACTERS: Final = 64

_FACTS = (
    r"(?P<tokens>[0-9][0-9,]*) tokens?, (?P<lines>[0-9][0-9,]*) lines?"
    r"(?: of (?P<tool>[A-Za-z0-9_.:/@-]{1,64}))?(?P<failed>, failed)?"
    r"(?:, with (?P<media>[0-9][0-9,]*) attachments?)?"
)
_CALL = r"[A-Za-z_][A-Za-z0-9_.-]*\(ref=\"(?P<ref>[a-z2-7]{16})\"\)"
_SEAL = r" \(seal [0-9a-f]{6}\)"
_CLEARED = re.compile(
    rf"[^\n]+ {_FACTS}\. {_CALL} returns it(?:; (?P<again>[A-Za-z_][^\n]*\)) shows it again)?\.{_SEAL}"
)
_OFFLOADED = re.compile(
    rf"{re.escape(OFFLOADED_WORDS)} {_FACTS}\. Below: [^\n]+\. {_CALL} returns all of it"
    r"(?:; add (?P<next>[^\n]+) to read on)?\." + _SEAL + r"\n(?P<preview>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """What is said of a result that left.

    Attributes:
        ref: Its reference: 16 characters of lower-case base32.
        tokens: Tokens that it held, by the policy's counter.
        lines: Lines of its text.
        tool: The tool's name as `shown_tool` writes it, or None.
        failed: True when the result was marked as failed.
        media: How many parts of it were no text.
        again: For a page that the read tool had shown: the call that shows it again, else "".
    """

    ref: str
    tokens: int
    lines: int
    tool: str | None = None
    failed: bool = False
    media: int = 0
    again: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A placeholder read off a text.

    Attributes:
        placeholder: Its facts.
        offloaded: True when a preview follows, False for the one line of a cleared result.
    """

    placeholder: Placeholder
    offloaded: bool


def shown_tool(tool: str | None) -> str | None:
    """Return a tool's name as it may stand in a sentence: what comes from outside cannot forge our words."""
    if not tool:
        return None
    return re.sub(r"[^A-Za-z0-9_.:/@-]", "_", tool[:MAX_TOOL_CHARACTERS])


def render_cleared(placeholder: Placeholder, *, words: str, read_tool: str, session: str = "") -> str:
    """Return the one line that a cleared result of a session leaves."""
    again = f"; {placeholder.again} shows it again" if placeholder.again else ""
    call = f'{read_tool}(ref="{placeholder.ref}")'
    return _sealed(f"{words} {_facts(placeholder)}. {call} returns it{again}.", "", session)


def render_offloaded(
    placeholder: Placeholder, *, shown: str, next_call: str, preview: str, read_tool: str, session: str = ""
) -> str:
    """Return the header line and the preview that an offloaded result leaves.

    Args:
        placeholder: The facts.
        shown: What of the result the preview shows, as a short phrase.
        next_call: The most useful further arguments of the next read, or "".
        preview: The preview.
        read_tool: The name of the read tool.
        session: Whose result it is; the seal depends on it.
    """
    call = f'{read_tool}(ref="{placeholder.ref}")'
    what, how = _on_one_line(shown) or "an excerpt", _on_one_line(next_call)
    hint = f"; add {how} to read on" if how else ""
    head = f"{OFFLOADED_WORDS} {_facts(placeholder)}. Below: {what}. {call} returns all of it{hint}."
    return _sealed(head, f"\n{preview}", session)


def parse(text: str) -> Found | None:
    """Read a placeholder off a text that is nothing else; None when it is not of the exact shape."""
    if text.startswith(OFFLOADED_WORDS):
        found = _OFFLOADED.fullmatch(text)
        return Found(_placeholder(found), offloaded=True) if found else None
    found = _CLEARED.fullmatch(text) if len(text) < 2000 else None
    return Found(_placeholder(found), offloaded=False) if found else None


def seal_holds(text: str, session: str) -> bool:
    """Say whether a text of our shape is, to the letter, one that was rendered in this session."""
    line, feed, preview = text.partition("\n")
    return text == _sealed(line.rpartition(" (seal ")[0], feed + preview, session)


def seal(session: str, text: str) -> str:
    """Return what seals a text in a session: six hex digits."""
    data = f"{session}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:6]


def _sealed(line: str, rest: str, session: str) -> str:
    return f"{line} (seal {seal(session, line + rest)}){rest}"


def _facts(placeholder: Placeholder) -> str:
    of_tool = f" of {placeholder.tool}" if placeholder.tool else ""
    failed = ", failed" if placeholder.failed else ""
    media = f", with {_count(placeholder.media, 'attachment')}" if placeholder.media else ""
    return (
        f"{_count(placeholder.tokens, 'token')}, {_count(placeholder.lines, 'line')}{of_tool}{failed}{media}"
    )


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _placeholder(found: re.Match[str]) -> Placeholder:
    fields = found.groupdict()
    return Placeholder(
        ref=found["ref"],
        tokens=int(found["tokens"].replace(",", "")),
        lines=int(found["lines"].replace(",", "")),
        tool=found["tool"],
        failed=found["failed"] is not None,
        media=int((found["media"] or "0").replace(",", "")),
        again=fields.get("again") or "",
    )
