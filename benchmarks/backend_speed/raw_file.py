"""A file by hand, as durable as ours.

Temporary file, fsync, link to a name that must be free, fsync of the directory. Behind the payload stands a
footer with metadata and expiry, then its length and a magic word.
"""

from __future__ import annotations

import json
import os
import struct
import time
from pathlib import Path

from backend_speed.clients import META, Payload

_END = struct.Struct(">I8s")
_MAGIC = b"rawfile1"


class RawFile:
    """Trusts its directory: follows links, checks no owner, and knows its directories to be there."""

    def __init__(self, folder: Path, session: str) -> None:
        self._folder = str(folder)
        self._incoming = f"{folder}/incoming"
        Path(self._incoming).mkdir(parents=True)
        Path(f"{folder}/{session}").mkdir(parents=True)

    def put(self, key: str, payload: Payload) -> None:
        described = {
            "size": len(payload.data),
            "created_at": time.time(),
            "expires_at": payload.expires_at,
            "meta": META.decode(),
        }
        footer = json.dumps(described).encode()
        path, temporary = f"{self._folder}/{key}", f"{self._incoming}/{os.urandom(8).hex()}"
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.writev(file, [payload.data, footer, _END.pack(len(footer), _MAGIC)])
            os.fsync(file)
            os.link(temporary, path)
        finally:
            Path(temporary).unlink()
            os.close(file)
        directory = os.open(path.rpartition("/")[0], os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)

    def read(self, key: str) -> bytes:
        return self._read(key, 0, None)

    def read_range(self, key: str, start: int, length: int) -> bytes:
        return self._read(key, start, length)

    def _read(self, key: str, start: int, length: int | None) -> bytes:
        file = os.open(f"{self._folder}/{key}", os.O_RDONLY)
        try:
            end = os.fstat(file).st_size - _END.size
            footer_bytes, magic = _END.unpack(os.pread(file, _END.size, end))
            if magic != _MAGIC:
                raise ValueError("a torn file")
            there = end - footer_bytes - start
            return os.pread(file, there if length is None else min(length, there), start)
        finally:
            os.close(file)
