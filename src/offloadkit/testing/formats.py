"""The conformance suite for message formats: every promise in `offloadkit.formats`, as a pytest class.

The author of a format writes two fixtures and has the suite::

    class TestMyFormat(FormatContract):
        @pytest.fixture
        def format(self):
            return MyFormat()

        @pytest.fixture(params=HISTORIES)
        def history(self, request):
            return request.param
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from offloadkit.formats import Format
from offloadkit.placeholder import Placeholder, parse, render_cleared
from offloadkit.results import MessageView, Place, ResultView

__all__ = ["FormatContract"]

TEXT = "[Old tool result content cleared] a text in place of another"


class FormatContract:
    """What every message format keeps. Override the fixtures ``format`` and ``history``."""

    @pytest.fixture
    def format(self) -> Format:
        raise NotImplementedError("return an instance of your format")

    @pytest.fixture
    def history(self) -> list[Any]:
        raise NotImplementedError("return a list of messages that holds tool results")

    @pytest.fixture
    def cleared(self, format: Format, history: list[Any]) -> list[Any]:
        """The history with a text in place of every result that is not empty, as those stay."""
        return format.replace(history, dict(_cleared_contents(format, history)))

    def test_the_format_is_recognised(self, format: Format, history: list[Any]) -> None:
        assert format.recognises(history) is not False

    def test_there_is_one_view_for_each_message(self, format: Format, history: list[Any]) -> None:
        assert len(format.views(history)) == len(history)

    def test_places_are_unique_and_name_their_message(self, format: Format, history: list[Any]) -> None:
        views = format.views(history)
        for named in ([view.results for view in views], [view.calls for view in views]):
            places = [item.place for items in named for item in items]

            assert len(set(places)) == len(places)
            assert [place.message for place in places] == [i for i, items in enumerate(named) for _ in items]

    def test_nothing_to_put_in_gives_the_same_objects_in_a_new_list(
        self, format: Format, history: list[Any]
    ) -> None:
        same = format.replace(history, {}, {})

        assert same is not history
        assert all(new is old for new, old in zip(same, history, strict=True))

    def test_length_and_order_stay(self, format: Format, history: list[Any], cleared: list[Any]) -> None:
        assert len(cleared) == len(history)
        assert _skeleton(format, cleared) == _skeleton(format, history)

    def test_messages_without_a_change_are_the_same_objects(
        self, format: Format, history: list[Any], cleared: list[Any]
    ) -> None:
        changed = {place.message for place, _ in _cleared_contents(format, history)}

        assert [
            i for i, (new, old) in enumerate(zip(cleared, history, strict=True)) if new is not old
        ] == sorted(changed)

    def test_the_input_is_not_changed(self, format: Format, history: list[Any]) -> None:
        before = copy.deepcopy(history)

        format.replace(history, dict(_cleared_contents(format, history)), _emptied_arguments(format, history))

        assert history == before

    def test_a_text_that_was_put_in_is_found_again(self, format: Format, cleared: list[Any]) -> None:
        found = [result for result in _results(format.views(cleared)) if result.content.value]

        assert [[text for _, text in result.content.texts] for result in found] == [[TEXT]] * len(found)

    def test_putting_it_in_twice_is_putting_it_in_once(self, format: Format, cleared: list[Any]) -> None:
        assert format.replace(cleared, dict(_cleared_contents(format, cleared))) == cleared

    def test_the_original_contents_put_back_give_an_equal_history(
        self, format: Format, history: list[Any], cleared: list[Any]
    ) -> None:
        results = _results(format.views(history))
        originals = {result.place: result.content.value for result in results if result.content.value}

        assert format.replace(cleared, originals) == history

    def test_the_original_arguments_put_back_give_an_equal_history(
        self, format: Format, history: list[Any]
    ) -> None:
        originals = {call.place: call.arguments for view in format.views(history) for call in view.calls}
        emptied = format.replace(history, {}, _emptied_arguments(format, history))

        assert format.replace(emptied, {}, originals) == history

    def test_arguments_that_were_put_in_are_found_again(self, format: Format, history: list[Any]) -> None:
        wanted = _emptied_arguments(format, history)

        emptied = format.replace(history, {}, wanted)

        assert {call.place: call.arguments for view in format.views(emptied) for call in view.calls} == wanted

    def test_a_content_keeps_its_media_when_asked(self, format: Format, history: list[Any]) -> None:
        for result in _results(format.views(history)):
            kept = format.split(format.join(result.content, TEXT, keep_media=True))
            gone = format.split(format.join(result.content, TEXT, keep_media=False))

            assert (kept.media, gone.media) == (result.content.media, ())
            assert [text for _, text in kept.texts] == [text for _, text in gone.texts] == [TEXT]

    def test_every_text_stands_where_its_path_leads(self, format: Format, history: list[Any]) -> None:
        for result in _results(format.views(history)):
            for path, text in result.content.texts:
                assert _at(result.content.value, path) == text

    def test_clearing_from_the_original_and_from_a_preview_gives_the_same(
        self, format: Format, history: list[Any]
    ) -> None:
        line = render_cleared(Placeholder("a" * 16, 1, 1), words="[cleared]", read_tool="read_offloaded")
        for result in _results(format.views(history)):
            previewed = format.split(format.join(result.content, TEXT, keep_media=True))
            direct = format.join(result.content, line, keep_media=False)

            assert format.join(previewed, line, keep_media=False) == direct
            assert [parse(text) is not None for _, text in format.split(direct).texts] == [True]

    @pytest.mark.parametrize("message", [None, 5, "text", [], {}, {"role": None}, {"role": "tool"}, object()])
    def test_odd_messages_are_passed_over(self, format: Format, history: list[Any], message: Any) -> None:
        assert len(format.views([*history, message])) == len(history) + 1
        assert format.replace([*history, message], {})[-1] is message


def _results(views: list[MessageView]) -> Iterator[ResultView]:
    return (result for view in views for result in view.results)


def _cleared_contents(format: Format, history: list[Any]) -> Iterator[tuple[Place, Any]]:
    for result in _results(format.views(history)):
        if result.content.value:
            yield result.place, format.join(result.content, TEXT, keep_media=False)


def _emptied_arguments(format: Format, history: list[Any]) -> dict[Place, Any]:
    calls = [call for view in format.views(history) for call in view.calls]
    return {call.place: {} if isinstance(call.arguments, dict) else "{}" for call in calls}


def _skeleton(format: Format, history: list[Any]) -> list[Any]:
    """Return all that may not change when results are replaced."""
    return [
        (
            view.starts_turn,
            view.texts,
            view.media,
            view.calls,
            [(result.place, result.call_id, result.tool, result.is_error) for result in view.results],
        )
        for view in format.views(history)
    ]


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value
