"""Fitting a counter to what a provider reported.

The factor is fixed once, before a session. It never follows what is reported during one: a counter that moved
would decide differently about what was decided before, and the prompt's prefix would change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offloadkit.errors import ConfigError
from offloadkit.tokens.counter import TokenCounter
from offloadkit.tokens.specs import TokenCounterSpec, token_counter

__all__ = ["CalibratedCounter", "calibrate", "drift"]


@dataclass(frozen=True, slots=True)
class CalibratedCounter:
    """Another counter times a fixed factor.

    Attributes:
        base: The counter whose units it takes.
        thousandths: The factor times 1,000.
    """

    base: TokenCounter
    thousandths: int

    @property
    def factor(self) -> float:
        """The factor."""
        return self.thousandths / 1000

    def units(self, text: str) -> int:
        """Return the units of the base counter."""
        return self.base.units(text)

    def tokens(self, units: int) -> int:
        """Return the base counter's tokens times the factor, rounded up."""
        return -(-self.base.tokens(units) * self.thousandths // 1000)

    def __repr__(self) -> str:
        """Show the factor as a number."""
        return f"CalibratedCounter({self.base!r}, factor={self.factor})"


def calibrate(
    samples: Iterable[tuple[str | Sequence[str], int]], base: TokenCounterSpec = "bytes"
) -> CalibratedCounter:
    """Return a counter whose total over ``samples`` is what the provider reported.

    Args:
        samples: What was sent and the input tokens the provider reported for it, cached ones included. What
            was sent is one text or all texts of the request: messages, call arguments, tool definitions.
        base: The counter to correct.

    Raises:
        ConfigError: No samples, an empty one, or a report that is no whole number above 0.
    """
    counter = token_counter(base)
    estimated = reported = 0
    for texts, tokens in samples:
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens <= 0:
            raise ConfigError(f"a sample reports {tokens!r} input tokens; expected a whole number above 0")
        sent = [texts] if isinstance(texts, str) else texts
        estimated += counter.tokens(sum(counter.units(text) for text in sent))
        reported += tokens
    if not estimated:
        raise ConfigError("calibrate needs at least one sample that holds text")
    return CalibratedCounter(counter, max(1, (2000 * reported + estimated) // (2 * estimated)))


def drift(estimated: int, reported: int) -> float:
    """Return how far an estimate is off: reported over estimated tokens, 1.0 when both agree.

    Above 1.0 the estimate is too low: by this factor a new calibration would raise it.
    """
    if estimated > 0:
        return reported / estimated
    return math.inf if reported > 0 else 1.0
