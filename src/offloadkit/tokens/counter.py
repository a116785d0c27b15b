"""What a token counter is, and how a number of tokens is put into its units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from offloadkit.errors import ConfigError

__all__ = ["CallableCounter", "TokenCounter", "units_for"]

_LARGE: Final = 10**12


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens in two steps, so that sums are rounded once. Safe to use from many threads."""

    def units(self, text: str) -> int:
        """Return the size of ``text`` in units that may be added up."""
        ...

    def tokens(self, units: int) -> int:
        """Return how many tokens a sum of units stands for, rounded up."""
        ...


@dataclass(frozen=True, slots=True)
class CallableCounter:
    """Counts by a function of yours; its unit is one token.

    Attributes:
        count: Takes a text and returns its tokens.
    """

    count: Callable[[str], int]

    def units(self, text: str) -> int:
        """Return what the function returns. Raises `ConfigError` when that is no whole number from 0."""
        counted = self.count(text)
        if isinstance(counted, bool) or not isinstance(counted, int) or counted < 0:
            raise ConfigError(f"the token counter must return a whole number from 0, not {counted!r}")
        return counted

    def tokens(self, units: int) -> int:
        """Return ``units``."""
        return units


def units_for(tokens: int, counter: TokenCounter) -> int:
    """Return how many units of ``counter`` stand for ``tokens`` tokens; at least one."""
    return max(1, tokens * _LARGE // max(1, counter.tokens(_LARGE)))
