"""PostgreSQL and MariaDB keep the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sql_stores import SHARED, explore, mariadb_table, opened, postgresql_table

from offloadkit.backend import Backend
from offloadkit.testing import BackendContract

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    with postgresql_table() as url:
        yield url


class TestPostgreSQL(BackendContract):
    require = SHARED
    expiry_tolerance = 0.0

    @pytest.fixture
    def backend(self, postgresql: str) -> Backend:
        return opened(postgresql)

    @pytest.fixture
    def reopen(self, postgresql: str) -> Callable[[], Backend]:
        return lambda: opened(postgresql)


@pytest.fixture(scope="module")
def mariadb() -> Iterator[str]:
    with mariadb_table() as url:
        yield url


class TestMariaDB(BackendContract):
    require = SHARED
    expiry_tolerance = 0.0

    @pytest.fixture
    def backend(self, mariadb: str) -> Backend:
        return opened(mariadb)

    @pytest.fixture
    def reopen(self, mariadb: str) -> Callable[[], Backend]:
        return lambda: opened(mariadb)


def test_two_instances_on_postgresql_do_what_a_dictionary_does(postgresql: str) -> None:
    explore(postgresql, instances=2, examples=15)


def test_two_instances_on_mariadb_do_what_a_dictionary_does(mariadb: str) -> None:
    explore(mariadb, instances=2, examples=15)
