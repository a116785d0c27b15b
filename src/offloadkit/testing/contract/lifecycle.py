"""An instance closes cleanly, stays closed, and keeps its secrets."""

from __future__ import annotations

import logging
import pickle
import traceback
import uuid
from collections.abc import Callable

import pytest

from offloadkit.backend import AlreadyExists, Backend, BackendError, NotFound, TooLarge
from offloadkit.testing.contract.setting import Setting
from offloadkit.testing.driving import every_method
from offloadkit.testing.scratch import Scratch


class LifecycleContract(Setting):
    """Closing, use after closing, and what texts about an instance hold."""

    def test_closing_twice_is_fine(self, backend: Backend, scratch: Scratch) -> None:
        backend.put(scratch.key(), b"data")
        backend.close()
        backend.close()

    def test_an_unused_instance_can_be_closed(self, backend: Backend) -> None:
        backend.close()
        backend.close()

    def test_a_closed_instance_refuses_every_call(self, backend: Backend, scratch: Scratch) -> None:
        taken, free = scratch.key("taken"), scratch.key("free")
        backend.put(taken, b"data")
        backend.close()
        calls = every_method(backend, taken=taken, free=free)
        assert [method for method, call in calls.items() if not _is_refused(call)] == []

    def test_an_instance_closed_unused_refuses_every_call(self, backend: Backend, scratch: Scratch) -> None:
        backend.close()
        calls = every_method(backend, taken=scratch.key("taken"), free=scratch.key("free"))
        assert [method for method, call in calls.items() if not _is_refused(call)] == []

    def test_its_texts_hold_no_secret(self, backend: Backend, scratch: Scratch) -> None:
        self.need(backend, "secrets")
        before = f"{backend!r} {backend}"
        backend.put(scratch.key(), b"data")
        after = f"{backend!r} {backend}"
        revealed = self._revealed(before + after)
        assert revealed == 0

    def test_its_log_holds_no_secret(
        self, backend: Backend, scratch: Scratch, caplog: pytest.LogCaptureFixture
    ) -> None:
        self.need(backend, "secrets")
        with caplog.at_level(logging.INFO):
            backend.put(scratch.key(), b"data")
            _complaint(lambda: backend.read(scratch.key("missing")), NotFound)
            backend.close()
        revealed = self._revealed(caplog.text)
        assert revealed == 0

    def test_a_pickle_of_it_is_refused_or_holds_no_secret(self, backend: Backend) -> None:
        self.need(backend, "secrets")
        try:
            pickled = pickle.dumps(backend)
        except Exception:  # noqa: BLE001  each unpicklable part has its own way to say so
            pickled = b""
        revealed = self._revealed(pickled.decode("latin-1"))
        assert revealed == 0

    def test_errors_hold_neither_content_nor_secrets(self, backend: Backend, scratch: Scratch) -> None:
        content = uuid.uuid4().hex
        key, data, meta = scratch.key(), f"data {content}".encode(), f"meta {content}".encode()
        backend.put(key, data, meta=meta)
        texts = [
            _complaint(lambda: backend.put(key, data, meta=meta), AlreadyExists),
            _complaint(lambda: backend.read(key, -1), ValueError),
            _complaint(lambda: backend.read(scratch.key("missing")), NotFound),
            _complaint(lambda: backend.stat(scratch.key("missing")), NotFound),
        ]
        if backend.caps.max_object_bytes is not None and backend.caps.max_object_bytes < 2**26:
            padding = bytes(backend.caps.max_object_bytes)
            texts.append(_complaint(lambda: backend.put(scratch.key("large"), data + padding), TooLarge))
        backend.close()
        texts.append(_complaint(lambda: backend.read(key), BackendError))
        quoted, revealed = sum(content in text for text in texts), self._revealed("".join(texts))
        assert (quoted, revealed) == (0, 0)

    def _revealed(self, text: str) -> int:
        """Count the secrets in ``text``; a count, taken outside of asserts, which would print the text."""
        return sum(secret in text for secret in self.secrets)


def _is_refused(call: Callable[[], object]) -> bool:
    """Say whether a call raises `BackendError`, and does not take the store for an empty one."""
    try:
        call()
    except (NotFound, AlreadyExists):
        return False
    except BackendError:
        return True
    return False


def _complaint(call: Callable[[], object], expected: type[Exception]) -> str:
    """Return all that a program would log of the error of ``call``, causes included."""
    with pytest.raises(expected) as caught:
        call()
    return "".join(traceback.format_exception(caught.value))
