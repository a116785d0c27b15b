"""``offloadkit demo``: a whole agent loop over real tool output, with no key and no network.

The tools are real: they search and read the source of this Python's standard library. The model is a script
of what a model would do, but it sees only what `Offloader.reduce` leaves of the history: every reference
that it passes to the read tool it takes from the text it was shown.
"""

from __future__ import annotations

import json
import re
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from offloadkit.cli.options import json_option
from offloadkit.cli.output import print_json, print_table
from offloadkit.offloader import Offloader
from offloadkit.policy import Policy

__all__ = ["command", "run_demo"]

POLICY = Policy(
    offloading_token_limit=1_500,
    clearing_token_threshold=2_500,
    keep_recent_tokens=1_000,
    clear_at_least_tokens=1_000,
    preview_tokens=150,
    page_tokens=500,
)
QUESTION = "What does Python's JSON decoder do with text that is left over after the value?"
Message = dict[str, Any]
Script = Callable[[list[Message]], tuple[str, dict[str, Any]]]


def search_code(pattern: str) -> str:
    """Search the standard library, as grep would."""
    expression = re.compile(pattern)
    hits: list[str] = []
    root = _library()
    for path in sorted(root.glob("*.py")) + sorted(root.glob("json/*.py")):
        for number, line in enumerate(path.read_text("utf-8", "replace").split("\n"), 1):
            if expression.search(line):
                hits.append(f"{path.relative_to(root)}:{number}:{line}")
    return "\n".join(hits)


def read_source(path: str) -> str:
    """Return one file of the standard library."""
    return (_library() / path).read_text("utf-8", "replace")


TOOLS: dict[str, Callable[..., str]] = {"search_code": search_code, "read_source": read_source}


def _library() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def _reference(messages: list[Message], tool: str) -> str:
    """Return the reference that the history shows for the first result of a tool."""
    for message in messages:
        found = re.search(
            rf'lines of {tool}\b.*?read_offloaded\(ref="([a-z2-7]+)"\)', str(message["content"])
        )
        if message["role"] == "tool" and found:
            return found[1]
    raise click.ClickException(f"the demo's model sees no reference to a result of {tool}")


SCRIPT: tuple[tuple[str, Script], ...] = (
    ("lists every definition", lambda _: ("search_code", {"pattern": r"\bdef |\bclass "})),
    (
        "searches the stored list for the decoder",
        lambda seen: (
            "read_offloaded",
            {"ref": _reference(seen, "search_code"), "search": "json/decoder.py", "limit": 20},
        ),
    ),
    ("opens that file", lambda _: ("read_source", {"path": "json/decoder.py"})),
    (
        "reads the method in question",
        lambda seen: (
            "read_offloaded",
            {"ref": _reference(seen, "read_source"), "search": "Extra data", "context": 6},
        ),
    ),
    ("looks at the scanner as well", lambda _: ("read_source", {"path": "json/scanner.py"})),
    ("looks at the command line tool too", lambda _: ("read_source", {"path": "json/tool.py"})),
    ("checks who else raises it", lambda _: ("search_code", {"pattern": "JSONDecodeError"})),
    ("lists what imports it", lambda _: ("search_code", {"pattern": r"^(import|from) json\b"})),
    (
        "goes back to the first search, cleared by now",
        lambda seen: (
            "read_offloaded",
            {"ref": _reference(seen, "search_code"), "search": "class JSONDecoder"},
        ),
    ),
)


@click.command(name="demo")
@json_option
def command(as_json: bool) -> None:
    """Run a scripted agent with real tool output and show an offload, a clear and a read-back.

    The store is a temporary folder; no key and no network are needed.
    """
    with tempfile.TemporaryDirectory(prefix="offloadkit-demo-") as folder:
        report = run_demo(Path(folder).as_uri(), say=(lambda _: None) if as_json else click.echo)
    if as_json:
        print_json(report)
        return
    rows = [[name, f"{before:,}", f"{after:,}"] for name, (before, after) in report["tokens"].items()]
    click.echo()
    print_table(["tokens", "without offloadkit", "with it"], rows)
    click.echo(f"\nrestored: the history of {report['messages']} messages equals the original, byte for byte")


def run_demo(backend: str, *, say: Callable[[str], None]) -> dict[str, Any]:
    """Run the agent over a store and return what happened, as JSON values.

    ``say`` is called with each line of the story.
    """
    with Offloader(backend, session="demo", policy=POLICY) as offloader:
        original: list[Message] = [{"role": "user", "content": QUESTION}]
        history = list(original)
        cleared = 0
        say(f"user: {QUESTION}")
        for number, (does, script) in enumerate(SCRIPT, 1):
            sent = offloader.reduce(history)
            cleared = _tell_cleared(sent, history, cleared, say)
            call = _call(number, *script(sent))
            say(f"\n{number}. the model {does}: {_shown(call)}")
            for message, whole in _answers(offloader, call):
                history.append(message)
                original.append(whole)
            _tell_result(original[-1], history[-1], say)
        if offloader.restore(offloader.reduce(history)) != original:
            raise click.ClickException("the restored history differs from the original")
        return _report(offloader, original)


def _call(number: int, tool: str, arguments: dict[str, Any]) -> Message:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _answers(offloader: Offloader, message: Message) -> Iterator[tuple[Message, Message]]:
    """Yield the call and its result: as the history holds them, and as they would be without us."""
    call = message["tool_calls"][0]
    name = call["function"]["name"]
    yield message, message
    if name == offloader.read_tool.name:
        result = shown = offloader.read_tool.call(call["function"]["arguments"])
    else:
        result = TOOLS[name](**json.loads(call["function"]["arguments"]))
        shown = offloader.offload(result, tool=name, call_id=call["id"])
    about = {"role": "tool", "tool_call_id": call["id"]}
    yield {**about, "content": shown}, {**about, "content": result}


def _tell_result(whole: Message, shown: Message, say: Callable[[str], None]) -> None:
    text = shown["content"]
    if text != whole["content"]:
        say(f"   offloaded: {len(whole['content']):,} characters became {len(text):,}")
    lines = text.split("\n")
    for line in lines[:6]:
        say(f"   | {line[:150]}")
    if len(lines) > 6:
        say(f"   | … {len(lines) - 6:,} more lines")


def _tell_cleared(sent: list[Message], history: list[Message], told: int, say: Callable[[str], None]) -> int:
    cleared = [now["content"] for now, before in zip(sent, history, strict=True) if now is not before]
    if len(cleared) > told:
        say(f"\n   cleared by now: {len(cleared)} old results, the last as")
        say(f"   | {cleared[-1][:150]}")
    return len(cleared)


def _shown(message: Message) -> str:
    function = message["tool_calls"][0]["function"]
    arguments = ", ".join(f"{name}={value!r}" for name, value in json.loads(function["arguments"]).items())
    return f"{function['name']}({arguments})"


def _report(offloader: Offloader, original: list[Message]) -> dict[str, Any]:
    comparison = offloader.compare(original)
    return {
        "messages": len(original),
        "counts": offloader.statistics.to_json(),
        "tokens": {
            "in tool results at the end": [comparison.tokens_before, comparison.tokens_after],
            "in the largest model call": [comparison.before.largest_call, comparison.after.largest_call],
            "sent by all model calls": [comparison.before.tokens_sent, comparison.after.tokens_sent],
        },
    }
