"""How the Redis backend walks over its keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fakeredis import FakeRedis, FakeServer
from hypothesis import given
from hypothesis import strategies as st
from redis_doubles import Nodes

from offloadkit.backend import BackendError
from offloadkit.testing.driving import listed
from offloadkit_redis import RedisBackend
from offloadkit_redis.listing import Position, scan
from offloadkit_redis.names import Names


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def strings(server: FakeServer) -> Iterator[Any]:
    """A client of the driver, to look behind the backend."""
    with FakeRedis(server=server) as client:
        yield client


@pytest.fixture
def backend(server: FakeServer) -> Iterator[RedisBackend]:
    backend = RedisBackend(lambda: FakeRedis(server=server))
    yield backend
    backend.close()


class TestListing:
    def test_a_key_that_is_the_prefix_itself_is_handed_on(self, backend: RedisBackend) -> None:
        keys = {"s", "s/a", "s/b"}
        for key in keys:
            backend.put(key, b"data")

        for _ in range(20):
            assert {item.key for item in listed(backend, "s", limit=1)} == keys

    @given(
        st.sampled_from(["", "host:1"]),
        st.integers(-1, 2**64),
        st.lists(st.text("ab/.", max_size=4), max_size=4).map(tuple),
    )
    def test_a_position_comes_back_from_its_cursor(
        self, node: str, scan: int, pending: tuple[str, ...]
    ) -> None:
        position = Position(node, scan, pending)

        cursor = position.cursor()

        assert (cursor is None) == (scan == -1 and not pending)
        assert cursor is None or Position.parse(cursor) == position

    @pytest.mark.parametrize("cursor", ["", "5", "a|b|c", "|x|"])
    def test_a_cursor_of_somebody_else_is_refused(self, backend: RedisBackend, cursor: str) -> None:
        with pytest.raises(BackendError, match="cursor"):
            backend.list("", cursor=cursor)

    @pytest.mark.parametrize("prefix", ["*", "[a-z]", "s?k", "s/k*", "%", "_"])
    def test_wildcards_find_nothing(self, backend: RedisBackend, prefix: str) -> None:
        """SEC-05."""
        backend.put("s/k", b"data")

        assert listed(backend, prefix) == []

    def test_a_cluster_is_asked_node_by_node(self) -> None:
        nodes = {"a:1": [b"a", b"b"], "b:1": [], "c:1": [b"c"]}
        client, position, found = Nodes(nodes), Position(), []

        while position.cursor() is not None:
            keys, position = scan(client, Names("p"), "", position)
            found += keys

        assert found == ["a", "b", "c"]

    def test_a_listing_of_nodes_that_are_gone_begins_again(self) -> None:
        with pytest.raises(BackendError, match="begin the listing again"):
            scan(Nodes({"a:1": []}), Names("p"), "", Position("b:1", 5))
