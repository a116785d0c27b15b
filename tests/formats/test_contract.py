"""Each promise of the contract for formats is broken by a format that is wrong on purpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from formats.contract_runs import contract_tests, run_contract

from offloadkit.formats.anthropic_messages import AnthropicMessages
from offloadkit.results import Content, MessageView, Place
from offloadkit.testing import FormatContract

MARK = {"type": "ephemeral"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
CONTENT = [
    {"type": "text", "text": "a", "cache_control": MARK},
    IMAGE,
    {"type": "new"},
    {"type": "text", "text": "b"},
]


def history() -> list[Any]:
    """Return a history that holds all that the wrong formats below get wrong."""
    uses = [{"type": "tool_use", "id": name, "name": "f", "input": {"q": 1}} for name in ("t1", "t2")]
    first = {"type": "tool_result", "tool_use_id": "t1", "content": CONTENT, "is_error": True}
    second = {"type": "tool_result", "tool_use_id": "t2", "content": "plain"}
    return [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [first, second]},
        {"role": "assistant", "content": "done"},
    ]


class DeniesItself(AnthropicMessages):
    def recognises(self, messages: Sequence[Any]) -> bool | None:
        return False


class ForgetsPlainMessages(AnthropicMessages):
    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        return [view for view in super().views(messages) if view.calls or view.results]


class UsesPlacesTwice(AnthropicMessages):
    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        return [
            replace(
                view, results=tuple(replace(result, place=view.results[0].place) for result in view.results)
            )
            for view in super().views(messages)
        ]


class StartsTurnsByPosition(AnthropicMessages):
    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        views = super().views(messages)
        return [replace(view, starts_turn=index % 3 == 1) for index, view in enumerate(views)]


class ReadsResultsAfterACallOnly(AnthropicMessages):
    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        views = super().views(messages)
        called = any(view.calls for view in views)
        return [view if called else replace(view, results=()) for view in views]


class RaisesOnOddMessages(AnthropicMessages):
    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        assert all(message["role"] for message in messages)
        return super().views(messages)


class PutsInEverything(AnthropicMessages):
    """Lets a test change what `replace` returns."""

    def replace(
        self,
        messages: Sequence[Any],
        results: Mapping[Place, Any],
        arguments: Mapping[Place, Any] | None = None,
    ) -> list[Any]:
        return self.spoilt(super().replace(messages, results, arguments), bool(results or arguments))

    def spoilt(self, changed: list[Any], replaced: bool) -> list[Any]:
        raise NotImplementedError


class CopiesEverything(PutsInEverything):
    def spoilt(self, changed: list[Any], replaced: bool) -> list[Any]:
        return [dict(message) if isinstance(message, dict) else message for message in changed]


class DropsTheLastMessage(PutsInEverything):
    def spoilt(self, changed: list[Any], replaced: bool) -> list[Any]:
        return changed[:-1] if replaced else changed


class SwapsResults(PutsInEverything):
    def spoilt(self, changed: list[Any], replaced: bool) -> list[Any]:
        return [self._swapped(message) if replaced else message for message in changed]

    def _swapped(self, message: Any) -> Any:
        blocks = message["content"]
        results = blocks[0]["type"] == "tool_result" if isinstance(blocks, list) else False
        return {**message, "content": blocks[::-1]} if results else message


class DropsTheErrorFlag(PutsInEverything):
    def spoilt(self, changed: list[Any], replaced: bool) -> list[Any]:
        return [self._without_flags(message) if replaced else message for message in changed]

    def _without_flags(self, message: Any) -> Any:
        if not isinstance(message["content"], list):
            return message
        blocks = [{k: v for k, v in block.items() if k != "is_error"} for block in message["content"]]
        return {**message, "content": blocks}


class ChangesTheInput(AnthropicMessages):
    def replace(
        self,
        messages: Sequence[Any],
        results: Mapping[Place, Any],
        arguments: Mapping[Place, Any] | None = None,
    ) -> list[Any]:
        for place, content in results.items():
            messages[place.message]["content"][place.block]["content"] = content
        return super().replace(messages, {}, arguments)


class IgnoresArguments(AnthropicMessages):
    def replace(
        self,
        messages: Sequence[Any],
        results: Mapping[Place, Any],
        arguments: Mapping[Place, Any] | None = None,
    ) -> list[Any]:
        return super().replace(messages, results)


class JoinsBlankText(AnthropicMessages):
    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        return super().join(content, " ", keep_media=keep_media)


class JoinsToPlainText(AnthropicMessages):
    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        return text


class KeepsOneOfTheTexts(AnthropicMessages):
    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        joined = super().join(content, text, keep_media=keep_media)
        return [*joined, {"type": "text", "text": "left over"}] if isinstance(joined, list) else joined


class KeepsMediaAlways(AnthropicMessages):
    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        return super().join(content, text, keep_media=True)


class DropsCacheMarks(AnthropicMessages):
    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        joined = super().join(content, text, keep_media=keep_media)
        return [{"type": "text", "text": text}, *joined[1:]] if isinstance(joined, list) else joined


class JoinsBytes(AnthropicMessages):
    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        joined = super().join(content, text, keep_media=keep_media)
        return joined if isinstance(joined, str) else (*joined,)


class TellsWrongPaths(AnthropicMessages):
    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        views = super().views(messages)
        return [
            replace(view, results=tuple(replace(r, content=self._moved(r.content)) for r in view.results))
            for view in views
        ]

    def _moved(self, content: Content) -> Content:
        moved = tuple((path, text + "!") for path, text in content.texts)
        return replace(content, texts=moved)


BROKEN: dict[Callable[[], AnthropicMessages], str] = {
    DeniesItself: "test_the_format_does_not_deny_its_own_messages",
    ForgetsPlainMessages: "test_there_is_one_view_for_each_message",
    UsesPlacesTwice: "test_places_are_unique_and_name_their_message",
    StartsTurnsByPosition: "test_reading_may_begin_where_a_turn_starts",
    ReadsResultsAfterACallOnly: "test_a_message_alone_shows_the_same_calls_and_results",
    CopiesEverything: "test_nothing_to_put_in_gives_the_same_objects_in_a_new_list",
    DropsTheLastMessage: "test_the_facts_of_all_messages_stay_in_order",
    SwapsResults: "test_each_result_answers_the_same_call",
    DropsTheErrorFlag: "test_the_original_contents_put_back_give_an_equal_history",
    ChangesTheInput: "test_the_input_is_not_changed",
    IgnoresArguments: "test_arguments_that_were_put_in_are_found_again",
    JoinsBlankText: "test_a_text_that_was_put_in_is_found_again",
    JoinsToPlainText: "test_media_stay_when_asked_and_only_what_is_unknown_stays_otherwise",
    KeepsOneOfTheTexts: "test_a_placeholder_stands_alone_among_the_texts",
    KeepsMediaAlways: "test_media_stay_when_asked_and_only_what_is_unknown_stays_otherwise",
    DropsCacheMarks: "test_cache_marks_stay_in_their_message",
    JoinsBytes: "test_what_was_json_stays_json",
    TellsWrongPaths: "test_every_text_stands_where_its_path_leads",
}


@pytest.mark.parametrize(("wrong", "test"), BROKEN.items(), ids=[wrong.__name__ for wrong in BROKEN])
def test_a_wrong_format_is_caught(wrong: Callable[[], AnthropicMessages], test: str) -> None:
    with pytest.raises(AssertionError):
        run_contract(test, wrong(), history())


@pytest.mark.parametrize("name", contract_tests())
def test_the_right_format_passes_on_the_same_history(name: str) -> None:
    run_contract(name, AnthropicMessages(), history())


@pytest.mark.parametrize("name", contract_tests())
def test_each_test_of_the_contract_fails_for_some_wrong_format(name: str) -> None:
    assert any(fails(name, wrong()) for wrong in BROKEN)


def fails(name: str, wrong: AnthropicMessages) -> bool:
    try:
        run_contract(name, wrong, history())
    except (AssertionError, ValueError, LookupError):
        return True
    return False


def test_a_format_that_raises_on_odd_messages_is_caught() -> None:
    with pytest.raises(TypeError):
        FormatContract().test_odd_messages_are_passed_over(RaisesOnOddMessages(), history(), message=None)
