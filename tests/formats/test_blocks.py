"""Contents are taken apart by how their blocks are built, not by what they are called."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from offloadkit.formats.content_blocks import join_blocks, outside_parts, result_content, split_blocks
from offloadkit.results import Content, Media


class TextModel(BaseModel):
    """As the MCP SDK writes a text block."""

    type: str = "text"
    text: str
    annotations: Any = None


class ImageModel(BaseModel):
    """As the MCP SDK writes an image block."""

    type: str = "image"
    data: str
    mime_type: str = Field(alias="mimeType")


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


MEDIA_BLOCKS: list[tuple[dict[str, Any], Media]] = [
    (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        Media("image", "AAAA", "image/png"),
    ),
    ({"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}}, Media("image")),
    ({"type": "image", "source": {"type": "file", "file_id": "f"}}, Media("image")),
    ({"type": "image", "data": "AAAA", "mimeType": "image/png"}, Media("image", "AAAA", "image/png")),
    (
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA", "detail": "low"}},
        Media("image", "AAAA", "image/jpeg"),
    ),
    ({"type": "image_url", "image_url": "data:image/png;base64,AAAA"}, Media("image", "AAAA", "image/png")),
    ({"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}, Media("image")),
    ({"type": "input_image", "image_url": "data:image/png;base64,AAAA"}, Media("image", "AAAA", "image/png")),
    ({"type": "input_image", "file_id": "f"}, Media("image")),
    (
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        Media("audio", "AAAA", "audio/wav"),
    ),
    ({"type": "audio", "data": "AAAA", "mimeType": "audio/ogg"}, Media("audio", "AAAA", "audio/ogg")),
    (
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        Media("document", "AAAA", "application/pdf"),
    ),
    ({"type": "file", "file": {"file_id": "f"}}, Media("document")),
    ({"type": "input_file", "file_data": "AAAA"}, Media("document", "AAAA")),
    (
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}},
        Media("document", "AAAA", "application/pdf"),
    ),
    ({"type": "document", "source": {"type": "url", "url": "https://x.example/a.pdf"}}, Media("document")),
    (
        {"type": "document", "source": {"type": "content", "content": [{"type": "image", "data": "AAAA"}]}},
        Media("document"),
    ),
    (
        {"type": "resource", "resource": {"uri": "x://a", "blob": "AAAA", "mimeType": "application/pdf"}},
        Media("document", "AAAA", "application/pdf"),
    ),
    ({"type": "video_url", "video_url": {"url": "https://x.example/a.mp4"}}, Media("video")),
]

TEXT_BLOCKS: list[tuple[Any, list[str]]] = [
    ("plain", ["plain"]),
    (text("a"), ["a"]),
    (text(""), [""]),
    ({"type": "input_text", "text": "a"}, ["a"]),
    ({"type": "output_text", "text": "a", "annotations": []}, ["a"]),
    (
        {"type": "search_result", "source": "s", "title": "t", "content": [text("a"), text("b")]},
        ["t", "s", "a", "b"],
    ),
    (
        {"type": "document", "title": "t", "context": "c", "source": {"type": "text", "data": "a"}},
        ["t", "c", "a"],
    ),
    ({"type": "document", "source": {"type": "content", "content": "a"}}, ["a"]),
    ({"type": "document", "source": {"type": "content", "content": [text("a"), text("b")]}}, ["a", "b"]),
    ({"type": "resource", "resource": {"uri": "x://a", "text": "a"}}, ["a"]),
]

DATA: list[Any] = [
    {"type": "text", "text": "a dictionary is no list of blocks"},
    [],
    [1, "two", {"three": 3}],
    ["text beside a row", {"id": 1}],
    [{"id": 1, "type": "commit"}, {"id": 2, "type": "commit"}],
    [{"type": "file", "name": "a.txt", "size": 1}, {"type": "image", "name": "b.png", "source": "camera"}],
    [{"type": "input_audio", "input_audio": "x"}],
    [{"type": "document", "title": "t"}, {"type": "audio", "data": "x"}],
    [{"type": "text", "value": "not where text stands"}],
    [{"type": ["text"], "text": "a"}],
    ({"type": "text", "text": "a"},),
    None,
    5,
    True,
]


def texts_of(content: Content) -> list[str]:
    return [text for _, text in content.texts]


@pytest.mark.parametrize(("block", "media"), MEDIA_BLOCKS)
def test_media_are_read(block: dict[str, Any], media: Media) -> None:
    assert split_blocks([block]) == Content([block], (), (media,))


@pytest.mark.parametrize(("block", "media"), MEDIA_BLOCKS)
def test_media_stay_when_asked_and_go_otherwise(block: dict[str, Any], media: Media) -> None:
    content = split_blocks([text("a"), block])

    assert join_blocks(content, "new", keep_media=True) == [text("new"), block]
    assert join_blocks(content, "new", keep_media=False) == "new"


@pytest.mark.parametrize(("block", "texts"), TEXT_BLOCKS)
def test_texts_are_read_in_order(block: Any, texts: list[str]) -> None:
    assert texts_of(split_blocks([text("first"), block])) == ["first", *texts]


@pytest.mark.parametrize(("block", "texts"), TEXT_BLOCKS)
def test_a_block_of_texts_goes_when_a_text_takes_its_place(block: Any, texts: list[str]) -> None:
    assert join_blocks(split_blocks([block]), "new", keep_media=True) == "new"


@pytest.mark.parametrize("value", DATA)
def test_data_have_no_texts_of_their_own(value: Any) -> None:
    assert split_blocks(value) == Content(value)


@pytest.mark.parametrize("value", DATA)
def test_data_become_plain_text(value: Any) -> None:
    assert join_blocks(split_blocks(value), "new", keep_media=True) == "new"


def test_text_stands_at_the_empty_path() -> None:
    assert split_blocks("a") == Content("a", (((), "a"),))


def test_a_list_that_is_no_copy_stays_the_same_object() -> None:
    blocks = [text("a")]

    assert split_blocks(blocks).value is blocks


def test_models_are_read_as_the_dictionaries_that_go_over_the_wire() -> None:
    content = split_blocks([TextModel(text="a"), ImageModel(data="AAAA", mimeType="image/png")])

    assert content.value == [text("a"), {"type": "image", "data": "AAAA", "mimeType": "image/png"}]
    assert content.media == (Media("image", "AAAA", "image/png"),)


class BytesModel(BaseModel):
    """What cannot be written as JSON."""

    data: bytes = b"\xff"


@pytest.mark.parametrize("value", [BytesModel(), BytesModel])
def test_what_cannot_be_written_as_json_stays_as_it_is(value: Any) -> None:
    assert split_blocks([value]) == Content([value])


def test_a_message_may_hold_blocks_of_unknown_types_alone() -> None:
    rows = [{"type": "commit", "id": 1}]

    assert result_content(rows).media == (Media("other"),)
    assert split_blocks(rows).media == ()


def test_blocks_of_unknown_types_stay_in_order_behind_the_text() -> None:
    content = result_content([{"type": "x"}, text("a"), {"type": "y"}])

    assert join_blocks(content, "new", keep_media=False) == [text("new"), {"type": "x"}, {"type": "y"}]


def test_a_field_of_data_that_is_called_like_a_cache_mark_is_none() -> None:
    headers = [{"cache_control": "no-store"}, {"cache_control": {"max-age": 0}}]

    assert join_blocks(split_blocks(headers), "new", keep_media=False) == "new"


def test_the_last_cache_mark_of_several_stays() -> None:
    marked = [{**text("a"), "cache_control": {"n": 1}}, {**text("b"), "cache_control": {"n": 2}}, text("c")]

    assert join_blocks(split_blocks(marked), "new", keep_media=False) == [
        {**text("new"), "cache_control": {"n": 2}}
    ]


def test_a_mark_on_media_stays_there_while_they_stay() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png", "cache_control": {"n": 1}}

    assert join_blocks(split_blocks([text("a"), image]), "new", keep_media=True) == [text("new"), image]


def test_the_text_is_written_as_the_texts_beside_it() -> None:
    content = result_content([{"type": "x"}, text("a")])

    joined = join_blocks(content, "new", keep_media=True, text_type="input_text")

    assert joined == [text("new"), {"type": "x"}]


def test_the_text_is_written_as_the_format_wants_where_there_was_none() -> None:
    joined = join_blocks(result_content([{"type": "x"}]), "new", keep_media=True, text_type="input_text")

    assert joined == [{"type": "input_text", "text": "new"}, {"type": "x"}]


def test_outside_of_results_only_texts_and_media_count() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    blocks = [text("a"), {"type": "thinking", "thinking": "long"}, image, {"type": "tool_use"}, None, 5, "b"]

    assert outside_parts(blocks) == (("a", "b"), (Media("image", "AAAA", "image/png"),))


@pytest.mark.parametrize("content", [None, 5, {"type": "text", "text": "a"}, iter([text("a")])])
def test_what_is_no_content_counts_nothing(content: Any) -> None:
    assert outside_parts(content) == ((), ())
