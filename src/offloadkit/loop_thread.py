"""An event loop in a thread of its own: for backends over a client that is asynchronous underneath.

Such a client belongs to one loop for all its life, while a backend is called from any thread and any loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from offloadkit.errors import BackendError

__all__ = ["LoopThread"]

_Result = TypeVar("_Result")


class LoopThread:
    """Runs coroutines for many threads. It ends with `close`, or with the interpreter."""

    def __init__(self) -> None:
        """Start the thread."""
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="offloadkit-loop", daemon=True)
        self._thread.start()
        self._closing = threading.Lock()
        self._open = True

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Return what ``work`` returns, or raise what it raises; `BackendError` once this is closed."""
        with self._closing:
            if not self._open:
                work.close()
                raise BackendError("this backend was closed")
            future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except CancelledError:
            raise BackendError("this backend was closed during the call") from None

    def close(self, last: Coroutine[Any, Any, object]) -> None:
        """Cancel what is running, run ``last``, and end the thread."""
        with self._closing:
            self._open = False
        asyncio.run_coroutine_threadsafe(_cancel_others(last), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _cancel_others(last: Coroutine[Any, Any, object]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await last
