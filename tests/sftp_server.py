"""An SFTP server on this machine, over paramiko: files of a folder, and renames as OpenSSH does them."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import paramiko

USER = "agent"
PASSWORD = "pa55word-of-the-test"


class _Login(paramiko.ServerInterface):  # type: ignore[misc]
    def check_auth_password(self, username: str, password: str) -> int:
        known = (username, password) == (USER, PASSWORD)
        return int(paramiko.AUTH_SUCCESSFUL if known else paramiko.AUTH_FAILED)

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return int(paramiko.OPEN_SUCCEEDED)


class _Handle(paramiko.SFTPHandle):  # type: ignore[misc]
    def stat(self) -> Any:
        return paramiko.SFTPAttributes.from_stat(os.fstat(self.readfile.fileno()))


def _files_below(root: Path) -> type[paramiko.SFTPServerInterface]:
    class Files(paramiko.SFTPServerInterface):  # type: ignore[misc]
        def list_folder(self, path: str) -> Any:
            return _answered(lambda: list(_listed(_real(path))))

        def stat(self, path: str) -> Any:
            return _answered(lambda: _attributes(_real(path)))

        lstat = stat

        def open(self, path: str, flags: int, attr: object) -> Any:
            return _answered(lambda: _opened(_real(path), flags))

        def remove(self, path: str) -> Any:
            return _answered(lambda: _real(path).unlink())

        def rename(self, oldpath: str, newpath: str) -> Any:
            return _answered(lambda: _rename(_real(oldpath), _real(newpath)))

        def mkdir(self, path: str, attr: object) -> Any:
            return _answered(lambda: _real(path).mkdir())

        def rmdir(self, path: str) -> Any:
            return _answered(lambda: _real(path).rmdir())

    def _real(path: str) -> Path:
        return root / path.lstrip("/")

    return Files


def _answered(work: Any) -> Any:
    try:
        found = work()
    except OSError as error:
        return paramiko.SFTPServer.convert_errno(error.errno)
    return paramiko.SFTP_OK if found is None else found


def _attributes(path: Path) -> Any:
    return paramiko.SFTPAttributes.from_stat(path.stat(), path.name)


def _listed(folder: Path) -> Iterator[Any]:
    for path in list(folder.iterdir()):
        with suppress(FileNotFoundError):
            yield _attributes(path)


def _opened(path: Path, flags: int) -> Any:
    file = os.fdopen(os.open(path, flags, 0o600), "wb" if flags & os.O_WRONLY else "rb")
    handle = _Handle(flags)
    handle.filename, handle.readfile, handle.writefile = str(path), file, file
    return handle


def _rename(old: Path, new: Path) -> None:
    new.hardlink_to(old)
    old.unlink()


class SFTPServer:
    """Serves every connection in a thread of its own."""

    def __init__(self, root: Path) -> None:
        self._files = _files_below(root)
        self._key = paramiko.ECDSAKey.generate()
        self._transports: list[Any] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            transport = paramiko.Transport(connection)
            transport.add_server_key(self._key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, self._files)
            self._transports.append(transport)
            with suppress(paramiko.SSHException, EOFError):
                transport.start_server(server=_Login())

    def hang_up(self) -> None:
        """End every connection, as a server does that is started again."""
        while self._transports:
            self._transports.pop().close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()
        self._thread.join(5)


@contextmanager
def sftp_server(root: Path) -> Iterator[SFTPServer]:
    """Serve the files of a folder for as long as the block lasts."""
    server = SFTPServer(root)
    try:
        yield server
    finally:
        server.close()
