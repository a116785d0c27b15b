"""What a policy needs to know of a history, read off its messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from offloadkit.content import readable_text
from offloadkit.formats import Format
from offloadkit.placeholder import Found, parse
from offloadkit.policy import Entry
from offloadkit.results import CallView, Content, MessageView, Place, ResultView, ToolResult, name_results
from offloadkit.tokens import TokenCounter, media_units

__all__ = ["History", "Standing", "content_units", "read_history", "text_of"]

Verify = Callable[[str], bool | None]
"""Says of a reference: True, it opens in this session; False, it does not; None, the store did not answer."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One result as it stands in the history.

    Attributes:
        view: What its message says.
        result: What the policy may know of it.
        call: The call it answers, if that is in the history.
        found: Our placeholder or preview that stands there already, verified; else None.
    """

    view: ResultView
    result: ToolResult
    call: CallView | None
    found: Found | None


@dataclass(frozen=True, slots=True)
class History:
    """A history, ready to be decided on.

    Attributes:
        entries: One a message, for `offloadkit.policy.replay`.
        standings: Every result by its place.
    """

    entries: tuple[Entry, ...]
    standings: dict[Place, Standing]


def read_history(
    message_format: Format,
    messages: Sequence[Any],
    *,
    counter: TokenCounter,
    placeholder: str,
    verify: Verify,
) -> History:
    """Read the facts off the messages; ``verify`` is asked for texts of our own shape only."""
    views = message_format.views(messages)
    calls = name_results(views)
    standings: dict[Place, Standing] = {}
    entries: list[Entry] = []
    turn = 0
    for view in views:
        turn += view.starts_turn
        for result in view.results:
            standings[result.place] = _standing(
                result, calls.get(result.place), turn, counter=counter, placeholder=placeholder, verify=verify
            )
        results = tuple(standings[result.place].result for result in view.results)
        entries.append(Entry(view.starts_turn, _outside_units(view, counter), results))
    return History(tuple(entries), standings)


def content_units(content: Content, counter: TokenCounter) -> int:
    """Return the size of a result's content: its texts and its media; a JSON value counts as JSON."""
    media = sum(media_units(part, counter) for part in content.media)
    if content.texts:
        return media + sum(counter.units(text) for _, text in content.texts)
    if not content.value or content.media:
        return media
    return media + counter.units(text_of(content))


def text_of(content: Content) -> str:
    """Return the text of a content as a reader sees it."""
    if content.texts:
        return "\n".join(text for _, text in content.texts)
    return readable_text(content.value) if content.value else ""


def arguments_text(arguments: Any) -> str:
    """Return the arguments of a call as JSON text."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False, default=str)


def _outside_units(view: MessageView, counter: TokenCounter) -> int:
    return (
        sum(counter.units(text) for text in view.texts)
        + sum(counter.units(arguments_text(call.arguments)) for call in view.calls)
        + sum(media_units(part, counter) for part in view.media)
    )


def _standing(
    view: ResultView,
    call: CallView | None,
    turn: int,
    *,
    counter: TokenCounter,
    placeholder: str,
    verify: Verify,
) -> Standing:
    result = ToolResult(
        place=view.place,
        turn=turn,
        tool=view.tool or (call.tool if call else None),
        size=content_units(view.content, counter),
        is_error=view.is_error,
        media=len(view.content.media),
    )
    texts = view.content.texts
    text = texts[0][1] if texts else ""
    if len(texts) == 1 and text == placeholder:
        return Standing(view, replace(result, state="cleared"), call, None)
    found = parse(text) if len(texts) == 1 else None
    if found is None:
        return Standing(view, result, call, None)
    opens = verify(found.placeholder.ref)
    if opens is None:
        return Standing(view, replace(result, state="fixed" if found.offloaded else "cleared"), call, None)
    if not opens:
        return Standing(view, result, call, None)
    return Standing(view, replace(result, state="offloaded" if found.offloaded else "cleared"), call, found)
