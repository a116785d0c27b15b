"""The conformance suite for message formats: every promise in `offloadkit.formats`, as a pytest class.

The author of a format writes two fixtures and has the suite::

    class TestMyFormat(FormatContract):
        @pytest.fixture
        def format(self):
            return MyFormat()

        @pytest.fixture(params=HISTORIES)
        def history(self, request):
            return request.param

The histories are examples of all that the format can hold: text and block contents, absent and empty ones,
media, failed results, cache marks, parallel calls, blocks of types that do not exist yet, SDK objects.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from offloadkit.formats import Format
from offloadkit.placeholder import Placeholder, parse, render_cleared
from offloadkit.results import CallView, MessageView, Place, ResultView, name_results

__all__ = ["FormatContract", "with_text"]

TEXT = "[Old tool result content cleared] a text in place of another"
LINE = render_cleared(Placeholder("a" * 16, 1, 1), words="[cleared]", read_tool="read_offloaded")
MARKS = frozenset({"cache_control", "prompt_cache_breakpoint", "cachePoint"})
ODD_MESSAGES: tuple[Any, ...] = (
    None,
    5,
    "text",
    [],
    {},
    {"role": None},
    {"role": ["user"]},
    {"role": "tool"},
    object(),
)


def with_text(format: Format, history: list[Any], *, keep_media: bool = False) -> list[Any]:
    """Return the history with a text in place of every result that is not empty; empty ones always stay."""
    contents = {
        result.place: format.join(result.content, TEXT, keep_media=keep_media)
        for result in _results(format, history)
        if result.content.value
    }
    return format.replace(history, contents)


class FormatContract:
    """What every message format keeps. Override the fixtures ``format`` and ``history``."""

    @pytest.fixture
    def format(self) -> Format:
        """Return the format under test."""
        raise NotImplementedError("return an instance of your format")

    @pytest.fixture
    def history(self) -> list[Any]:
        """Return an example history that holds tool results."""
        raise NotImplementedError("return a list of messages that holds tool results")

    @pytest.fixture
    def cleared(self, format: Format, history: list[Any]) -> list[Any]:
        """Return the history with a text in place of every result that is not empty."""
        return with_text(format, history)

    def test_the_format_does_not_deny_its_own_messages(self, format: Format, history: list[Any]) -> None:
        assert format.recognises(history) is not False

    def test_there_is_one_view_for_each_message(self, format: Format, history: list[Any]) -> None:
        assert len(format.views(history)) == len(history)

    def test_places_are_unique_and_name_their_message(self, format: Format, history: list[Any]) -> None:
        views = format.views(history)
        for parts in ([view.results for view in views], [view.calls for view in views]):
            places = [part.place for message in parts for part in message]

            assert len(set(places)) == len(places)
            assert [place.message for place in places] == [
                index for index, message in enumerate(parts) for _ in message
            ]

    def test_reading_may_begin_where_a_turn_starts(self, format: Format, history: list[Any]) -> None:
        views = format.views(history)
        for start in [index for index, view in enumerate(views) if view.starts_turn]:
            assert [_facts_of(view, start) for view in format.views(history[start:])] == [
                _facts_of(view) for view in views[start:]
            ]

    def test_a_message_alone_shows_the_same_calls_and_results(
        self, format: Format, history: list[Any]
    ) -> None:
        alone = [format.views([message])[0] for message in history]

        assert [_facts_of(view, index)[1:] for index, view in enumerate(alone)] == [
            _facts_of(view)[1:] for view in format.views(history)
        ]

    def test_nothing_to_put_in_gives_the_same_objects_in_a_new_list(
        self, format: Format, history: list[Any]
    ) -> None:
        same = format.replace(history, {}, {})

        assert same is not history
        assert _changed(same, history) == []

    def test_the_contents_that_stand_there_change_nothing(self, format: Format, history: list[Any]) -> None:
        contents = {result.place: result.content.value for result in _results(format, history)}

        assert format.replace(history, contents) == history

    def test_the_arguments_that_stand_there_change_nothing(self, format: Format, history: list[Any]) -> None:
        arguments = {call.place: call.arguments for call in _calls(format, history)}

        assert format.replace(history, {}, arguments) == history

    def test_the_facts_of_all_messages_stay_in_order(
        self, format: Format, history: list[Any], cleared: list[Any]
    ) -> None:
        assert _facts(format, cleared) == _facts(format, history)

    def test_each_result_answers_the_same_call(
        self, format: Format, history: list[Any], cleared: list[Any]
    ) -> None:
        assert name_results(format.views(cleared)) == name_results(format.views(history))

    def test_messages_without_a_change_are_the_same_objects(
        self, format: Format, history: list[Any], cleared: list[Any]
    ) -> None:
        with_results = {result.place.message for result in _results(format, history) if result.content.value}

        assert _changed(cleared, history) == sorted(with_results)

    def test_only_messages_with_a_changed_call_are_copied(self, format: Format, history: list[Any]) -> None:
        calls = list(_calls(format, history))[:1]

        emptied = format.replace(history, {}, {call.place: _emptied(call) for call in calls})

        assert _changed(emptied, history) == [call.place.message for call in calls]

    def test_the_input_is_not_changed(self, format: Format, history: list[Any]) -> None:
        before = copy.deepcopy(history)

        with_text(format, history, keep_media=True)
        format.replace(history, {}, {call.place: _emptied(call) for call in _calls(format, history)})

        assert history == before

    def test_a_text_that_was_put_in_is_found_again(self, format: Format, cleared: list[Any]) -> None:
        found = [result.content for result in _results(format, cleared) if result.content.value]

        assert [[text for _, text in content.texts] for content in found] == [[TEXT]] * len(found)

    def test_a_text_beside_media_is_found_again(self, format: Format, history: list[Any]) -> None:
        previewed = with_text(format, history, keep_media=True)
        found = [result.content for result in _results(format, previewed) if result.content.value]

        assert [[text for _, text in content.texts] for content in found] == [[TEXT]] * len(found)

    def test_putting_a_text_in_twice_is_putting_it_in_once(self, format: Format, cleared: list[Any]) -> None:
        assert with_text(format, cleared) == cleared

    def test_the_original_contents_put_back_give_an_equal_history(
        self, format: Format, history: list[Any], cleared: list[Any]
    ) -> None:
        originals = {
            result.place: result.content.value for result in _results(format, history) if result.content.value
        }

        assert format.replace(cleared, originals) == history

    def test_arguments_that_were_put_in_are_found_again(self, format: Format, history: list[Any]) -> None:
        wanted = {call.place: _emptied(call) for call in _calls(format, history)}

        emptied = format.replace(history, {}, wanted)

        assert {call.place: call.arguments for call in _calls(format, emptied)} == wanted

    def test_the_original_arguments_put_back_give_an_equal_history(
        self, format: Format, history: list[Any]
    ) -> None:
        calls = [call for call in _calls(format, history) if call.arguments is not None]
        emptied = format.replace(history, {}, {call.place: _emptied(call) for call in calls})

        assert format.replace(emptied, {}, {call.place: call.arguments for call in calls}) == history

    def test_media_stay_when_asked_and_only_what_is_unknown_stays_otherwise(
        self, format: Format, history: list[Any]
    ) -> None:
        for result in _results(format, history):
            kept = format.split(format.join(result.content, TEXT, keep_media=True)).media
            left = format.split(format.join(result.content, TEXT, keep_media=False)).media

            assert kept == result.content.media
            assert left == tuple(media for media in kept if media.kind == "other")

    def test_cache_marks_stay_in_their_message(
        self, format: Format, history: list[Any], cleared: list[Any]
    ) -> None:
        before = [_marks_in(message) for message in history]
        after = [_marks_in(message) for message in cleared]

        assert [set(marks) for marks in after] == [set(marks) for marks in before]
        assert all(len(new) <= len(old) for new, old in zip(after, before, strict=True))

    def test_every_text_stands_where_its_path_leads(self, format: Format, history: list[Any]) -> None:
        for result in _results(format, history):
            for path, text in result.content.texts:
                assert _at(result.content.value, path) == text

    def test_clearing_the_original_and_its_preview_gives_the_same(
        self, format: Format, history: list[Any]
    ) -> None:
        for result in _results(format, history):
            previewed = format.split(format.join(result.content, TEXT, keep_media=True))
            direct = format.join(result.content, LINE, keep_media=False)

            assert format.join(previewed, LINE, keep_media=False) == direct

    def test_a_placeholder_stands_alone_among_the_texts(self, format: Format, history: list[Any]) -> None:
        for result in _results(format, history):
            texts = format.split(format.join(result.content, LINE, keep_media=False)).texts

            assert [parse(text) is not None for _, text in texts] == [True]

    def test_what_was_json_stays_json(self, format: Format, history: list[Any]) -> None:
        replaced = with_text(format, history, keep_media=True)
        for old, new in zip(history, replaced, strict=True):
            if _is_json(old):
                assert json.loads(json.dumps(new)) == new

    @pytest.mark.parametrize("value", ["", "text", None, 5, [], {}, [1, 2], {"a": [None]}, [{"type": 1}]])
    def test_any_value_can_be_taken_apart_and_shown_as_text(self, format: Format, value: Any) -> None:
        joined = format.join(format.split(value), TEXT, keep_media=True)

        assert [text for _, text in format.split(joined).texts] == [TEXT]

    @pytest.mark.parametrize("message", ODD_MESSAGES)
    def test_odd_messages_are_passed_over(self, format: Format, history: list[Any], message: Any) -> None:
        format.recognises([*history, message])

        assert len(format.views([*history, message])) == len(history) + 1
        assert format.replace([*history, message], {})[-1] is message


def _results(format: Format, history: list[Any]) -> Iterator[ResultView]:
    return (result for view in format.views(history) for result in view.results)


def _calls(format: Format, history: list[Any]) -> Iterator[CallView]:
    return (call for view in format.views(history) for call in view.calls)


def _emptied(call: CallView) -> Any:
    return {"emptied": True} if isinstance(call.arguments, dict) else '{"emptied": true}'


def _changed(new: list[Any], old: list[Any]) -> list[int]:
    """Return the indices of the messages that are other objects."""
    return [index for index, pair in enumerate(zip(new, old, strict=True)) if pair[0] is not pair[1]]


def _facts(format: Format, history: list[Any]) -> list[Any]:
    """Return all that may not change when results are replaced."""
    return [_facts_of(view) for view in format.views(history)]


def _facts_of(view: MessageView, start: int = 0) -> tuple[Any, ...]:
    """Return the facts of a message of a list that began at ``start``."""
    calls = [replace(call, place=_moved(call.place, start)) for call in view.calls]
    results = [
        (_moved(result.place, start), result.call_id, result.tool, result.is_error) for result in view.results
    ]
    return view.starts_turn, view.texts, view.media, calls, results


def _moved(place: Place, start: int) -> Place:
    return Place(place.message + start, place.block)


def _marks_in(message: Any) -> list[str]:
    """Return the names of all cache marks in a message that is a dictionary."""
    if isinstance(message, list | tuple):
        return [mark for item in message for mark in _marks_in(item)]
    if not isinstance(message, dict):
        return []
    inner = [mark for value in message.values() for mark in _marks_in(value)]
    return inner + [name for name, value in message.items() if name in MARKS and value is not None]


def _is_json(message: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(message)) == message)
    except (TypeError, ValueError):
        return False


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value
