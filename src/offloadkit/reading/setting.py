"""What the program decides about an answer: how much it may hold, who counts, what the tool is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from offloadkit.policy import MIN_PAGE_TOKENS
from offloadkit.tokens import TokenCounter

__all__ = ["MIN_PAGE_TOKENS", "Setting"]

_BYTES_A_TOKEN: Final = 8


@dataclass(frozen=True, slots=True)
class Setting:
    """The bounds of one answer.

    Attributes:
        page_tokens: The most tokens that the answer may hold.
        counter: Counts them.
        tool_name: The name of the read tool.
        now: Seconds since 1970, or None to leave out how old a result is.
    """

    page_tokens: int
    counter: TokenCounter
    tool_name: str
    now: float | None = None

    @property
    def page_bytes(self) -> int:
        """The most bytes of content on a page whatever the counter says, so that reading is bounded."""
        return self.page_tokens * _BYTES_A_TOKEN

    def tokens(self, text: str) -> int:
        """Return how many tokens a text holds."""
        return self.counter.tokens(self.counter.units(text))

    def holds(self, text: str) -> bool:
        """Say whether an answer is small enough."""
        return self.tokens(text) <= self.page_tokens

    def largest(self, draft: Callable[[int], str], most: int) -> int:
        """Return the greatest number from 1 to ``most`` whose draft is small enough, or 0.

        Drafts are taken to grow with their number. Where a tokenizer breaks that rule the number returned may
        not be the greatest, but its draft was measured.
        """
        low, high = 0, most + 1
        while high - low > 1:
            middle = high - 1 if high == most + 1 else (low + high) // 2
            if self.holds(draft(middle)):
                low = middle
            else:
                high = middle
        return low

    def words(self, text: str) -> str:
        """Return a sentence, cut where it is longer than a page."""
        if self.holds(text):
            return text
        return text[: self.largest(lambda count: text[:count] + "…", len(text))] + "…"
