"""JSON: its shape, its first items, its long texts, and what is left of it where it breaks off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from preview_examples import EXAMPLES

from offloadkit.previews import Preview, preview
from offloadkit.tokens import token_counter

BYTES = token_counter("bytes")


def made(value: Any, *, budget: int = 300) -> Preview:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return preview(text, budget=budget, counter=BYTES)


def lines(value: Any, *, budget: int = 300) -> list[str]:
    return made(value, budget=budget).text.split("\n")


def test_a_shape_that_stands_for_the_first_items_only_says_so() -> None:
    assert (
        lines([{"id": n} for n in range(2_000)])[0] == "JSON: array of 2000 objects, the first 1000 described"
    )
    assert "described" not in lines([{"id": n} for n in range(1_000)])[0]


def test_the_shape_names_keys_types_and_ranges() -> None:
    rows = [
        {"id": number, "state": "open" if number % 2 else "shut", "size": number / 8} for number in range(50)
    ]

    assert lines({"total": 50, "rows": rows})[:6] == [
        "JSON: object of 2 keys",
        "total: 50",
        "rows: array of 50 objects",
        "  id: integer 0..49",
        '  state: "shut" x25, "open" x25',
        "  size: number 0..6.125",
    ]


def test_a_key_that_is_missing_in_places_says_in_how_many_it_is() -> None:
    rows = [{"id": number} | ({"note": f"remark {number}"} if number < 3 else {}) for number in range(40)]

    assert 'note: text 8 long, as "remark 0" (in 3 of 40)' in made(rows).text


def test_values_of_several_types_are_told_apart() -> None:
    assert "[0]" not in lines([[1, "a", None, True, [2], {"b": 3}]])[0]
    assert 'key: 1, "a", 1 null' in made([{"key": 1}, {"key": "a"}, {"key": None}] * 1).text


def test_the_first_items_follow_the_shape_and_the_call_reads_on() -> None:
    shown = made({"results": [{"n": number} for number in range(900)]}, budget=60)

    assert 'results[0] {"n": 0}' in shown.text
    written = shown.text.count("results[")
    assert shown.shown == f"its shape, {written} of 900 items"
    assert shown.next_call == f'query="results[{written}:]"'


def test_an_array_at_the_top_is_asked_for_by_its_index() -> None:
    assert made([{"n": number} for number in range(900)], budget=40).next_call.startswith('query="[')


def test_a_key_that_is_no_plain_name_is_quoted_in_the_query() -> None:
    shown = made({"odd-key": [{"n": number} for number in range(900)]}, budget=40)

    assert json.loads(shown.next_call.removeprefix("query=")).startswith('"odd-key"[')


def test_all_keys_of_the_top_level_come_before_deeper_ones() -> None:
    deep = {f"part{number}": {f"inner{place}": place for place in range(20)} for number in range(5)}

    text = made(deep, budget=80).text

    assert all(f"part{number}: object of 20 keys" in text for number in range(5))


def test_keys_that_are_data_are_described_once() -> None:
    text = made({f"user_{number}": {"name": f"n{number}", "age": number} for number in range(500)}).text

    assert "JSON: object of 500 keys" in text
    assert "each: object of 2 keys" in text
    assert "age: integer 0..499" in text


def test_a_long_text_in_the_value_is_shown_as_what_it_is() -> None:
    log = "".join(f"2024-01-01 10:00:{number % 60:02d} INFO tick {number}\n" for number in range(300))
    shown = made({"exit_code": 1, "stdout": log})

    assert shown.text.startswith("JSON: object of 2 keys\nexit_code: 1\nstdout (")
    assert "Log of 300 lines: 300 INFO" in shown.text
    assert shown.next_call == 'query="stdout"'


def test_json_within_json_is_described() -> None:
    inner = json.dumps([{"price": number} for number in range(300)])
    text = made({"content": [{"type": "text", "text": inner}]}).text

    assert "content[0].text (" in text
    assert "JSON: array of 300 objects" in text
    assert "price: integer 0..299" in text


def test_an_image_within_json_is_named() -> None:
    shown = made([{"type": "image", "source": {"media_type": "image/png", "data": EXAMPLES["binary"]}}])

    assert shown.kind == "json"
    assert "Base64 text of 9029 bytes, PNG image of 640x480 pixels" in shown.text


def test_json_lines_are_one_array() -> None:
    text = "\n".join(json.dumps({"id": number, "level": "info"}) for number in range(200)) + "\n"
    shown = made(text)

    assert shown.text.startswith("JSON Lines: array of 200 objects\nid: integer 0..199")
    assert shown.next_call.startswith('query="[')


def test_json_that_is_cut_off_is_shown_as_far_as_it_goes() -> None:
    text = json.dumps([{"id": number, "name": "x" * 30} for number in range(400)])[:9_000]
    shown = made(text)

    assert shown.text.startswith("JSON, cut off at its end: array of 166 objects")
    assert "id: integer 0.." in shown.text
    assert shown.next_call == ""


def test_json_that_is_cut_in_its_middle_is_shown_up_to_there() -> None:
    text = json.dumps([{"id": number, "name": "x" * 30} for number in range(400)], indent=1)
    shown = made(text[:6_000] + "\n[... cut ...]\n" + text[-3_000:])

    assert shown.kind == "json"
    assert shown.text.startswith("JSON, readable up to line ")


@pytest.mark.parametrize("end", ["\\", "\\u", "\\u00", "\\\\", "\\\\\\"])
def test_json_may_break_off_within_an_escape(end: str) -> None:
    assert made('{"state": "open", "body": "' + "words and " * 400 + end).kind == "json"


def test_wrapped_json_is_recognised_and_not_queried() -> None:
    rows = json.dumps([{"n": number} for number in range(900)])
    shown = made(f"<returncode>0</returncode>\n<output>\n{rows}\n</output>\n")

    assert shown.kind == "json"
    assert "<returncode>0</returncode>" in shown.text
    assert shown.next_call == ""


def test_characters_beyond_ascii_stay_as_they_are() -> None:
    text = made({"城市": ["北京", "上海"] * 300}).text

    assert '城市: array of 600: "北京" x300, "上海" x300' in text
    assert "\\u" not in text


def test_half_a_pair_written_as_an_escape_is_not_decoded() -> None:
    text = made('{"t": "\\ud83d' + "x" * 4_000 + '", "n": "\\ud83d"}').text

    text.encode("utf-8")
    assert "\\ud83d" in text


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        '{"n": ' + "9" * 10_000 + "}" + " " * 500,
        "[NaN, Infinity, -Infinity, 1e999, 1]" + " " * 500,
        '["' + "\\" * 20_000,
        "[1, 2, 3] and then some words\n" * 100,
        "{'python': 'repr', 'is': None}\n" * 100,
    ],
)
def test_what_only_begins_like_json_does_no_harm(text: str) -> None:
    shown = made(text)

    assert shown.text.strip()
    assert not shown.text.startswith(("{", "["))


def test_numbers_that_are_none_are_named() -> None:
    assert "number 1..2" in made("[NaN, 1, 2.0]" + " " * 900).text
    assert "NaN or infinite" in made("[NaN, Infinity]" + " " * 900).text


def test_a_whole_number_beyond_all_use_is_given_by_its_size() -> None:
    assert "10^299" in made({"n": 10**299, "m": list(range(900))}).text
