"""Histories that broke other systems, each held to what is right; see ``conftest.cases``.

The cases come with neutral settings; `policy_for` says what they mean here. Every history, whatever it was
collected for, must also keep the laws.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from offloadkit import Offloader, Policy
from offloadkit.backend import Backend, StorageFull
from offloadkit.events import Cleared, Event, Offloaded
from offloadkit.formats import FORMATS, format_named
from offloadkit.placeholder import parse
from offloadkit.registry import open_backend
from offloadkit.results import MessageView, ResultView
from offloadkit.testing import FlakyBackend

Case = dict[str, Any]

FORMAT_NAMES = {
    "anthropic": "anthropic-messages",
    "bedrock": "bedrock-converse",
    "gemini": "gemini",
    None: "openai-chat",
}
REDUCED = [
    *("PAIR-01", "PAIR-03", "PAIR-05", "PAIR-06", "PAIR-08", "PAIR-10", "PAIR-11", "PAIR-13", "PAIR-15"),
    *(
        "PAIR-16",
        "PAIR-18",
        "PAIR-20",
        "PAIR-21",
        "PAIR-23",
        "FMT-01",
        "FMT-03",
        "FMT-05",
        "FMT-06",
        "FMT-08",
    ),
    *("FMT-10", "FMT-11", "TOK-10", "TRUNC-10", "TRUNC-11", "CACHE-01", "CACHE-03", "READ-01", "READ-08"),
    *("READ-13", "READ-15", "PLACE-01", "PLACE-03", "PLACE-06", "POL-01", "POL-03", "POL-05", "POL-06"),
    *("PROG-01", "PROG-03", "CONT-01", "CONT-10", "KEY-01", "KEY-03", "PERF-01", "PERF-03"),
]


def policy_for(case: Case) -> Policy:
    """Return what a case's neutral settings mean: characters are bytes / 4, results to keep are turns."""
    config = case["input"].get("config") or {}
    characters = config.get("offload_over_chars")
    return Policy(
        clearing_token_threshold=config.get("trigger_tokens"),
        keep_recent_tokens=0,
        keep_recent_turns=config.get("keep_last", 0),
        clear_at_least_tokens=config.get("clear_at_least_tokens", 0),
        offloading_token_limit=None if characters is None else characters // 4,
        exclude_tools=config.get("exclude_tools", ()),
        clear_tool_inputs=config.get("clear_inputs", False),
        token_counter="bytes/4",
        preview_tokens=60,
    )


class Played:
    """A case, reduced."""

    def __init__(self, case: Case, backend: Backend | str = "memory://") -> None:
        self.format_name = FORMAT_NAMES[case["input"].get("format")]
        if self.format_name not in FORMATS:
            pytest.skip(f"the format {self.format_name} is not there yet")
        self.events: list[Event] = []
        self.messages: list[Any] = case["input"].get("messages") or case["input"]["contents"]
        self.offloader = Offloader(backend, session="s", policy=policy_for(case), on_event=self.events.append)
        self.reduced = self.reduce(self.messages)

    def reduce(self, messages: list[Any]) -> list[Any]:
        return self.offloader.reduce(messages, format=self.format_name)

    def restore(self, messages: list[Any]) -> list[Any]:
        return self.offloader.restore(messages, format=self.format_name)

    def views(self, messages: list[Any]) -> list[MessageView]:
        return format_named(self.format_name).views(messages)

    def results(self, messages: list[Any]) -> list[ResultView]:
        return [result for view in self.views(messages) for result in view.results]

    def placeholders(self) -> list[bool]:
        """Say for each result whether it left."""
        return [old.content.value != new.content.value for old, new in self.pairs()]

    def pairs(self) -> list[tuple[ResultView, ResultView]]:
        return list(zip(self.results(self.messages), self.results(self.reduced), strict=True))


@pytest.mark.parametrize("name", REDUCED)
def test_nothing_is_lost(cases: dict[str, Case], name: str) -> None:
    played = Played(cases[name])

    assert played.restore(played.reduced) == played.messages


@pytest.mark.parametrize("name", REDUCED)
def test_calls_and_results_stay_where_they_are(cases: dict[str, Case], name: str) -> None:
    played = Played(cases[name])

    def structure(messages: list[Any]) -> list[Any]:
        return [
            (
                view.texts,
                [(call.place, call.call_id, call.tool) for call in view.calls],
                [(result.place, result.call_id, result.is_error) for result in view.results],
            )
            for view in played.views(messages)
        ]

    assert structure(played.reduced) == structure(played.messages)


@pytest.mark.parametrize("name", REDUCED)
def test_a_second_pass_changes_nothing(cases: dict[str, Case], name: str) -> None:
    played = Played(cases[name])

    assert played.reduce(played.reduced) == played.reduced


@pytest.mark.parametrize("name", REDUCED)
def test_nothing_grows(cases: dict[str, Case], name: str) -> None:
    for old, new in Played(cases[name]).pairs():
        assert len(json.dumps(new.content.value)) <= len(json.dumps(old.content.value))


@pytest.mark.parametrize("name", REDUCED)
def test_what_was_reduced_can_be_sent(cases: dict[str, Case], name: str) -> None:
    json.dumps(Played(cases[name]).reduced, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("name", ["PAIR-08", "TRUNC-10", "POL-06", "PROG-03", "TOK-10", "PERF-01"])
def test_what_needs_no_reduction_is_left_alone(cases: dict[str, Case], name: str) -> None:
    played = Played(cases[name])

    assert all(new is old for new, old in zip(played.reduced, played.messages, strict=True))


@pytest.mark.parametrize("name", ["PAIR-16", "POL-01", "POL-05"])
def test_old_results_leave_until_only_the_newest_are_left(cases: dict[str, Case], name: str) -> None:
    played = Played(cases[name])
    kept = cases[name]["input"]["config"]["keep_last"]
    large = [len(str(old.content.value)) > 200 for old, _ in played.pairs()]

    assert played.placeholders()[:-kept] == large[:-kept]
    assert not any(played.placeholders()[-kept:])


@pytest.mark.parametrize(("name", "untouched"), [("POL-03", "retired_tool"), ("READ-15", "read_file")])
def test_excluded_tools_keep_their_results_whatever_is_on_offer_now(
    cases: dict[str, Case], name: str, untouched: str
) -> None:
    played = Played(cases[name])
    tools = [call.tool for view in played.views(played.messages) for call in view.calls]

    assert [left for left, tool in zip(played.placeholders(), tools, strict=True) if tool == untouched] == [
        False
    ]


def test_the_unfinished_last_group_is_left_as_it_is(cases: dict[str, Case]) -> None:
    played = Played(cases["PAIR-21"])

    assert played.reduced[-1] is played.messages[-1]


def test_ten_parallel_results_are_never_split_by_what_is_kept(cases: dict[str, Case]) -> None:
    left = Played(cases["PAIR-06"]).placeholders()

    assert len(set(left[-10:])) == 1


def test_results_under_one_id_stay_two(cases: dict[str, Case]) -> None:
    for name in ("PAIR-13", "KEY-01", "PAIR-20"):
        played = Played(cases[name])
        texts = [new.content.texts[0][1] for _, new in played.pairs()]
        refs = {found.placeholder.ref for text in texts if (found := parse(text))}

        assert len(refs) == len({str(old.content.value) for old, _ in played.pairs()})


def test_emptied_arguments_are_json_objects(cases: dict[str, Case]) -> None:
    played = Played(cases["FMT-10"])

    for view in played.views(played.reduced):
        for call in view.calls:
            assert isinstance(json.loads(call.arguments), dict)


def test_a_failed_result_still_says_that_it_failed(cases: dict[str, Case]) -> None:
    for name in ("PLACE-01", "PLACE-06"):
        played = Played(cases[name])
        failed = [
            new for old, new in played.pairs() if old.is_error and old.content.value != new.content.value
        ]

        assert failed
        assert all(new.is_error and ", failed" in new.content.texts[0][1] for new in failed)


def test_every_result_that_leaves_is_told_once_without_its_content(cases: dict[str, Case]) -> None:
    played = Played(cases["PLACE-03"])
    told = [event for event in played.events if isinstance(event, Cleared | Offloaded)]

    assert len(told) == sum(played.placeholders())
    assert all(event.tool == "fetch" and event.call_id and event.ref for event in told)
    assert "row row" not in str(told)


def test_a_prefix_that_was_sent_changes_only_when_a_batch_is_cleared(cases: dict[str, Case]) -> None:
    case = cases["CACHE-01"]
    messages = case["input"]["messages"]
    offloader = Offloader("memory://", session="s", policy=policy_for(case))
    steps = [offloader.reduce(messages[: 1 + 2 * turns]) for turns in range(4, 25)]

    changes = [earlier != later[: len(earlier)] for earlier, later in pairwise(steps)]

    assert 0 < sum(changes) <= 6
    for earlier, later in pairwise(steps):
        for old, new in zip(earlier, later, strict=False):
            assert new == old or parse(str(old["content"])) is None


def test_the_replacement_depends_on_content_and_settings_alone(
    cases: dict[str, Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Played(cases["CACHE-03"], f"file://{tmp_path}/one").reduced
    monkeypatch.setattr("time.time", lambda: 4_000_000_000.0)
    monkeypatch.chdir(tmp_path)
    other = Played(cases["CACHE-03"], f"file://{tmp_path}/two").reduced

    assert one == other


def test_no_path_of_the_store_stands_in_a_replacement(cases: dict[str, Case], tmp_path: Path) -> None:
    played = Played(cases["READ-08"], f"file://{tmp_path}/store")

    assert any(played.placeholders())
    assert str(tmp_path) not in json.dumps(played.reduced)


def test_a_replacement_says_that_it_is_partial_and_how_large_the_whole_is(cases: dict[str, Case]) -> None:
    played = Played(cases["READ-13"])
    text = next(new.content.texts[0][1] for old, new in played.pairs() if old != new)

    assert text.startswith("[Tool result offloaded] ")
    assert " tokens, " in text.split(". Below: ")[0]
    assert "returns all of it" in text.split("\n")[0]


def test_a_page_read_back_is_not_offloaded_again(cases: dict[str, Case]) -> None:
    played = Played(cases["READ-01"])
    found = parse(str(played.reduced[-1]["content"]))
    assert found is not None
    arguments = {"ref": found.placeholder.ref}
    page = played.offloader.read_tool.call(arguments)
    call = {
        "id": "r",
        "type": "function",
        "function": {"name": "read_offloaded", "arguments": json.dumps(arguments)},
    }
    messages = [*played.reduced, {"role": "assistant", "content": None, "tool_calls": [call]}]
    messages.append({"role": "tool", "tool_call_id": "r", "content": page})

    assert played.reduce(messages)[-1] is messages[-1]


def test_a_picture_beside_a_short_text_stays_a_picture(cases: dict[str, Case]) -> None:
    played = Played(cases["CONT-01"])

    assert played.reduced == played.messages


def test_empty_results_are_neither_stored_nor_made_longer(cases: dict[str, Case]) -> None:
    backend = open_backend("memory://")
    played = Played(cases["CONT-10"], backend)
    empty = [new for old, new in played.pairs() if not old.content.value]

    assert empty
    assert all(not new.content.value for new in empty)


def test_a_full_disk_leaves_the_text_and_no_reference(cases: dict[str, Case]) -> None:
    flaky = FlakyBackend(open_backend("memory://"))
    flaky.fail("put", error=StorageFull("the disk is full"))

    played = Played({**cases["PLACE-03"], "input": {**cases["PLACE-03"]["input"]}}, flaky)

    assert played.reduced == played.messages


def test_a_history_that_grows_writes_each_result_once(cases: dict[str, Case]) -> None:
    case = cases["PERF-03"]
    flaky = FlakyBackend(open_backend("memory://"))
    played = Played(case, flaky)
    for end in range(0, len(played.messages), max(1, len(played.messages) // 40)):
        played.reduce(played.messages[:end])

    assert flaky.calls["put"] == len({str(old.content.value) for old, _ in played.pairs()})


@pytest.mark.parametrize("index", range(12))
def test_a_calls_id_never_reaches_a_path(cases: dict[str, Case], index: int, tmp_path: Path) -> None:
    case = cases["SEC-01"]["input"]
    if index >= len(case["ids"]):
        pytest.skip("the case has fewer ids")
    call_id = case["ids"][index]
    offloader = Offloader(
        f"file://{tmp_path}/store", session=call_id, namespace=call_id, policy=Policy.frugal()
    )
    call = {"id": call_id, "type": "function", "function": {"name": call_id, "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": case["content"]},
    ]

    reduced = offloader.reduce(messages)

    assert reduced[1]["tool_call_id"] == call_id
    assert offloader.restore(reduced) == messages
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    assert all(len(part.encode()) < 255 for path in tmp_path.rglob("*") for part in path.parts)


@pytest.mark.parametrize(
    "template", ["{ref_of_tenant_a}", "../tenant-a/{id}", "s3://bucket/tenant-a/{id}", "tenant-a/{id}"]
)
def test_no_reference_opens_what_another_session_stored(template: str) -> None:
    backend = open_backend("memory://")
    secret = "A-SECRET " * 2_000
    shown = Offloader(backend, session="tenant-a", policy=Policy.frugal()).offload(secret, tool="t")
    found = parse(shown)
    assert found is not None
    ref = found.placeholder.ref
    asked = template.replace("{ref_of_tenant_a}", ref).replace("{id}", ref)
    reader = Offloader(backend, session="tenant-b", policy=Policy.frugal()).read_tool

    answer = reader.call({"ref": asked})

    assert "A-SECRET" not in answer
    assert "tenant-a" not in answer.replace(asked, "")


def test_listing_names_what_this_session_stored_and_nothing_else() -> None:
    backend = open_backend("memory://")
    for name in ("s1", "s2"):
        Offloader(backend, session=name, policy=Policy.frugal()).offload(
            f"{name} token " * 900, tool=f"tool_{name}"
        )

    answer = Offloader(backend, session="s2").read()

    assert "tool_s2" in answer
    assert "tool_s1" not in answer


def test_eight_sub_agents_with_one_call_id_store_eight_results() -> None:
    backend = open_backend("memory://")
    texts = [f"worker {n} " * 900 for n in range(8)]
    shown = [
        Offloader(backend, session="s", policy=Policy.frugal()).offload(text, call_id="call_0")
        for text in texts
    ]

    restored = Offloader(backend, session="s").restore(
        [{"role": "tool", "tool_call_id": "call_0", "content": one} for one in shown]
    )

    assert [message["content"] for message in restored] == texts


def test_without_a_backend_nothing_is_cut_unless_it_is_asked_for() -> None:
    with pytest.raises(TypeError):
        Offloader()  # type: ignore[call-arg]


def test_construction_touches_no_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(event: str, _: Any) -> None:
        if event in {"open", "os.mkdir", "socket.connect"} and armed:
            raise AssertionError(event)

    armed = False
    sys.addaudithook(refuse)
    url = f"file://{tmp_path}/never"
    Offloader(url, session="s")
    armed = True
    try:
        Offloader(url, session="s")
    finally:
        armed = False

    assert not (tmp_path / "never").exists()
