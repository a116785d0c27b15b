"""SQLite keeps the contract, in a file and in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sql_stores import SHARED, explore, opened

from offloadkit.backend import Backend
from offloadkit.testing import BackendContract


class TestSQLiteFile(BackendContract):
    require = SHARED
    expiry_tolerance = 0.0

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        return opened(f"sqlite:///{tmp_path}/objects.db")

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Backend]:
        return lambda: opened(f"sqlite:///{tmp_path}/objects.db")


class TestSQLiteMemory(BackendContract):
    require = frozenset({"atomic_create", "ordered", "set_expiry", "sweep", "ping"})
    expiry_tolerance = 0.0

    @pytest.fixture
    def backend(self) -> Backend:
        return opened("sqlite://")


def test_a_database_in_memory_does_what_a_dictionary_does() -> None:
    explore("sqlite://", instances=1, examples=40)


def test_two_instances_on_one_file_do_what_a_dictionary_does(tmp_path: Path) -> None:
    explore(f"sqlite:///{tmp_path}/objects.db?synchronous=normal", instances=2, examples=20)
