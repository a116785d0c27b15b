"""What every group of the contract stands on: the fixtures, and the rule for what is not declared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import ClassVar

import pytest

from offloadkit.backend import (
    Backend,
    BackendError,
    SupportsLocalPath,
    SupportsPing,
    SupportsSetExpiry,
    SupportsSweep,
)
from offloadkit.testing.scratch import Scratch

_PROTOCOLS: dict[str, type] = {
    "local_path": SupportsLocalPath,
    "ping": SupportsPing,
    "set_expiry": SupportsSetExpiry,
    "sweep": SupportsSweep,
}
_FLAGS = frozenset({"atomic_create", "ordered", "persistent", "shared"})
_REQUIREMENTS = frozenset({*_PROTOCOLS, *_FLAGS, "fork", "max_object_bytes", "secrets"})


class Setting:
    """The fixtures and the class attributes of `BackendContract`, which says what they mean."""

    require: ClassVar[frozenset[str]] = frozenset()
    secrets: ClassVar[tuple[str, ...]] = ()
    expiry_tolerance: ClassVar[float] = 0.001
    fork_seconds: ClassVar[float] = 5.0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        unknown = sorted(set(cls.require) - _REQUIREMENTS)
        if unknown:
            raise TypeError(f"{cls.__name__}.require names {unknown}; known are {sorted(_REQUIREMENTS)}")

    @pytest.fixture(autouse=True)
    def closed_afterwards(self, backend: Backend) -> Iterator[None]:
        """Close the author's instance, so that the fixture may simply return it."""
        yield
        backend.close()

    @pytest.fixture
    def reopening(self, request: pytest.FixtureRequest) -> Callable[[], Backend] | None:
        """The author's ``reopen`` wherever it is defined, or None."""
        try:
            reopen: Callable[[], Backend] = request.getfixturevalue("reopen")
        except pytest.FixtureLookupError:
            return None
        return reopen

    @pytest.fixture
    def scratch(self, backend: Backend, reopening: Callable[[], Backend] | None) -> Iterator[Scratch]:
        """Keys for one test, whose objects are deleted after it, also when the test closed the instance."""
        scratch = Scratch()
        yield scratch
        try:
            backend.delete(sorted(scratch.keys))
        except BackendError:
            if reopening is not None:
                with closing(reopening()) as other:
                    other.delete(sorted(scratch.keys))

    @pytest.fixture
    def another(self, reopening: Callable[[], Backend] | None) -> Iterator[Callable[[], Backend]]:
        """Opens a further instance on the same location; closed after the test."""
        with ExitStack() as instances:

            def opened() -> Backend:
                if reopening is None:
                    pytest.fail("persistent or shared: write the fixture `reopen`, see BackendContract")
                return instances.enter_context(closing(reopening()))

            yield opened

    def need(self, backend: Backend, name: str) -> None:
        """Skip with the reason, or fail if it is required, when ``name`` is not declared."""
        reason = self._missing(backend, name)
        if reason and name in self.require:
            pytest.fail(f"{reason}, but {name!r} is in {type(self).__name__}.require")
        if reason:
            pytest.skip(reason)

    def need_room(self, backend: Backend, size: int) -> None:
        """Skip with the reason when the backend takes no object of ``size`` bytes."""
        most = backend.caps.max_object_bytes
        if most is not None and size > most:
            pytest.skip(f"caps.max_object_bytes is {most}, the test stores {size} bytes")

    def same_time(self, found: float | None, expected: float | None) -> bool:
        """Say whether two expiries agree within ``expiry_tolerance`` seconds."""
        if found is None or expected is None:
            return found is expected
        return abs(found - expected) <= self.expiry_tolerance

    def _missing(self, backend: Backend, name: str) -> str:
        if name == "secrets":
            return "" if self.secrets else f"{type(self).__name__}.secrets names none"
        if name == "max_object_bytes":
            return "" if backend.caps.max_object_bytes is not None else "caps.max_object_bytes is None"
        if name == "fork":
            return self._missing_fork(backend)
        if name in _PROTOCOLS:
            there = isinstance(backend, _PROTOCOLS[name])
            return "" if there else f"the backend has no method {name!r}"
        return "" if getattr(backend.caps, name) else f"caps.{name} is False"

    def _missing_fork(self, backend: Backend) -> str:
        if not hasattr(os, "fork"):
            return "this platform has no fork"
        return "" if backend.caps.fork == "safe" else f"caps.fork is {backend.caps.fork!r}"
