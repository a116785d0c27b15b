"""Probe a live store and report: does it keep the promises of a backend, and how long does it take?

The probe writes below a prefix of its own and deletes what it wrote, whatever fails on the way. It is a
fraction of `BackendContract`, and needs neither pytest nor Hypothesis.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from offloadkit.backend import Backend, Caps, Denied, Unavailable
from offloadkit.errors import OffloadkitError
from offloadkit.testing.probe import PROMISES, Probe, Promise, clean_up
from offloadkit.url import parse_url

__all__ = ["BackendReport", "Check", "check_backend"]


@dataclass(frozen=True, slots=True)
class Check:
    """One promise, looked at.

    Attributes:
        name: The promise in words.
        passed: Whether it was kept.
        detail: What was seen, where it was not kept or could not be looked at; otherwise "".
    """

    name: str
    passed: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.detail}" if self.detail else self.name


@dataclass(frozen=True, slots=True)
class BackendReport:
    """What `check_backend` saw.

    Attributes:
        target: The store: its URL without options and secrets, or the class of the backend.
        caps: What the backend says it can do.
        checks: One entry a promise, in the order in which they were looked at.
        seconds: The median time of each operation, in seconds: ``put`` of 64 KiB, ``read`` of 4 KiB of it,
            ``stat``, ``list``, ``delete``. Empty when the store failed before.
    """

    target: str
    caps: Caps
    checks: tuple[Check, ...]
    seconds: Mapping[str, float]

    @property
    def passed(self) -> bool:
        """True when every promise was kept."""
        return all(check.passed for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Return the report as values that JSON can hold."""
        return {
            "target": self.target,
            "passed": self.passed,
            "caps": dataclasses.asdict(self.caps),
            "checks": [dataclasses.asdict(check) for check in self.checks],
            "seconds": dict(self.seconds),
        }

    def __str__(self) -> str:
        """Return one line a promise and one a time, to be read by people."""
        checks = [f"{'ok' if check.passed else 'FAILED':8}{check}" for check in self.checks]
        times = [f"{seconds * 1000:10.3f} ms  {operation}" for operation, seconds in self.seconds.items()]
        return "\n".join([self.target, *checks, *times])


def check_backend(target: str | Backend) -> BackendReport:
    """Probe a store and report, leaving nothing behind.

    A store that does not answer, or refuses, ends the probe: later promises are not in the report.

    Args:
        target: A config URL, opened and closed here, or a backend, which stays open.

    Raises:
        ConfigError: A URL that cannot be meant.
    """
    if not isinstance(target, str):
        return _report(target, f"{type(target).__module__}.{type(target).__qualname__}")
    from offloadkit.registry import open_backend  # noqa: PLC0415  a backend object needs no registry

    backend = open_backend(target)
    try:
        return _report(backend, str(dataclasses.replace(parse_url(target), options={})))
    finally:
        backend.close()


def _report(backend: Backend, target: str) -> BackendReport:
    probe = Probe(backend)
    checks: list[Check] = []
    try:
        checks.extend(_look_at_all(probe))
    finally:
        checks.append(_look_at("leaves nothing behind", clean_up, probe)[0])
    return BackendReport(target, backend.caps, tuple(checks), probe.seconds)


def _look_at_all(probe: Probe) -> Iterator[Check]:
    for name, promise in PROMISES.items():
        check, goes_on = _look_at(name, promise, probe)
        yield check
        if not goes_on:
            return


def _look_at(name: str, promise: Promise, probe: Probe) -> tuple[Check, bool]:
    """Return the check, and whether the store is in a state to be asked on."""
    try:
        return Check(name, passed=True, detail=promise(probe)), True
    except (Unavailable, Denied) as error:
        return Check(name, passed=False, detail=_words(error)), False
    except Exception as error:  # noqa: BLE001  a backend under test may raise anything
        return Check(name, passed=False, detail=_words(error)), True


def _words(error: Exception) -> str:
    """Say what went wrong; of a foreign error only the type, since its text may hold content or a secret."""
    if isinstance(error, AssertionError):
        return str(error)
    if isinstance(error, OffloadkitError):
        return f"{type(error).__name__}: {error}"
    return f"raised {type(error).__module__}.{type(error).__qualname__}, which is no BackendError"
