"""Clients of fakeredis that a test can interfere with."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import redis
from fakeredis import FakeRedis, FakeServer


class Meddled(FakeRedis):
    """A client whose pipelines are changed before they are used."""

    def __init__(self, server: FakeServer, change: Callable[[Any], None]) -> None:
        super().__init__(server=server)
        self.change = change

    def pipeline(self, *arguments: Any, **options: Any) -> Any:
        pipeline = super().pipeline(*arguments, **options)
        self.change(pipeline)
        return pipeline


def around(pipeline: Any, method: str, after: Callable[[Any], Any]) -> None:
    """Have ``after`` see, and replace, what a method of the pipeline returns."""
    original = getattr(pipeline, method)
    setattr(pipeline, method, lambda *arguments, **options: after(original(*arguments, **options)))


def losing(server: FakeServer) -> FakeRedis:
    """Return a client that has its first pipeline carried out and loses the answer."""
    lost = iter([True])

    def lose(answers: Any) -> Any:
        if next(lost, False):
            raise redis.ConnectionError("lost")
        return answers

    return Meddled(server, lambda pipeline: around(pipeline, "execute", lose))


class Nodes:
    """A cluster that returns one record at a time."""

    def __init__(self, keys: dict[str, list[bytes]]) -> None:
        self.keys = keys

    def get_primaries(self) -> list[Any]:
        return [SimpleNamespace(name=name) for name in reversed(self.keys)]

    def scan(self, cursor: int, *, match: str, count: int, target_nodes: Any) -> Any:
        keys = self.keys[target_nodes.name]
        found = [b"p:{" + key + b"}:m" for key in keys[cursor : cursor + 1]]
        return {target_nodes.name: cursor + 1 if cursor + 1 < len(keys) else 0}, found
