"""How near the token counters come to the truth, by kind of content, and how fast they are.

    python benchmarks/token_accuracy.py [--json] [--fit] [FOLDER]

FOLDER holds a MANIFEST.jsonl and transcripts in the OpenAI chat format; by default OFFLOADKIT_DATA. The truth
is the o200k vocabulary (needs the extra ``tiktoken``; nothing is downloaded). Only results of 50 tokens and
more are compared. ``--fit`` prints the weights of the counter "text" as fitted to this data, and how well
weights fitted to every second source do on the other half.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from offloadkit.tokens import TokenCounter, token_counter
from offloadkit.tokens.estimates import LEAD_BYTE_WEIGHTS, WEIGHTS

COUNTERS = ("bytes", "bytes/4", "text")
LEAST_TOKENS = 50

CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")
KINDS: Mapping[str, re.Pattern[str]] = {
    "HTML": re.compile(r"\s*<(!doctype|html|head|body|div|table|svg)\b", re.IGNORECASE),
    "diff": re.compile(r"^(diff --git |--- a/|@@ -\d)", re.MULTILINE),
    "tests and logs": re.compile(
        r"^(=+ .* =+$|Traceback \(|Ran \d+ tests|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\w+ (INFO|DEBUG|WARN|ERROR))",
        re.MULTILINE,
    ),
    "code": re.compile(
        r"^\s*(\d+[\t:] *)?(def|class|import|function|const|export|return|public|#include|package) ",
        re.MULTILINE,
    ),
    "listing": re.compile(r"^([-d][rwx-]{9}|\S*/\S+$)", re.MULTILINE),
}


@dataclass(frozen=True)
class Sample:
    """One tool result: where it is from, what it says, and its true tokens."""

    source: str
    kind: str
    text: str
    tokens: int


@dataclass(frozen=True)
class Accuracy:
    """Estimated over true tokens of some results."""

    kind: str
    results: int
    tokens: int
    total: float
    median: float
    p5: float
    p95: float
    within_25: float


def read_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield source and text of every tool result."""
    for line in (folder / "MANIFEST.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        data = (folder / row["file"]).read_bytes()
        document = json.loads(gzip.decompress(data) if row["file"].endswith(".gz") else data)
        for message in document["messages"]:
            if message["role"] == "tool":
                yield row["source"], text_of(message["content"])


def text_of(content: Any) -> str:
    """Return the text of a message's content."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or [] if part.get("type") == "text")


def kind_of(text: str) -> str:
    """Say what a text is, by a few simple signs; the first that fits."""
    if len(CJK.findall(text)) > len(text) / 5:
        return "CJK"
    if is_json(text):
        return "JSON"
    for kind, sign in KINDS.items():
        if sign.search(text):
            return kind
    return "prose and others"


def is_json(text: str) -> bool:
    """Say whether a text is JSON, whole or cut off."""
    if not re.match(r'\s*[{\[]\s*["{\[\d]', text):
        return False
    try:
        json.loads(text)
    except ValueError:
        return text.count('":') > len(text) / 200
    return True


def samples(folder: Path) -> list[Sample]:
    """Return the results of at least 50 tokens."""
    truth = token_counter("tiktoken:o200k_base")
    found = [Sample(source, kind_of(text), text, truth.units(text)) for source, text in read_texts(folder)]
    return [sample for sample in found if sample.tokens >= LEAST_TOKENS]


def accuracy(kind: str, chosen: Sequence[Sample], count: Callable[[str], float]) -> Accuracy:
    """Compare estimates with the truth."""
    estimates = [count(sample.text) for sample in chosen]
    tokens = sum(sample.tokens for sample in chosen)
    ratios = sorted(estimate / sample.tokens for estimate, sample in zip(estimates, chosen, strict=True))
    near = sum(abs(ratio - 1) <= 0.25 for ratio in ratios)
    return Accuracy(
        kind,
        len(ratios),
        tokens,
        round(sum(estimates) / tokens, 3),
        round(statistics.median(ratios), 2),
        round(ratios[len(ratios) * 5 // 100], 2),
        round(ratios[len(ratios) * 95 // 100], 2),
        round(near / len(ratios), 3),
    )


def by_kind(found: Sequence[Sample], counter: TokenCounter) -> list[Accuracy]:
    """Return the accuracy for each kind of content, and for all."""

    def count(text: str) -> int:
        return counter.tokens(counter.units(text))

    kinds = sorted({sample.kind for sample in found})
    groups = {kind: [sample for sample in found if sample.kind == kind] for kind in kinds}
    groups["all"] = list(found)
    groups["all but the largest"] = sorted(found, key=lambda sample: sample.tokens)[:-1]
    return [accuracy(kind, chosen, count) for kind, chosen in groups.items()]


def microseconds_per_kilobyte(counter: TokenCounter, texts: Sequence[str]) -> float:
    """Return the best of five runs over all texts, in processor time."""
    runs = []
    for _ in range(5):
        start = time.process_time()
        for text in texts:
            counter.units(text)
        runs.append(time.process_time() - start)
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return round(min(runs) * 1e6 / (size / 1024), 2)


def report(found: Sequence[Sample]) -> dict[str, Any]:
    """Return all figures."""
    texts = [sample.text for sample in found]
    large = max((text for text in texts if len(text) < 200_000), key=len)
    return {
        name: {
            "microseconds_per_kb": microseconds_per_kilobyte(token_counter(name), texts),
            "microseconds_per_kb_of_a_large_result": microseconds_per_kilobyte(
                token_counter(name), [large] * 20
            ),
            "accuracy": [asdict(row) for row in by_kind(found, token_counter(name))],
        }
        for name in COUNTERS
    }


def print_report(figures: Mapping[str, Any]) -> None:
    """Print the figures as Markdown tables."""
    for name, measured in figures.items():
        print(f'\n"{name}": {measured["microseconds_per_kb"]} us per KB, ', end="")
        print(f"{measured['microseconds_per_kb_of_a_large_result']} us per KB of a large result\n")
        print("| content | results | true tokens | total | median | p5 | p95 | within 25 % |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for row in measured["accuracy"]:
            shown = f"{row['total']} | {row['median']} | {row['p5']} | {row['p95']} | {row['within_25']:.1%}"
            print(f"| {row['kind']} | {row['results']:,} | {row['tokens']:,} | {shown} |")


# How the weights of the counter "text" are fitted: least squares of the relative error, weighted anew in each
# round so that large errors count by their size and not its square, with a pull towards a plausible start.

START: Mapping[str, float] = dict(zip(WEIGHTS, (0.2, 0.35, 0.5, 0.12, 0.5, 0.3), strict=True)) | {
    "other": 0.5
}
PULL = 20.0
ROUNDS = 20
FLOOR = 0.08


@dataclass(frozen=True)
class Row:
    """One result, as shares of its true tokens: characters of each class, and what is not ASCII."""

    source: str
    shares: tuple[float, ...]
    beyond_ascii: float


def row_of(sample: Sample) -> Row:
    """Count the characters of each class."""
    counts = Counter(sample.text.encode("utf-8", "surrogatepass"))
    classes = [sum(counts[byte] for byte in characters.encode()) for characters in WEIGHTS]
    other = sum(counts[byte] for byte in range(128)) - sum(classes)
    beyond = (
        sum(weight * sum(counts[byte] for byte in lead_bytes) for lead_bytes, weight in LEAD_BYTE_WEIGHTS)
        / 32
    )
    return Row(sample.source, tuple(n / sample.tokens for n in (*classes, other)), beyond / sample.tokens)


def fit(rows: Sequence[Row]) -> list[float]:
    """Return tokens per character of each class. Each source weighs as the square root of its results."""
    per_source = Counter(row.source for row in rows)
    weights = [per_source[row.source] ** -0.5 for row in rows]
    mean = sum(weights) / len(weights)
    fitted = list(START.values())
    for _ in range(ROUNDS):
        errors = [abs(predict(row, fitted) - 1) for row in rows]
        scale = [weight / mean / max(error, FLOOR) for weight, error in zip(weights, errors, strict=True)]
        fitted = solve(*normal_equations(rows, scale))
    return fitted


def predict(row: Row, fitted: Sequence[float]) -> float:
    """Return estimated over true tokens."""
    return sum(share * weight for share, weight in zip(row.shares, fitted, strict=True)) + row.beyond_ascii


def normal_equations(rows: Sequence[Row], scale: Sequence[float]) -> tuple[list[list[float]], list[float]]:
    """Return matrix and right side of the weighted least squares."""
    size = len(START)
    matrix = [[PULL * (i == j) for j in range(size)] for i in range(size)]
    right = [PULL * start for start in START.values()]
    for row, weight in zip(rows, scale, strict=True):
        for i, share in enumerate(row.shares):
            right[i] += weight * share * (1 - row.beyond_ascii)
            for j, other in enumerate(row.shares):
                matrix[i][j] += weight * share * other
    return matrix, right


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve a positive definite system by elimination."""
    size = len(right)
    for pivot in range(size):
        for below in range(pivot + 1, size):
            factor = matrix[below][pivot] / matrix[pivot][pivot]
            right[below] -= factor * right[pivot]
            for column in range(pivot, size):
                matrix[below][column] -= factor * matrix[pivot][column]
    solved = [0.0] * size
    for i in reversed(range(size)):
        known = sum(matrix[i][j] * solved[j] for j in range(i + 1, size))
        solved[i] = (right[i] - known) / matrix[i][i]
    return solved


def in_32nds(fitted: Sequence[float]) -> list[float]:
    """Round weights as the counter holds them."""
    return [round(weight * 32) / 32 for weight in fitted]


def print_fit(found: Sequence[Sample]) -> None:
    """Print the weights, and how they do on sources they were not fitted to."""
    rows = {sample: row_of(sample) for sample in found}
    sources = sorted({sample.source for sample in found})
    halves = [{*sources[0::2]}, {*sources[1::2]}]
    everything = in_32nds(fit(list(rows.values())))
    print(
        "weights in 32nds of a token:", {name: int(w * 32) for name, w in zip(START, everything, strict=True)}
    )
    held_out: dict[str, float] = {}
    for fitted_to, tried_on in (halves, reversed(halves)):
        fitted = in_32nds(fit([row for sample, row in rows.items() if sample.source in fitted_to]))
        chosen = [sample for sample in found if sample.source in tried_on]
        held_out |= {sample.text: predict(rows[sample], fitted) * sample.tokens for sample in chosen}
        print("held out:", accuracy("half of the sources", chosen, held_out.__getitem__))
    print("held out:", accuracy("both halves", list(found), held_out.__getitem__))


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "folder", nargs="?", type=Path, default=os.environ.get("OFFLOADKIT_DATA", "../shared/data")
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--fit", action="store_true", help="fit the weights of the counter 'text'")
    arguments = parser.parse_args()
    if not (Path(arguments.folder) / "MANIFEST.jsonl").exists():
        parser.exit(0, f"no transcripts: {arguments.folder} has no MANIFEST.jsonl; set OFFLOADKIT_DATA\n")
    found = samples(Path(arguments.folder))
    if arguments.fit:
        print_fit(found)
    elif arguments.json:
        print(json.dumps(report(found), indent=2))
    else:
        print_report(report(found))


if __name__ == "__main__":
    main()
