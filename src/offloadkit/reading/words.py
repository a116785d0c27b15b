"""What is said when there is nothing to show: unknown, gone and unreachable results."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from offloadkit.read_call import render_call

__all__ = ["LostCall", "gone", "still_gone", "unavailable", "unknown"]

_MOST_ARGUMENTS: Final = 200


@dataclass(frozen=True, slots=True)
class LostCall:
    """The tool call whose stored result is gone.

    Attributes:
        tool: The tool's name as placeholders show it.
        arguments: Its arguments as JSON text, as the model gave them, or "".
    """

    tool: str
    arguments: str = ""


def unknown(ref: str, tool_name: str, *, known: Collection[str] = ()) -> str:
    """Say that a reference does not open: never stored, mistyped, or another session's; it is not said which.

    Args:
        ref: The reference as it was asked for.
        tool_name: The name of the read tool.
        known: References of this session; one that is nearly the same is named.
    """
    near = difflib.get_close_matches(ref, known, n=1, cutoff=0.85)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"No result {ref} is stored in this session.{meant} {render_call(tool_name, None)} lists what is."


def gone(ref: str, *, call: LostCall | None = None) -> str:
    """Say that a result has expired or was deleted, and which call to repeat where that is known."""
    if call is None:
        return f"The result {ref} has expired or was deleted. If you need it, call its tool again."
    arguments = call.arguments
    if len(arguments) > _MOST_ARGUMENTS:
        arguments = f"{arguments[:_MOST_ARGUMENTS]}…"
    how = f" with {arguments}" if arguments else ""
    said = f"The result {ref} of {call.tool} has expired or was deleted"
    return f"{said}. If you need it, call {call.tool} again{how}."


def still_gone(ref: str) -> str:
    """Say so once more, and finally."""
    return f"{ref} is gone for good; do not ask for it again."


def unavailable(tool_name: str, ref: str | None = None) -> str:
    """Say that the store does not answer, which is no loss."""
    what = f"The result {ref} is" if ref else "Stored results are"
    return f"{what} not lost, but the store does not answer now. Try {tool_name} again later."
