"""Large and old tool results leave an agent's context, and stay within its reach.

    from offloadkit import Offloader, Policy

    with Offloader("file:///var/lib/agent", session="run-42", policy=Policy.frugal()) as offloader:
        shown = offloader.offload(result, tool="search_code")   # the same object, or a preview and reference
        messages = offloader.reduce(messages)                   # before each model call
        answer = offloader.read_tool.call(arguments)            # what the agent's read tool answers

Names are loaded when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offloadkit.backend import Backend
    from offloadkit.errors import BackendError, ConfigError, FormatError, OffloadkitError
    from offloadkit.offloader import Offloader
    from offloadkit.policy import Policy, ToolRule
    from offloadkit.registry import available_backends, open_backend

__all__ = [
    "Backend",
    "BackendError",
    "ConfigError",
    "FormatError",
    "Offloader",
    "OffloadkitError",
    "Policy",
    "ToolRule",
    "available_backends",
    "open_backend",
]

_HOMES = {
    "Backend": "backend",
    "BackendError": "errors",
    "ConfigError": "errors",
    "FormatError": "errors",
    "Offloader": "offloader",
    "OffloadkitError": "errors",
    "Policy": "policy",
    "ToolRule": "policy",
    "available_backends": "registry",
    "open_backend": "registry",
}


def __getattr__(name: str) -> Any:
    """Load a public name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"offloadkit.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return every public name, loaded or not."""
    return sorted({*globals(), *__all__})
