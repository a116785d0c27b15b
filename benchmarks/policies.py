"""What policies save on real transcripts: tokens sent by all calls, and the share the prompt cache holds.

    python benchmarks/policies.py [--json] [FOLDER]

FOLDER holds a MANIFEST.jsonl and transcripts in the OpenAI chat format; by default OFFLOADKIT_DATA. Nothing
is sent anywhere. The price is that of a cached prefix: 0.1 for what the call before sent in the same form,
1.25 for the rest (the multipliers of Anthropic's prompt cache).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from offloadkit import Offloader, Policy
from offloadkit.usage import Comparison, Usage

POLICIES: Mapping[str, Policy] = {
    "Policy()": Policy(),
    "Policy.frugal()": Policy.frugal(),
    "sliding": Policy.frugal(clear_at_least_tokens=0, keep_recent_turns=0, offloading_token_limit=None),
}
CACHE_READ, CACHE_WRITE = 0.1, 1.25


def transcripts(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the source and the messages of each transcript."""
    for line in (folder / "MANIFEST.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        data = (folder / row["file"]).read_bytes()
        document = json.loads(gzip.decompress(data) if row["file"].endswith(".gz") else data)
        yield row["source"], document["messages"]


def price(usage: Usage) -> float:
    """Return what the calls cost, in tokens at the price of an uncached one."""
    return CACHE_READ * usage.tokens_cached + CACHE_WRITE * (usage.tokens_sent - usage.tokens_cached)


def measure(folder: Path) -> dict[str, dict[str, list[Comparison]]]:
    """Return the comparisons of each source, by policy."""
    found: dict[str, dict[str, list[Comparison]]] = defaultdict(lambda: defaultdict(list))
    for source, messages in transcripts(folder):
        for name, policy in POLICIES.items():
            with Offloader("memory://", session="benchmark", policy=policy) as offloader:
                found[source][name].append(offloader.compare(messages, format="openai-chat"))
    return found


def row(source: str, policy: str, comparisons: list[Comparison]) -> dict[str, Any]:
    """Return one row of the table."""
    before = sum((c.before for c in comparisons), Usage())
    after = sum((c.after for c in comparisons), Usage())
    return {
        "source": source,
        "policy": policy,
        "sessions": len(comparisons),
        "tokens sent before": before.tokens_sent,
        "tokens sent after": after.tokens_sent,
        "tokens": after.tokens_sent / before.tokens_sent - 1 if before.tokens_sent else 0.0,
        "price": price(after) / price(before) - 1 if before.tokens_sent else 0.0,
        "dearest session": max(
            price(c.after) / price(c.before) if c.before.tokens_sent else 1 for c in comparisons
        ),
        "cache share before": before.cache_share,
        "cache share after": after.cache_share,
        "offloaded": sum(c.offloaded for c in comparisons),
        "cleared": sum(c.cleared for c in comparisons),
    }


def table(found: Mapping[str, Mapping[str, list[Comparison]]]) -> list[dict[str, Any]]:
    """Return all rows: the sum over all sources first."""
    total = {name: [c for source in found.values() for c in source[name]] for name in POLICIES}
    rows = [row("all sources", name, comparisons) for name, comparisons in total.items()]
    for source in sorted(found):
        rows += [row(source, name, found[source][name]) for name in POLICIES]
    return rows


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    columns = (
        *("source", "policy", "sessions", "tokens sent, before", "after", "change", "price"),
        *("dearest session", "cache share, before", "after", "offloaded", "cleared"),
    )
    lines = [_line(columns), _line(["---", "---", *["--:"] * 10])]
    return "\n".join(lines + [_line(_cells(row)) for row in rows])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        row["source"],
        f"`{row['policy']}`",
        f"{row['sessions']}",
        f"{row['tokens sent before']:,}",
        f"{row['tokens sent after']:,}",
        f"{row['tokens']:+.0%}",
        f"{row['price']:+.0%}",
        f"{row['dearest session']:.2f}",
        f"{row['cache share before']:.0%}",
        f"{row['cache share after']:.0%}",
        f"{row['offloaded']:,}",
        f"{row['cleared']:,}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument(
        "folder", nargs="?", default=os.environ.get("OFFLOADKIT_DATA", "../shared/data"), type=Path
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    if not (arguments.folder / "MANIFEST.jsonl").exists():
        parser.exit(0, f"no transcripts: {arguments.folder} has no MANIFEST.jsonl; set OFFLOADKIT_DATA\n")
    rows = table(measure(arguments.folder))
    print(json.dumps(rows, indent=2) if arguments.json else markdown(rows))


if __name__ == "__main__":
    main()
