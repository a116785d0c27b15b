"""The four laws on real agent transcripts, under three policies, in memory and on disk."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import missing, transcript_paths
from formats.wire import wire_histories

from offloadkit import Offloader, Policy, open_backend
from offloadkit.backend import Backend
from offloadkit.formats import detect
from offloadkit.placeholder import parse
from offloadkit.read_call import parse_call

TIGHT = Policy(
    offloading_token_limit=60,
    clearing_token_threshold=150,
    keep_recent_tokens=100,
    clear_at_least_tokens=60,
    preview_tokens=20,
    page_tokens=200,
    clear_tool_inputs=True,
)
POLICIES = {"default": Policy(), "frugal": Policy.frugal(), "tight": TIGHT}
WIRE = [
    *wire_histories("openai-chat", "messages"),
    *wire_histories("anthropic-messages", "messages"),
    *wire_histories("openai-responses", "input"),
    *wire_histories("gemini", "contents"),
    *wire_histories("bedrock-converse", "messages"),
]


def load(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def messages_of(path: Path) -> list[Any]:
    document = load(path)
    messages = document if isinstance(document, list) else document["messages"]
    assert isinstance(messages, list)
    return messages


@pytest.fixture(params=["memory", "file"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    url = "memory://" if request.param == "memory" else f"file://{tmp_path}?fsync=none"
    opened = open_backend(url)
    yield opened
    opened.close()


@pytest.fixture(params=sorted(POLICIES))
def policy(request: pytest.FixtureRequest) -> Policy:
    return POLICIES[request.param]


def test_a_real_history_is_reduced_and_restored_exactly(
    transcript_path: Path, backend: Backend, policy: Policy
) -> None:
    messages = messages_of(transcript_path)
    offloader = Offloader(backend, session="s", policy=policy)

    reduced = offloader.reduce(messages)

    assert offloader.restore(reduced) == messages
    assert offloader.reduce(reduced) == reduced
    assert pairs(reduced) == pairs(messages)


@pytest.mark.parametrize("messages", WIRE)
def test_a_recorded_request_body_is_reduced_and_restored_exactly(
    messages: list[Any], backend: Backend, policy: Policy
) -> None:
    offloader = Offloader(backend, session="s", policy=policy)

    reduced = offloader.reduce(messages)

    assert offloader.restore(reduced) == messages
    assert offloader.reduce(reduced) == reduced


@pytest.mark.parametrize("messages", WIRE)
def test_a_recorded_request_body_reduced_step_by_step_equals_at_once(
    messages: list[Any], policy: Policy
) -> None:
    offloader = Offloader("memory://", session="s", policy=policy)
    message_format = detect(messages)
    stepwise: list[Any] = []
    for message in messages:
        if message_format.views([*stepwise, message])[-1].starts_turn:
            stepwise = offloader.reduce(stepwise, format=message_format.name)
        stepwise.append(message)

    assert offloader.reduce(stepwise) == offloader.reduce(messages)


def test_step_by_step_equals_at_once(transcript_path: Path, policy: Policy) -> None:
    messages = messages_of(transcript_path)
    offloader = Offloader("memory://", session="s", policy=policy)
    stepwise: list[Any] = []
    steps = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    for index, message in enumerate(messages):
        if index in steps[-25:]:
            stepwise = offloader.reduce(stepwise, format="openai-chat")
        stepwise.append(message)

    assert offloader.reduce(stepwise) == offloader.reduce(messages)


def test_every_stored_text_is_reached_page_by_page(transcript_path: Path) -> None:
    messages = messages_of(transcript_path)
    offloader = Offloader("memory://", session="s", policy=TIGHT)
    reduced = offloader.reduce(messages)
    for before, after in zip(messages, reduced, strict=True):
        if before["role"] != "tool" or after is before or len(str(before["content"])) > 40_000:
            continue
        found = parse(str(text_in(after["content"])))
        assert found is not None
        assert walk(offloader, found.placeholder.ref, TIGHT.page_tokens) == text_in(before["content"])


def walk(offloader: Offloader, ref: str, page_tokens: int) -> str:
    """Read a stored result from its start to its end, as each answer says."""
    collected: list[str] = []
    arguments: dict[str, Any] | None = {"ref": ref}
    while arguments is not None:
        answer = offloader.read_tool.call(arguments)
        assert len(answer.encode("utf-8", "surrogatepass")) <= page_tokens * 3.5
        page = re.fullmatch(r".*?<data (\w+)>\n(.*)</data \1>\n(.*)", answer, re.DOTALL)
        assert page is not None
        collected.append(page[2])
        following = parse_call(page[3])
        arguments = following[1] if following else None
    return "".join(collected)


def text_in(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def pairs(messages: list[Any]) -> list[tuple[Any, ...]]:
    """Return who calls what and who answers, in order."""
    return [
        (
            m["role"],
            m.get("tool_call_id"),
            [(c["id"], c["function"]["name"]) for c in m.get("tool_calls") or []],
        )
        for m in messages
    ]


def test_a_second_process_restores_every_history(tmp_path: Path) -> None:
    paths = transcript_paths()
    if not paths:
        missing("no transcripts: set OFFLOADKIT_DATA to the folder that holds MANIFEST.jsonl")
    url = f"file://{tmp_path}/store?fsync=none"
    reduced = {}
    for path in paths:
        with Offloader(url, session=path.name, policy=TIGHT) as offloader:
            reduced[path.name] = offloader.reduce(messages_of(path))
    (tmp_path / "reduced.json").write_text(json.dumps(reduced), "utf-8")
    code = (
        "import json, sys; from offloadkit import Offloader\n"
        f"reduced = json.load(open({str(tmp_path / 'reduced.json')!r}))\n"
        f"restored = {{name: Offloader({url!r}, session=name).restore(m) for name, m in reduced.items()}}\n"
        "json.dump(restored, sys.stdout)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert json.loads(done.stdout) == {path.name: messages_of(path) for path in paths}
