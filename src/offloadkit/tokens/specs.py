"""From what a policy names to a counter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from offloadkit.errors import ConfigError
from offloadkit.tokens.counter import CallableCounter, TokenCounter
from offloadkit.tokens.estimates import ByteCounter, TextCounter

__all__ = ["TokenCounterSpec", "token_counter"]

TokenCounterSpec = str | Callable[[str], int] | TokenCounter

_ESTIMATES: Final[dict[str, TokenCounter]] = {
    "bytes": ByteCounter(7, 2),
    "bytes/4": ByteCounter(4, 1),
    "text": TextCounter(),
}
_TIKTOKEN: Final = "tiktoken:"


def token_counter(spec: TokenCounterSpec) -> TokenCounter:
    """Return the counter that ``spec`` names.

    Args:
        spec: "bytes" (UTF-8 bytes / 3.5), "bytes/4", "text" (weighs kinds of characters), "tiktoken:NAME"
            (any encoding of tiktoken, such as "tiktoken:o200k_base"), a callable that takes a text and
            returns its tokens, or a counter, which is returned as it is.

    Raises:
        ConfigError: Nothing that counts, or an encoding that is not on this machine.
        MissingDependency: ``tiktoken`` is not installed.
    """
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, type):
        raise ConfigError(_expectation(spec))
    if isinstance(spec, TokenCounter):
        return spec
    if callable(spec):
        return CallableCounter(spec)
    raise ConfigError(_expectation(spec))


def _named(name: str) -> TokenCounter:
    if name in _ESTIMATES:
        return _ESTIMATES[name]
    if name.startswith(_TIKTOKEN):
        from offloadkit.tokens.tokenizer import tiktoken_counter  # noqa: PLC0415  loads tiktoken

        return tiktoken_counter(name.removeprefix(_TIKTOKEN))
    raise ConfigError(_expectation(name))


def _expectation(spec: Any) -> str:
    names = ", ".join(f"{name!r}" for name in _ESTIMATES)
    return (
        f"token_counter takes {names}, 'tiktoken:NAME' (such as 'tiktoken:o200k_base'), a callable that "
        f"takes a text and returns its tokens, or a TokenCounter, not {spec!r}"
    )
