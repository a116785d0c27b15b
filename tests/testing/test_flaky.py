"""A flaky backend does what it is told, at the call it is told, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from testing.modest import ModestBackend
from testing.reference import ReferenceBackend

from offloadkit.backend import (
    Backend,
    NotFound,
    StorageFull,
    SupportsLocalPath,
    SupportsPing,
    SupportsSetExpiry,
    SupportsSweep,
    Unavailable,
)
from offloadkit.testing import BackendContract, Call, FlakyBackend


class TestFlakyBackendWithoutFaults(BackendContract):
    require = frozenset({"fork", "local_path", "persistent", "ping", "set_expiry", "shared", "sweep"})
    secrets = (ReferenceBackend.password,)

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        return FlakyBackend(ReferenceBackend(tmp_path))

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Backend]:
        return lambda: FlakyBackend(ReferenceBackend(tmp_path))


@pytest.fixture
def store() -> ModestBackend:
    return ModestBackend()


@pytest.fixture
def flaky(store: ModestBackend) -> FlakyBackend:
    return FlakyBackend(store)


def test_it_fails_every_call_of_the_method(flaky: FlakyBackend) -> None:
    flaky.fail("put")
    for key in ("a", "b"):
        with pytest.raises(Unavailable, match="injected by FlakyBackend"):
            flaky.put(key, b"data")


def test_other_methods_go_on(flaky: FlakyBackend) -> None:
    flaky.fail("read")
    flaky.put("a", b"data")
    assert flaky.stat("a").size == 4


def test_a_failure_before_the_effect_stores_nothing(flaky: FlakyBackend, store: ModestBackend) -> None:
    flaky.fail("put")
    with pytest.raises(Unavailable):
        flaky.put("a", b"data")
    with pytest.raises(NotFound):
        store.read("a")


def test_a_failure_after_the_effect_leaves_the_object(flaky: FlakyBackend, store: ModestBackend) -> None:
    flaky.fail("put", after=True)
    with pytest.raises(Unavailable):
        flaky.put("a", b"data")
    assert store.read("a") == b"data"


def test_it_fails_the_call_with_the_number(flaky: FlakyBackend) -> None:
    flaky.fail("put", call=2)
    flaky.put("a", b"data")
    with pytest.raises(Unavailable):
        flaky.put("b", b"data")
    flaky.put("c", b"data")
    assert [item.key for item in flaky.list().items] == ["a", "c"]


def test_it_fails_several_numbers(flaky: FlakyBackend) -> None:
    flaky.fail("stat", call=range(1, 3))
    flaky.put("a", b"data")
    for _ in range(2):
        with pytest.raises(Unavailable):
            flaky.stat("a")
    assert flaky.stat("a").size == 4


def test_it_fails_the_calls_that_a_predicate_chooses(flaky: FlakyBackend) -> None:
    flaky.fail("put", when=lambda call: "b" in call.keys)
    flaky.put("a", b"data")
    with pytest.raises(Unavailable):
        flaky.put("b", b"data")


def test_a_number_and_a_predicate_have_to_agree(flaky: FlakyBackend) -> None:
    flaky.fail("put", call=1, when=lambda call: call.keys == ("b",))
    flaky.put("a", b"data")
    flaky.put("b", b"data")
    assert len(flaky.list().items) == 2


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda backend: backend.put("a", b""), Call("put", 1, ("a",))),
        (lambda backend: backend.read("a", 1, 2), Call("read", 1, ("a",))),
        (lambda backend: backend.stat("a"), Call("stat", 1, ("a",))),
        (lambda backend: backend.list("a/"), Call("list", 1, ("a/",))),
        (lambda backend: backend.delete(key for key in ("a", "b")), Call("delete", 1, ("a", "b"))),
        (lambda backend: backend.close(), Call("close", 1, ())),
        (lambda backend: backend.set_expiry("a", None), Call("set_expiry", 1, ("a",))),
        (lambda backend: backend.sweep(0.0, limit=5), Call("sweep", 1, ())),
        (lambda backend: backend.local_path("a"), Call("local_path", 1, ("a",))),
        (lambda backend: backend.ping(), Call("ping", 1, ())),
    ],
)
def test_a_predicate_sees_the_call(
    tmp_path: Path, use: Callable[[FlakyBackend], object], expected: Call
) -> None:
    flaky, seen = FlakyBackend(ReferenceBackend(tmp_path)), list[Call]()

    def strikes(call: Call) -> bool:
        seen.append(call)
        return True

    flaky.fail(expected.method, when=strikes)
    with pytest.raises(Unavailable):
        use(flaky)
    assert seen == [expected]


def test_it_raises_the_error_it_is_given(flaky: FlakyBackend) -> None:
    error = StorageFull("no space left")
    flaky.fail("put", error=error)
    for _ in range(2):
        with pytest.raises(StorageFull) as caught:
            flaky.put("a", b"data")
        assert caught.value is error


def test_a_delayed_call_waits_before_its_effect(flaky: FlakyBackend, store: ModestBackend) -> None:
    reached, gate = threading.Event(), threading.Event()
    flaky.delay("put", reached.set)
    flaky.delay("put", lambda: gate.wait(10))
    thread = threading.Thread(target=flaky.put, args=("a", b"data"))
    thread.start()
    assert reached.wait(10)
    assert store.list().items == ()
    gate.set()
    thread.join(10)
    assert store.read("a") == b"data"


def test_a_late_answer_waits_after_its_effect(flaky: FlakyBackend, store: ModestBackend) -> None:
    seen: list[bytes] = []
    flaky.delay("put", lambda: seen.append(store.read("a")), after=True)
    flaky.put("a", b"data")
    assert seen == [b"data"]


def test_a_delay_and_a_failure_come_in_the_order_of_injection(flaky: FlakyBackend) -> None:
    seen: list[str] = []
    flaky.delay("put", lambda: seen.append("waited"))
    flaky.fail("put")
    with pytest.raises(Unavailable):
        flaky.put("a", b"data")
    assert seen == ["waited"]


def test_a_cut_read_returns_the_first_bytes(flaky: FlakyBackend) -> None:
    flaky.put("a", b"0123456789")
    flaky.cut(3, call=2)
    assert [flaky.read("a", 2), flaky.read("a", 2), flaky.read("a", 2)] == [b"23456789", b"234", b"23456789"]


def test_the_shortest_of_two_cuts_counts(flaky: FlakyBackend) -> None:
    flaky.put("a", b"0123456789")
    flaky.cut(5)
    flaky.cut(0)
    flaky.cut(7)
    assert flaky.read("a") == b""


def test_calls_are_counted_by_method(flaky: FlakyBackend) -> None:
    flaky.fail("put", call=2)
    flaky.put("a", b"data")
    with pytest.raises(Unavailable):
        flaky.put("b", b"data")
    flaky.read("a")
    assert flaky.calls == {"put": 2, "read": 1}


def test_calls_of_many_threads_are_all_counted(flaky: FlakyBackend) -> None:
    threads = [threading.Thread(target=lambda: [flaky.list() for _ in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert flaky.calls["list"] == 1600


def test_a_healed_backend_works_and_counts_on(flaky: FlakyBackend) -> None:
    flaky.fail("put")
    with pytest.raises(Unavailable):
        flaky.put("a", b"data")
    flaky.heal()
    flaky.put("a", b"data")
    assert flaky.calls["put"] == 2


def test_a_method_that_does_not_exist_is_refused(flaky: FlakyBackend) -> None:
    with pytest.raises(ValueError, match="no backend has a method 'write'"):
        flaky.fail("write")


@pytest.mark.parametrize("protocol", [SupportsSweep, SupportsSetExpiry, SupportsLocalPath, SupportsPing])
def test_it_has_the_optional_methods_of_its_backend(
    flaky: FlakyBackend, tmp_path: Path, protocol: type
) -> None:
    assert not isinstance(flaky, protocol)
    assert isinstance(FlakyBackend(ReferenceBackend(tmp_path)), protocol)


def test_it_has_the_caps_of_its_backend(flaky: FlakyBackend, store: ModestBackend) -> None:
    assert flaky.caps is store.caps
