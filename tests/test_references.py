"""References and keys are built from the session and the content, and never collide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.backend import check_key
from offloadkit.references import is_reference, key_segment, name_of_segment, reference_for

NAMES = st.text(st.characters(codec=None, categories=None), max_size=80)


@given(NAMES)
def test_every_name_becomes_a_legal_segment_of_a_key(name: str) -> None:
    segment = key_segment(name)

    assert check_key(f"{segment}/{segment}/abcdefgh234567ab")
    assert len(segment) <= 64


@given(st.lists(NAMES, unique=True))
def test_different_names_become_different_segments(names: list[str]) -> None:
    assert len({key_segment(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a/b", "a_2fb"),
        ("A", "a"),
        ("a.", "a"),
        ("", "_"),
        ("con", "_63on"),
        ("x" * 65, "x" * 66),
        ("a\n", "a"),
    ],
)
def test_names_that_other_systems_mix_up_stay_apart(one: str, other: str) -> None:
    assert key_segment(one) != key_segment(other)


@given(NAMES)
def test_a_segment_tells_the_name_it_was_made_of(name: str) -> None:
    segment = key_segment(name)

    assert name_of_segment(segment) == (segment if segment.startswith("_-") else name)


@given(st.text("_-abc0123456789", max_size=20))
def test_any_text_in_place_of_a_segment_is_shown_as_it_is_or_as_the_name(text: str) -> None:
    name = name_of_segment(text)

    assert name == text or key_segment(name) == text


def test_a_plain_name_stays_readable() -> None:
    assert key_segment("run-42") == "run-42"


@given(NAMES, NAMES, st.binary(min_size=32, max_size=32))
def test_the_same_content_in_another_session_has_another_reference(
    one: str, other: str, digest: bytes
) -> None:
    assert is_reference(reference_for(one, digest))
    assert (reference_for(one, digest) == reference_for(other, digest)) == (one == other)


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "abcdefgh234567a",
        "abcdefgh234567abc",
        "ABCDEFGH234567AB",
        "abcdefgh234567a1",
        "abcdefgh234567ab\n",
    ],
)
def test_text_of_another_form_is_no_reference(ref: str) -> None:
    assert not is_reference(ref)
