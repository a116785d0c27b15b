"""What every mutant derives from."""

from __future__ import annotations

import threading
from typing import ClassVar

from testing.reference import ReferenceBackend


class Mutant(ReferenceBackend):
    """A reference backend that is to be broken.

    Attributes:
        caught_by: The tests of `BackendContract` that fail for it, each of them.
    """

    caught_by: ClassVar[tuple[str, ...]] = ()


def let_others_in(seconds: float = 0.003) -> None:
    """Hold a gap open for so long that other threads always find it: a race that is lost every time."""
    threading.Event().wait(seconds)
