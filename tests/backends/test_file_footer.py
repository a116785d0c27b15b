"""The line behind the payload: what it keeps, and that nothing else passes for it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offloadkit_file.footer import TAIL_BYTES, Footer, decode, encode, next_slot

TIMES = st.one_of(st.none(), st.floats(allow_nan=False))
FOOTERS = st.builds(
    Footer,
    size=st.integers(0, 2**50),
    meta=st.binary(max_size=1024),
    created_at=st.floats(0, 2**40),
    expires_at=TIMES,
    sequence=st.just(1),
)


def written(footer: Footer, key: str = "a/b") -> bytes:
    return encode(
        key, size=footer.size, meta=footer.meta, created_at=footer.created_at, expires_at=footer.expires_at
    )


def read(data: bytes, key: str = "a/b", size: int = 0) -> Footer | None:
    return decode(key, data[-TAIL_BYTES:], size + len(data))


def with_slot(data: bytes, footer: Footer, expires_at: float | None, *, kept: int | None = None) -> bytes:
    """Return ``data`` after another expiry was written, or only the first ``kept`` bytes of it."""
    before_end, slot = next_slot("a/b", footer, expires_at)
    at, slot = len(data) - before_end, slot[:kept]
    return data[:at] + slot + data[at + len(slot) :]


@given(FOOTERS)
def test_it_keeps_what_it_was_given(footer: Footer) -> None:
    assert read(written(footer), size=footer.size) == footer


def test_the_largest_metadata_fits_the_tail() -> None:
    footer = Footer(2**63, b"\xff" * 1024, -1.7976931348623157e308, -1.7976931348623157e308, 1)
    assert len(written(footer)) <= TAIL_BYTES


@given(FOOTERS)
def test_it_is_one_line_of_ascii(footer: Footer) -> None:
    data = written(footer)
    assert data.isascii()
    assert (data[:1], data[-1:], data.count(b"\n")) == (b"\n", b"\n", 2)


@given(FOOTERS, st.integers(1, 3000))
def test_cut_off_anywhere_it_is_none(footer: Footer, missing: int) -> None:
    data = b"payload" + written(footer._replace(size=7))
    assert read(data[:-missing] if missing < len(data) else b"") is None


@given(FOOTERS, st.integers(1, 4096))
def test_with_a_tail_of_zeros_it_is_none(footer: Footer, zeros: int) -> None:
    assert read(written(footer) + bytes(zeros), size=footer.size) is None


@given(FOOTERS)
def test_under_another_name_it_is_none(footer: Footer) -> None:
    assert read(written(footer), key="a/c", size=footer.size) is None


@given(FOOTERS, st.integers(1, 100))
def test_behind_a_payload_of_another_length_it_is_none(footer: Footer, more: int) -> None:
    assert read(written(footer), size=footer.size + more) is None


@settings(max_examples=300)
@given(FOOTERS, st.data())
def test_a_changed_byte_never_changes_what_is_read(footer: Footer, data: st.DataObject) -> None:
    whole = bytearray(written(footer))
    position = data.draw(st.integers(0, len(whole) - 1))
    whole[position] ^= data.draw(st.integers(1, 255))
    found = read(bytes(whole), size=footer.size)
    assert found is None or found._replace(expires_at=None, sequence=1) == footer._replace(expires_at=None)


@pytest.mark.parametrize("data", [b"", b"\n", b"offloadkit1\n", b" " * 200 + b"offloadkit1\n", b"x" * 5000])
def test_other_bytes_are_none(data: bytes) -> None:
    assert read(data) is None


@given(st.binary(max_size=400))
def test_any_bytes_are_read_without_an_exception(data: bytes) -> None:
    assert read(data) is None


@given(FOOTERS, st.lists(TIMES, min_size=1, max_size=5))
def test_the_expiry_may_be_set_again_and_again(footer: Footer, times: list[float | None]) -> None:
    data, latest = written(footer), footer
    for sequence, expires_at in enumerate(times, start=2):
        data = with_slot(data, latest, expires_at)
        latest = read(data, size=footer.size) or latest
        assert latest == footer._replace(expires_at=expires_at, sequence=sequence)


@given(FOOTERS, TIMES, TIMES, st.integers(0, 52))
def test_a_torn_expiry_is_the_old_or_the_new_one(
    footer: Footer, first: float | None, second: float | None, kept: int
) -> None:
    once = with_slot(written(footer), footer, first)
    before = read(once, size=footer.size)
    assert before is not None
    torn = read(with_slot(once, before, second, kept=kept), size=footer.size)
    assert torn is not None
    assert torn.expires_at in (first, second)
    assert torn.expires_at == second or kept < 52


@given(FOOTERS, TIMES, TIMES, st.integers(0, 51))
def test_after_a_torn_expiry_another_can_be_set(
    footer: Footer, first: float | None, second: float | None, kept: int
) -> None:
    torn = with_slot(written(footer), footer, first, kept=kept)
    before = read(torn, size=footer.size)
    assert before is not None
    after = read(with_slot(torn, before, second), size=footer.size)
    assert after is not None
    assert after.expires_at == second
