"""The contract is worth something: each of its tests fails for a backend that is wrong in that way."""

from __future__ import annotations

from pathlib import Path

import pytest
from testing.inner import Outcome, outcomes_of
from testing.mutants import MUTANTS, Mutant

from offloadkit.testing import BackendContract

pytestmark = pytest.mark.slow

SUITE = Path(__file__).with_name("mutant_suite.py")
CONTRACT_TESTS = sorted(name for name in dir(BackendContract) if name.startswith("test_"))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[Outcome]]:
    return outcomes_of(SUITE, tmp_path_factory.mktemp("mutants") / "inner")


@pytest.mark.parametrize(
    ("mutant", "test"),
    [
        pytest.param(mutant, test, id=f"{mutant.__name__}-{test}")
        for mutant in MUTANTS
        for test in mutant.caught_by
    ],
)
def test_a_wrong_backend_is_caught(
    outcomes: dict[tuple[str, str], list[Outcome]], mutant: type[Mutant], test: str
) -> None:
    found = outcomes[f"Test{mutant.__name__}", test]
    assert "failed" in {each.outcome for each in found}


@pytest.mark.parametrize("test", CONTRACT_TESTS)
def test_every_test_of_the_contract_catches_a_wrong_backend(test: str) -> None:
    assert [mutant for mutant in MUTANTS if test in mutant.caught_by]


@pytest.mark.parametrize("mutant", ["NamesItsServerInFull", "PicklesItsPassword", "ShowsItsPasswordOnceUsed"])
def test_a_failure_does_not_print_the_secret_it_found(
    outcomes: dict[tuple[str, str], list[Outcome]], mutant: str
) -> None:
    reasons = [
        each.reason for (name, _), found in outcomes.items() if name == f"Test{mutant}" for each in found
    ]
    assert reasons
    assert not [reason for reason in reasons if Mutant.password in reason]
