"""Message formats: how each provider and framework writes calls and results.

A format reads facts off messages (`views`) and puts new contents into copies (`replace`). It never builds a
message: everything it does not know passes through as the same object. It imports no SDK, and reads
dictionaries and SDK model objects alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from offloadkit.results import Content, MessageView, Place

__all__ = ["Format"]


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
        """Return the facts of each message, one view a message, in order. Never raises on odd messages:
        what it cannot read is passed over.
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

        With ``keep_media`` the parts that are no text stay where they were, the new text before them;
        without it only the text stays. Cache marks of the blocks that go are kept on the block that stays.
        """
        ...
