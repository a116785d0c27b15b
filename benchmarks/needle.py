"""Needle test: can an agent find one record of a result that left its context, and what does that cost?

    python benchmarks/needle.py [--json]

A record stands at 0, 25, 50, 75 and 100 % of eight kinds of content. A simple reader knows the record's key
and wants the value beside it. It sees only the placeholder with its preview; it searches for the key, and
then makes the call that each answer names. The same reader uses the tools of deepagents and of the Pydantic
AI harness where those are installed; what these leave in place of the result is not counted. Tokens are by
the default counter.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import inspect
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from offloadkit import Offloader, Policy
from offloadkit.read_call import parse_call
from offloadkit.tokens import token_counter

KEY = "rec-7f3a91c4"
VALUE = "amber-falcon-0415"
POSITIONS = (0, 25, 50, 75, 100)
MOST_CALLS = 12
BUDGET = 1.2
POLICY = Policy(offloading_token_limit=1_000)
COUNTER = token_counter(POLICY.token_counter)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one search for the record went; answers and placeholder are in tokens."""

    found: bool
    calls: int
    answers: int
    placeholder: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of content, read with one tool, over all positions."""

    tool: str
    kind: str
    found: int
    positions: int
    median_calls: float
    most_calls: int
    most_tokens: int
    placeholder_tokens: int


Place = Callable[[str, str, int], str]


def _log(place: Place) -> str:
    line = "2025-03-0{d} 12:00:{s} INFO worker-{n} handled job {h} in {s} ms\n"
    return place(line, f"2025-03-09 INFO {KEY} code={VALUE}\n", 6_000)


def _one_line_json(place: Place) -> str:
    item = '{{"id":"{h}","name":"item {n}","tags":["a{d}","b"],"price":{s}.5}},'
    rows = place(item, json.dumps({"id": KEY, "name": "x", "code": VALUE}) + ",", 6_000)
    return f'{{"items":[{rows[:-1]}]}}'


def _pretty_json(place: Place) -> str:
    item = '{{\n  "id": "{h}",\n  "name": "item {n}",\n  "tags": [\n    "a{d}"\n  ]\n}},\n'
    record = {"id": KEY, "name": "x", "unit": "EUR", "stock": 4, "code": VALUE}
    return f"[\n{place(item, json.dumps(record, indent=2) + ',' + chr(10), 3_000)[:-2]}\n]\n"


def _csv(place: Place) -> str:
    return "id,name,day,code\n" + place("{h},item {n},{d},{s}\n", f"{KEY},x,9,{VALUE}\n", 12_000)


def _minified_html(place: Place) -> str:
    card = '<div class="c{d}"><h3>Item {n}</h3><p data-id="{h}">costs {s}</p></div>'
    record = f'<div class="c"><h3>X</h3><p data-id="{KEY}">code {VALUE}</p></div>'
    return f"<!doctype html><html><body>{place(card, record, 5_000)}</body></html>"


def _source_file(place: Place) -> str:
    function = "def handle_{h}(order):\n    total = order.price * {s}\n    return total + {n}\n\n\n"
    return place(
        function, f'RECORDS["{KEY}"] = Record(\n    unit="EUR",\n    code="{VALUE}",\n)\n\n\n', 3_000
    )


def _one_megabyte_line(place: Place) -> str:
    return place("{h} {n} {s} ", f"{KEY} {VALUE} ", 60_000)


def _cjk_text(place: Place) -> str:
    line = "第{n}条记录的编号是{h},金额为{s}元,已经处理完毕。\n"
    return place(line, f"第九条记录的编号是{KEY},暗号是{VALUE}。\n", 5_000)


CONTENTS: dict[str, Callable[[Place], str]] = {
    "log": _log,
    "one-line JSON": _one_line_json,
    "pretty JSON": _pretty_json,
    "CSV": _csv,
    "minified HTML": _minified_html,
    "source file": _source_file,
    "1 MB line": _one_megabyte_line,
    "CJK text": _cjk_text,
}


def place_at(position: int) -> Place:
    """Return a function that repeats a template and puts a record at this percentage of it."""

    def place(template: str, record: str, count: int) -> str:
        parts = [
            template.format(
                n=number, d=number % 9, s=f"{number * 37 % 60:02d}", h=f"{number * 2654435761 % 2**32:08x}"
            )
            for number in range(count)
        ]
        parts.insert(count * position // 100, record)
        return "".join(parts)

    return place


def tokens(*texts: str) -> int:
    """Return the tokens of some texts, each counted alone."""
    return sum(COUNTER.tokens(COUNTER.units(text)) for text in texts)


def with_offloadkit(text: str) -> Outcome:
    """Search for the key, then follow the answers' own calls."""
    with Offloader("memory://", session="needle", policy=POLICY) as offloader:
        shown = offloader.offload(text, tool="fetch")
        seen = [shown]
        call = parse_call(shown)
        arguments = {**(call[1] if call else {}), "search": KEY}
        while VALUE not in seen[-1] and len(seen) <= MOST_CALLS:
            seen.append(offloader.read_tool.call(arguments))
            call = parse_call(seen[-1].rpartition("</data ")[2])
            if call is None:
                break
            arguments = call[1]
    return Outcome(VALUE in seen[-1], len(seen) - 1, tokens(*seen[1:]), tokens(shown))


def with_deepagents(text: str) -> Outcome:
    """Grep for the key, then read from the line that grep names, and on from the offsets that pages name."""
    backends = importlib.import_module("deepagents.backends")
    filesystem = importlib.import_module("deepagents.middleware.filesystem")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "result").write_text(text, encoding="utf-8")
        backend = backends.FilesystemBackend(root_dir=folder, virtual_mode=True)
        middleware = filesystem.FilesystemMiddleware(backend=backend)
        tools: dict[str, Any] = {tool.name: tool for tool in middleware.tools}
        runtime = SimpleNamespace(tool_call_id="call")
        found = tools["grep"].func(pattern=KEY, runtime=runtime, path="/result", output_mode="content")
        seen = [str(found.content)]
        line = re.search(r"^\s*([0-9]+)[:\s]", seen[0], re.MULTILINE)
        offset = max(0, int(line[1]) - 10) if line else 0
        while VALUE not in seen[-1] and len(seen) < MOST_CALLS:
            page = tools["read_file"].func(file_path="/result", runtime=runtime, offset=offset)
            seen.append(str(page.content))
            following = re.search(r"next offset ([0-9]+)", seen[-1])
            if following is None:
                break
            offset = int(following[1])
    return Outcome(VALUE in seen[-1], len(seen), tokens(*seen))


def with_pydantic_ai_harness(text: str) -> Outcome:
    """Filter for the key, then page through from the start: its answers hold no line numbers."""
    limits = importlib.import_module("pydantic_ai_harness.tool_output_limits")

    async def run() -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            store = limits.LocalFileStore(Path(folder))
            handle = await store.write("result", text.encode())
            toolset = limits.ToolOutputLimits(store=store).get_toolset()
            read = toolset.tools["read_tool_result"].function
            seen = [await read(None, handle, pattern=KEY)]
            offset = 0
            while VALUE not in seen[-1] and len(seen) < MOST_CALLS:
                seen.append(await read(None, handle, offset=offset))
                if "showing 0" in seen[-1]:
                    break
                offset += 200
            return seen

    seen = asyncio.run(run())
    return Outcome(VALUE in seen[-1], len(seen), tokens(*seen))


READERS: dict[str, tuple[str, Callable[[str], Outcome]]] = {
    "offloadkit": ("offloadkit", with_offloadkit),
    "deepagents": ("deepagents", with_deepagents),
    "pydantic-ai-harness": ("pydantic_ai_harness", with_pydantic_ai_harness),
}


def measure(tool: str) -> list[Row]:
    """Return one row for each kind of content."""
    reader = READERS[tool][1]
    outcomes: dict[str, list[Outcome]] = {}
    for position in POSITIONS:
        for kind, content in CONTENTS.items():
            outcomes.setdefault(kind, []).append(reader(content(place_at(position))))
    return [_row(tool, kind, found) for kind, found in outcomes.items()]


def _row(tool: str, kind: str, outcomes: list[Outcome]) -> Row:
    return Row(
        tool,
        kind,
        found=sum(outcome.found for outcome in outcomes),
        positions=len(outcomes),
        median_calls=statistics.median(outcome.calls for outcome in outcomes),
        most_calls=max(outcome.calls for outcome in outcomes),
        most_tokens=max(outcome.answers for outcome in outcomes),
        placeholder_tokens=max(outcome.placeholder for outcome in outcomes),
    )


def passed(rows: list[Row]) -> bool:
    """Say whether our tool keeps its promise: always found, at most two calls, within the budget."""
    ours = [row for row in rows if row.tool == "offloadkit"]
    return all(
        row.found == row.positions
        and row.median_calls <= 2
        and row.most_tokens + row.placeholder_tokens <= BUDGET * POLICY.page_tokens
        for row in ours
    )


def table(rows: list[Row], missing: list[str]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [
        "| tool | content | found | calls (median, most) | most tokens of answers | of the placeholder |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.tool} | {row.kind} | {row.found}/{row.positions} | {row.median_calls:g}, {row.most_calls} "
        f"| {row.most_tokens:,} | {row.placeholder_tokens or ''} |"
        for row in rows
    ]
    lines += [f"| {tool} | not installed | | | | |" for tool in missing]
    return "\n".join(lines)


def main() -> int:
    """Run the test and print its table; 1 when our tool misses its aim."""
    parser = argparse.ArgumentParser(description=inspect.getdoc(sys.modules[__name__]))
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    as_json: bool = parser.parse_args().json
    present = [tool for tool, (module, _) in READERS.items() if importlib.util.find_spec(module)]
    rows = [row for tool in present for row in measure(tool)]
    missing = [tool for tool in READERS if tool not in present]
    if as_json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "not_installed": missing}))
    else:
        print(table(rows, missing))
    return 0 if passed(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
