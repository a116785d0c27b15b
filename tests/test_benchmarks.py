"""The scripts in ``benchmarks/`` start; the one for backends prints what it promises, without a server."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
BACKENDS = ROOT / "benchmarks" / "backends.py"
TINY = ("--rounds", "1", "--sizes", "1000", "20000")
CLOSED = "redis://127.0.0.1:1"

PREPARED = """
import runpy, signal, sys
{}
folder = sys.argv.pop(1)
sys.path.insert(0, folder)
runpy.run_path(folder + "/backends.py", run_name="__main__")
"""
WITHOUT_PEER = PREPARED.format("sys.modules['key_value'] = None")
INTERRUPTIBLE = PREPARED.format("signal.signal(signal.SIGINT, signal.default_int_handler)")
"""A process that was started in the background by a shell would ignore the signal."""


def run(*arguments: str | Path) -> str:
    """Run Python and return what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script finds out about memory and files, and about a server that is not there."""
    folder = tmp_path_factory.mktemp("measured")
    only = ("--only", "memory", "--only", "file", "--only", "redis", "--redis", CLOSED)
    found: dict[str, Any] = json.loads(run(BACKENDS, *TINY, *only, "--folder", folder, "--json"))
    return found


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that makes tables of ratios."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("backend_speed.report")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_benchmark_tells_how_it_is_called(script: Path) -> None:
    assert run(script, "--help").startswith(f"usage: {script.name}")


def test_a_file_is_compared_with_a_raw_one_by_every_operation_and_size(measured: dict[str, Any]) -> None:
    compared = {(row["size"], row["operation"]) for row in measured["ratios"] if row["against"] == "raw file"}

    assert compared == {(size, name) for size in (1000, 20000) for name in ("put", "read", "range")}


def test_every_ratio_is_of_two_times(measured: dict[str, Any]) -> None:
    assert all(row["ratio"] > 0 for row in measured["ratios"])


def test_a_range_of_the_largest_object_is_compared_with_one_of_the_smallest(measured: dict[str, Any]) -> None:
    assert {"memory", "file"} == {row["backend"] for row in measured["spreads"] if row["client"] == "ours"}


def test_a_server_that_is_not_there_is_a_row_that_says_so(measured: dict[str, Any]) -> None:
    reasons = [row["reason"] for row in measured["missing"] if row["backend"] == "redis"]

    assert ["127.0.0.1:1" in reason for reason in reasons] == [True]


def test_a_peer_that_is_not_installed_is_a_row_that_says_so() -> None:
    printed = run("-c", WITHOUT_PEER, BACKENDS.parent, *TINY, "--only", "memory")

    assert "| memory | not measured:" in printed


def test_the_tables_are_followed_by_what_they_come_to(tmp_path: Path) -> None:
    printed = run(BACKENDS, *TINY, "--only", "file", "--folder", tmp_path)

    assert "within 1.3 of the raw client: " in printed.splitlines()[-3]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    run(BACKENDS, *TINY, "--only", "file", "--only", "sqlite", "--folder", tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signal to send to a process alone")
def test_nothing_is_left_behind_after_an_interruption(tmp_path: Path) -> None:
    script = [sys.executable, "-c", INTERRUPTIBLE, str(BACKENDS.parent)]
    command = [*script, "--only", "file", "--rounds", "999", "--folder", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob("*/raw/benchmark/run-1/*")):
            assert time.monotonic() < deadline, "the benchmark did not start"
            threading.Event().wait(0.02)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        finally:
            process.kill()

    assert list(tmp_path.iterdir()) == []


def test_only_what_misses_its_aim_is_bold(report: Any) -> None:
    rows = [
        report.Ratio("redis", "redis-py", 1000, operation, ratio)
        for operation, ratio in (("put", 1.3), ("read", 1.31), ("range", 0.5))
    ]

    assert "| redis | redis-py | 1 KB | 1.30 | **1.31** | 0.50 |" in report.markdown(rows, [], [], 1)


def test_a_peer_is_shown_by_how_many_times_as_long_it_takes(report: Any) -> None:
    rows = [
        report.Ratio("redis", "py-key-value", 1000, operation, ratio)
        for operation, ratio in (("put", 0.5), ("read", 1.25), ("range", 0.001))
    ]

    assert "| redis | 1 KB | 2.0 | **0.8** | 1,000 |" in report.markdown(rows, [], [], 1)
