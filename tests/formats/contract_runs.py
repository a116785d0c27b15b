"""Runs the contract for formats on any history, without fixtures."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from offloadkit.formats import Format
from offloadkit.testing.formats import FormatContract, with_text

INPUTS = {"format", "history", "cleared"}


def contract_tests() -> list[str]:
    """Return the names of those tests of the contract that look at a history."""
    members = inspect.getmembers(FormatContract, inspect.isfunction)
    return [name for name, test in members if name.startswith("test_") and _wanted(test) <= INPUTS]


def run_contract(name: str, message_format: Format, history: list[Any]) -> None:
    """Run one test of the contract on a history."""
    test = getattr(FormatContract(), name)
    inputs: dict[str, Any] = {"format": message_format, "history": history}
    if "cleared" in _wanted(test):
        inputs["cleared"] = with_text(message_format, history)
    test(**{name: inputs[name] for name in _wanted(test)})


def _wanted(test: Callable[..., None]) -> set[str]:
    return set(inspect.signature(test).parameters) - {"self"}
