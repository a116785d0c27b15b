"""A live store is probed without pytest, told about in full, and left as it was."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from testing.modest import ModestBackend
from testing.mutants import (
    Mutant,
    wrong_creation,
    wrong_deletion,
    wrong_expiry,
    wrong_listing,
    wrong_objects,
    wrong_ranges,
)
from testing.reference import ReferenceBackend

from offloadkit.backend import Backend, BackendError, Denied, Unavailable
from offloadkit.errors import ConfigError
from offloadkit.testing import BackendReport, FlakyBackend, check_backend

CAUGHT: dict[Callable[[Path], Mutant], str] = {
    wrong_objects.StoresOneChunk: "gives back data and metadata",
    wrong_objects.LosesMetadata: "gives back data and metadata",
    wrong_objects.ReadsMissingAsEmpty: "says what is missing",
    wrong_ranges.IncludesTheEnd: "reads ranges",
    wrong_ranges.ReturnsAllForNoLength: "reads ranges",
    wrong_ranges.CountsNegativesFromTheEnd: "reads ranges",
    wrong_ranges.FindsNothingInNothing: "says what is missing",
    wrong_creation.Overwrites: "creates a key once",
    wrong_creation.OverwritesMetadataThenRefuses: "creates a key once",
    wrong_creation.LooksAndThenCreates: "has one winner in a race",
    wrong_listing.DropsTheFirstOfEachPage: "lists by prefix, page by page",
    wrong_listing.IgnoresTheLimit: "lists by prefix, page by page",
    wrong_listing.MatchesAsSqlDoes: "lists by prefix, page by page",
    wrong_listing.RepeatsTheFirstPage: "lists by prefix, page by page",
    wrong_expiry.LosesTheExpiry: "keeps the expiry",
    wrong_expiry.KeepsWholeSeconds: "keeps the expiry",
    wrong_expiry.NeverForgetsAnExpiry: "keeps the expiry",
    wrong_deletion.DeletesNothing: "deletes what it is told to",
    wrong_deletion.DeletesAFolder: "deletes what it is told to",
}
OPERATIONS = {"put", "read", "stat", "list", "delete"}


class Leaky(ReferenceBackend):
    """Raises a driver's error that quotes what must not be told."""

    def put(self, key: str, data: bytes, *, meta: bytes = b"", expires_at: float | None = None) -> None:
        raise RuntimeError(f"store:{self.password}@host does not take {data!r}")


class DeletesOnlyNothing(ReferenceBackend):
    def delete(self, keys: Iterable[str]) -> None:
        raise BackendError("deleting is broken")


def failed(report: BackendReport) -> dict[str, str]:
    return {check.name: check.detail for check in report.checks if not check.passed}


def test_a_correct_backend_passes(tmp_path: Path) -> None:
    report = check_backend(ReferenceBackend(tmp_path))
    assert failed(report) == {}
    assert report.passed


def test_a_backend_that_declares_nothing_passes_with_remarks() -> None:
    report = check_backend(ModestBackend())
    assert report.passed
    assert {check.detail for check in report.checks} == {
        "",
        "caps.atomic_create is False: several creators of one key may succeed",
        "the backend has no ping",
        "the backend has no set_expiry",
    }


@pytest.mark.parametrize("mutant", CAUGHT)
def test_a_wrong_backend_is_caught(tmp_path: Path, mutant: Callable[[Path], Mutant]) -> None:
    report = check_backend(mutant(tmp_path))
    assert CAUGHT[mutant] in failed(report)
    assert not report.passed


def test_every_operation_is_timed(tmp_path: Path) -> None:
    report = check_backend(ReferenceBackend(tmp_path))
    assert set(report.seconds) == OPERATIONS
    assert all(0 < seconds < 10 for seconds in report.seconds.values())


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    check_backend(ReferenceBackend(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", ["read", "stat", "list"])
def test_nothing_is_left_behind_when_a_check_fails(tmp_path: Path, method: str) -> None:
    flaky = FlakyBackend(ReferenceBackend(tmp_path))
    flaky.fail(method, error=BackendError("broken"))
    assert not check_backend(flaky).passed
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_behind_when_it_is_interrupted(tmp_path: Path) -> None:
    flaky = FlakyBackend(ReferenceBackend(tmp_path))

    def interrupt() -> None:
        raise KeyboardInterrupt

    flaky.delay("read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        check_backend(flaky)
    assert list(tmp_path.iterdir()) == []


def test_other_objects_are_left_alone(tmp_path: Path) -> None:
    backend = ReferenceBackend(tmp_path)
    backend.put("contract/theirs", b"data")
    check_backend(backend)
    assert [item.key for item in backend.list().items] == ["contract/theirs"]


def test_what_could_not_be_deleted_is_named(tmp_path: Path) -> None:
    detail = failed(check_backend(DeletesOnlyNothing(tmp_path)))["leaves nothing behind"]
    assert detail == "BackendError: deleting is broken"


@pytest.mark.parametrize("error", [Unavailable("timed out"), Denied("wrong password")])
def test_a_store_that_does_not_answer_ends_the_probe(tmp_path: Path, error: BackendError) -> None:
    flaky = FlakyBackend(ReferenceBackend(tmp_path))
    flaky.fail("ping", error=error)
    report = check_backend(flaky)
    assert failed(report) == {"answers a ping": f"{type(error).__name__}: {error}"}
    assert [check.name for check in report.checks] == ["answers a ping", "leaves nothing behind"]
    assert flaky.calls["put"] == 0


def test_a_foreign_error_is_told_by_its_type_alone(tmp_path: Path) -> None:
    report = check_backend(Leaky(tmp_path))
    details = set(failed(report).values())
    assert "raised builtins.RuntimeError, which is no BackendError" in details
    assert ReferenceBackend.password not in str(report)


def test_the_report_is_json(tmp_path: Path) -> None:
    loaded: dict[str, Any] = json.loads(json.dumps(check_backend(ReferenceBackend(tmp_path)).to_json()))
    assert loaded["passed"] is True
    assert loaded["caps"]["persistent"] is True
    assert loaded["checks"][0] == {"name": "answers a ping", "passed": True, "detail": ""}
    assert set(loaded["seconds"]) == OPERATIONS
    assert loaded["target"] == "testing.reference.ReferenceBackend"


def test_the_report_is_read_by_people(tmp_path: Path) -> None:
    text = str(check_backend(wrong_listing.IgnoresTheLimit(tmp_path)))
    assert "ok      reads ranges\n" in text
    assert "FAILED  lists by prefix, page by page: a page holds 6 items, its limit is 1\n" in text
    assert "ms  put\n" in text


def test_a_backend_object_stays_open(tmp_path: Path) -> None:
    flaky = FlakyBackend(ReferenceBackend(tmp_path))
    check_backend(flaky)
    assert flaky.calls["close"] == 0


class TestByURL:
    @pytest.fixture
    def opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FlakyBackend:
        flaky = FlakyBackend(ReferenceBackend(tmp_path))

        def open_backend(url: str) -> Backend:
            if url.startswith("nowhere:"):
                raise ConfigError("unknown scheme")
            return flaky

        monkeypatch.setattr("offloadkit.registry.open_backend", open_backend)
        return flaky

    def test_a_url_is_opened_and_closed(self, opened: FlakyBackend) -> None:
        assert check_backend("shelf:///here").passed
        assert opened.calls["close"] == 1

    def test_a_url_is_shown_without_its_secrets(self, opened: FlakyBackend) -> None:
        report = check_backend("shelf://me:hush@host/here?unlock=hush&size=5")
        assert report.target == "shelf://me:***@host/here"

    def test_a_url_that_cannot_be_meant_is_an_error(self, opened: FlakyBackend) -> None:
        with pytest.raises(ConfigError):
            check_backend("nowhere://")


def test_neither_pytest_nor_hypothesis_is_needed() -> None:
    code = """
import sys
sys.modules["pytest"] = sys.modules["_pytest"] = sys.modules["hypothesis"] = None
from offloadkit.testing import FlakyBackend, check_backend
from testing.modest import ModestBackend
assert check_backend(FlakyBackend(ModestBackend())).passed
"""
    tests = str(Path(__file__).parent.parent)
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.append({tests!r})\n{code}"], check=True)


def test_an_optimised_interpreter_checks_as_strictly(tmp_path: Path) -> None:
    code = """
import sys, pathlib
from offloadkit.testing import check_backend
from testing.mutants.wrong_listing import IgnoresTheLimit
sys.exit(0 if not check_backend(IgnoresTheLimit(pathlib.Path(sys.argv[1]))).passed else 3)
"""
    tests = str(Path(__file__).parent.parent)
    command = [sys.executable, "-O", "-c", f"import sys; sys.path.append({tests!r})\n{code}", str(tmp_path)]
    subprocess.run(command, check=True)
