"""A backend beside a dictionary: whatever Hypothesis does to both, they stay the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from offloadkit.backend import MAX_META_BYTES, AlreadyExists, Backend, NotFound, Stat, SupportsSetExpiry
from offloadkit.testing.driving import listed
from offloadkit.testing.scratch import CHUNK_BYTES, PREFIXES, Scratch, difference, pattern

__all__ = ["backend_machine"]

_EXPIRY_TOLERANCE_SECONDS = 0.001
_SIZES = (0, 1, 10, 100, 1000, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1)

_names = st.sampled_from(("a", "a/b", "a/b/c", "a/b0", "ab", "a.b", "a_b", "axb"))
_data = st.one_of(st.binary(max_size=20), st.sampled_from(_SIZES).map(pattern))
_meta = st.one_of(st.binary(max_size=32), st.just(MAX_META_BYTES).map(pattern))
_expiries = st.one_of(
    st.none(), st.integers(1, 10**9).map(lambda quarters: round(time.time()) + 3600 + quarters / 4)
)
_positions = st.one_of(st.integers(0, 12), st.sampled_from(_SIZES))
_lengths = st.one_of(st.none(), st.just(0), _positions)
_instances = st.integers(0, 59)


@dataclass(frozen=True, slots=True)
class _Entry:
    data: bytes
    meta: bytes
    expires_at: float | None


class _BackendMachine(RuleBasedStateMachine):
    """The rules; `backend_machine` binds them to a backend."""

    factory: ClassVar[Callable[[], Backend]]
    instances: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        self.backends = [type(self).factory() for _ in range(self.instances)]
        self.scratch = Scratch()
        self.model: dict[str, _Entry] = {}

    @rule(which=_instances, name=_names, data=_data, meta=_meta, expires_at=_expiries)
    def put(self, which: int, name: str, data: bytes, meta: bytes, expires_at: float | None) -> None:
        key = self.scratch.key(name)
        try:
            self._backend(which).put(key, data, meta=meta, expires_at=expires_at)
        except AlreadyExists:
            assert key in self.model, "the key was free, and put said it is taken"
        else:
            assert key not in self.model, "the key was taken, and put went through"
            self.model[key] = _Entry(data, meta, expires_at)

    @rule(which=_instances, name=_names, start=_positions, length=_lengths)
    def read(self, which: int, name: str, start: int, length: int | None) -> None:
        key = self.scratch.key(name)
        try:
            found = self._backend(which).read(key, start, length)
        except NotFound:
            assert key not in self.model, "the object is there, and read did not find it"
        else:
            assert key in self.model, "the object is not there, and read returned something"
            whole = self.model[key].data
            assert not difference(found, whole[start:] if length is None else whole[start : start + length])

    @rule(which=_instances, name=_names)
    def stat(self, which: int, name: str) -> None:
        key = self.scratch.key(name)
        try:
            found = self._backend(which).stat(key)
        except NotFound:
            assert key not in self.model, "the object is there, and stat did not find it"
        else:
            assert key in self.model, "the object is not there, and stat described it"
            self._compare(found, self.model[key])

    @rule(which=_instances, prefix=st.sampled_from(PREFIXES), limit=st.sampled_from([1, 2, 3, 7, 1000]))
    def list(self, which: int, prefix: str, limit: int) -> None:
        whole = self.scratch.prefix + prefix
        found = {item.key: item.size for item in listed(self._backend(which), whole, limit=limit)}
        expected = {key: len(entry.data) for key, entry in self.model.items() if key.startswith(whole)}
        assert found == expected

    @rule(which=_instances, names=st.lists(_names, max_size=4))
    def delete(self, which: int, names: Sequence[str]) -> None:
        keys = [self.scratch.key(name) for name in names]
        self._backend(which).delete(keys)
        for key in keys:
            self.model.pop(key, None)

    @precondition(lambda self: isinstance(self.backends[0], SupportsSetExpiry))
    @rule(which=_instances, name=_names, expires_at=_expiries)
    def set_expiry(self, which: int, name: str, expires_at: float | None) -> None:
        key, backend = self.scratch.key(name), self._backend(which)
        assert isinstance(backend, SupportsSetExpiry)
        try:
            backend.set_expiry(key, expires_at)
        except NotFound:
            assert key not in self.model, "the object is there, and set_expiry did not find it"
        else:
            assert key in self.model, "the object is not there, and set_expiry went through"
            self.model[key] = replace(self.model[key], expires_at=expires_at)

    def teardown(self) -> None:
        self.backends[0].delete(sorted(self.scratch.keys))
        for backend in self.backends:
            backend.close()

    def _backend(self, which: int) -> Backend:
        return self.backends[which % self.instances]

    def _compare(self, found: Stat, entry: _Entry) -> None:
        assert found.size == len(entry.data)
        assert not difference(found.meta, entry.meta)
        assert (found.expires_at is None) is (entry.expires_at is None)
        assert abs((found.expires_at or 0) - (entry.expires_at or 0)) <= _EXPIRY_TOLERANCE_SECONDS


def backend_machine(factory: Callable[[], Backend], *, instances: int = 1) -> type[RuleBasedStateMachine]:
    """Return a Hypothesis state machine that uses a backend and a dictionary side by side.

    Use it as ``TestShelfMachine = backend_machine(lambda: ShelfBackend(folder)).TestCase``.

    Args:
        factory: Makes an instance; called ``instances`` times for each example. Each example uses keys of its
            own and deletes them, so that all may share a location.
        instances: With 2 or more, each step takes one of several instances, which have to share a location
            and see the same objects (``caps.shared``).
    """
    members = {"factory": staticmethod(factory), "instances": instances}
    return type("BackendMachine", (_BackendMachine,), members)
