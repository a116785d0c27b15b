"""The line index finds what counting through the whole text finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_texts import Store, texts

from offloadkit import lines
from offloadkit.lines import BLOCK_BYTES, LineIndex


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("a\n", 1),
        ("\n", 1),
        ("\n\n", 2),
        ("a\nb", 2),
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\n", 2),
    ],
)
def test_a_line_ends_at_a_newline_and_nowhere_else(text: str, expected: int) -> None:
    assert LineIndex.build(encoded(text)).lines == expected


@given(texts())
def test_size_lines_and_characters_are_those_of_the_text(text: str) -> None:
    index = LineIndex.build(encoded(text))

    assert index.size == len(encoded(text))
    assert index.characters == len(text)
    assert index.lines == len(text.split("\n")) - (text.endswith("\n") or not text)


@given(texts(), st.data())
def test_the_start_of_a_line_is_found_in_blocks_of_any_place(text: str, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        store = Store(encoded(text))
        index = LineIndex.build(store.data)
        line = data.draw(st.integers(1, index.lines + 2))
        before = text.split("\n")[: line - 1]
        expected = len(encoded("".join(f"{line}\n" for line in before)))

        assert index.line_start(line, store.fetch) == min(expected, index.size)
        assert len(store.fetched) <= 1


@given(texts(), st.data())
def test_the_start_of_a_character_is_found(text: str, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        store = Store(encoded(text))
        index = LineIndex.build(store.data)
        number = data.draw(st.integers(0, len(text) + 1))

        start = index.character_start(number, store.fetch)

        assert start == len(encoded(text[:number]))
        assert index.characters_until(start, store.fetch) == min(number, len(text))
        assert len(store.fetched) <= 2


@given(texts(), st.data())
def test_the_line_of_a_byte_is_found(text: str, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        store = Store(encoded(text))
        position = data.draw(st.integers(0, len(store.data)))

        line = LineIndex.build(store.data).line_at(position, store.fetch)

        assert line == store.data.count(b"\n", 0, position) + 1


def test_finding_a_place_in_ten_megabytes_reads_one_block() -> None:
    store = Store(b"2024-01-01 INFO all is well\n" * 370_000)
    index = LineIndex.build(store.data)

    assert index.line_start(200_001, store.fetch) == 200_000 * 28
    assert index.character_start(5_000_000, store.fetch) == 5_000_000
    assert [length for _, length in store.fetched] == [BLOCK_BYTES, BLOCK_BYTES]


@given(texts())
def test_an_index_read_back_is_the_same(text: str) -> None:
    index = LineIndex.build(encoded(text))

    assert LineIndex.from_bytes(index.to_bytes()) == index


@given(texts())
def test_an_index_made_again_from_the_store_is_the_same(text: str) -> None:
    store = Store(encoded(text))

    assert LineIndex.rebuild(store.fetch, len(store.data)) == LineIndex.build(store.data)


def test_an_index_is_small() -> None:
    assert len(LineIndex.build(b"x\n" * 5_000_000).to_bytes()) < 1_500


@pytest.mark.parametrize("position", [0, 3, 4, 6, 14, 20, -1])
def test_a_flipped_byte_is_noticed(position: int) -> None:
    data = bytearray(LineIndex.build(b"one\ntwo\n").to_bytes())
    data[position] ^= 0x40

    with pytest.raises(ValueError, match="line index"):
        LineIndex.from_bytes(bytes(data))


@given(st.binary(max_size=60))
def test_any_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="line index"):
        LineIndex.from_bytes(data)


def test_a_cut_index_is_refused() -> None:
    data = LineIndex.build(b"one\n" * 50_000).to_bytes()

    for size in range(len(data)):
        with pytest.raises(ValueError, match="line index"):
            LineIndex.from_bytes(data[:size])
