"""Message formats: how each provider and framework writes calls and results.

A format reads facts off messages (`views`) and puts new contents into copies (`replace`). It never builds a
message: everything it does not know passes through as the same object. It imports no SDK, and reads
dictionaries and SDK model objects alike. A new format is one module and one entry in `FORMATS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Protocol

from offloadkit.errors import FormatError
from offloadkit.results import Content, MessageView, Place

__all__ = ["FORMATS", "Format", "check_messages", "detect", "format_named", "format_of"]

FORMATS: Final = {
    "openai-chat": "openai_chat:OpenAIChat",
    "openai-responses": "openai_responses:OpenAIResponses",
    "anthropic-messages": "anthropic_messages:AnthropicMessages",
    "gemini": "gemini:Gemini",
    "bedrock-converse": "bedrock_converse:BedrockConverse",
}


class Format(Protocol):
    """One message format. Stateless; one instance serves every thread."""

    name: str

    def recognises(self, messages: Sequence[Any]) -> bool | None:
        """Say whether these messages are of this format.

        True: something in them is written in this way only. False: something cannot be. None: nothing
        speaks for or against it.
        """
        ...

    def views(self, messages: Sequence[Any]) -> list[MessageView]:
        """Return the facts of each message, one view a message, in order.

        Never raises on odd messages: what it cannot read is passed over. Read from a message on that starts
        a turn, and read one at a time but for ``starts_turn``, messages show the same facts.
        """
        ...

    def replace(
        self,
        messages: Sequence[Any],
        results: Mapping[Place, Any],
        arguments: Mapping[Place, Any] | None = None,
    ) -> list[Any]:
        """Return the messages with these result contents, and these call arguments, put in.

        Copies what changes and the containers on the way to it; every other message is the same object
        as before, and so is one in which the same object is put where it stands already. With nothing to
        put in, the list is a new list of the same objects.
        """
        ...

    def split(self, value: Any) -> Content:
        """Take apart what a tool returned, or what `join` made."""
        ...

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return a legal content that shows ``text`` in place of all texts of ``content``.

        With ``keep_media`` the parts that are no text stay, the new text before them. Without it the media
        go; parts of kinds that the format does not know stay nevertheless. Where parts go that hold cache
        marks, one of each kind is kept on the text.
        """
        ...


@cache
def format_named(name: str) -> Format:
    """Return the format with this name. Raises `FormatError` when there is none."""
    if name not in FORMATS:
        raise FormatError(f"there is no message format {name!r}; known: {', '.join(FORMATS)}")
    module, _, format_class = FORMATS[name].partition(":")
    made: Format = getattr(importlib.import_module(f"offloadkit.formats.{module}"), format_class)()
    return made


def detect(messages: Sequence[Any]) -> Format:
    """Return the format of these messages.

    A history in which nothing speaks for any format (none at all, or plain texts) holds no tool call and no
    result either, so that all formats that it could be of lead to the same; it is taken for openai-chat.

    Raises:
        FormatError: No list of messages, of no known format, or of several at once.
    """
    check_messages(messages)
    answers = _answers(messages)
    certain = [name for name, answer in answers.items() if answer]
    possible = certain or [name for name, answer in answers.items() if answer is None]
    if len(certain) > 1 or not possible:
        raise FormatError(_why_unclear(messages, certain))
    return format_named(possible[0])


def check_messages(messages: Any) -> None:
    """Raise `FormatError` for what is no list of messages, such as a whole request body."""
    if isinstance(messages, Mapping):
        raise FormatError("messages are a list, not a dictionary; of a request body pass the list inside it")
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise FormatError(f"messages are a list, not {type(messages).__name__}")


def format_of(messages: Any, name: str | None) -> Format:
    """Return the format with this name, or without one that of the messages.

    Raises:
        FormatError: No list of messages, an unknown name, or messages of no known format.
    """
    check_messages(messages)
    return detect(messages) if name is None else format_named(name)


def _answers(messages: Sequence[Any]) -> dict[str, bool | None]:
    return {name: format_named(name).recognises(messages) for name in FORMATS}


def _why_unclear(messages: Sequence[Any], certain: Sequence[str]) -> str:
    """Say which message fits no format, or which formats stand side by side."""
    hint = 'pass format="…" to say which one is meant'
    if certain:
        return f"these messages could be {' or '.join(certain)}; {hint}"
    seen: dict[str, int] = {}
    for index, message in enumerate(messages):
        answers = _answers([message])
        if all(answer is False for answer in answers.values()):
            return f"message {index} is of no known format ({', '.join(FORMATS)}); {hint}"
        for name, answer in answers.items():
            if answer:
                seen.setdefault(name, index)
    first = ", ".join(f"{name} from message {index} on" for name, index in seen.items())
    return f"these messages mix formats: {first}; {hint}"
