"""redis-py alone: a transaction of two ``SET NX PXAT`` for a put, one GET or GETRANGE for a read."""

from __future__ import annotations

import json
import time
from typing import Any

import redis

from backend_speed.clients import META, Payload


class RawRedis:
    """Only an empty answer to GETRANGE needs a second question, and none is met here."""

    def __init__(self, url: str, prefix: str) -> None:
        self._client: Any = redis.Redis.from_url(url, protocol=2)
        self._prefix = prefix

    def put(self, key: str, payload: Payload) -> None:
        described = {"size": len(payload.data), "created_at": time.time(), "expires_at": payload.expires_at}
        record = json.dumps({**described, "meta": META.decode()}).encode()
        expiry = int(payload.expires_at * 1000)
        transaction = self._client.pipeline(transaction=True)
        transaction.set(f"{self._prefix}:{key}:d", payload.data, nx=True, pxat=expiry)
        transaction.set(f"{self._prefix}:{key}:m", record, nx=True, pxat=expiry)
        if transaction.execute() != [True, True]:
            raise FileExistsError(key)

    def read(self, key: str) -> bytes:
        return self._present(self._client.get(f"{self._prefix}:{key}:d"))

    def read_range(self, key: str, start: int, length: int) -> bytes:
        return self._present(self._client.getrange(f"{self._prefix}:{key}:d", start, start + length - 1))

    @classmethod
    def delete_all(cls, url: str, pattern: str) -> None:
        """Remove what a run has left, over a new connection."""
        with redis.Redis.from_url(url, protocol=2) as client:
            for name in client.scan_iter(match=pattern, count=1000):
                client.unlink(name)

    def close(self) -> None:
        self._client.close()

    def _present(self, data: bytes | None) -> bytes:
        if not data:
            raise KeyError("no such object")
        return data
