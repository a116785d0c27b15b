"""Text made safe to show, and cut without breaking a character.

Terminal colours are taken out. What could change how the rest is displayed or break a request is written
as an escape: control characters, bidirectional overrides, line and paragraph separators, invisible tag
characters, lone surrogates. Tab and line feed stay. Cuts fall between grapheme clusters (what a reader
takes for one character), so cleaning comes first and cutting second.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

__all__ = [
    "cut",
    "cut_front",
    "raw_length",
    "shorten",
    "visible",
    "visible_head",
    "visible_tail",
    "without_colours",
]

_COLOUR: Final = r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,1024}(?:\x07|\x1b\\)"
_FLAG: Final = "\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f"
_PAIR: Final = "[\ud800-\udbff][\udc00-\udfff]"
_SEQUENCE: Final = re.compile(f"{_COLOUR}|{_FLAG}|{_PAIR}")
_COLOURS: Final = re.compile(_COLOUR)
_LONGEST_SEQUENCE: Final = 1100
_ODD: Final = re.compile(
    f"(?P<colour>{_COLOUR})|(?P<flag>{_FLAG})|(?P<pair>{_PAIR})|(?P<return>\r(?=\n|\\Z))|"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_SEARCHED_FOR_A_BOUNDARY: Final = 4096


def without_colours(text: str) -> str:
    """Return ``text`` without terminal colours and with bare line feeds; the number of lines stays."""
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    return text.replace("\r\n", "\n") if "\r" in text else text


def visible(text: str) -> str:
    """Return ``text`` as it may be shown."""
    return _ODD.sub(_shown, text)


def visible_head(text: str, characters: int) -> str:
    """Return about the first ``characters`` of ``text`` as they may be shown, ending between two clusters."""
    if len(text) <= characters:
        return visible(text)
    stop = _sequence_around(text, characters)[0]
    shown = visible(text[:stop])
    return cut(shown, len(shown) - 1)


def visible_tail(text: str, characters: int) -> str:
    """Return about the last ``characters`` of ``text`` as they may be shown, beginning between two clusters.

    Where no boundary is certain near the place, nothing is returned: finding one would mean reading from
    the start.
    """
    if len(text) <= characters:
        return visible(text)
    start = _boundary_from(text, len(text) - characters)
    return "" if start is None else visible(text[start:])


def cut(shown: str, characters: int) -> str:
    """Return the whole clusters within the first ``characters`` of a visible text."""
    if len(shown) <= characters:
        return shown
    if characters <= 0:
        return ""
    if shown[: characters + 1].isascii():
        return shown[:characters]
    ends = (found.end() for found in _cluster().finditer(shown[: characters + 1]))
    return shown[: max((end for end in ends if end <= characters), default=0)]


def cut_front(shown: str, characters: int) -> str:
    """Return the whole clusters within the last ``characters`` of a visible text."""
    if len(shown) <= characters:
        return shown
    first = len(shown) - max(0, characters)
    if shown.isascii():
        return shown[first:]
    starts = (found.start() for found in _cluster().finditer(shown))
    return shown[next((start for start in starts if start >= first), len(shown)) :]


def shorten(line: str, width: int) -> str:
    """Return one line as it may be shown, of about ``width`` characters at most.

    A line that loses much says how much.
    """
    if len(line) <= width:
        return visible(line)
    window = 2 * width + _LONGEST_SEQUENCE
    head = cut(visible_head(line, window), width - 1)
    lost = len(line) - raw_length(line[:window], len(head))
    if lost <= 0:
        return head
    return f"{head}…" if lost < 1000 else f"{head}… ({lost} more characters)"


def raw_length(text: str, shown: int) -> int:
    """Return how many characters of ``text`` make the first ``shown`` characters of its visible form."""
    done = written = 0
    for odd in _ODD.finditer(text):
        plain = odd.start() - done
        if written + plain >= shown:
            break
        written += plain + len(_shown(odd))
        done = odd.end()
    return min(len(text), done + max(0, shown - written))


def _shown(odd: re.Match[str]) -> str:
    if odd["colour"] or odd["return"]:
        return ""
    if odd["flag"]:
        return odd[0]
    if odd["pair"]:
        return odd[0].encode("utf-16", "surrogatepass").decode("utf-16")
    code = ord(odd[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _sequence_around(text: str, position: int) -> tuple[int, int]:
    """Return where the sequence begins and ends that ``position`` would cut, else ``position`` twice."""
    start, stop = max(0, position - _LONGEST_SEQUENCE), position + _LONGEST_SEQUENCE
    for found in _SEQUENCE.finditer(text, start, stop):
        if found.start() < position < found.end():
            return found.span()
    return position, position


def _boundary_from(text: str, position: int) -> int | None:
    """Return a place from ``position`` on that is a cluster boundary whatever stands before it."""
    last = min(len(text), position + _SEARCHED_FOR_A_BOUNDARY)
    while position < last:
        around = text[position - 1 : position + 1]
        if not (around.isascii() and around != "\r\n"):
            found = _certain_boundary().search(text, position, last)
            if found is None:
                return None
            position = found.start()
        after = _sequence_around(text, position)[1]
        if after == position:
            return position
        position = after
    return None


@cache
def _cluster() -> Any:
    import regex  # noqa: PLC0415 - takes 25 ms to load and serves only text beyond ASCII

    return regex.compile(r"\X")


@cache
def _certain_boundary() -> Any:
    import regex  # noqa: PLC0415 - see _cluster

    other, pictograph = r"\p{Grapheme_Cluster_Break=Other}", r"\p{Extended_Pictographic}"
    return regex.compile(rf"(?<=\n)|(?<=[{other}--{pictograph}])(?={other})", regex.VERSION1)
