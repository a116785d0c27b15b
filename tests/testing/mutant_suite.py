"""The mutants, each under the tests that have to catch it. Run by test_mutants.py, which expects failures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from testing.mutants import MUTANTS, Mutant

from offloadkit.backend import Backend
from offloadkit.testing import BackendContract


class MutantContract(BackendContract):
    mutant: ClassVar[type[Mutant]]
    secrets = (Mutant.password,)
    fork_seconds = 0.5

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        return self.mutant(tmp_path)

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Backend]:
        return lambda: self.mutant(tmp_path)


def _contract_for(mutant: type[Mutant]) -> type[MutantContract]:
    """Return the contract with those tests alone that have to catch the mutant; pytest collects no None."""
    tests = [name for name in dir(BackendContract) if name.startswith("test_")]
    left_out = {name: None for name in tests if name not in mutant.caught_by}
    return type(f"Test{mutant.__name__}", (MutantContract,), {**left_out, "mutant": mutant})


globals().update({f"Test{mutant.__name__}": _contract_for(mutant) for mutant in MUTANTS})
