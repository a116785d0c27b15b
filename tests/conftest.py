"""Where the tests find material that is not part of the project."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
CASES = Path(os.environ.get("OFFLOADKIT_CASES", ROOT.parent / "shared" / "cases"))
DATA = Path(os.environ.get("OFFLOADKIT_DATA", ROOT.parent / "shared" / "data"))

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


def case_file(name: str) -> Path:
    """Return a file of the collection of cases; without it the test is skipped, or fails in CI."""
    path = CASES / name
    if not path.exists():
        missing(f"no {name}: set OFFLOADKIT_CASES to the folder that holds it")
    return path


def missing(reason: str) -> NoReturn:
    """Skip the test for want of something, with the reason; in CI nothing may be wanting."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def cases() -> dict[str, dict[str, Any]]:
    """Small inputs that broke other systems, by id, their contents expanded."""
    path = case_file("cases.jsonl")
    spec = importlib.util.spec_from_file_location("expand", CASES / "expand.py")
    if spec is None or spec.loader is None:
        pytest.skip("the collection of cases has no expand.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {case["id"]: case for case in module.load(path)}


@pytest.fixture(scope="session")
def reference_vectors() -> dict[str, list[dict[str, Any]]]:
    """Decisions recorded from the reference design."""
    loaded: dict[str, list[dict[str, Any]]] = json.loads(
        case_file("reference_vectors.json").read_text("utf-8")
    )
    return loaded


def transcript_paths(pattern: str = "transcripts/*.json*") -> list[Path]:
    """Return the real transcripts, or none where they are not there."""
    return sorted(DATA.glob(pattern))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give ``transcript_path`` every real transcript, or one skipped test that says what is missing."""
    if "transcript_path" in metafunc.fixturenames:
        metafunc.parametrize("transcript_path", _paths_or_skip(), ids=lambda path: path.name)


def _paths_or_skip() -> list[Any]:
    return list(transcript_paths()) or missing_parameters(
        "no transcripts: set OFFLOADKIT_DATA to the folder that holds MANIFEST.jsonl"
    )


def missing_parameters(reason: str) -> list[Any]:
    """Return the parameters of a test that wants what is not there: one skip; in CI that is an error."""
    if os.environ.get("CI"):
        raise pytest.UsageError(reason)
    return [pytest.param(DATA, marks=pytest.mark.skip(reason=reason))]
