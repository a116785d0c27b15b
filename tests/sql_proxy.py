"""A network between a test and a server that loses answers, falls silent or is cut when a test says so."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self


class Proxy:
    """Forwards connections to ``host:port`` from ``self.port`` of this machine."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._silent = False
        self._answers_to_lose = 0
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.refuse()

    def lose_next_answer(self) -> None:
        """Let the next request reach the server, and cut the connection when the answer comes."""
        self._answers_to_lose = 1

    def fall_silent(self) -> None:
        """Accept everything and pass nothing on."""
        self._silent = True

    def cut(self) -> None:
        """End every connection; new ones are accepted."""
        while self._sockets:
            _close(self._sockets.pop())

    def refuse(self) -> None:
        """End every connection and accept no new one."""
        _close(self._listener)
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                self._sockets += [client, server]
                for source, sink, answers in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._pump, args=(source, sink, answers), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if answers and self._answers_to_lose:
                    self._answers_to_lose -= 1
                    break
                if not self._silent:
                    sink.sendall(data)
        _close(source)
        _close(sink)


def _close(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
