"""The state machine lets a correct backend pass and finds the wrong ones, alone and in pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from testing.modest import ModestBackend
from testing.mutants import (
    wrong_creation,
    wrong_deletion,
    wrong_expiry,
    wrong_listing,
    wrong_objects,
    wrong_ranges,
    wrong_sharing,
)
from testing.reference import ReferenceBackend

from offloadkit.backend import BackendError
from offloadkit.testing import backend_machine

QUICK = settings(max_examples=25, stateful_step_count=30, deadline=None, database=None)
FIRST_FAULT = settings(
    QUICK,
    max_examples=400,
    stateful_step_count=40,
    phases=[Phase.generate],
    derandomize=True,
    print_blob=False,
)


def test_a_correct_backend_passes(tmp_path: Path) -> None:
    run_state_machine_as_test(backend_machine(lambda: ReferenceBackend(tmp_path)), settings=QUICK)


def test_a_backend_without_optional_methods_passes() -> None:
    run_state_machine_as_test(backend_machine(ModestBackend), settings=QUICK)


def test_two_instances_on_one_location_pass(tmp_path: Path) -> None:
    machine = backend_machine(lambda: ReferenceBackend(tmp_path), instances=2)
    run_state_machine_as_test(machine, settings=QUICK)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    machine = backend_machine(lambda: ReferenceBackend(tmp_path))
    run_state_machine_as_test(machine, settings=settings(QUICK, max_examples=5))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "mutant",
    [
        wrong_creation.Overwrites,
        wrong_creation.TakesEmptyForFree,
        wrong_deletion.DeletesAFolder,
        wrong_deletion.StopsAtTheFirstMissing,
        wrong_expiry.LosesTheExpiry,
        wrong_expiry.KeepsWholeSeconds,
        wrong_listing.DropsTheFirstOfEachPage,
        wrong_listing.IgnoresTheLimit,
        wrong_listing.MatchesAsSqlDoes,
        wrong_objects.HasFilesOrFolders,
        wrong_objects.LosesMetadata,
        wrong_ranges.IncludesTheEnd,
        wrong_ranges.ReturnsAllForNoLength,
    ],
)
def test_a_wrong_backend_is_found(tmp_path: Path, mutant: Callable[[Path], ReferenceBackend]) -> None:
    with pytest.raises((AssertionError, BackendError)):
        run_state_machine_as_test(backend_machine(lambda: mutant(tmp_path)), settings=FIRST_FAULT)


@pytest.mark.parametrize(
    "mutant",
    [
        wrong_sharing.RemembersListings,
        wrong_sharing.RemembersWhatIsMissing,
        wrong_sharing.RemembersWhatIsThere,
    ],
)
def test_instances_that_do_not_see_each_other_are_found(
    tmp_path: Path, mutant: Callable[[Path], ReferenceBackend]
) -> None:
    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            backend_machine(lambda: mutant(tmp_path), instances=2), settings=FIRST_FAULT
        )
