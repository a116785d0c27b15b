"""What `Offloader` does for a program, with the OpenAI chat format and the memory backend."""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from histories import answers, asks, call, session, user

from offloadkit import ConfigError, FormatError, Offloader, Policy, ToolRule
from offloadkit.backend import Backend
from offloadkit.events import (
    Cleared,
    Event,
    Offloaded,
    ReadAnswered,
    ReadDenied,
    StoreFailed,
    StoreRecovered,
    UsageReported,
)
from offloadkit.placeholder import parse
from offloadkit.registry import open_backend
from offloadkit.testing import FlakyBackend

BIG = "".join(f"{n}: a line of text\n" for n in range(2_000))
TIGHT = Policy(
    offloading_token_limit=600,
    clearing_token_threshold=800,
    keep_recent_tokens=600,
    clear_at_least_tokens=300,
    preview_tokens=60,
    page_tokens=400,
)


@pytest.fixture
def backend() -> Iterator[Backend]:
    opened = open_backend("memory://")
    yield opened
    opened.close()


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def offloader(backend: Backend, events: list[Event]) -> Offloader:
    return Offloader(backend, session="run-1", policy=TIGHT, on_event=events.append)


def reference(text: str) -> str:
    found = parse(text)
    assert found is not None
    return found.placeholder.ref


def test_a_preview_with_something_added_is_ordinary_content(offloader: Offloader) -> None:
    shown = offloader.offload(BIG, tool="t")
    grown = shown + "\n" + "a new line\n" * 2_000
    messages = [asks(call("a")), answers("a", shown), asks(call("b")), answers("b", grown), *session(6)]

    reduced = offloader.reduce(messages)

    assert len(reduced[3]["content"]) < len(grown)
    assert "a new line" in offloader.restore(reduced)[3]["content"]


def test_what_a_tool_returned_is_written_although_it_was_stored_before(
    offloader: Offloader, backend: Backend
) -> None:
    offloader.offload(BIG, tool="t")
    backend.delete([stat.key for stat in backend.list().items])

    shown = offloader.offload(BIG, tool="t")

    assert "1999: a line of text" in offloader.read(reference(shown), offset=-1)


def test_arguments_that_a_model_wrote_after_our_example_stay(offloader: Offloader) -> None:
    ref = reference(offloader.offload(BIG, tool="t"))
    messages = [asks(call("a", "t", f'{{"offloaded_arguments": "{ref}"}}')), answers("a", "x")]

    assert offloader.restore(messages) == messages


def test_a_small_result_comes_back_as_the_same_object(offloader: Offloader) -> None:
    result = ["small", {"type": "text", "text": "x"}]

    assert offloader.offload(result, tool="t") is result


def test_a_large_result_becomes_a_preview_with_a_reference_that_reads_it(offloader: Offloader) -> None:
    shown = offloader.offload(BIG, tool="read_log", call_id="call_7")

    assert "2,000 lines of read_log" in shown
    assert "1999: a line of text" in offloader.read(reference(shown), offset=-1)


def test_the_same_result_is_stored_once(offloader: Offloader, backend: Backend) -> None:
    first, again = offloader.offload(BIG, tool="t"), offloader.offload(BIG, tool="t")

    assert first == again
    assert len(backend.list().items) == 1


@pytest.mark.parametrize("tool", ["read_offloaded", "excluded", "never"])
def test_what_the_policy_excludes_is_not_offloaded(backend: Backend, tool: str) -> None:
    policy = Policy(
        offloading_token_limit=1,
        exclude_tools=("excluded",),
        tools={"never": ToolRule(offloading_token_limit=None)},
    )

    assert Offloader(backend, session="s", policy=policy).offload(BIG, tool=tool) is BIG


@pytest.mark.parametrize(
    "value", [{"rows": list(range(4000))}, list(range(4000)), b"\xff\x00" * 4000, {1: "x" * 9000}]
)
def test_any_large_value_becomes_text(offloader: Offloader, value: Any) -> None:
    assert isinstance(offloader.offload(value, tool="t"), str)


def test_bytes_are_restored_as_the_same_bytes(offloader: Offloader) -> None:
    data = bytes(range(256)) * 40

    message = answers("c", offloader.offload(data, tool="t"))

    assert offloader.restore([asks(call("c")), message])[1]["content"] == data


def test_a_picture_stays_beside_the_preview_of_the_text(offloader: Offloader) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    blocks = [{"type": "text", "text": BIG}, image]

    shown = offloader.offload(blocks, tool="t")

    assert image in shown
    assert offloader.restore([asks(call("c")), answers("c", shown)])[1]["content"] == blocks


def test_old_results_become_one_line_and_recent_ones_stay(offloader: Offloader) -> None:
    messages = session(6)

    reduced = offloader.reduce(messages)

    assert [parse(m["content"]) is not None for m in reduced if m["role"] == "tool"] == [True] * 4 + [
        False
    ] * 2


def test_the_input_is_not_changed_and_untouched_messages_are_the_same_objects(offloader: Offloader) -> None:
    messages = session(6)
    before = copy.deepcopy(messages)

    reduced = offloader.reduce(messages)

    assert messages == before
    assert all(new is old for new, old in zip(reduced, messages, strict=True) if new == old)
    assert reduced is not messages


def test_restore_gives_back_the_history(offloader: Offloader) -> None:
    messages = session(6, BIG)

    assert offloader.restore(offloader.reduce(messages)) == messages


def test_a_second_offloader_of_the_same_session_restores_it(offloader: Offloader, backend: Backend) -> None:
    messages = session(6, BIG)
    reduced = offloader.reduce(messages)

    assert Offloader(backend, session="run-1").restore(reduced) == messages


def test_another_session_cannot_open_a_reference(offloader: Offloader, backend: Backend) -> None:
    ref = reference(offloader.offload(BIG, tool="t"))
    other = Offloader(backend, session="run-2")
    unknown = other.read("aaaaaaaaaaaaaaaa").replace("aaaaaaaaaaaaaaaa", ref)

    assert other.read(ref) == unknown


def test_the_same_session_of_another_namespace_cannot_open_a_reference(
    offloader: Offloader, backend: Backend
) -> None:
    ref = reference(offloader.offload(BIG, tool="t"))

    assert "a line of text" not in Offloader(backend, session="run-1", namespace="other").read(ref)


def test_the_untouched_and_the_reduced_history_lead_to_the_same_bytes(offloader: Offloader) -> None:
    messages = session(12)
    reduced: list[Any] = []
    for message in messages:
        if message["role"] == "assistant":
            reduced = offloader.reduce(reduced)
        reduced.append(message)

    assert offloader.reduce(reduced) == offloader.reduce(messages)


def test_a_cleared_result_is_stored_once_however_often_reduce_runs(backend: Backend) -> None:
    counting = FlakyBackend(backend)
    offloader = Offloader(counting, session="s", policy=TIGHT)
    messages = session(6)

    for _ in range(5):
        offloader.reduce(messages)

    assert counting.calls["put"] == 4


def test_a_result_without_a_gain_stays(offloader: Offloader) -> None:
    messages = session(60, "ok")

    assert offloader.reduce(messages) == messages


def test_plan_decides_the_same_and_writes_nothing(offloader: Offloader, backend: Backend) -> None:
    messages = session(6)

    plan = offloader.plan(messages)

    assert backend.list().items == ()
    reduced = offloader.reduce(messages)
    assert set(plan.final()) == {(i, 0) for i, m in enumerate(reduced) if m is not messages[i]}


def test_emptied_arguments_are_legal_json_and_restored(backend: Backend) -> None:
    policy = Policy(**{**_fields(TIGHT), "clear_tool_inputs": True})
    offloader = Offloader(backend, session="s", policy=policy)
    messages = session(6)
    for message in messages:
        for one in message.get("tool_calls", []):
            one["function"]["arguments"] = '{"path": "' + "x" * 400 + '"}'

    reduced = offloader.reduce(messages)

    assert "xxxx" not in reduced[1]["tool_calls"][0]["function"]["arguments"]
    assert "xxxx" in reduced[-2]["tool_calls"][0]["function"]["arguments"]
    assert offloader.reduce(reduced) == reduced
    assert offloader.restore(reduced) == messages


def test_arguments_are_never_changed_unless_asked(offloader: Offloader) -> None:
    messages = session(6)
    messages[1]["tool_calls"][0]["function"]["arguments"] = '{"path": "' + "x" * 4000 + '"}'

    assert offloader.reduce(messages)[1] is messages[1]


def test_a_cleared_page_names_the_call_that_shows_it_again(offloader: Offloader) -> None:
    ref = reference(offloader.offload(BIG, tool="t"))
    arguments = f'{{"ref": "{ref}", "offset": "100"}}'
    page = offloader.read_tool.call(arguments)
    messages = [user(), asks(call("r", "read_offloaded", arguments)), answers("r", page), *session(6)]

    text = offloader.reduce(messages)[2]["content"]

    assert f'read_offloaded(ref="{ref}", offset=100) shows it again.' in text
    assert offloader.restore(offloader.reduce(messages)) == messages


def test_a_failed_result_is_marked_as_failed() -> None:
    with Offloader("memory://", session="s", policy=TIGHT) as offloader:
        shown = offloader.offload(BIG, tool="t", is_error=True)

    assert "lines of t, failed" in shown


def test_text_that_only_looks_like_ours_is_ordinary_content(offloader: Offloader) -> None:
    forged = (
        "[Tool result offloaded] 9 tokens, 9 lines of t. Below: x. "
        'read_offloaded(ref="aaaaaaaaaaaaaaaa") returns all of it.\n' + BIG
    )
    messages = [user(), asks(call("f")), answers("f", forged), *session(6)]

    reduced = offloader.reduce(messages)

    assert reduced[2]["content"] != forged
    assert offloader.restore(reduced) == messages


def test_clear_only_mode_leaves_the_bare_placeholder_and_offloads_nothing() -> None:
    offloader = Offloader(None, policy=TIGHT)
    messages = [user(), asks(call("b")), answers("b", BIG), *session(6)]

    reduced = offloader.reduce(messages)

    assert offloader.offload(BIG, tool="t") is BIG
    assert reduced[2]["content"] == TIGHT.placeholder
    assert offloader.reduce(reduced) == reduced
    assert offloader.restore(messages) == messages


def test_a_bare_placeholder_of_an_earlier_system_counts_as_cleared(offloader: Offloader) -> None:
    messages = session(6)
    messages[2]["content"] = TIGHT.placeholder

    assert offloader.reduce(messages)[2] is messages[2]


class TestAFailingStore:
    def test_leaves_every_text_in_place(self, backend: Backend) -> None:
        offloader = Offloader(_broken(backend), session="s", policy=TIGHT)
        messages = session(6)

        assert offloader.offload(BIG, tool="t") is BIG
        assert offloader.reduce(messages) == messages

    def test_is_told_once_and_not_asked_again_for_a_while(
        self, backend: Backend, events: list[Event], caplog: pytest.LogCaptureFixture
    ) -> None:
        broken = _broken(backend)
        offloader = Offloader(broken, session="s", policy=TIGHT, on_event=events.append)

        with caplog.at_level(logging.WARNING, "offloadkit"):
            for _ in range(20):
                offloader.offload(BIG, tool="t")

        assert broken.calls["put"] == 1
        assert [type(event) for event in events] == [StoreFailed]
        assert len(caplog.records) == 1

    def test_never_leaves_a_reference_to_what_was_not_stored(self, backend: Backend) -> None:
        flaky = FlakyBackend(backend)
        flaky.fail("put", call=2)
        offloader = Offloader(flaky, session="s", policy=TIGHT)
        messages = session(8)

        reduced = offloader.reduce(messages)

        placeholders = [m["content"] for m in reduced if m["role"] == "tool" and parse(m["content"])]
        assert len(placeholders) == 1
        assert offloader.restore(reduced) == messages

    def test_is_used_again_after_it_recovered(
        self, backend: Backend, events: list[Event], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flaky = FlakyBackend(backend)
        flaky.fail("put", call=1)
        now = [0.0]
        monkeypatch.setattr("time.monotonic", lambda: now[0])
        offloader = Offloader(flaky, session="s", policy=TIGHT, on_event=events.append)
        offloader.offload(BIG, tool="t")
        now[0] = 60.0

        assert offloader.offload(BIG, tool="t") is not BIG
        assert [type(event) for event in events] == [StoreFailed, StoreRecovered, Offloaded]

    def test_answers_a_read_in_words(self, backend: Backend) -> None:
        ref = reference(Offloader(backend, session="s", policy=TIGHT).offload(BIG, tool="t"))

        answer = Offloader(_broken(backend), session="s").read(ref)

        assert "not lost, but the store does not answer now" in answer


def test_events_tell_what_left_once_and_without_content(offloader: Offloader, events: list[Event]) -> None:
    messages = [user(), asks(call("b", "big")), answers("b", BIG), *session(6)]

    offloader.reduce(messages)
    offloader.reduce(messages)

    assert [(type(e), e.tool) for e in events if isinstance(e, Offloaded | Cleared)].count(
        (Offloaded, "big")
    ) == 1
    assert offloader.statistics.cleared == sum(isinstance(e, Cleared) for e in events) == 5
    assert "a line of text" not in str([event.to_json() for event in events])


def test_reads_and_denials_are_told(offloader: Offloader, events: list[Event]) -> None:
    ref = reference(offloader.offload(BIG, tool="t"))

    offloader.read(ref)
    offloader.read("aaaaaaaaaaaaaaaa")

    assert [type(event) for event in events] == [Offloaded, ReadAnswered, ReadDenied]
    assert (offloader.statistics.read, offloader.statistics.denied) == (1, 1)


def test_what_the_provider_counted_is_told_and_changes_no_decision(
    offloader: Offloader, events: list[Event]
) -> None:
    messages = session(6)
    before = offloader.reduce(messages)
    events.clear()

    drift = offloader.report_usage(before, 10_000, tools=[offloader.read_tool.openai()])

    assert drift > 2
    assert [(type(event), event.drift) for event in events if isinstance(event, UsageReported)] == [
        (UsageReported, drift)
    ]
    assert offloader.reduce(messages) == before


def test_a_callback_that_raises_does_not_break_the_run(
    backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Event) -> None:
        raise RuntimeError

    offloader = Offloader(backend, session="s", policy=TIGHT, on_event=fail)

    assert offloader.offload(BIG, tool="t") is not BIG
    assert "the on_event callback raised" in caplog.text


def test_the_same_dead_reference_gets_a_short_final_answer(offloader: Offloader) -> None:
    first, second = (offloader.read("aaaaaaaaaaaaaaaa") for _ in range(2))

    assert first != second
    assert len(second) < len(first)


def test_a_result_that_is_gone_is_answered_with_what_it_was_and_which_call_to_repeat(
    offloader: Offloader, backend: Backend
) -> None:
    messages = [asks(call("b", "read_log", '{"day": "monday"}')), answers("b", BIG)]
    ref = reference(offloader.reduce(messages)[1]["content"])
    backend.delete([stat.key for stat in backend.list().items])

    first, second = (offloader.read(ref) for _ in range(2))

    assert "read_log" in first
    assert '{"day": "monday"}' in first
    assert len(second) < len(first)


def test_a_mistyped_reference_is_answered_with_the_one_that_was_meant(offloader: Offloader) -> None:
    ref = reference(offloader.offload(BIG, tool="t"))

    assert ref in offloader.read(("b" if ref[0] == "a" else "a") + ref[1:])


@pytest.mark.parametrize("ref", [0, 1.5, True, ["x", 5], "", object()])
def test_what_is_no_reference_is_answered_in_words(offloader: Offloader, ref: Any) -> None:
    assert "No result" in offloader.read(ref)


def test_without_a_reference_the_stored_results_are_listed(offloader: Offloader) -> None:
    ref = reference(offloader.offload(BIG, tool="read_log"))

    answer = offloader.read()

    assert ref in answer
    assert "read_log" in answer


@pytest.mark.parametrize(
    "arguments", [None, "", "{", "[]", 5, {"ref": None}, {"ref": "x", "offset": "no"}, '{"ref": {}}']
)
def test_nothing_a_model_can_send_raises(offloader: Offloader, arguments: Any) -> None:
    assert isinstance(offloader.read_tool.call(arguments), str)


def test_async_twins_do_the_same(offloader: Offloader) -> None:
    messages = session(6)

    async def run() -> tuple[Any, ...]:
        async with offloader:
            shown = await offloader.aoffload(BIG, tool="t")
            reduced = await offloader.areduce(messages)
            page = await offloader.read_tool.acall({"ref": reference(shown)})
            assert page == await offloader.aread(reference(shown))
            return shown, reduced, page, await offloader.arestore(reduced)

    shown, reduced, page, restored = anyio.run(run)

    assert (shown, reduced) == (offloader.offload(BIG, tool="t"), offloader.reduce(messages))
    assert page == offloader.read(reference(shown))
    assert restored == messages


def test_many_threads_share_one_offloader(offloader: Offloader) -> None:
    messages = session(20)
    expected = Offloader("memory://", session="run-1", policy=TIGHT).reduce(messages)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(offloader.reduce(messages))) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [expected] * 8


def test_a_backend_that_was_passed_stays_open(backend: Backend) -> None:
    with Offloader(backend, session="s"):
        pass

    assert backend.list().items == ()


def test_a_session_is_made_up_when_none_is_given() -> None:
    one, other = Offloader("memory://"), Offloader("memory://")

    assert one.session != other.session


def test_a_made_up_session_of_a_lasting_store_is_told(
    tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    offloader = Offloader(f"file://{tmp_path}")

    assert offloader.session in caplog.text


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Offloader(5), "backend takes a URL"),  # type: ignore[arg-type]
        (lambda: Offloader("memory://", ttl=0), "ttl takes seconds above 0"),
        (lambda: Offloader("memory://", ttl=float("nan")), "ttl takes seconds above 0"),
        (lambda: Offloader("memory://", ttl="60"), "ttl takes seconds above 0"),  # type: ignore[arg-type]
        (lambda: Offloader("memory://", session=42), "session takes text or None, not int"),  # type: ignore[arg-type]
        (lambda: Offloader("memory://", namespace=None), "namespace takes text"),  # type: ignore[arg-type]
        (lambda: Offloader("memory://", policy="frugal"), "policy takes a Policy"),  # type: ignore[arg-type]
        (lambda: Offloader("nosuch://x"), "nosuch"),
        (lambda: Offloader("memory://", policy=Policy(tools={"t": ToolRule(preview="nosuch")})), "nosuch"),
        (lambda: Offloader("memory://", policy=Policy(token_counter="nosuch")), "nosuch"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(make: Callable[[], Offloader], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        make()


@pytest.mark.parametrize("messages", [5, "text", {"role": "user"}, [1, 2]])
def test_what_is_no_list_of_messages_is_refused(offloader: Offloader, messages: Any) -> None:
    with pytest.raises(FormatError):
        offloader.reduce(messages)


@pytest.mark.parametrize("messages", [5, "text", {"role": "user"}, iter(())])
@pytest.mark.parametrize("method", ["reduce", "restore", "plan"])
def test_a_named_format_takes_no_more_than_a_list_either(
    offloader: Offloader, method: str, messages: Any
) -> None:
    with pytest.raises(FormatError):
        getattr(offloader, method)(messages, format="openai-chat")


def _broken(backend: Backend) -> FlakyBackend:
    broken = FlakyBackend(backend)
    for method in ("put", "read", "stat", "list"):
        broken.fail(method)
    return broken


def _fields(policy: Policy) -> dict[str, Any]:
    return {name: getattr(policy, name) for name in policy.__dataclass_fields__}
