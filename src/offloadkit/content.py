"""How the content of a tool result becomes bytes, and those bytes the content again.

The text comes first and is stored as it is, so that any part of it can be read by its position. What else
the content holds (the blocks around the texts, images, JSON) follows as one JSON object, the structure.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from offloadkit.errors import Corrupt
from offloadkit.results import Content

__all__ = ["EncodedContent", "content_of", "decode", "digest_of", "encode", "readable_text"]

TEXT: Final = "text/plain"
JSON: Final = "application/json"
BLOCKS: Final = "application/vnd.offloadkit.blocks+json"
BYTES_AS_TEXT: Final = "application/octet-stream;text"
BYTES_MARK: Final = "offloadkit.bytes"
BYTES_AS_BASE64: Final = "application/octet-stream;base64"


@dataclass(frozen=True)
class EncodedContent:
    """A content as bytes.

    Attributes:
        type: Its content type, one of the five in this module.
        text: The text that a reader sees.
        body: That text in UTF-8, lone surrogates as they are.
        structure: What else is needed to make the content again; may be empty.
    """

    type: str
    text: str
    body: bytes
    structure: bytes = b""

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 over type, body and structure, computed once however often it is asked for."""
        return digest_of(self.type, self.body, self.structure)

    @property
    def lines(self) -> int:
        """How many lines the text has; a line ends at a line feed, nowhere else."""
        return self.text.count("\n") + (self.text != "" and not self.text.endswith("\n"))


def content_of(value: Any, split: Callable[[Any], Content]) -> Content:
    """Take apart what a tool returned; ``split`` is the message format's.

    A value that JSON cannot hold (a model, a date, a set) becomes some readable text of it.
    """
    if isinstance(value, bytes | bytearray):
        return Content(bytes(value), (((), _encode_bytes(bytes(value)).text),))
    content = split(value)
    if isinstance(value, str | list) or encode(content) is not None:
        return content
    text = readable_text(value)
    return Content(text, (((), text),))


def encode(content: Content) -> EncodedContent | None:
    """Return a content as bytes; None when `decode` would not give an equal value back.

    The latter are values that JSON cannot hold, such as NaN, tuples and keys that are no text. They are
    never replaced, so nothing is lost.
    """
    value = content.value
    if isinstance(value, str):
        return _encoded(TEXT, value)
    if isinstance(value, bytes | bytearray):
        return _encode_bytes(bytes(value))
    encoded = _encode_blocks(content) if content.texts else _encode_json(value)
    try:
        equal = encoded is not None and decode(encoded.type, encoded.body, encoded.structure) == value
    except (RecursionError, AttributeError):
        return None
    return encoded if equal else None


def decode(content_type: str, body: bytes, structure: bytes) -> Any:
    """Return the value that was encoded. Raises `Corrupt` when the bytes are not what `encode` made."""
    try:
        if content_type == BYTES_AS_TEXT:
            return body
        if content_type == BYTES_AS_BASE64:
            return base64.b64decode(body, validate=True)
        text = body.decode("utf-8", "surrogatepass")
        if content_type == TEXT:
            return text
        if content_type == JSON:
            return json.loads(text, object_hook=_bytes_from_json)
        if content_type == BLOCKS:
            return _decode_blocks(body, structure)
    except (ValueError, LookupError, TypeError) as error:
        raise Corrupt(f"a stored {content_type} object cannot be decoded") from error
    raise Corrupt(
        f"a stored object is of the content type {content_type!r}, which this version does not know"
    )


def digest_of(content_type: str, body: bytes, structure: bytes) -> bytes:
    """Return the SHA-256 over a content type and the bytes of a content."""
    digest = hashlib.sha256(f"{content_type}\n{len(body)}\n".encode())
    digest.update(body)
    digest.update(structure)
    return digest.digest()


def readable_text(value: Any) -> str:
    """Return some readable text for any value a tool may return; never raises.

    JSON values become JSON, with what JSON does not know (dates, decimals, sets, models) as text.
    """
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _encoded(content_type: str, text: str, structure: bytes = b"") -> EncodedContent:
    return EncodedContent(content_type, text, text.encode("utf-8", "surrogatepass"), structure)


def _encode_bytes(value: bytes) -> EncodedContent:
    try:
        return EncodedContent(BYTES_AS_TEXT, value.decode("utf-8"), value)
    except UnicodeDecodeError:
        body = base64.b64encode(value)
        return EncodedContent(BYTES_AS_BASE64, body.decode("ascii"), body)


def _encode_json(value: Any) -> EncodedContent | None:
    text = _dumps(value)
    return None if text is None else _encoded(JSON, text)


def _encode_blocks(content: Content) -> EncodedContent | None:
    """Take the texts out of the value, so that they stand once, in the body."""
    text = "\n".join(text for _, text in content.texts)
    emptied = content.value
    for path, _ in content.texts:
        emptied = _with_item(emptied, path, "")
    sizes = [[list(path), len(text.encode("utf-8", "surrogatepass"))] for path, text in content.texts]
    structure = _dumps({"value": emptied, "texts": sizes})
    return None if structure is None else _encoded(BLOCKS, text, structure.encode("utf-8", "surrogatepass"))


def _decode_blocks(body: bytes, structure: bytes) -> Any:
    parts = json.loads(structure.decode("utf-8", "surrogatepass"), object_hook=_bytes_from_json)
    value, position = parts["value"], 0
    for path, size in parts["texts"]:
        value = _with_item(value, path, body[position : position + size].decode("utf-8", "surrogatepass"))
        position += size + 1
    return value


def _with_item(value: Any, path: Sequence[str | int], item: str) -> Any:
    """Return a copy of ``value`` with ``item`` at ``path``, copying only the containers on the way."""
    if not path:
        return item
    copy = value.copy()
    copy[path[0]] = _with_item(value[path[0]], path[1:], item)
    return copy


def _dumps(value: Any) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False, default=_bytes_as_json)
    except (TypeError, ValueError, RecursionError):
        return None


def _bytes_as_json(value: Any) -> dict[str, str]:
    """Return JSON for bytes inside a value, such as the pictures of Amazon's SDK."""
    if isinstance(value, bytes):
        return {BYTES_MARK: base64.b64encode(value).decode("ascii")}
    raise TypeError


def _bytes_from_json(value: dict[str, Any]) -> Any:
    if value.keys() == {BYTES_MARK}:
        return base64.b64decode(value[BYTES_MARK], validate=True)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return str(value)
