"""What happens to connections when the process forks.

A child must not use a connection of its parent, nor close it: that would end, or mix up, the conversation
of the parent. So it gets new ones, and the old ones are kept from being collected. SQLite's library has
locks of its own: forked in the middle of a call in another thread, the child would wait for them for
ever. So a fork waits until no call is in progress.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

__all__ = ["watch"]


class Forking(Protocol):
    """What has something to do before and after a fork."""

    def before_fork(self) -> None:
        """Come to rest, in the thread that is about to fork."""
        ...

    def after_fork_in_parent(self) -> None:
        """Go on."""
        ...

    def after_fork_in_child(self) -> None:
        """Start anew. No other thread is running."""
        ...


_living: weakref.WeakSet[Forking] = weakref.WeakSet()
_resting: list[Forking] = []
_one_at_a_time = threading.Lock()


def watch(instance: Forking) -> None:
    """Tell ``instance`` of every fork for as long as it lives."""
    _living.add(instance)


def _before() -> None:
    _one_at_a_time.acquire()
    _resting.extend(_living)
    for instance in _resting:
        instance.before_fork()


def _after_in_parent() -> None:
    while _resting:
        _resting.pop().after_fork_in_parent()
    _one_at_a_time.release()


def _after_in_child() -> None:
    while _resting:
        _resting.pop().after_fork_in_child()
    _one_at_a_time.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
