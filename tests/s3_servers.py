"""S3 on this machine: moto in a process of its own, and a server that answers what a test tells it to."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import boto3

from offloadkit.backend import Backend
from offloadkit.url import parse_url
from offloadkit_fsspec import S3Backend

ACCESS_KEY = "AKIAEXAMPLEOFATEST01"
SECRET_KEY = "7RcTn0secretofatest0Qx9"
BUCKET = "offloadkit-tests"

_MOTO = """
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
input()
"""


@contextmanager
def moto_server() -> Iterator[str]:
    """Run moto for as long as the block lasts; yield its URL. It holds one empty bucket, `BUCKET`."""
    process = subprocess.Popen(
        [sys.executable, "-c", _MOTO],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        host, port = process.stdout.readline().split()
        endpoint = f"http://{host}:{port}"
        client(endpoint).create_bucket(Bucket=BUCKET)
        yield endpoint
    finally:
        process.kill()
        process.communicate()


def client(endpoint: str) -> Any:
    """Return a client that has nothing to do with ours."""
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
    )


def s3_url(endpoint: str, *, scheme: str = "s3", place: str = BUCKET, **options: str) -> str:
    """Return the config URL of a place on a server."""
    given = {"endpoint": endpoint, "region": "us-east-1", "access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
    query = "&".join(f"{name}={text}" for name, text in {**given, **options}.items())
    return f"{scheme}://{place}?{query}"


def open_s3(url: str) -> S3Backend:
    """Open a config URL without the registry."""
    return S3Backend.from_url(parse_url(url).with_options(S3Backend.options))


def used(backend: Backend) -> Backend:
    """Return the backend after a first put, by which it knows what its server can do."""
    backend.put("warm-up/object", b"")
    backend.delete(["warm-up/object"])
    return backend


@dataclass(frozen=True)
class Request:
    """What a client asked for. The names of headers are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """What a server says; ``cut_at`` ends the connection after so many bytes of the body."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_at: int | None = None


Script = Callable[[Request], Answer]


def error_answer(status: int, code: str, more: str = "") -> Answer:
    """Return an answer as S3 words its errors."""
    body = (
        f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>no</Message>{more}</Error>'
    )
    return Answer(status, body.encode(), {"Content-Type": "application/xml"})


class StubServer:
    """Answers every request by its ``script``, and remembers the requests."""

    def __init__(self) -> None:
        self.script: Script = lambda _: Answer(500)
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def say(self, *answers: Answer) -> None:
        """Answer the next requests with these, and all later ones with the last."""
        remaining = list(answers)
        self.script = lambda _: remaining.pop(0) if len(remaining) > 1 else remaining[0]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler_for(stub: StubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, parts.path, parts.query, headers, body)
            stub.requests.append(request)
            answer = stub.script(request)
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body[: answer.cut_at])
            self.close_connection = self.close_connection or answer.cut_at is not None

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = answer

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler
