"""How tokens are counted.

A counter measures a text in *units* that may be added up, and turns a sum of units into tokens. For the
estimates the unit is one UTF-8 byte or a fraction of a token, so that the texts of a message are added first
and rounded once; for a tokenizer the unit is one token.

Counting is a pure function of the text: the same text counts the same in every process, and nothing here
asks the network.
"""

from __future__ import annotations

from offloadkit.tokens.calibration import CalibratedCounter, calibrate, drift
from offloadkit.tokens.counter import CallableCounter, TokenCounter, units_for
from offloadkit.tokens.definitions import tool_definition_tokens
from offloadkit.tokens.estimates import ByteCounter, TextCounter
from offloadkit.tokens.media import media_tokens, media_units
from offloadkit.tokens.specs import TokenCounterSpec, token_counter

__all__ = [
    "ByteCounter",
    "CalibratedCounter",
    "CallableCounter",
    "TextCounter",
    "TokenCounter",
    "TokenCounterSpec",
    "calibrate",
    "drift",
    "media_tokens",
    "media_units",
    "token_counter",
    "tool_definition_tokens",
    "units_for",
]
