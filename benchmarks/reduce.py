"""What `Offloader.reduce` costs before each model call, beside LangChain's clearing on the same history.

    python benchmarks/reduce.py [--json] [--sizes 1000,10000] [--rounds 7]

The history has ~2 KB results, one batch in ten of three parallel calls. Theirs is `ContextEditingMiddleware`
with one `ClearToolUsesEdit`, called as an agent does; ours keeps what is cleared in memory:// (or, clear-only
nothing, as theirs). Each figure is the median of calls that take turns, in one process. "next call" has
one turn more than the call before; "first call" is a new `Offloader` on a history that it never saw.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from offloadkit import Offloader, Policy

Call = Callable[[], Any]
RESULT_CHARACTERS = 2_000
ABOVE = Policy(clearing_token_threshold=10_000, keep_recent_tokens=2_000, clear_at_least_tokens=5_000)
BELOW = Policy(clearing_token_threshold=10**9)
THEIR_TRIGGER = {"below": 10**9, "above": 10_000}
LINEAR_SIZES = (1_000, 10_000, 100_000)


def turn(number: int) -> list[dict[str, Any]]:
    """Return one turn: an assistant message with one call or three, and their results."""
    ids = [f"call_{number}_{index}" for index in range(3 if number % 10 == 0 else 1)]
    calls = [
        {"id": one, "type": "function", "function": {"name": "fetch", "arguments": f'{{"url": "{one}"}}'}}
        for one in ids
    ]
    text = "a line of what a tool found\n" * (RESULT_CHARACTERS // 28)
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": one, "content": f"{one}\n{text}"} for one in ids),
    ]


def history(size: int) -> list[dict[str, Any]]:
    """Return a history of at least ``size`` messages."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "a long job"}]
    number = 0
    while len(messages) < size:
        messages += turn(number)
        number += 1
    return messages


def growing(size: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the history again and again, one turn longer each time."""
    messages = history(size)
    for number in range(10**6, 2 * 10**6):
        yield messages
        messages = [*messages, *turn(number)]


def next_call(offloader: Offloader, size: int) -> Call:
    """Return a call that reduces the next longer history."""
    longer = growing(size)
    offloader.reduce(next(longer), format="openai-chat")
    return lambda: offloader.reduce(next(longer))


def first_call(policy: Policy, size: int, backend: str | None) -> Call:
    """Return a call of a new offloader on the whole history."""
    messages = history(size)
    return lambda: Offloader(backend, session="benchmark", policy=policy).reduce(messages)


def langchain_call(trigger: int, size: int) -> Call | None:
    """Return what LangChain does before a model call, or None where it is not installed."""
    try:
        from langchain.agents.middleware import (  # noqa: PLC0415
            ClearToolUsesEdit,
            ContextEditingMiddleware,
            ModelRequest,
        )
        from langchain_core.language_models.fake_chat_models import FakeListChatModel  # noqa: PLC0415
    except ImportError:
        return None
    middleware: Any = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=trigger)])
    request: Any = ModelRequest(
        model=FakeListChatModel(responses=["x"]),
        messages=as_langchain(history(size)),
        system_prompt=None,
        tool_choice=None,
        tools=[],
        response_format=None,
        state={"messages": []},
        runtime=None,
    )
    return lambda: middleware.wrap_model_call(request, lambda changed: changed)


def as_langchain(messages: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the same history as LangChain's messages."""
    from langchain_core.messages import convert_to_messages  # noqa: PLC0415

    return list(
        convert_to_messages([{**message, "content": message["content"] or ""} for message in messages])
    )


def interleaved(calls: dict[str, Call | None], rounds: int) -> dict[str, float | None]:
    """Return the median milliseconds of each call; they take turns, so that a busy moment meets all."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            if call is None:
                continue
            gc.collect()
            start = time.perf_counter()
            call()
            taken[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(times) if times else None for name, times in taken.items()}


def compare(size: int, rounds: int) -> list[dict[str, Any]]:
    """Return one row for each place of the threshold and each kind of call."""
    rows = []
    for place, policy in (("below", BELOW), ("above", ABOVE)):
        calls = {
            "theirs": langchain_call(THEIR_TRIGGER[place], size),
            "next call": next_call(Offloader("memory://", session="benchmark", policy=policy), size),
            "first call": first_call(policy, size, "memory://"),
            "first call, clear only": first_call(policy, size, None),
        }
        times = interleaved(calls, rounds)
        theirs = times.pop("theirs")
        rows += [
            {
                "messages": size,
                "threshold": place,
                "call": name,
                "ms": ours,
                "langchain_ms": theirs,
                "ratio": theirs / ours if theirs and ours else None,
            }
            for name, ours in times.items()
        ]
    return rows


def memory(size: int, policy: Policy) -> dict[str, float]:
    """Return bytes a message, beyond the history: at the peak of two calls, and kept after them."""
    messages = history(size)
    longer = [*messages, *turn(10**6)]
    offloader = Offloader(None, policy=policy)
    tracemalloc.start()
    offloader.reduce(messages)
    first = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    offloader.reduce(longer)
    kept, second = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {"first_peak": first / size, "next_peak": second / size, "kept": kept / size}


def linearity(rounds: int) -> list[dict[str, Any]]:
    """Return microseconds and bytes a message at growing lengths, above the threshold."""
    rows = []
    for size in LINEAR_SIZES:
        offloader = Offloader("memory://", session="benchmark", policy=ABOVE)
        times = interleaved({"next": next_call(offloader, size)}, rounds)
        ms = times["next"] or 0.0
        rows.append({"messages": size, "next_us_a_message": 1000 * ms / size, **memory(size, ABOVE)})
    return rows


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows as a Markdown table."""
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + " --- |" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(shown(value) for value in row.values()) + " |")
    print()


def shown(value: Any) -> str:
    """Return a figure as it stands in a table."""
    if value is None:
        return "not installed"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--sizes", default="1000,10000", help="messages, divided by commas")
    parser.add_argument("--rounds", type=int, default=7, help="calls of each kind")
    options = parser.parse_args()
    compared = [row for size in options.sizes.split(",") for row in compare(int(size), options.rounds)]
    grown = linearity(options.rounds)
    if options.json:
        print(json.dumps({"compared": compared, "linearity": grown}))
        return
    print_table(compared)
    print_table(grown)


if __name__ == "__main__":
    main()
