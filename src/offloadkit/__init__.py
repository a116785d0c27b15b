"""Large and old tool results leave an agent's context, and stay within its reach.

    from offloadkit import Offloader, Policy

    with Offloader("file:///var/lib/agent", session="run-42", policy=Policy.frugal()) as offloader:
        shown = offloader.offload(result, tool="search_code")   # the same object, or a preview and a reference
        messages = offloader.reduce(messages)                   # before each model call
        answer = offloader.read_tool.call(arguments)            # what the agent's read tool answers
"""

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
