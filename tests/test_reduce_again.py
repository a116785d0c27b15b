"""`reduce` called again and again on one offloader: what it remembers never shows in what it returns."""

from __future__ import annotations

import copy
import gc
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from formats.histories import anthropic_histories, openai_chat_histories
from histories import answers, asks, call, session, user
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from test_laws import POLICIES, TEXTS

from offloadkit import FormatError, Offloader, Policy
from offloadkit.breaker import CircuitBreaker
from offloadkit.imprint import LONGEST_HELD, imprint
from offloadkit.placeholder import parse
from offloadkit.reducer import Reducer
from offloadkit.registry import open_backend
from offloadkit.testing import FlakyBackend

Message = dict[str, Any]
LONG_TEXTS = st.integers(100, 999).map(lambda number: f"{number}: a line of a log\n" * 70)
KEEN = Policy(
    offloading_token_limit=900,
    clearing_token_threshold=800,
    keep_recent_tokens=600,
    clear_at_least_tokens=300,
    preview_tokens=60,
)


def anew(offloader: Offloader) -> Reducer:
    """Return a reducer that remembers nothing, over the same store in the same mood."""
    departures = offloader._departures
    return Reducer(offloader.policy, offloader._counter, offloader._guard, departures, "read_offloaded")


class Again(RuleBasedStateMachine):
    """Histories of one format that grow, shrink, fork, change in place and come back reduced."""

    name: str
    strategy: Callable[..., st.SearchStrategy[list[Message]]]

    def __init__(self) -> None:
        super().__init__()
        self.conversations: list[list[Message]] = [[], []]
        self.down = False
        self.touched = False

    @initialize(policy=POLICIES | st.just(KEEN), data=st.data())
    def start(self, policy: Policy, data: st.DataObject) -> None:
        self.backend = open_backend("memory://")
        flaky = FlakyBackend(self.backend)
        for method in ("put", "stat", "read"):
            flaky.fail(method, when=lambda _: self.down)
        self.offloader = Offloader(flaky, session="s", policy=policy)
        assert self.offloader._guard is not None
        self.offloader._guard._breaker = CircuitBreaker(pause=0)
        for texts in (LONG_TEXTS, TEXTS, LONG_TEXTS):
            self.conversations[0] += data.draw(type(self).strategy(texts=texts))

    @rule(data=st.data(), count=st.integers(1, 3))
    def grow_by_some(self, data: st.DataObject, count: int) -> None:
        more = data.draw(type(self).strategy(texts=LONG_TEXTS | TEXTS))
        self.conversations[0] = self.conversations[0] + more[:count]

    @rule()
    def alternate(self) -> None:
        self.conversations.reverse()

    @rule(at=st.integers(0, 30))
    def fork(self, at: int) -> None:
        self.conversations[1] = self.conversations[0][:at]
        self.conversations.reverse()

    @rule()
    def copy_deeply(self) -> None:
        self.conversations[0] = json.loads(json.dumps(self.conversations[0]))

    @rule(data=st.data())
    @precondition(lambda self: bool(self.conversations[0]))
    def change_in_place(self, data: st.DataObject) -> None:
        self.offloader.reduce(self.conversations[0], format=self.name)
        message = data.draw(st.sampled_from(self.conversations[0]))
        change = data.draw(st.sampled_from([turn_keys_round, mark_failed, rename, drop_field]))
        change(message, data)

    @rule(data=st.data())
    @precondition(lambda self: bool(leaves(self.conversations[0])))
    def change_text_in_place(self, data: st.DataObject) -> None:
        self.offloader.reduce(self.conversations[0], format=self.name)
        places = leaves(self.conversations[0])
        long = [(holder, key) for holder, key in places if len(holder[key]) > LONGEST_HELD]
        holder, key = data.draw(st.sampled_from(long or places))
        holder[key] = data.draw(st.sampled_from([holder[key].swapcase(), holder[key] + "more", ""]))

    @rule()
    def go_on_with_the_reduced_history(self) -> None:
        self.conversations[0] = self.offloader.reduce(self.conversations[0], format=self.name)

    @rule()
    def store_fails(self) -> None:
        self.down = self.touched = True

    @rule()
    def store_comes_back(self) -> None:
        self.down = False

    @rule()
    def delete_all(self) -> None:
        if self.offloader._guard is not None and not self.down:
            archive = self.offloader._guard.archive
            archive.delete([ref for ref, _ in archive.entries()])

    @invariant()
    def equals_what_a_fresh_one_returns(self) -> None:
        messages = self.conversations[0]
        before = copy.deepcopy(messages)

        reduced = self.offloader.reduce(messages, format=self.name)

        assert messages == before
        assert json.dumps(reduced) == json.dumps(anew(self.offloader).reduce(messages, self.name))
        assert all(new is old for new, old in zip(reduced, messages, strict=True) if new == old)
        if not self.touched:
            fresh = Offloader(self.backend, session="s", policy=self.offloader.policy)
            assert json.dumps(reduced) == json.dumps(fresh.reduce(messages, format=self.name))


def turn_keys_round(message: Message, _: st.DataObject) -> None:
    """Let equal dictionaries be written in another order."""
    for holder in dictionaries(message):
        for key in reversed(list(holder)):
            holder[key] = holder.pop(key)


def mark_failed(message: Message, data: st.DataObject) -> None:
    """Mark the message or its blocks as failed, in one of the ways that are equal to Python."""
    for holder in dictionaries(message):
        if "tool_use_id" in holder or "tool_call_id" in holder:
            holder["is_error"] = data.draw(st.sampled_from([True, 1, 1.0, False, 0]))


def rename(message: Message, data: st.DataObject) -> None:
    """Let the calls in a message be of another tool."""
    for holder in dictionaries(message):
        if "name" in holder:
            holder["name"] = data.draw(st.sampled_from(["kept", "excluded", "fetch", "read_offloaded"]))


def drop_field(message: Message, data: st.DataObject) -> None:
    """Leave out what a message may do without."""
    message.pop(data.draw(st.sampled_from(["tool_calls", "prompt_cache_breakpoint"])), None)


def dictionaries(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [found for item in value for found in dictionaries(item)]
    if not isinstance(value, dict):
        return []
    return [value, *(found for item in value.values() for found in dictionaries(item))]


def leaves(value: Any) -> list[tuple[dict[str, Any], str]]:
    keys = {"content", "text", "arguments", "path", "q", "data", "title", "tool_call_id", "id"}
    return [
        (holder, key)
        for holder in dictionaries(value)
        for key, item in holder.items()
        if key in keys and isinstance(item, str)
    ]


class OpenAIChat(Again):
    name = "openai-chat"
    strategy = staticmethod(openai_chat_histories)


class Anthropic(Again):
    name = "anthropic-messages"
    strategy = staticmethod(anthropic_histories)


TestOpenAIChatAgain = OpenAIChat.TestCase
TestAnthropicAgain = Anthropic.TestCase
TestOpenAIChatAgain.settings = TestAnthropicAgain.settings = settings(
    max_examples=30, stateful_step_count=15, deadline=None
)


@pytest.fixture
def offloader() -> Offloader:
    return Offloader(open_backend("memory://"), session="s", policy=KEEN)


def test_a_text_changed_in_place_is_seen(offloader: Offloader) -> None:
    messages = session(40)
    offloader.reduce(messages)
    messages[2]["content"] = "another text, as long as the one before: " * 50

    reduced = offloader.reduce(messages)

    assert offloader.restore(reduced) == messages


def test_a_mixed_history_is_refused_however_much_of_it_is_known(offloader: Offloader) -> None:
    messages = session(40)
    offloader.reduce(messages)
    foreign = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]}

    with pytest.raises(FormatError):
        offloader.reduce([*messages, foreign])


def test_another_format_is_told_apart_from_one_that_was_named(offloader: Offloader) -> None:
    messages = [user("a"), {"role": "assistant", "content": "b"}, user("c")]
    offloader.reduce(messages, format="anthropic-messages")

    assert offloader.reduce([*messages, asks(call("1")), answers("1", "x")], format="openai-chat")


def test_a_result_deleted_by_the_session_is_stored_again(offloader: Offloader) -> None:
    messages = session(40)
    offloader.reduce(messages)
    assert offloader._guard is not None
    archive = offloader._guard.archive
    archive.delete([ref for ref, _ in archive.entries()])

    assert offloader.restore(offloader.reduce(messages)) == messages


def test_a_result_whose_write_failed_leaves_once_the_store_is_back() -> None:
    flaky = FlakyBackend(open_backend("memory://"))
    flaky.fail("put", call=3)
    offloader = Offloader(flaky, session="s", policy=KEEN)
    assert offloader._guard is not None
    offloader._guard._breaker = CircuitBreaker(pause=0)
    messages = session(40)

    first, second = offloader.reduce(messages), offloader.reduce(messages)

    left = [sum(parse(str(m["content"])) is not None for m in reduced) for reduced in (first, second)]
    assert left[1] == left[0] + 1


def test_results_that_left_are_not_kept_alive(offloader: Offloader) -> None:
    messages = session(40, "a text that nobody else holds " * 100)
    offloader.reduce(messages)
    offloader.reduce([*messages, asks(call("z")), answers("z", "done")])
    del messages

    gc.collect()

    held = [one for one in reachable(offloader) if isinstance(one, str) and len(one) > 2_000]
    assert held == []


def reachable(start: Any) -> list[Any]:
    found: dict[int, Any] = {}
    waiting = [start.__dict__]
    while waiting:
        one = waiting.pop()
        if id(one) in found or isinstance(one, type) or type(one).__name__ in {"module", "function"}:
            continue
        found[id(one)] = one
        waiting += gc.get_referents(one)
        if type(one).__name__ == "MemoryBackend":
            found.pop(id(one))
            waiting = [left for left in waiting if left not in gc.get_referents(one)]
    return list(found.values())


def test_threads_that_share_an_offloader_get_what_they_would_alone(offloader: Offloader) -> None:
    conversations = [session(20 + 5 * number, f"{number} log " * 300) for number in range(4)]
    alone = [Offloader(open_backend("memory://"), session="s", policy=KEEN).reduce(c) for c in conversations]
    results: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        for _ in range(10):
            results[number] = offloader.reduce(conversations[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [results[number] for number in range(4)] == alone


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (1, True),
        (1, 1.0),
        (0, False),
        (0.0, -0.0),
        ("x" * 100, "y" * 100),
        (None, ""),
        ([1], (1,)),
        ("", b""),
    ],
)
def test_an_imprint_tells_values_apart_that_python_calls_equal(before: Any, after: Any) -> None:
    assert imprint({"a": before}) != {"a": after}


def test_an_imprint_of_data_minds_the_order_of_keys() -> None:
    arguments = {"a": "1", "b": "2"}
    taken = imprint({"input": arguments}, {id(arguments)})

    assert taken == {"input": {"a": "1", "b": "2"}}
    assert taken != {"input": {"b": "2", "a": "1"}}


def test_an_imprint_equals_its_own_message() -> None:
    message = {"role": "tool", "content": ["x" * 500, {"n": 1, "ok": True}], "tool_call_id": "c"}

    assert imprint(message) == message


def test_what_cannot_be_watched_counts_as_changed() -> None:
    message = {"role": "tool", "content": object()}

    assert imprint(message) != message
