"""Contents become bytes and come back equal, byte for byte, or are not replaced at all."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.content import EncodedContent, content_of, decode, encode, readable_text
from offloadkit.errors import Corrupt
from offloadkit.results import Content

TEXTS = st.text(st.characters(codec=None, categories=None), max_size=60)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def text_content(text: str) -> Content:
    return Content(text, (((), text),))


def blocks_content(*blocks: Any) -> Content:
    texts = [((i, "text"), block["text"]) for i, block in enumerate(blocks) if "text" in block]
    return Content(list(blocks), tuple(texts))


def back(encoded: EncodedContent | None) -> Any:
    assert encoded is not None
    return decode(encoded.type, encoded.body, encoded.structure)


@given(TEXTS)
def test_text_comes_back_exactly(text: str) -> None:
    assert back(encode(text_content(text))) == text


@pytest.mark.parametrize(
    "text", ["a\x00b", "a\r\nb\r", "\x0c", "a\u2028b\u2029c\x85", "\ud83d", "\ude00\ud83d", "\ufeffx"]
)
def test_awkward_characters_come_back_exactly(text: str) -> None:
    assert back(encode(text_content(text))) == text


@given(st.binary(max_size=80))
def test_bytes_come_back_as_the_same_bytes(data: bytes) -> None:
    assert back(encode(content_of(data, text_content))) == data


@given(JSON_VALUES.filter(lambda value: not isinstance(value, str)))
def test_a_json_value_comes_back_equal(value: Any) -> None:
    assert back(encode(Content(value))) == value


@given(
    st.lists(
        st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}) | st.just({"type": "image", "n": 1})
    )
)
def test_blocks_come_back_equal_and_their_texts_stand_first(blocks: list[dict[str, Any]]) -> None:
    encoded = encode(blocks_content(*blocks))

    assert back(encoded) == blocks
    assert encoded is not None
    if any("text" in block for block in blocks):
        assert encoded.text == "\n".join(block["text"] for block in blocks if "text" in block)


def test_the_texts_of_blocks_are_stored_once() -> None:
    encoded = encode(blocks_content({"type": "text", "text": "x" * 10_000}, {"type": "image", "data": "abc"}))

    assert encoded is not None
    assert len(encoded.body) + len(encoded.structure) < 10_200


@pytest.mark.parametrize(
    "value", [{1: "a"}, [(1, 2)], [float("nan")], {"a": {1}}, [{"offloadkit.bytes": "eA=="}]]
)
def test_a_value_that_would_come_back_different_is_not_replaced(value: Any) -> None:
    assert encode(Content(value)) is None


def test_bytes_inside_a_value_come_back_as_bytes() -> None:
    value = [{"text": "x"}, {"image": {"format": "png", "source": {"bytes": b"\x89PNG\xff"}}}]

    assert back(encode(Content(value))) == value
    assert back(encode(Content(value, (((0, "text"), "x"),)))) == value


def test_a_value_nested_too_deeply_is_not_replaced() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]

    assert encode(Content(value)) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (dt.date(2026, 1, 2), "2026-01-02"),
        ({"price": decimal.Decimal("1.50")}, '{"price": "1.50"}'),
        ({"raw": b"abc"}, '{"raw": "abc"}'),
        ({3, 1, 2}, "[1, 2, 3]"),
        ({"city": "Zürich 東京"}, '{"city": "Zürich 東京"}'),
        (None, "null"),
    ],
)
def test_any_value_has_some_readable_text(value: Any, expected: str) -> None:
    assert expected in readable_text(value)


def test_a_value_that_json_cannot_hold_becomes_its_readable_text() -> None:
    content = content_of({"at": dt.date(2026, 1, 2)}, Content)

    assert content == text_content('{"at": "2026-01-02"}')


@pytest.mark.parametrize(
    ("content_type", "body", "structure"),
    [
        ("text/plain", b"\xff", b""),
        ("application/json", b"{", b""),
        ("application/vnd.offloadkit.blocks+json", b"x", b"{}"),
        ("application/octet-stream;base64", b"!", b""),
        ("image/png", b"", b""),
    ],
)
def test_bytes_that_were_not_made_here_are_corrupt(content_type: str, body: bytes, structure: bytes) -> None:
    with pytest.raises(Corrupt):
        decode(content_type, body, structure)


@pytest.mark.parametrize(
    ("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2), ("a\rb\u2028c", 1)]
)
def test_a_line_ends_at_a_line_feed_and_nowhere_else(text: str, lines: int) -> None:
    encoded = encode(text_content(text))

    assert encoded is not None
    assert encoded.lines == lines
