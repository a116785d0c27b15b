"""The contract lets a correct backend pass, tests what is declared, and says what it skips."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from testing.inner import Outcome, outcomes_of
from testing.reference import ReferenceBackend

from offloadkit.backend import Backend
from offloadkit.testing import BackendContract, backend_machine

MODEST = Path(__file__).with_name("modest_suite.py")
NOT_DECLARED = {
    "test_another_instance_sees_what_is_created": "caps.shared is False",
    "test_objects_outlive_the_instance": "caps.persistent is False",
    "test_one_of_many_threads_creates_a_key": "caps.atomic_create is False",
    "test_the_order_is_that_of_the_keys": "caps.ordered is False",
    "test_more_bytes_than_declared_are_too_large": "caps.max_object_bytes is None",
    "test_what_a_forked_child_stores_is_seen_here": "caps.fork is 'refused'",
    "test_an_expiry_can_be_taken_away": "the backend has no method 'set_expiry'",
    "test_a_sweep_removes_what_has_expired": "the backend has no method 'sweep'",
    "test_the_local_path_leads_to_the_data": "the backend has no method 'local_path'",
    "test_a_store_that_answers_can_be_pinged": "the backend has no method 'ping'",
    "test_its_texts_hold_no_secret": "TestModest.secrets names none",
}


class TestReferenceBackend(BackendContract):
    require = frozenset(
        {
            *("atomic_create", "fork", "local_path", "max_object_bytes", "ordered", "persistent", "ping"),
            *("secrets", "set_expiry", "shared", "sweep"),
        }
    )
    secrets = (ReferenceBackend.password,)

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        return ReferenceBackend(tmp_path)

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Backend]:
        return lambda: ReferenceBackend(tmp_path)

    @pytest.fixture(autouse=True)
    def nothing_is_left_behind(self, tmp_path: Path) -> Iterator[None]:
        yield
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def modest(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[Outcome]]:
    return outcomes_of(MODEST, tmp_path_factory.mktemp("modest") / "inner")


def test_a_backend_that_declares_nothing_passes(modest: dict[tuple[str, str], list[Outcome]]) -> None:
    found = {key: outcomes for key, outcomes in modest.items() if key[0] == "TestModest"}
    assert len(found) > 80
    assert {
        key: each for key, outcomes in found.items() for each in outcomes if each.outcome == "failed"
    } == {}


@pytest.mark.parametrize("test", NOT_DECLARED)
def test_what_is_not_declared_is_skipped_with_the_reason(
    modest: dict[tuple[str, str], list[Outcome]], test: str
) -> None:
    assert {each.outcome for each in modest["TestModest", test]} == {"skipped"}
    assert NOT_DECLARED[test] in modest["TestModest", test][0].reason


@pytest.mark.parametrize(
    "test", ["test_another_instance_sees_what_is_created", "test_a_sweep_removes_what_has_expired"]
)
def test_what_is_required_fails_when_it_is_not_declared(
    modest: dict[tuple[str, str], list[Outcome]], test: str
) -> None:
    outcome = modest["TestModestThatMustShareAndSweep", test][0]
    assert outcome.outcome == "failed"
    assert "is in TestModestThatMustShareAndSweep.require" in outcome.reason


def test_a_shared_store_needs_reopen(modest: dict[tuple[str, str], list[Outcome]]) -> None:
    outcome = modest["TestSharedWithoutReopen", "test_another_instance_sees_what_is_created"][0]
    assert outcome.outcome == "failed"
    assert "write the fixture `reopen`" in outcome.reason


@pytest.mark.parametrize("module", ["contract.objects", "contract.listing", "contract.sharing", "machine"])
def test_failed_asserts_show_their_values(module: str) -> None:
    assert callable(backend_machine)  # named, so that it is imported in the way authors do
    loader = importlib.import_module(f"offloadkit.testing.{module}").__loader__
    assert type(loader).__name__ == "AssertionRewritingHook"


def test_a_requirement_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match=r"require names \['persistant'\]; known are \['atomic_create'"):
        type("TestTypo", (BackendContract,), {"require": frozenset({"persistant"})})
