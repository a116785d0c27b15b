"""Counting tokens: estimates, tokenizers without a network, calibration, media, tool definitions."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_results import real_results

from offloadkit import Policy
from offloadkit.errors import ConfigError
from offloadkit.results import Media
from offloadkit.tokens import (
    CalibratedCounter,
    TokenCounter,
    calibrate,
    drift,
    media_units,
    token_counter,
    tool_definition_tokens,
    units_for,
)
from offloadkit.tokens.tokenizer import TiktokenCounter

ESTIMATES = ("bytes", "bytes/4", "text")
ANY_TEXT = st.text(st.characters(codec=None), max_size=300)


def count(text: str, spec: Any = "bytes") -> int:
    counter = token_counter(spec)
    return counter.tokens(counter.units(text))


@pytest.fixture(scope="module")
def o200k() -> TokenCounter:
    return token_counter("tiktoken:o200k_base")


class TestBytes:
    @given(ANY_TEXT)
    def test_a_unit_is_a_utf8_byte(self, text: str) -> None:
        assert token_counter("bytes").units(text) == len(text.encode("utf-8", "surrogatepass"))

    @given(st.integers(0, 10**15))
    def test_a_token_is_three_and_a_half_bytes_rounded_up(self, units: int) -> None:
        tokens = token_counter("bytes").tokens(units)

        assert 7 * tokens >= 2 * units > 7 * (tokens - 1)

    @given(st.integers(0, 10**15))
    def test_the_reference_design_takes_four_bytes(self, units: int) -> None:
        assert token_counter("bytes/4").tokens(units) == (units + 3) // 4

    @given(st.lists(ANY_TEXT, max_size=8))
    def test_texts_of_a_message_are_added_first_and_rounded_once(self, texts: list[str]) -> None:
        counter = token_counter("bytes")

        assert counter.tokens(sum(map(counter.units, texts))) == count("".join(texts))

    def test_a_lone_surrogate_counts_three_bytes(self) -> None:
        assert token_counter("bytes").units("\ud800x") == 4

    def test_a_large_text_beyond_ascii_is_counted_exactly(self) -> None:
        text = "é今😀x" * 100_000

        assert token_counter("bytes").units(text) == len(text.encode())


class TestText:
    @given(ANY_TEXT, ANY_TEXT)
    def test_the_weights_of_two_texts_add_up(self, first: str, second: str) -> None:
        counter = token_counter("text")

        assert counter.units(first + second) == counter.units(first) + counter.units(second)

    @given(ANY_TEXT.filter(bool))
    def test_no_text_weighs_nothing(self, text: str) -> None:
        assert count(text, "text") >= 1

    def test_the_same_characters_weigh_the_same_whole_or_sampled(self) -> None:
        counter = token_counter("text")
        line = "2024-05-01 12:00:00 INFO request done in 35 ms\n"

        assert counter.units(line * 2_000) == pytest.approx(2_000 * counter.units(line), rel=0.01)

    def test_ten_megabytes_take_no_time(self) -> None:
        text = "the quick brown fox 12345 " * 400_000
        start = time.process_time()

        token_counter("text").units(text)

        assert time.process_time() - start < 0.2

    def test_it_is_near_the_truth_onreal_results(self, o200k: TokenCounter) -> None:
        pairs = [(count(text, "text"), o200k.units(text)) for text in real_results()]
        pairs = [(estimated, true) for estimated, true in pairs if true >= 50]

        near = sum(abs(estimated / true - 1) <= 0.25 for estimated, true in pairs) / len(pairs)
        total = sum(estimated for estimated, _ in pairs) / sum(true for _, true in pairs)
        assert (near > 0.9, abs(total - 1) < 0.03) == (True, True), (near, total)


class TestSpecs:
    @pytest.mark.parametrize("spec", ["byte", "tiktoken", "", None, 4, [], str, TiktokenCounter])
    def test_what_counts_nothing_is_refused_with_all_that_does(self, spec: Any) -> None:
        with pytest.raises(ConfigError, match=r"'bytes', 'bytes/4', 'text', 'tiktoken:NAME'"):
            token_counter(spec)

    def test_a_callable_counts_tokens(self) -> None:
        assert count("four", len) == 4

    def test_a_counter_is_taken_as_it_is(self) -> None:
        counter = token_counter("text")

        assert token_counter(counter) is counter

    @pytest.mark.parametrize("answer", [-1, 2.5, None, True, "3"])
    def test_a_callable_that_returns_no_count_is_refused(self, answer: Any) -> None:
        with pytest.raises(ConfigError, match="whole number"):
            count("text", lambda _: answer)

    @pytest.mark.parametrize("spec", [*ESTIMATES, len])
    def test_equal_specs_give_equal_counters(self, spec: Any) -> None:
        assert token_counter(spec) == token_counter(spec)

    @pytest.mark.parametrize("spec", [*ESTIMATES, len, CalibratedCounter(token_counter("bytes"), 1234)])
    @pytest.mark.parametrize("tokens", [1, 2, 85, 765, 1_600, 123_457])
    def test_a_number_of_tokens_in_units_is_that_number_again(self, spec: Any, tokens: int) -> None:
        counter = token_counter(spec)

        assert counter.tokens(units_for(tokens, counter)) == pytest.approx(tokens, abs=1)

    def test_a_counter_that_counts_nothing_still_gives_units(self) -> None:
        class Nothing:
            def units(self, text: str) -> int:
                return 0

            def tokens(self, units: int) -> int:
                return 0

        assert units_for(5, Nothing()) >= 1


class TestCalibration:
    def test_the_total_over_the_samples_is_what_was_reported(self) -> None:
        samples = [("word " * 700, 1_300), (["one " * 350, "two " * 350], 900)]

        counter = calibrate(samples)

        total = sum(
            counter.tokens(sum(counter.units(text) for text in ([sent] if isinstance(sent, str) else sent)))
            for sent, _ in samples
        )
        assert total == pytest.approx(2_200, rel=0.001)

    def test_it_is_a_value_that_shows_its_factor(self) -> None:
        one, other = calibrate([("x" * 3_500, 1_250)]), calibrate([("y" * 3_500, 1_250)])

        assert one == other
        assert repr(one) == "CalibratedCounter(ByteCounter(numerator=7, denominator=2), factor=1.25)"

    @pytest.mark.parametrize("base", ESTIMATES)
    def test_it_corrects_any_counter_and_serves_a_policy(self, base: str) -> None:
        policy = Policy(token_counter=calibrate([("some words " * 500, 3_000)], base=base))

        assert count("some words " * 500, policy.token_counter) == pytest.approx(3_000, rel=0.01)

    @pytest.mark.parametrize("samples", [[], [("", 5)], [("x", 0)], [("x", -1)], [("x", True)], [("x", 1.5)]])
    def test_samples_that_say_nothing_are_refused(self, samples: Any) -> None:
        with pytest.raises(ConfigError):
            calibrate(samples)

    @pytest.mark.parametrize(
        ("estimated", "reported", "expected"), [(100, 125, 1.25), (0, 0, 1.0), (0, 5, math.inf), (10, 0, 0.0)]
    )
    def test_drift_is_reported_over_estimated(self, estimated: int, reported: int, expected: float) -> None:
        assert drift(estimated, reported) == expected


class TestToolDefinitions:
    def test_they_count_as_compact_json_rounded_once(self) -> None:
        definitions = [{"name": "a", "schema": {"type": "object"}}, {"name": "é"}]

        tokens = tool_definition_tokens(definitions, token_counter("bytes"))

        assert tokens == count('{"name":"a","schema":{"type":"object"}}{"name":"é"}')

    def test_what_is_no_json_is_counted_all_the_same(self) -> None:
        assert tool_definition_tokens([{"default": Path("x")}, object()], token_counter("bytes")) > 0


class TestCases:
    @pytest.mark.parametrize("spec", ["bytes", "text"])
    def test_tok01_chinese_japanese_korean(self, cases: dict[str, Any], spec: str) -> None:
        for text in cases["TOK-01"]["input"]["texts"]:
            assert text["min"] <= count(text["text"], spec) <= text["max"], text["name"]

    def test_tok01_the_old_rule_fails_it(self, cases: dict[str, Any]) -> None:
        chinese = cases["TOK-01"]["input"]["texts"][0]

        assert len(chinese["text"]) / 4 < chinese["min"]

    def test_tok03_a_callable_counts_more_than_the_default(self, cases: dict[str, Any]) -> None:
        content = cases["TOK-03"]["input"]["messages"][2]["content"]

        assert count(content) < 1_000 < count(content, len)

    def test_tok05_base64_pasted_as_text(self, cases: dict[str, Any], o200k: TokenCounter) -> None:
        text = cases["TOK-05"]["input"]["text"]

        assert 400_000 <= count(text, "text") <= 1_100_000
        assert 400_000 <= o200k.units(text) <= 1_100_000
        assert count(text) > Policy().offloading_token_limit  # type: ignore[operator]

    def test_tok06_images_are_not_free(self, cases: dict[str, Any]) -> None:
        parts = cases["TOK-06"]["input"]["messages"][0]["content"]
        counter = token_counter("bytes")

        units = sum(media_units(Media("image", part["image_url"]["url"]), counter) for part in parts)

        assert 1_000 <= counter.tokens(units) <= 200_000

    def test_tok08_tool_definitions_are_not_free(self, cases: dict[str, Any]) -> None:
        assert tool_definition_tokens(cases["TOK-08"]["input"]["tools"], token_counter("bytes")) > 2_000

    @pytest.mark.parametrize("spec", ["bytes", "text", "tiktoken:o200k_base"])
    def test_tok11_no_jump_at_any_size(self, cases: dict[str, Any], spec: str) -> None:
        text = cases["TOK-11"]["input"]["text"]
        counted = [count(text[:size], spec) / size for size in (1_000, 2_048, 2_049, 20_000, len(text))]

        assert 60_000 <= count(text, spec) <= 240_000
        assert max(counted) / min(counted) < 1.1

    def test_tkz01_control_tokens_in_a_result(self, cases: dict[str, Any], o200k: TokenCounter) -> None:
        content = cases["TKZ-01"]["input"]["messages"][2]["content"]

        assert o200k.units(content) > 2_000

    def test_tkz03_five_million_letters(self, cases: dict[str, Any], o200k: TokenCounter) -> None:
        text = cases["TKZ-03"]["input"]["text"]
        start = time.process_time()

        first = o200k.units(text)
        counted_in = time.process_time() - start

        assert counted_in < 5
        assert first == pytest.approx(625_000, rel=0.01)

    def test_tkz05_a_million_blanks(self, cases: dict[str, Any], o200k: TokenCounter) -> None:
        for text in cases["TKZ-05"]["input"]["texts"]:
            assert text["min"] <= o200k.units(text["text"]) <= text["max"], text["name"]

    @pytest.mark.parametrize("spec", ["bytes", "text", "tiktoken:o200k_base"])
    def test_tkz06_no_network_and_no_cache(self, tmp_path: Path, spec: str) -> None:
        program = (
            "import socket, sys\n"
            "def refuse(*_, **__): raise AssertionError('the network was asked')\n"
            "socket.socket = socket.create_connection = socket.getaddrinfo = refuse\n"
            "from offloadkit.tokens import token_counter\n"
            "counter = token_counter(sys.argv[1])\n"
            "print(counter.tokens(counter.units('hello world')))\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, spec],
            capture_output=True,
            text=True,
            env={**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path)},
            check=False,
        )

        assert (done.returncode, done.stderr) == (0, "")
        assert int(done.stdout) in {2, 3, 4}

    def test_tkz08_counting_reads_no_file(self, monkeypatch: pytest.MonkeyPatch, o200k: TokenCounter) -> None:
        monkeypatch.setattr("builtins.open", None)
        monkeypatch.setattr("io.open", None)

        assert o200k.units("row " * 2_000) > 1_000
