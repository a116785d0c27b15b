"""The read tool takes whatever a model sends, and says what to change where it cannot."""

from __future__ import annotations

import json
import logging
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_texts import OTHER_REF, REF, content, read

from offloadkit.errors import ConfigError
from offloadkit.read_call import parse_call, render_call
from offloadkit.read_tool import ReadTool, parse_arguments, repeat_call
from offloadkit.reading import ReadRequest

PLACEHOLDER = (
    "[Old tool result content cleared] 5,214 tokens, 480 lines of searchrepository. "
    f'read_offloaded(ref="{REF}") returns it.'
)


@pytest.fixture
def tool() -> ReadTool:
    return ReadTool("read_offloaded", repr)


def request(raw: Any) -> ReadRequest:
    parsed = parse_arguments(raw)
    assert isinstance(parsed, ReadRequest), parsed
    return parsed


def words(raw: Any) -> str:
    parsed = parse_arguments(raw)
    assert isinstance(parsed, str), parsed
    return parsed


@pytest.mark.parametrize("form", ["openai", "openai_responses", "anthropic"])
def test_a_definition_holds_at_most_three_hundred_tokens(tool: ReadTool, form: str) -> None:
    bpe = pytest.importorskip("bpe_openai", reason="bpe-openai, which ships o200k, is not installed")
    encoding = bpe.get_encoding("o200k_base")

    assert len(encoding.encode(json.dumps(getattr(tool, form)()))) <= 300


def test_the_definitions_have_the_form_of_each_api(tool: ReadTool) -> None:
    about = {"name": "read_offloaded", "description": tool.description}
    assert tool.openai() == {"type": "function", "function": {**about, "parameters": tool.parameters}}
    assert tool.anthropic() == {**about, "input_schema": tool.parameters}
    assert tool.openai_responses() == {
        "type": "function",
        **about,
        "parameters": tool.parameters,
        "strict": False,
    }


def test_the_parameters_are_the_fields_of_a_request(tool: ReadTool) -> None:
    fields = set(ReadRequest.__dataclass_fields__) - {"refs"} | {"ref"}

    assert set(tool.parameters["properties"]) == fields
    assert "required" not in tool.parameters


def test_a_definition_that_is_changed_changes_no_other(tool: ReadTool) -> None:
    tool.parameters["properties"].clear()

    assert tool.parameters["properties"]


@pytest.mark.parametrize("name", ["", "1x", "with blank", "x" * 65, 'quote"', "line\nbreak"])
def test_a_name_that_no_api_takes_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="tool name"):
        ReadTool(name, repr)


def test_the_name_can_be_chosen_where_it_clashes() -> None:
    """READ-16: a duplicate tool name stopped sub-agents from starting."""
    tool = ReadTool("read_stored", repr)

    assert tool.openai()["function"]["name"] == tool.anthropic()["name"] == "read_stored"


def test_the_answer_is_that_of_the_request(tool: ReadTool) -> None:
    assert tool.call({"ref": REF, "offset": 5}) == repr(ReadRequest(refs=(REF,), offset=5))


@pytest.mark.parametrize(
    "raw",
    [
        {"ref": REF, "offset": 5},
        {"ref": REF, "offset": "5"},
        {"ref": REF, "offset": "5.0"},
        {"ref": REF, "offset": " 5 "},
        {"ref": REF, "offset": 5.0, "limit": None, "search": None, "query": ""},
        {"ref": REF, "offset": '"5"', "limit": "null", "column": ""},
        {"Ref": REF, "OFFSET": 5, "explanation": "I want line 5", "session": "other"},
        {"reference": REF, "start_line": 5},
        {"arguments": {"ref": REF, "offset": 5}},
        {"input": json.dumps({"ref": REF, "offset": 5})},
        json.dumps({"ref": REF, "offset": 5}),
        json.dumps(json.dumps({"ref": REF, "offset": 5})),
        json.dumps({"ref": REF, "offset": 5}).encode(),
        f"```json\n{json.dumps({'ref': REF, 'offset': 5})}\n```",
        f'{{"ref": "{REF}", "offset": 5',
        f'{{"ref": "{REF}", "offset": 5,}}',
        f"{{'ref': '{REF}', 'offset': 5}}",
        f"{{ref: {REF}, offset: 5}}",
        f"ref={REF} offset=5",
        f'read_offloaded(ref="{REF}", offset=5)',
        {"ref": f'read_offloaded(ref="{REF}", offset=5)'},
    ],
)
def test_what_can_be_meant_is_taken(raw: Any) -> None:
    assert request(raw) == ReadRequest(refs=(REF,), offset=5)


@pytest.mark.parametrize(
    "written",
    [
        *("'{ref}'", '"{ref}"', "<{ref}>", "({ref}).", " {ref} ", "/{ref}", "ref: {ref}", "{REF}"),
        *("`{ref}`", "[{ref}]", "ref={ref}", 'ref="{ref}"', "\n{ref}\n", "{ref},", "ref:{REF}", "{spaced}"),
    ],
)
def test_a_reference_with_a_harmless_slip_opens(written: str) -> None:
    text = written.format(ref=REF, REF=REF.upper(), spaced=f"{REF[:8]} {REF[8:]}")

    assert request({"ref": text}).refs == (REF,)
    assert request(json.dumps({"ref": text})).refs == (REF,)


def test_the_variants_of_a_reference_that_models_wrote_elsewhere(cases: dict[str, dict[str, Any]]) -> None:
    """READ-10: quotes, brackets, a slash, other case, blanks."""
    for variant in cases["READ-10"]["input"]["ref_variants"]:
        assert request({"ref": variant.format(ref=REF, REF=REF.upper())}).refs == (REF,)


def test_a_copied_placeholder_names_its_reference_and_not_a_word_that_looks_like_one() -> None:
    assert request({"ref": PLACEHOLDER}).refs == (REF,)
    assert request(PLACEHOLDER).refs == (REF,)


@pytest.mark.parametrize(
    "value",
    [
        [REF, OTHER_REF],
        f"{REF},{OTHER_REF}",
        f"{REF} {OTHER_REF}",
        f'["{REF}", "{OTHER_REF}"]',
        (REF, OTHER_REF, REF),
    ],
)
def test_several_references_are_taken_in_order_and_once(value: Any) -> None:
    assert request({"ref": value}).refs == (REF, OTHER_REF)


@pytest.mark.parametrize(
    "raw", [None, "", "{}", {}, {"ref": None}, {"ref": ""}, {"ref": "list"}, {"ref": []}, "null"]
)
def test_without_a_reference_the_list_is_asked_for(raw: Any) -> None:
    assert request(raw) == ReadRequest()


def test_numbers_as_models_send_them_are_honoured(cases: dict[str, dict[str, Any]]) -> None:
    """READ-06: the offset was ignored, each call returned the beginning again."""
    text = cases["READ-06"]["input"]["stored"]
    for arguments in cases["READ-06"]["input"]["args"]:
        parsed = request({"ref": REF, **arguments})
        assert content(read(text, offset=parsed.offset, limit=parsed.limit)).startswith("row 3999\n")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("offset", value) for value in (True, "abc", 10.5, math.inf, math.nan, [1], {"a": 1}, "10-20")),
        *(("limit", value) for value in (False, "1e3", "ten")),
        *(("search", value) for value in (["a"], {"a": 1})),
        ("query", ["a"]),
    ],
)
def test_a_value_of_the_wrong_kind_is_answered_with_its_name(name: str, value: Any) -> None:
    answer = words({"ref": REF, name: value})

    assert answer.startswith(name)
    assert len(answer) < 200


def test_numbers_of_any_length_are_taken() -> None:
    assert request({"ref": REF, "offset": 10**5_000}).offset == 10**15
    assert request({"ref": REF, "offset": "-" + "9" * 5_000}).offset == -(10**15)
    assert request(f'{{"ref": "{REF}", "offset": {"9" * 5_000}}}').offset == 10**15


def test_a_number_or_a_truth_is_searched_for_as_text() -> None:
    assert request({"ref": REF, "search": 404}).search == "404"
    assert request({"ref": REF, "search": True}).search == "true"


@pytest.mark.parametrize(
    "value", ["nonsense", 5, {"a": 1}, True, "call_7", "/large_tool_results/call_7", ["x"]]
)
def test_what_is_no_reference_is_answered_with_what_is_one(value: Any) -> None:
    answer = words({"ref": value})

    assert "is no reference" in answer
    assert "16 characters" in answer


@pytest.mark.parametrize("raw", [5, True, 1.5, object(), "[" * 100_000, "some words", '{"a": '])
def test_arguments_that_hold_nothing_are_answered_with_an_example(raw: Any) -> None:
    assert '{"ref": "…", "offset": 1}' in words(raw)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40) | st.just(REF),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(
    ["ref", "offset", "limit", "column", "search", "regex", "context", "query", "args", "other"]
)


@given(
    values
    | st.dictionaries(names, values)
    | st.dictionaries(names, values).map(repr)
    | st.binary(max_size=40)
)
def test_nothing_that_a_model_sends_raises(raw: Any) -> None:
    parsed = parse_arguments(raw)

    assert isinstance(parsed, ReadRequest) or (isinstance(parsed, str) and 0 < len(parsed) < 300)


def test_an_answer_that_fails_is_logged_and_told_in_words(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: ReadRequest) -> str:
        raise RuntimeError("the secret cause")

    with caplog.at_level(logging.ERROR, "offloadkit"):
        answer = ReadTool("read_offloaded", fail).call({"ref": REF})

    assert "fault in the program" in answer
    assert "secret" not in answer
    assert "the secret cause" in caplog.text


def test_the_call_that_shows_a_page_again_has_clean_arguments() -> None:
    assert repeat_call("read_offloaded", f'{{"ref": "\'{REF.upper()}\'", "offset": "5", "note": 1}}') == (
        f'read_offloaded(ref="{REF}", offset=5)'
    )
    assert (
        repeat_call("read_offloaded", {"ref": [REF, OTHER_REF]})
        == f'read_offloaded(ref="{REF}, {OTHER_REF}")'
    )
    assert repeat_call("read_offloaded", None) == "read_offloaded()"


@pytest.mark.parametrize(
    "raw", ["nonsense", {"ref": REF, "offset": "x"}, {"ref": REF, "search": "x" * 1_000}]
)
def test_a_call_that_cannot_be_repeated_in_a_line_is_left_out(raw: Any) -> None:
    assert repeat_call("read_offloaded", raw) == ""


arguments = st.fixed_dictionaries(
    {}, optional={"offset": st.integers(), "limit": st.integers(), "search": st.text(), "query": st.text()}
)


@given(arguments)
def test_a_call_reads_back_as_it_was_written(given_arguments: dict[str, Any]) -> None:
    call = render_call("read_offloaded", REF, **given_arguments)

    assert "\n" not in call
    assert parse_call(f"Some words (in brackets): {call}.") == (
        "read_offloaded",
        {"ref": REF, **given_arguments},
    )


def test_a_call_is_written_readably() -> None:
    assert (
        render_call("read_offloaded", REF, offset=121, limit=None)
        == f'read_offloaded(ref="{REF}", offset=121)'
    )
    assert render_call("read_offloaded", None) == "read_offloaded()"
    assert (
        render_call("t", None, search='数据 "x"\n\u2028\ud800') == 't(search="数据 \\"x\\"\\n\\u2028\\ud800")'
    )


@pytest.mark.parametrize("text", ["", "no call", "f(", "f(x", 'f(ref="', "f(ref=nonsense)", "f(1)"])
def test_what_is_no_call_is_none(text: str) -> None:
    assert parse_call(text) is None
