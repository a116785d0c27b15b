"""Results of real agents: most are recognised, all keep the budget, and each takes little time.

``pytest tests/previews/test_real_results.py -rP`` prints how many of each kind there are.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import missing, transcript_paths

from offloadkit.previews import Preview, preview
from offloadkit.tokens import token_counter

BYTES = token_counter("bytes")
BUDGET = 300
LARGE = 1_000


def results_of(path: Path) -> list[str]:
    """The texts of all tool results in a transcript."""
    raw = path.read_bytes()
    loaded: dict[str, Any] = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    contents = [message["content"] for message in loaded["messages"] if message["role"] == "tool"]
    return [content if isinstance(content, str) else json.dumps(content) for content in contents]


@pytest.fixture(scope="module")
def large_results() -> list[str]:
    paths = transcript_paths()
    if not paths:
        missing("no transcripts: set OFFLOADKIT_DATA to the folder that holds MANIFEST.jsonl")
    texts = [text for path in paths for text in results_of(path)]
    return [text for text in texts if BYTES.tokens(BYTES.units(text)) > LARGE]


@pytest.fixture(scope="module")
def previews(large_results: list[str]) -> list[Preview]:
    return [preview(text, budget=BUDGET, counter=BYTES) for text in large_results]


def test_each_preview_of_a_real_result_keeps_the_budget(previews: list[Preview]) -> None:
    assert max(BYTES.tokens(BYTES.units(made.text)) for made in previews) <= BUDGET


def test_few_real_results_are_plain_text(previews: list[Preview]) -> None:
    kinds = Counter(made.kind for made in previews)
    for kind, number in kinds.most_common():
        sys.stdout.write(f"{kind:14} {number:4} {number / len(previews):6.1%}\n")

    assert kinds["text"] < 0.1 * len(previews)


def test_a_preview_of_a_real_result_takes_little_time(large_results: list[str]) -> None:
    seconds = []
    for text in large_results:
        started = time.perf_counter()
        preview(text, budget=BUDGET, counter=BYTES)
        seconds.append(time.perf_counter() - started)
    seconds.sort()
    sys.stdout.write(f"median {seconds[len(seconds) // 2] * 1000:.1f} ms, most {seconds[-1] * 1000:.1f} ms\n")

    assert seconds[len(seconds) // 2] < 0.05
