"""Run a piece of work in a forked child, and know within seconds how it went."""

from __future__ import annotations

import multiprocessing
import os
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection

import pytest


def in_child(work: Callable[[], object], seconds: float) -> None:
    """Call ``work`` in a forked child. Fails when the child raises, or says nothing for ``seconds``."""
    if not hasattr(os, "fork"):
        pytest.skip("this platform has no fork")
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_tell, args=(work, sender), daemon=True)
    with warnings.catch_warnings():
        # Python 3.12 warns of forking beside threads; programs do it, and here it is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    try:
        complaint = _complaint(receiver, seconds)
    finally:
        process.kill()
        process.join()
        process.close()
        receiver.close()
    if complaint:
        pytest.fail(complaint)


def _tell(work: Callable[[], object], sender: Connection) -> None:
    try:
        work()
    except BaseException:  # noqa: BLE001  whatever it was, the parent is to know
        sender.send(f"a forked child failed:\n{traceback.format_exc()}")
    else:
        sender.send("")


def _complaint(receiver: Connection, seconds: float) -> str:
    if not receiver.poll(seconds):
        return f"a forked child hung: no answer within {seconds:g} seconds"
    try:
        return str(receiver.recv())
    except EOFError:
        return "a forked child died without an answer"
