"""Redis servers for tests: one that runs already, ones that a test starts, and one that is not real."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from conftest import missing
from fakeredis import TcpFakeServer

RUNNING = os.environ.get("OFFLOADKIT_TEST_REDIS", "redis://localhost:6379/9")


def running_url(prefix: str) -> str:
    """Return the URL of the server that runs already."""
    try:
        with redis.Redis.from_url(RUNNING, socket_timeout=2, protocol=2) as client:
            client.ping()
    except redis.RedisError as error:
        missing(f"no Redis server at {RUNNING} ({type(error).__name__}); set OFFLOADKIT_TEST_REDIS")
    return f"{RUNNING}?prefix={prefix}"


class RedisServer:
    """A server of its own process; it keeps nothing on disk, so a restart empties it."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        binary = shutil.which("redis-server")
        if binary is None:
            missing("redis-server is not installed")
        self.socket = folder / "redis.sock"
        self.url = f"redis+unix://{self.socket}"
        self._command = [binary, "--port", "0", "--unixsocket", str(self.socket), "--save", "", *arguments]
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        """Start it and wait until it says that it is ready."""
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self._folder
        )
        assert self._process.stdout is not None
        said = []
        for line in self._process.stdout:
            said.append(line)
            if "eady to accept connections" in line:
                return
        pytest.fail(f"redis-server did not start: {''.join(said)}")

    def kill(self) -> None:
        """Kill it without a word of warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def client(self, **arguments: Any) -> Any:
        """Return a client of the driver, to look behind the backend."""
        return redis.Redis(unix_socket_path=str(self.socket), protocol=2, **arguments)


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[RedisServer]:
    """Start a server for a while."""
    server = RedisServer(folder, *arguments)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def cluster(folder: Path) -> Iterator[list[int]]:
    """Start a cluster of three nodes for a while; yields their ports."""
    ports = free_ports(6)
    servers = []
    try:
        for number, port in enumerate(ports[:3]):
            home = folder / str(number)
            home.mkdir()
            options = [
                "--port",
                str(port),
                "--cluster-port",
                str(ports[3 + number]),
                "--cluster-enabled",
                "yes",
            ]
            servers.append(RedisServer(home, *options, "--cluster-node-timeout", "500"))
        _join(servers, ports)
        yield ports[:3]
    finally:
        for server in servers:
            server.kill()


def _join(servers: list[RedisServer], ports: list[int]) -> None:
    edges = [0, 5461, 10923, 16384]
    for number, server in enumerate(servers):
        with server.client() as client:
            client.execute_command("CLUSTER ADDSLOTSRANGE", edges[number], edges[number + 1] - 1)
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
    with servers[0].client() as client:
        for number in (1, 2):
            client.execute_command("CLUSTER MEET", "127.0.0.1", ports[number], ports[3 + number])
    deadline = time.monotonic() + 20
    while not all(map(_is_whole, servers)):
        assert time.monotonic() < deadline, "the nodes did not find each other"
        threading.Event().wait(0.05)
    for server in servers:
        with server.client() as client:
            client.config_set("cluster-node-timeout", 15_000)


def _is_whole(server: RedisServer) -> bool:
    with server.client() as client:
        told = client.execute_command("CLUSTER INFO")
        slots = client.execute_command("CLUSTER SLOTS")
    return bool(told["cluster_state"] == "ok" and len(slots) == 3)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class FakeServer(TcpFakeServer):
    """A fakeredis on a port that takes connections as fast as they come and answers at once."""

    request_queue_size = 128

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().finish_request(request, client_address)


@contextmanager
def fake_server() -> Iterator[str]:
    """Serve fakeredis for a while; yields its URL. It knows no INFO, like many a proxy."""
    server = FakeServer(("127.0.0.1", 0), server_type="redis")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"redis://127.0.0.1:{server.server_address[1]}/0"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def silent_server() -> Iterator[str]:
    """Listen on a port and never answer; yields the URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
