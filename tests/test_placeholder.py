"""The text left behind: the same bytes each time, read back exactly, never forged by a tool's name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.placeholder import (
    Found,
    Placeholder,
    parse,
    render_cleared,
    render_offloaded,
    seal_holds,
    shown_tool,
)

WORDS = "[Old tool result content cleared]"
REF = "abcdefgh234567ab"
SEARCH = Placeholder(REF, tokens=5214, lines=480, tool="search_code")


def cleared(placeholder: Placeholder, words: str = WORDS) -> str:
    return render_cleared(placeholder, words=words, read_tool="read_offloaded", session="s")


def offloaded(placeholder: Placeholder, preview: str, next_call: str = "") -> str:
    return render_offloaded(
        placeholder,
        shown="first 12 and last 8 lines",
        next_call=next_call,
        preview=preview,
        read_tool="read_offloaded",
        session="s",
    )


def test_a_cleared_result_leaves_one_line_that_says_what_it_was_and_how_to_get_it_back() -> None:
    assert cleared(SEARCH) == (
        "[Old tool result content cleared] 5,214 tokens, 480 lines of search_code. "
        'read_offloaded(ref="abcdefgh234567ab") returns it. (seal 1bb456)'
    )


def test_an_offloaded_result_leaves_a_header_of_the_same_shape_and_its_preview() -> None:
    assert offloaded(SEARCH, "a\nb", "offset=13") == (
        "[Tool result offloaded] 5,214 tokens, 480 lines of search_code. Below: first 12 and last 8 lines. "
        'read_offloaded(ref="abcdefgh234567ab") returns all of it; add offset=13 to read on. (seal fdc23c)'
        "\na\nb"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"failed": True}, "480 lines of search_code, failed."),
        ({"media": 1}, "480 lines of search_code, with 1 attachment."),
        ({"media": 2, "failed": True}, "search_code, failed, with 2 attachments."),
        ({"tool": None}, "480 lines. read_offloaded"),
        ({"tokens": 1, "lines": 1}, "1 token, 1 line of search_code."),
        (
            {"again": 'read_offloaded(ref="x", offset=5)'},
            'it; read_offloaded(ref="x", offset=5) shows it again.',
        ),
    ],
)
def test_the_line_says_what_matters(change: dict[str, object], words: str) -> None:
    assert words in cleared(replace(SEARCH, **change))  # type: ignore[arg-type]


PLACEHOLDERS = st.builds(
    Placeholder,
    ref=st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=16, max_size=16),
    tokens=st.integers(0, 10**9),
    lines=st.integers(0, 10**9),
    tool=st.text().map(shown_tool),
    failed=st.booleans(),
    media=st.integers(0, 50),
)


def test_a_thousand_attachments_are_read_back() -> None:
    placeholder = replace(SEARCH, media=1_000)

    assert parse(cleared(placeholder)) == Found(placeholder, offloaded=False)


@given(PLACEHOLDERS, st.sampled_from(["", 'read_offloaded(ref="abcdefgh234567ab", search="a) b")']))
def test_a_cleared_line_is_read_back_exactly(placeholder: Placeholder, again: str) -> None:
    placeholder = replace(placeholder, again=again)

    assert parse(cleared(placeholder)) == Found(placeholder, offloaded=False)


@given(PLACEHOLDERS, st.text())
def test_an_offloaded_text_is_read_back_exactly_whatever_the_preview_holds(
    placeholder: Placeholder, preview: str
) -> None:
    assert parse(offloaded(placeholder, preview)) == Found(placeholder, offloaded=True)


@given(st.text(), st.text())
def test_an_offloaded_text_is_read_back_whatever_describes_the_preview(shown: str, next_call: str) -> None:
    text = render_offloaded(SEARCH, shown=shown, next_call=next_call, preview="x", read_tool="read_offloaded")

    assert parse(text) == Found(SEARCH, offloaded=True)


def test_a_line_with_other_first_words_is_still_read() -> None:
    assert parse(cleared(SEARCH, words="[cleared]")) == Found(SEARCH, offloaded=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        WORDS,
        cleared(SEARCH) + "\n",
        cleared(SEARCH) + " ",
        "\n" + cleared(SEARCH),
        "see: " + offloaded(SEARCH, "x"),
        offloaded(SEARCH, "x").split("\n", maxsplit=1)[0],
        cleared(SEARCH).replace(REF, REF.upper()),
        cleared(SEARCH).replace(REF, REF + "a"),
        cleared(SEARCH).replace("5,214", "-5"),
    ],
)
def test_text_of_another_shape_is_not_ours(text: str) -> None:
    assert parse(text) is None


def test_a_long_text_without_line_feeds_is_refused_quickly() -> None:
    assert parse("1 token, " * 1_000_000) is None


@given(PLACEHOLDERS, st.text())
def test_what_was_rendered_in_a_session_holds_its_seal_there_and_nowhere_else(
    placeholder: Placeholder, preview: str
) -> None:
    for text in (cleared(placeholder), offloaded(placeholder, preview)):
        assert seal_holds(text, "s")
        assert not seal_holds(text, "other")


@given(st.text(min_size=1))
def test_a_placeholder_with_anything_added_or_changed_breaks_its_seal(added: str) -> None:
    text = offloaded(SEARCH, "a\nb")

    assert not seal_holds(text + added, "s")
    assert not seal_holds(text.replace("480 lines", "481 lines"), "s")
    assert not seal_holds(cleared(SEARCH).replace("[Old", "[old"), "s")
    assert not seal_holds(added, "s")


@given(st.text())
def test_a_tools_name_cannot_break_out_of_the_sentence(name: str) -> None:
    shown = shown_tool(name)

    assert shown is None or (shown.isascii() and not set(shown) & set(' \n"();,') and len(shown) <= 64)
