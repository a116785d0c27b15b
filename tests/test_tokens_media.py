"""Counting what is no text, by the rules of the documentation."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offloadkit.results import Media
from offloadkit.tokens import (
    media_tokens,
    media_units,
    token_counter,
)
from offloadkit.tokens.image_size import image_size
from offloadkit.tokens.media import image_tokens

ESTIMATES = ("bytes", "bytes/4", "text")


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
