"""What a read costs: a page of a large result against a page of a small one, a walk, a search.

    python benchmarks/reading.py [--json] [--rounds 30]

Every figure is a ratio or a rate of one run: medians of interleaved rounds over the memory and the file
backend. The aims: a page of 10 MB costs at most 1.5 times a page of 100 KB; a literal search runs at 200 MB a
second or better; walking a result from end to end costs the same for each byte however long it is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from offloadkit import Offloader, Policy
from offloadkit.placeholder import parse
from offloadkit.read_call import parse_call

POLICY = Policy(offloading_token_limit=100)
LINE = "2026-12-01 12:00:00 INFO request {n:09} served in 12 ms by worker 7 of 16"


def log(size: int) -> str:
    """Return about ``size`` bytes of a log."""
    return "\n".join(LINE.format(n=n) for n in range(size // len(LINE.format(n=0))))


def stored(offloader: Offloader, text: str) -> str:
    """Store a text and return its reference."""
    found = parse(offloader.offload(text, tool="read_log"))
    if found is None:
        raise SystemExit("the text was not offloaded: is the store writable?")
    return found.placeholder.ref


def seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def walk(offloader: Offloader, ref: str) -> int:
    """Read a result from end to end, as each answer says, and return how many pages that took."""
    pages, arguments = 0, {"ref": ref}
    while arguments:
        following = parse_call(offloader.read_tool.call(arguments).rpartition("</data")[2])
        arguments = following[1] if following else {}
        pages += 1
    return pages


def measure(url: str, rounds: int) -> dict[str, float]:
    """Return the figures of one store."""
    texts = {"100 KB": log(100_000), "1 MB": log(1_000_000), "10 MB": log(10_000_000)}
    pages: dict[str, list[float]] = {name: [] for name in texts}
    walks: dict[str, list[float]] = {"100 KB": [], "1 MB": []}
    searches: list[float] = []
    with Offloader(url, session="benchmark", policy=POLICY) as offloader:
        refs = {name: stored(offloader, text) for name, text in texts.items()}
        for number in range(rounds):
            for name, ref in refs.items():
                line = texts[name].count("\n") * (number + 1) // (rounds + 1)
                pages[name].append(seconds(partial(offloader.read, ref, offset=line)))
            for name, times in walks.items():
                times.append(seconds(partial(walk, offloader, refs[name])))
            searches.append(seconds(partial(offloader.read, refs["10 MB"], search="not in there")))
    page = {name: statistics.median(times) for name, times in pages.items()}
    walked = {name: statistics.median(times) / len(texts[name]) for name, times in walks.items()}
    return {
        "page of 10 MB / page of 100 KB": page["10 MB"] / page["100 KB"],
        "walk of 1 MB / walk of 100 KB, by byte": walked["1 MB"] / walked["100 KB"],
        "literal search, MB/s": len(texts["10 MB"]) / 1e6 / statistics.median(searches),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What a read costs.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        urls = {"memory": "memory://", "file": Path(folder).as_uri()}
        found = {name: measure(url, arguments.rounds) for name, url in urls.items()}
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    print("| what | " + " | ".join(found) + " |\n| --- |" + " --: |" * len(found))
    for what in next(iter(found.values())):
        print(f"| {what} | " + " | ".join(f"{figures[what]:,.2f}" for figures in found.values()) + " |")


if __name__ == "__main__":
    main()
