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

__all__ = ["FORMATS", "Format", "detect", "format_named"]

FORMATS: Final = {
    "openai-chat": "openai_chat:OpenAIChat",
    "anthropic-messages": "anthropic_messages:AnthropicMessages",
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

        Never raises on odd messages: what it cannot read is passed over.
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
        as before. With nothing to put in, the list is a new list of the same objects.
        """
        ...

    def split(self, value: Any) -> Content:
        """Take the content of a tool result apart."""
        ...

    def join(self, content: Content, text: str, *, keep_media: bool) -> Any:
        """Return a legal content that shows ``text`` in place of all texts of ``content``.

        With ``keep_media`` the parts that are no text stay, the new text before them; without it only the
        text stays. Cache marks of the blocks that go are kept on the block that stays.
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

    A history in which nothing speaks for any format (plain texts of user and assistant) holds no tool result
    either, so that every format that could be meant leads to the same; it is taken for the first of them.

    Raises:
        FormatError: No list of messages, of no known format, or of several possible ones.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise FormatError(f"messages are a list, not {type(messages).__name__}")
    answers = {name: format_named(name).recognises(messages) for name in FORMATS}
    certain = [name for name, answer in answers.items() if answer]
    possible = certain or [name for name, answer in answers.items() if answer is None]
    if not possible:
        raise FormatError(f"these are messages of no known format ({', '.join(FORMATS)})")
    if len(certain) > 1:
        raise FormatError(f'these messages could be {" or ".join(certain)}; pass format="…" to say which')
    return format_named(possible[0])
