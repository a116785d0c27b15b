"""What holds for every text, every kind and every counter."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from preview_examples import EXAMPLES

from offloadkit.previews import KINDS, preview
from offloadkit.tokens import TokenCounter, token_counter

FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
ACCENTED = "e\u0301"
FLAG = "\U0001f1e9\U0001f1ea"
PAIR = "\ud83d\ude00"
RED = "\x1b[38;5;196m"
PIECES = [
    FAMILY,
    ACCENTED,
    FLAG,
    PAIR,
    RED,
    "\ud83d",
    "\ude00",
    "\u202e",
    "\x00",
    "\x9b",
    "\u2028",
    "\r",
    "\r\n",
]
WORDS = [
    *PIECES,
    *(
        "\n",
        " ",
        "\t",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        ":",
        ",",
        "|",
        "#",
        "-",
        "+",
        "=",
        "\\",
        "/",
        ".",
        "<",
        ">",
        "@@",
    ),
    *("ERROR", "Traceback (most recent call last):", "diff --git a/x b/x", "--- ", "+++ ", "@@ -1,2 +1,2 @@"),
    *("def f(", "class A:", "<html>", "</p>", "<h1>", "| a | b |", "|---|", "1,2,3", "a\tb", "12:30:01 INFO"),
    *(
        "x.py:12: ",
        "E   assert",
        "=== 1 failed ===",
        "# Title",
        "RootWebArea ",
        "TextContent(type='text', text='",
    ),
    *(
        "a",
        "word",
        "\N{CJK UNIFIED IDEOGRAPH-6570}",
        "0",
        "42",
        "1e999",
        "null",
        "\\ud83d",
        "\\n",
        "data:image/png;base64,",
    ),
]


@dataclass(frozen=True, slots=True)
class Strange:
    """A counter under which lines together cost more than apart, or far less."""

    power: float
    least: int

    def units(self, text: str) -> int:
        return self.least + int(len(text) ** self.power)

    def tokens(self, units: int) -> int:
        return units

    def __str__(self) -> str:
        return f"power {self.power}, least {self.least}"


COUNTERS = [token_counter("bytes"), Strange(1.3, 0), Strange(0.5, 0), Strange(1.0, 7)]

anything = st.one_of(
    st.text(max_size=300),
    st.text(alphabet=st.characters(exclude_categories=()), max_size=300),
    st.lists(st.sampled_from(WORDS), max_size=120).map("".join),
    st.lists(st.sampled_from(WORDS), max_size=20).map("".join).map(lambda text: text * 30),
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """An example of a kind, with pieces put in, repeated or taken out."""
    text = draw(st.sampled_from(sorted(EXAMPLES.values())))
    text = text[: draw(st.integers(200, 6_000))]
    for _ in range(draw(st.integers(0, 5))):
        place = draw(st.integers(0, len(text)))
        taken = draw(st.integers(0, 40))
        text = text[:place] + draw(st.sampled_from(WORDS)) * draw(st.integers(1, 3)) + text[place + taken :]
    return text


texts = st.one_of(anything, damaged())
budgets = st.one_of(st.integers(1, 60), st.sampled_from([100, 300, 1_000]))


def cost(text: str, counter: TokenCounter) -> int:
    return counter.tokens(counter.units(text))


@pytest.mark.parametrize("counter", COUNTERS, ids=str)
@given(text=texts, budget=budgets, kind=st.sampled_from([None, *KINDS]), is_error=st.booleans())
@settings(max_examples=150)
def test_no_text_raises_and_the_budget_is_kept(
    counter: TokenCounter, text: str, budget: int, kind: str | None, is_error: bool
) -> None:
    made = preview(text, budget=budget, counter=counter, kind=kind, is_error=is_error)

    assert made.text.strip()
    assert cost(made.text, counter) <= budget or made.text == "…"
    assert made.kind in KINDS
    assert 0 < len(made.shown) <= 80
    assert "\n" not in made.shown + made.next_call


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts)
@settings(max_examples=25)
def test_each_kind_survives_what_is_not_of_it(kind: str, text: str) -> None:
    made = preview(text, budget=120, counter=COUNTERS[0], kind=kind)

    assert made.kind in {kind, "text"}
    assert made.text.strip()


@given(text=texts, budget=budgets)
@settings(max_examples=100)
def test_a_preview_is_determined_by_its_arguments(text: str, budget: int) -> None:
    first = preview(text, budget=budget, counter=COUNTERS[0])

    assert preview(text, budget=budget, counter=COUNTERS[0]) == first


@given(text=texts, budget=budgets)
@example(text=PAIR * 500, budget=20)
@example(text=f'{{"t": "\\ud83d{"x" * 400}"}}', budget=60)
@settings(max_examples=200)
def test_what_is_shown_can_be_sent_and_displayed(text: str, budget: int) -> None:
    shown = preview(text, budget=budget, counter=COUNTERS[0]).text

    shown.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", shown)


@st.composite
def clustered(draw: st.DrawFn) -> str:
    """A text of any kind, all of whose letters are joined into clusters."""
    text = draw(st.sampled_from([*sorted(EXAMPLES.values()), "plain words " * 100]))
    joined = draw(st.sampled_from([FAMILY, FLAG, ACCENTED]))
    start = draw(st.integers(0, 500))
    return text[:start] + re.sub("[a-z]", joined, text[start : start + 3_000])


@given(text=clustered(), budget=budgets, kind=st.sampled_from([None, *KINDS]))
@settings(max_examples=200)
def test_no_cluster_is_cut(text: str, budget: int, kind: str | None) -> None:
    shown = preview(text, budget=budget, counter=COUNTERS[0], kind=kind).text

    rest = shown.replace(FAMILY, "").replace(FLAG, "").replace(ACCENTED, "")
    assert not re.search("[\N{MAN}\N{WOMAN}\N{GIRL}\u200d\U0001f1e9\U0001f1ea\u0301]", rest)


@given(text=texts, budget=budgets)
@settings(max_examples=100)
def test_no_terminal_colour_is_cut(text: str, budget: int) -> None:
    coloured = re.sub("[a-f]", RED, text.replace("38;5;196m", "").replace("\x1b", ""))

    shown = preview(coloured, budget=budget, counter=COUNTERS[0]).text

    assert "38;5;196m" not in shown
