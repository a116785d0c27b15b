"""The needle benchmark keeps its promise: always found, at most two calls, within 1.2 pages."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def needle() -> ModuleType:
    spec = importlib.util.spec_from_file_location("needle", ROOT / "benchmarks" / "needle.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["needle"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_a_record_is_found_wherever_it_stands_in_two_calls_and_a_page(needle: ModuleType) -> None:
    rows = needle.measure("offloadkit")

    assert len(rows) == 8
    assert needle.passed(rows), needle.table(rows, [])


def test_a_miss_fails_the_benchmark(needle: ModuleType) -> None:
    row = needle.Row("offloadkit", "log", 4, 5, 1.0, 1, 100, 100)

    assert not needle.passed([row])
