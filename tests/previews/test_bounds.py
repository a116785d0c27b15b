"""What a preview costs: no input makes it slow, none is read whole where a part will do."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from preview_examples import EXAMPLES

from offloadkit.previews import preview
from offloadkit.tokens import token_counter

BYTES = token_counter("bytes")
SIZE = 3_000_000
GENEROUS_SECONDS = 4.0

HOSTILE = {
    "one word": "x" * SIZE,
    "words in one line": "lorem ipsum " * (SIZE // 12),
    "line feeds": "\n" * SIZE,
    "short lines": "a\n" * (SIZE // 2),
    "spaces": " " * SIZE,
    "joined emoji": "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}" * (SIZE // 5),
    "flags": "\U0001f1e9\U0001f1ea" * (SIZE // 2),
    "one cluster": "a" + "\u0301" * SIZE,
    "lone surrogates": "\ud83d" * SIZE,
    "colours": "\x1b[31mred\x1b[0m " * (SIZE // 14),
    "begun escapes": "\x1b[" * (SIZE // 2),
    "open brackets": "[" * SIZE,
    "open objects": '{"a":' * (SIZE // 5),
    "backslashes in a string": '["' + "\\" * SIZE,
    "quotes": '["' * (SIZE // 2),
    "tags": "<div>" * (SIZE // 5),
    "comments": "<!--" * (SIZE // 4),
    "commas": "a," * (SIZE // 2),
    "bars": "|" * SIZE,
    "slashes": "/a" * (SIZE // 2),
    "long lines of paths": ("a/b." * 500 + "\n") * (SIZE // 2_001),
    "long lines of words": ("public static " * 150 + "\n") * (SIZE // 2_101),
    "long lines of braces": ("{ " * 1_000 + "\n") * (SIZE // 2_001),
    "long lines of dashes": ("- " * 1_000 + "\n") * (SIZE // 2_001),
    "equal signs": ("=== " * 500 + "\n") * (SIZE // 2_001),
    "printed": "content=[TextContent(type='text', text='" + "line\\n" * (SIZE // 6),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_shown_in_time(name: str) -> None:
    started = time.perf_counter()
    made = preview(HOSTILE[name], budget=300, counter=BYTES)

    assert time.perf_counter() - started < GENEROUS_SECONDS
    assert BYTES.tokens(BYTES.units(made.text)) <= 300


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in {"json", "binary"}])
def test_a_large_text_of_each_kind_is_shown_in_time(name: str) -> None:
    text = EXAMPLES[name] * (SIZE // len(EXAMPLES[name]) + 1)

    started = time.perf_counter()
    preview(text, budget=300, counter=BYTES)

    assert time.perf_counter() - started < GENEROUS_SECONDS


def test_large_json_is_counted_whole() -> None:
    text = json.dumps([{"id": number} for number in range(200_000)])

    assert preview(text, budget=60, counter=BYTES).text.startswith("JSON: array of 200000 objects")


def test_json_beyond_all_measure_is_shown_as_text() -> None:
    text = '{"a": "' + "x" * 21_000_000 + '"}'

    assert preview(text, budget=60, counter=BYTES).kind == "text"


def test_counts_of_a_very_long_log_say_what_was_examined() -> None:
    text = EXAMPLES["log"] * (2 * SIZE // len(EXAMPLES["log"]))

    made = preview(text, budget=300, counter=BYTES)

    assert made.text.split("\n")[0].endswith(" in both ends examined")
    last = text.count("\n")
    assert f"\n{last}: 2024-03-01 10:11:00 INFO shop shutting down" in made.text


def test_importing_the_previews_loads_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import offloadkit.previews; "
        "print(sorted({'regex', 'pygments', 'rich', 're2'} & (set(sys.modules) - before)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "regex" not in run.stdout
    assert "pygments" not in run.stdout
