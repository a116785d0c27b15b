"""Run contracts inside a test, and learn how each of their tests went."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

_QUIET = ("-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:xdist", "-o", "addopts=")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a test went: "passed", "skipped" or "failed", and why."""

    outcome: str
    reason: str


class _Recorder:
    """A pytest plug-in that keeps the outcomes of tests, by class and name without parameters."""

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, str], list[Outcome]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or (report.when == "setup" and not report.passed):
            _, class_name, test = report.nodeid.split("::")
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            self.outcomes[class_name, test.partition("[")[0]].append(Outcome(report.outcome, reason))


def outcomes_of(suite: Path, folder: Path) -> dict[tuple[str, str], list[Outcome]]:
    """Run the test classes of a file; return the outcomes by class and test.

    Args:
        suite: The file.
        folder: Where its tests may put files.
    """
    recorder = _Recorder()
    pytest.main([str(suite), *_QUIET, f"--basetemp={folder}"], plugins=[recorder])
    return dict(recorder.outcomes)
