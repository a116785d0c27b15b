"""How tokens are counted.

A counter measures a text in *units* that may be added up, and turns a sum of units into tokens. For the
estimates the unit is one UTF-8 byte, so that the texts of a message are added first and rounded once; for
a tokenizer the unit is one token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from offloadkit.errors import ConfigError

TokenCounterSpec = "str | Callable[[str], int]"


class TokenCounter(Protocol):
    """Counts tokens in two steps, so that sums are rounded once."""

    def units(self, text: str) -> int:
        """Return the size of ``text`` in units that may be added up."""
        ...

    def tokens(self, units: int) -> int:
        """Return how many tokens a sum of units stands for, rounded up."""
        ...
