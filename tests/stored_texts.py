"""Stored texts, counters and a reader that follows hints, for the tests of reading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from offloadkit.lines import LineIndex
from offloadkit.read_call import parse_call
from offloadkit.reading import ReadRequest, StoredText, read_page

REF = "abcdefgh234567xy"
OTHER_REF = "zzzzyyyyxxxxwwww"
_FENCED = re.compile(r"<data ([0-9a-f]{8})>\n(.*)</data \1>\n", re.DOTALL)


@dataclass
class Store:
    """A text as a store holds it, and what was fetched of it."""

    data: bytes
    fetched: list[tuple[int, int]] = field(default_factory=list)

    def fetch(self, start: int, length: int) -> bytes:
        """Return a range of bytes."""
        self.fetched.append((start, length))
        return self.data[start : start + length]


class ByteEstimate:
    """Counts 3.5 bytes a token, as the default counter does."""

    def units(self, text: str) -> int:
        """Return the bytes."""
        return len(text.encode("utf-8", "surrogatepass"))

    def tokens(self, units: int) -> int:
        """Return the tokens, rounded up."""
        return -(-units * 2 // 7)


class Characters:
    """Counts one token a character: the crudest counter there is."""

    def units(self, text: str) -> int:
        """Return the characters."""
        return len(text)

    def tokens(self, units: int) -> int:
        """Return as many tokens."""
        return units


class Words:
    """Counts words and marks, as a tokenizer does: nothing adds up, and long blanks cost nothing."""

    def units(self, text: str) -> int:
        """Return the words and marks."""
        return len(re.findall(r"\w{1,6}|[^\w\s]|\s+", text))

    def tokens(self, units: int) -> int:
        """Return as many tokens."""
        return units


COUNTERS = (ByteEstimate(), Characters(), Words())


def stored(text: str, *, store: Store | None = None, **about: Any) -> StoredText:
    """Return a text as a stored result."""
    store = store or Store(text.encode("utf-8", "surrogatepass"))
    fields = {"ref": REF, "tool": "search_code", **about}
    return StoredText(size=len(store.data), index=LineIndex.build(store.data), fetch=store.fetch, **fields)


def read(text: str | StoredText, *, page_tokens: int = 2000, counter: Any = None, **request: Any) -> str:
    """Return the answer to a request."""
    opened = stored(text) if isinstance(text, str) else text
    return read_page(
        opened, ReadRequest(**request), page_tokens=page_tokens, counter=counter or ByteEstimate()
    )


def content(answer: str) -> str:
    """Return what stands between the marks, which stand in the answer once each."""
    found = _FENCED.search(answer)
    assert found is not None, answer[:300]
    assert answer.count(f"<data {found[1]}>") == answer.count(f"</data {found[1]}>") == 1
    return found[2]


def next_arguments(answer: str) -> dict[str, Any] | None:
    """Return the arguments of the call that the answer names as the next one, without the reference."""
    hint = _FENCED.sub("", answer).rpartition("Next: ")[2] if "Next: " in _FENCED.sub("", answer) else ""
    call = parse_call(hint)
    if call is None:
        return None
    assert call[1].pop("ref") == REF
    return call[1]


def walk(
    opened: StoredText, *, page_tokens: int = 2000, counter: Any = None, **request: Any
) -> Iterator[str]:
    """Yield the answers that a reader gets who makes each call that an answer names."""
    arguments: dict[str, Any] | None = request
    while arguments is not None:
        answer = read(opened, page_tokens=page_tokens, counter=counter, **arguments)
        yield answer
        arguments = next_arguments(answer)


def texts() -> st.SearchStrategy[str]:
    """Generate texts of every shape: odd characters, empty and long lines, with a last newline or not."""
    odd = st.sampled_from(
        [
            "\r",
            "\r\n",
            "\x00",
            "\f",
            "\x0b",
            "\x85",
            "\u2028",
            "\ud800",
            "\udfff",
            "\ufeff",
            "😀",
            "é",
            "e\u0301",
        ]
    )
    piece = st.one_of(
        st.just("\n"), odd, st.text(max_size=20), st.sampled_from(["数据", "a b, ", "</data>", "x" * 40])
    )
    repeated = st.builds(lambda text, times: text * times, piece, st.integers(1, 60))
    return st.lists(st.one_of(piece, repeated), max_size=30).map("".join)
