"""What plug-in authors and applications test with: conformance suites, and backends that fail on command.

    BackendContract   a pytest class: every promise in `offloadkit.backend`, driven by ``caps``
    backend_machine   a Hypothesis state machine: a backend beside a dictionary
    FormatContract    a pytest class: every promise in `offloadkit.formats`
    FlakyBackend      a backend that fails, waits or cuts short where a test tells it to
    check_backend     probes a live store and reports; needs neither pytest nor Hypothesis

Names are loaded when they are first used, so that `check_backend` works without ``offloadkit[testing]``.
There is no pytest plug-in: nothing happens in test runs that do not import this package.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offloadkit.testing.check import BackendReport, Check, check_backend
    from offloadkit.testing.contract import BackendContract
    from offloadkit.testing.flaky import Call, FlakyBackend
    from offloadkit.testing.formats import FormatContract
    from offloadkit.testing.machine import backend_machine

__all__ = [
    "BackendContract",
    "BackendReport",
    "Call",
    "Check",
    "FlakyBackend",
    "FormatContract",
    "backend_machine",
    "check_backend",
]

_HOMES = {
    "BackendContract": "offloadkit.testing.contract",
    "BackendReport": "offloadkit.testing.check",
    "Call": "offloadkit.testing.flaky",
    "Check": "offloadkit.testing.check",
    "FlakyBackend": "offloadkit.testing.flaky",
    "FormatContract": "offloadkit.testing.formats",
    "backend_machine": "offloadkit.testing.machine",
    "check_backend": "offloadkit.testing.check",
}
_ASSERTING = frozenset({"BackendContract", "FormatContract", "backend_machine"})


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if name in _ASSERTING:
        _explain_failed_asserts(home)
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _explain_failed_asserts(module: str) -> None:
    """Have pytest show the values in failed asserts; it does so only when told before the import."""
    if "pytest" in sys.modules and module not in sys.modules:
        sys.modules["pytest"].register_assert_rewrite(module)
