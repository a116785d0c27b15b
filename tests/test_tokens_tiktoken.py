"""Counting with tiktoken: exact, in any size, and never by the network."""

from __future__ import annotations

import gzip
import json
import sys
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_results import real_results

from offloadkit.errors import ConfigError, MissingDependency
from offloadkit.tokens import (
    TokenCounter,
    token_counter,
)
from offloadkit.tokens import encodings as encodings_module
from offloadkit.tokens.encodings import load_encoding
from offloadkit.tokens.tokenizer import TiktokenCounter, slices


@pytest.fixture(scope="module")
def o200k() -> TokenCounter:
    return token_counter("tiktoken:o200k_base")


@pytest.fixture(scope="module")
def tiktoken_itself() -> Any:
    return load_encoding("o200k_base")


class TestTiktoken:
    def test_it_counts_what_tiktoken_counts(self, o200k: TokenCounter, tiktoken_itself: Any) -> None:
        text = "The quick brown fox; def f(x): return {'a': [1, 2]}  # 今天 😀\n" * 20

        assert o200k.units(text) == len(tiktoken_itself.encode_ordinary(text))

    def test_special_tokens_count_as_the_text_they_are(self, o200k: TokenCounter) -> None:
        assert o200k.units("<|endoftext|>") > 1

    def test_lone_surrogates_are_counted(self, o200k: TokenCounter) -> None:
        assert o200k.units("\ud800 and more" * 100) > 100

    def test_cuts_hardly_change_the_count(self, o200k: TokenCounter, tiktoken_itself: Any) -> None:
        texts = [text for text in real_results() if len(text) > 16_384]

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
