"""What a result would be replaced by: made only when the policy asks, once a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from offloadkit.archive import Archive
from offloadkit.content import EncodedContent, encode
from offloadkit.formats import Format
from offloadkit.history import Standing, content_units
from offloadkit.placeholder import Placeholder, render_cleared, render_offloaded, shown_tool
from offloadkit.policy import Decision, Policy
from offloadkit.previews import preview
from offloadkit.read_tool import repeat_call
from offloadkit.results import Place, ToolResult
from offloadkit.tokens import TokenCounter

__all__ = ["Replacement", "Replacements"]


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new content for one result.

    Attributes:
        content: What the message holds instead.
        size: Its size in the counter's units.
        placeholder: What it says, or None in clear-only mode.
        encoded: What must be stored first, or None when nothing must.
    """

    content: Any
    size: int
    placeholder: Placeholder | None
    encoded: EncodedContent | None


class Replacements:
    """The replacements for the results of one history; the `offloadkit.policy.Costs` of a replay.

    Attributes:
        standing: Tells how a result stands in the history.
    """

    def __init__(
        self,
        standing: Callable[[Place], Standing],
        *,
        policy: Policy,
        counter: TokenCounter,
        message_format: Format,
        archive: Archive | None,
        read_tool: str,
    ) -> None:
        """Make none yet. Without an ``archive`` old results become the bare placeholder."""
        self.standing = standing
        self._policy = policy
        self._counter = counter
        self._format = message_format
        self._archive = archive
        self._read_tool = read_tool
        self._described: dict[Place, tuple[Placeholder, EncodedContent] | None] = {}
        self._cleared: dict[Place, Replacement | None] = {}
        self._offloaded: dict[Place, Replacement | None] = {}

    def cleared(self, result: ToolResult) -> int:
        """Return the size of the placeholder, or of the result itself when it cannot be replaced."""
        made = self.for_clearing(result.place)
        return result.size if made is None else made.size

    def offloaded(self, result: ToolResult) -> int:
        """Return the size of the preview, or of the result itself when it cannot be replaced."""
        made = self.for_offloading(result.place)
        return result.size if made is None else made.size

    def of(self, decision: Decision) -> Replacement | None:
        """Return what a decision puts in place of its result."""
        place = decision.result.place
        return self.for_clearing(place) if decision.action == "clear" else self.for_offloading(place)

    def for_clearing(self, place: Place) -> Replacement | None:
        """Return what a cleared result becomes; None when it cannot be replaced."""
        if place not in self._cleared:
            self._cleared[place] = self._clear(self.standing(place))
        return self._cleared[place]

    def for_offloading(self, place: Place) -> Replacement | None:
        """Return what an offloaded result becomes; None when it cannot be replaced."""
        if place not in self._offloaded:
            self._offloaded[place] = self._offload(self.standing(place))
        return self._offloaded[place]

    def _clear(self, standing: Standing) -> Replacement | None:
        if self._archive is None:
            return self._joined(standing, self._policy.placeholder, None, None, keep_media=False)
        described = (standing.found.placeholder, None) if standing.found else self._describe(standing)
        if described is None:
            return None
        placeholder, encoded = described
        text = render_cleared(
            placeholder,
            words=self._policy.placeholder,
            read_tool=self._read_tool,
            session=self._archive.session,
        )
        return self._joined(standing, text, placeholder, encoded, keep_media=False)

    def _offload(self, standing: Standing) -> Replacement | None:
        described = self._describe(standing)
        if described is None:
            return None
        placeholder, encoded = described
        made = preview(
            encoded.text,
            budget=self._policy.preview_tokens,
            counter=self._counter,
            kind=self._policy.rule(standing.result.tool).preview,
            is_error=standing.result.is_error,
        )
        text = render_offloaded(
            placeholder,
            shown=made.shown,
            next_call=made.next_call,
            preview=made.text,
            read_tool=self._read_tool,
            session=self._archive.session if self._archive else "",
        )
        return self._joined(standing, text, placeholder, encoded, keep_media=True)

    def _joined(
        self,
        standing: Standing,
        text: str,
        placeholder: Placeholder | None,
        encoded: EncodedContent | None,
        *,
        keep_media: bool,
    ) -> Replacement:
        content = self._format.join(standing.view.content, text, keep_media=keep_media)
        size = content_units(self._format.split(content), self._counter)
        return Replacement(content, size, placeholder, encoded)

    def _describe(self, standing: Standing) -> tuple[Placeholder, EncodedContent] | None:
        """Return what is said of a whole result and what is stored; None when nothing can be stored."""
        place = standing.view.place
        if place not in self._described:
            self._described[place] = self._made_for(standing, self._archive) if self._archive else None
        return self._described[place]

    def _made_for(self, standing: Standing, archive: Archive) -> tuple[Placeholder, EncodedContent] | None:
        encoded = encode(standing.view.content)
        if encoded is None:
            return None
        return self._facts(standing, encoded, archive.reference(encoded)), encoded

    def _facts(self, standing: Standing, encoded: EncodedContent, ref: str) -> Placeholder:
        result = standing.result
        is_page = result.tool == self._read_tool and standing.call is not None
        return Placeholder(
            ref=ref,
            tokens=self._counter.tokens(result.size),
            lines=encoded.lines,
            tool=shown_tool(result.tool),
            failed=result.is_error,
            media=result.media,
            again=repeat_call(self._read_tool, standing.call.arguments) if is_page and standing.call else "",
        )
