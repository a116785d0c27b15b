"""Contracts of authors who declare little or forget something. Run by test_backend_contract.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from testing.modest import ModestBackend

from offloadkit.backend import Backend
from offloadkit.testing import BackendContract


class SharedModestBackend(ModestBackend):
    caps = replace(ModestBackend.caps, shared=True)


class TestModest(BackendContract):
    @pytest.fixture
    def backend(self) -> Backend:
        return ModestBackend()


class TestModestThatMustShareAndSweep(TestModest):
    require = frozenset({"shared", "sweep"})


class TestSharedWithoutReopen(BackendContract):
    @pytest.fixture
    def backend(self) -> Backend:
        return SharedModestBackend()
