"""Counting tokens: estimates, tokenizers without a network, calibration, media, tool definitions."""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
import struct
import subprocess
import sys
import time
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, missing, transcript_paths
from hypothesis import given
from hypothesis import strategies as st

from offloadkit import Policy
from offloadkit.errors import ConfigError, MissingDependency
from offloadkit.results import Media
from offloadkit.tokens import (
    CalibratedCounter,
    TokenCounter,
    calibrate,
    drift,
    media_tokens,
    media_units,
    token_counter,
    tool_definition_tokens,
    units_for,
)
from offloadkit.tokens import encodings as encodings_module
from offloadkit.tokens.encodings import load_encoding
from offloadkit.tokens.image_size import image_size
from offloadkit.tokens.media import image_tokens
from offloadkit.tokens.tokenizer import TiktokenCounter, slices

ESTIMATES = ("bytes", "bytes/4", "text")
ANY_TEXT = st.text(st.characters(codec=None), max_size=300)


def count(text: str, spec: Any = "bytes") -> int:
    counter = token_counter(spec)
    return counter.tokens(counter.units(text))


@pytest.fixture(scope="module")
def o200k() -> TokenCounter:
    return token_counter("tiktoken:o200k_base")


@pytest.fixture(scope="module")
def tiktoken_itself() -> Any:
    return load_encoding("o200k_base")


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

    def test_it_is_near_the_truth_on_real_results(self, o200k: TokenCounter) -> None:
        pairs = [(count(text, "text"), o200k.units(text)) for text in _real_results()]
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


class TestTiktoken:
    def test_it_counts_what_tiktoken_counts(self, o200k: TokenCounter, tiktoken_itself: Any) -> None:
        text = "The quick brown fox; def f(x): return {'a': [1, 2]}  # 今天 😀\n" * 20

        assert o200k.units(text) == len(tiktoken_itself.encode_ordinary(text))

    def test_special_tokens_count_as_the_text_they_are(self, o200k: TokenCounter) -> None:
        assert o200k.units("<|endoftext|>") > 1

    def test_lone_surrogates_are_counted(self, o200k: TokenCounter) -> None:
        assert o200k.units("\ud800 and more" * 100) > 100

    def test_cuts_hardly_change_the_count(self, o200k: TokenCounter, tiktoken_itself: Any) -> None:
        texts = [text for text in _real_results() if len(text) > 16_384]

        for text in texts:
            assert o200k.units(text) == pytest.approx(len(tiktoken_itself.encode_ordinary(text)), rel=0.001)

    def test_a_cut_between_lines_or_words_changes_nothing(
        self, o200k: TokenCounter, tiktoken_itself: Any
    ) -> None:
        text = "".join(
            f"def test_{number}(self) -> None:\n    the quick brown fox\n" for number in range(3_000)
        )

        assert o200k.units(text) == len(tiktoken_itself.encode_ordinary(text))

    @given(st.text("ab \n.1今", min_size=1, max_size=9), st.integers(1, 12_000))
    def test_slices_add_up_to_the_text(self, unit: str, times: int) -> None:
        text = unit * times

        parts = list(slices(text))

        assert "".join(parts) == text
        assert max(map(len, parts)) <= 16_384

    def test_sampling_is_near_the_whole_where_contents_follow_each_other(
        self, o200k: TokenCounter, tiktoken_itself: Any
    ) -> None:
        log = "2024-05-01 12:00:00,123 INFO worker-7 request 8412 done in 35 ms\n" * 20_000
        rows = json.dumps([{"id": number, "name": f"item {number}"} for number in range(20_000)])
        text = log + rows + "今天下午我们在图书馆里整理了几十本旧书。" * 10_000

        whole = sum(len(tiktoken_itself.encode_ordinary(part)) for part in slices(text))
        assert len(text) > 1_000_000
        assert o200k.units(text) == pytest.approx(whole, rel=0.02)

    def test_a_count_is_remembered_without_the_text(self) -> None:
        class Encoding:
            calls = 0

            def encode_ordinary(self, text: str) -> list[int]:
                self.calls += 1
                return [0] * len(text)

        encoding: Any = Encoding()
        counter = TiktokenCounter("fake", encoding)
        text = "secret " * 1_000

        assert [counter.units(text), counter.units(text)] == [7_000, 7_000]
        assert encoding.calls == 1
        assert all(len(key) == 16 and b"secret" not in key for key in counter._known)

    def test_what_is_remembered_stays_bounded(
        self, monkeypatch: pytest.MonkeyPatch, tiktoken_itself: Any
    ) -> None:
        monkeypatch.setattr("offloadkit.tokens.tokenizer._REMEMBERED", 3)
        counter = TiktokenCounter("o200k_base", tiktoken_itself)

        for number in range(10):
            counter.units(f"{number} " * 500)

        assert len(counter._known) <= 3

    def test_an_unknown_encoding_is_refused_with_the_known_ones(self) -> None:
        with pytest.raises(ConfigError, match=r"o200k_bose.*cl100k_base"):
            token_counter("tiktoken:o200k_bose")

    def test_without_tiktoken_the_install_command_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "tiktoken", None)

        with pytest.raises(MissingDependency, match=r'pip install "offloadkit\[tiktoken\]"'):
            load_encoding("o200k_base")

    def test_without_a_vocabulary_both_ways_are_said(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(encodings_module, "_packaged", lambda name: None)

        with pytest.raises(ConfigError, match=r"bpe-openai.*TIKTOKEN_CACHE_DIR"):
            load_encoding("o200k_base")

    def test_an_encoding_that_no_package_ships_asks_for_the_cache(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))

        with pytest.raises(ConfigError, match=r"p50k_base\.tiktoken is not on this machine"):
            load_encoding("p50k_base")

    def test_gpt2_names_the_encoding_that_counts_the_same(self) -> None:
        with pytest.raises(ConfigError, match="r50k_base"):
            load_encoding("gpt2")

    def test_the_cache_of_tiktoken_is_used(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self._fill_cache(tmp_path)
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(encodings_module, "_packaged", lambda name: None)

        assert load_encoding("cl100k_base").encode_ordinary("hello world") == [15339, 1917]

    def test_a_torn_file_in_the_cache_is_passed_over_and_left_there(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        cached = self._fill_cache(tmp_path)
        cached.write_bytes(b"torn")
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))

        assert load_encoding("cl100k_base").encode_ordinary("hello world") == [15339, 1917]
        assert cached.read_bytes() == b"torn"

    @pytest.mark.parametrize("folder", ["", "/nowhere"])
    def test_a_cache_that_is_off_or_missing_does_no_harm(
        self, monkeypatch: pytest.MonkeyPatch, folder: str
    ) -> None:
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", folder)

        assert load_encoding("cl100k_base").name == "cl100k_base"

    @staticmethod
    def _fill_cache(folder: Path) -> Path:
        address = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
        packaged = encodings_module._packaged("cl100k_base.tiktoken.gz")
        assert packaged is not None
        cached = folder / sha1(address.encode()).hexdigest()
        cached.write_bytes(gzip.decompress(packaged.read_bytes()))
        return cached


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


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + bytes(40)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(40)


def jpeg(width: int, height: int) -> bytes:
    metadata = b"\xff\xe1" + struct.pack(">H", 30_002) + b"\xff\xc0" * 15_000
    frame = b"\xff\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(40)
    return b"\xff\xd8" + metadata + b"\xff\xd0" + frame


def webp_extended(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00" + size + bytes(40)


def webp_lossless(width: int, height: int) -> bytes:
    bits = struct.pack("<I", (width - 1) | (height - 1) << 14)
    return b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f" + bits + bytes(40)


def webp_lossy(width: int, height: int) -> bytes:
    frame = b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return b"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00" + frame + bytes(40)


IMAGES = [png, gif, jpeg, webp_extended, webp_lossless, webp_lossy]


def media(kind: str, data: bytes = b"", media_type: str = "") -> Media:
    return Media(kind, base64.b64encode(data).decode(), media_type)


class TestMedia:
    @pytest.mark.parametrize("image", IMAGES)
    def test_the_size_of_an_image_is_read_from_its_head(self, image: Any) -> None:
        assert image_size(image(1_024, 768)) == (1_024, 768)

    @pytest.mark.parametrize("image", IMAGES)
    def test_a_head_that_is_cut_off_gives_no_size(self, image: Any) -> None:
        assert [image_size(image(640, 480)[:length]) for length in range(10)] == [None] * 10

    @given(st.sampled_from([image(640, 480)[:16] for image in IMAGES]), st.binary(max_size=80))
    def test_nothing_that_looks_like_an_image_raises(self, head: bytes, rest: bytes) -> None:
        size = image_size(head + rest)

        assert size is None or min(size) > 0

    @pytest.mark.parametrize(
        ("width", "height", "tokens"),
        [(200, 200, 54), (1_000, 1_000, 1_334), (1, 1, 1), (8_000, 400, 164), (4_000, 3_000, 1_600)],
    )
    def test_an_image_counts_by_its_pixels_within_the_limits(
        self, width: int, height: int, tokens: int
    ) -> None:
        assert image_tokens(width, height) == tokens

    def test_the_image_of_a_message_counts_by_its_header(self) -> None:
        assert media_tokens(media("image", jpeg(1_000, 1_000), "image/jpeg")) == 1_334

    def test_a_data_url_and_line_breaks_are_taken(self) -> None:
        data = "data:image/png;base64," + base64.encodebytes(png(1_000, 1_000)).decode()

        assert media_tokens(Media("image", data)) == 1_334

    @pytest.mark.parametrize("data", ["", "????", "é", "QUJD"])
    def test_an_image_that_cannot_be_read_counts_the_most(self, data: str) -> None:
        assert media_tokens(Media("image", data)) == 1_600

    def test_a_pdf_counts_by_its_pages(self) -> None:
        pdf = b"%PDF-1.4 /Type /Pages /Type /Page x /Type/Page"

        assert media_tokens(media("document", pdf, "application/pdf")) == 2 * 2_400

    def test_a_document_that_shows_no_pages_counts_by_its_size(self) -> None:
        assert media_tokens(media("document", b"PK" + bytes(120_000))) == 3 * 2_400

    def test_a_text_document_counts_as_text(self) -> None:
        assert media_tokens(media("document", b"x" * 3_500, "text/plain")) == pytest.approx(1_000, abs=2)

    def test_a_wav_counts_by_its_byte_rate(self) -> None:
        head = b"RIFF\x00\x00\x00\x00WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8_000, 8_000, 1, 8)

        assert media_tokens(media("audio", head + bytes(80_000 - len(head)))) == 10 * 32

    def test_other_audio_and_video_count_by_their_size(self) -> None:
        ten_seconds = (
            media_tokens(media("audio", bytes(160_000))),
            media_tokens(media("video", bytes(1_250_000))),
        )

        assert ten_seconds == (10 * 32, 10 * 300)

    @given(
        st.sampled_from(["image", "document", "audio", "video", "other", "new"]),
        st.text(max_size=60),
        st.sampled_from(["", "text/plain", "image/png", "application/pdf"]),
        st.sampled_from([*ESTIMATES, len]),
    )
    def test_no_media_counts_nothing(self, kind: str, data: str, media_type: str, spec: Any) -> None:
        assert media_units(Media(kind, data, media_type), token_counter(spec)) > 0


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


def _real_results() -> list[str]:
    """Return the texts of the tool results of every third real transcript."""
    paths = transcript_paths()[::3]
    if not paths:
        missing(f"no transcripts in {DATA}: set OFFLOADKIT_DATA")
    found = []
    for path in paths:
        data = path.read_bytes()
        document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
        contents = [message["content"] for message in document["messages"] if message["role"] == "tool"]
        found += [content for content in contents if isinstance(content, str)]
    return found
