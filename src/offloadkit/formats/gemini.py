"""Contents of Google's Gemini API, of google-genai and of the ADK: ``gemini``.

Calls are ``functionCall`` parts of a model content, results ``functionResponse`` parts of the content after
it; often neither has an id, and they belong together by their order. A result holds an object, ``response``,
and may hold media beside it, ``parts``. Thoughts and their signatures never change and do not count, nor do
code that the server ran and what came of it.

The content of a result is its ``response``; where media stand beside it, it is a dictionary of both,
``{"response": …, "parts": …}``. Keys are read in camel case and in snake case.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offloadkit.formats.access import Path, answer_of, get, indexed, list_of, with_value, word
from offloadkit.results import CallView, Content, Media, MessageView, Place, ResultView

__all__ = ["Gemini"]

CALL: Final = ("functionCall", "function_call")
RESPONSE: Final = ("functionResponse", "function_response")
INLINE: Final = ("inlineData", "inline_data")
FILE: Final = ("fileData", "file_data")
MEDIA_TYPE: Final = ("mimeType", "mime_type")
TEXT_KEYS: Final = ("result", "output", "error")
MEDIA_KINDS: Final = ("image", "audio", "video")
BOTH: Final = frozenset({"response", "parts"})
FOREIGN_FIELDS: Final = ("kind", "part_kind", "type")


class Gemini:
    """Contents of the Gemini API."""

    name = "gemini"

    def recognises(self, messages: Sequence[Any]) -> bool | None:
        """Say whether these contents are of this format."""
        return answer_of(_recognises(content) for content in list_of(messages))

    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        """Return the facts of each content. The first model content after one of the user starts a turn."""
        views: list[MessageView] = []
        in_answer = False
        for index, content in indexed(messages):
            by_model = word(content, "role") == "model"
            views.append(_view(content, index, starts_turn=by_model and not in_answer))
            in_answer = by_model
        return views

    def replace(
        self,
        messages: Sequence[Any],
        results: Mapping[Place, Any],
        arguments: Mapping[Place, Any] | None = None,
    ) -> list[Any]:
        """Return the contents with these responses, and these arguments as objects, put into copies."""
        changed = list(messages)
        for place, value in results.items():
            changed[place.message] = _with_response(changed[place.message], place.block, value)
        for place, value in (arguments or {}).items():
            content = changed[place.message]
            key = _key(get(content, "parts")[place.block], CALL)
            changed[place.message] = with_value(content, ("parts", place.block, key, "args"), value)
        return changed

    def split(self, value: Any) -> Content:
        """Take apart what a tool returned, or a response.

        Its text is the value itself, or what stands alone under ``result``, ``output`` or ``error``; any
        other value has no texts.
        """
        return _split(value)

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return a response that shows ``text`` under the key where text stood, or under ``result``.

        A failed result stays one: its text stands under ``error``. Text that stood alone stays text.
        """
        if isinstance(content.value, str):
            return text
        response, parts = _both(content.value)
        stays = [part for part in parts or () if keep_media or _media(part).kind == "other"]
        joined = {_text_key(response): text}
        return {"response": joined, "parts": stays} if stays else joined


def _recognises(content: Any) -> bool:
    parts = get(content, "parts")
    if not isinstance(parts, list | tuple):
        return False
    return not any(get(item, field) for item in (content, *parts) for field in FOREIGN_FIELDS)


def _view(content: Any, index: int, *, starts_turn: bool) -> MessageView:
    parts = [(block, part) for block, part in indexed(get(content, "parts"))]
    texts = (word(part, "text") for _, part in parts if not get(part, "thought"))
    return MessageView(
        starts_turn=starts_turn,
        texts=tuple(text for text in texts if text is not None),
        media=tuple(_media(part) for _, part in parts if _key(part, INLINE) or _key(part, FILE)),
        calls=tuple(_calls(parts, index)),
        results=tuple(_results(parts, index)),
    )


def _calls(parts: Sequence[tuple[int, Any]], index: int) -> Iterator[CallView]:
    for block, part in parts:
        call = _under(part, CALL)
        if call is not None:
            yield CallView(Place(index, block), word(call, "id"), word(call, "name"), get(call, "args"))


def _results(parts: Sequence[tuple[int, Any]], index: int) -> Iterator[ResultView]:
    for block, part in parts:
        held = _under(part, RESPONSE)
        if held is None:
            continue
        value = _value_of(held)
        yield ResultView(
            place=Place(index, block),
            call_id=word(held, "id"),
            tool=word(held, "name") or None,
            content=_split(value),
            is_error=_is_error(_both(value)[0]),
        )


def _split(value: Any) -> Content:
    response, parts = _both(value)
    before: Path = ("response",) if parts is not None else ()
    texts = tuple(((*before, *path), text) for path, text in _texts(response))
    return Content(value, texts, tuple(_media(part) for part in parts or ()))


def _value_of(held: Any) -> Any:
    response, parts = get(held, "response"), list_of(get(held, "parts"))
    if parts or (isinstance(response, dict) and set(response) == BOTH):
        return {"response": response, "parts": list(parts)}
    return response


def _with_response(content: Any, block: int, value: Any) -> Any:
    key = _key(get(content, "parts")[block], RESPONSE)
    response, parts = _both(value)
    path = ("parts", block, key)
    stood = list_of(get(_under(get(content, "parts")[block], RESPONSE), "parts"))
    if list(stood) != list(parts or ()):
        content = with_value(content, (*path, "parts"), list(parts or ()))
    return with_value(content, (*path, "response"), response)


def _both(value: Any) -> tuple[Any, list[Any] | None]:
    """Return the response and the media beside it; None where the value is the response alone."""
    if isinstance(value, dict) and set(value) == BOTH and isinstance(value["parts"], list):
        return value["response"], value["parts"]
    return value, None


def _texts(response: Any) -> tuple[tuple[Path, str], ...]:
    if isinstance(response, str):
        return (((), response),)
    if isinstance(response, dict) and len(response) == 1:
        ((key, text),) = response.items()
        if key in TEXT_KEYS and isinstance(text, str):
            return (((key,), text),)
    return ()


def _text_key(response: Any) -> str:
    """Return the key under which a new text stands: the old one, so that errors stay errors."""
    if _is_error(response):
        return "error"
    return "output" if isinstance(response, dict) and list(response) == ["output"] else "result"


def _is_error(response: Any) -> bool:
    return (
        isinstance(response, dict)
        and bool(response.get("error"))
        and not {"result", "output"} & set(response)
    )


def _media(part: Any) -> Media:
    inline = _under(part, INLINE)
    carrier = _under(part, FILE) if inline is None else inline
    if carrier is None:
        return Media("other")
    media_type = next((found for name in MEDIA_TYPE if (found := word(carrier, name))), "")
    kind = media_type.partition("/")[0]
    return Media(kind if kind in MEDIA_KINDS else "document", _base64(get(inline, "data")), media_type)


def _base64(data: Any) -> str:
    """Return base64 text of the usual alphabet; SDK objects hold bytes, the wire may hold the other one."""
    if isinstance(data, bytes):
        return b64encode(data).decode("ascii")
    return data.replace("-", "+").replace("_", "/") if isinstance(data, str) else ""


def _key(part: Any, names: tuple[str, ...]) -> str:
    """Return that one of the names which the part has, or an empty text."""
    return next((name for name in names if get(part, name) is not None), "")


def _under(part: Any, names: tuple[str, ...]) -> Any:
    key = _key(part, names)
    return get(part, key) if key else None
