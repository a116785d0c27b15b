"""Messages are read and copied alike, whatever they are made of."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from offloadkit.formats.access import answer_of, get, indexed, list_of, type_of, with_value, word


class Model(BaseModel):
    content: Any = None
    other: Any = "kept"


@dataclass(frozen=True)
class Record:
    content: Any = None
    other: Any = "kept"


def carriers() -> list[Any]:
    return [
        {"content": "old", "other": "kept"},
        OrderedDict(content="old", other="kept"),
        Model(content="old"),
        Record("old"),
        SimpleNamespace(content="old", other="kept"),
    ]


@pytest.mark.parametrize("carrier", carriers(), ids=lambda carrier: type(carrier).__name__)
class TestEveryCarrier:
    def test_a_field_is_read(self, carrier: Any) -> None:
        assert get(carrier, "content") == "old"

    def test_a_field_that_is_not_there_reads_as_none(self, carrier: Any) -> None:
        assert get(carrier, "missing") is None

    def test_a_copy_of_the_same_type_has_the_new_value(self, carrier: Any) -> None:
        changed = with_value(carrier, ("content",), "new")

        assert type(changed) is type(carrier)
        assert (get(changed, "content"), get(changed, "other")) == ("new", "kept")

    def test_the_original_stays(self, carrier: Any) -> None:
        with_value(carrier, ("content",), "new")

        assert get(carrier, "content") == "old"

    def test_the_same_value_makes_no_copy(self, carrier: Any) -> None:
        assert with_value(carrier, ("content",), get(carrier, "content")) is carrier


def test_a_copy_holds_the_new_value_deep_inside_and_shares_the_rest() -> None:
    message = {"content": [{"a": 1}, {"b": {"c": 2}}]}

    changed = with_value(message, ("content", 1, "b", "c"), 3)

    assert changed == {"content": [{"a": 1}, {"b": {"c": 3}}]}
    assert changed["content"][0] is message["content"][0]


def test_a_tuple_stays_a_tuple() -> None:
    assert with_value(({"a": 1}, 2), (0, "a"), 3) == ({"a": 3}, 2)


def test_a_value_can_be_put_where_nothing_is() -> None:
    assert with_value({"function": None}, ("function", "arguments"), "{}") == {
        "function": {"arguments": "{}"}
    }


def test_none_put_where_nothing_is_changes_nothing() -> None:
    message = {"role": "tool"}

    assert with_value(message, ("content",), None) is message


@pytest.mark.parametrize(
    ("value", "expected"), [("id", "id"), ("", ""), (7, None), (None, None), (["x"], None)]
)
def test_a_word_is_text_or_nothing(value: Any, expected: str | None) -> None:
    assert word({"id": value}, "id") == expected


def test_text_has_no_type() -> None:
    assert type_of("text") is None


@pytest.mark.parametrize("value", [None, "ab", b"ab", 5, {"a": 1}, iter([1])])
def test_what_is_no_list_has_no_items(value: Any) -> None:
    assert list(indexed(value)) == []


def test_an_iterator_is_not_used_up() -> None:
    iterator = iter([1, 2])

    list_of(iterator)

    assert list(iterator) == [1, 2]


@pytest.mark.parametrize(
    ("answers", "together"),
    [
        ([], None),
        ([None, None], None),
        ([None, True, None], True),
        ([True, False], False),
        ([False, True], False),
    ],
)
def test_one_message_against_a_format_is_enough(answers: list[bool | None], together: bool | None) -> None:
    assert answer_of(answers) is together
