"""Transcript files: what `reduce` and `restore` read and write.

A transcript is a JSON list of messages, an object that holds one (under ``messages``, ``input`` or
``contents``), or JSON Lines with one message a line; ``.gz`` is unpacked, ``-`` is standard input. It is
written back in the shape in which it came.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from offloadkit.errors import OffloadkitError

__all__ = ["Transcript", "TranscriptError", "print_bytes", "read_transcript"]

LIST_KEYS: Final = ("messages", "input", "contents")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class TranscriptError(OffloadkitError):
    """A transcript that cannot be read or written. The message says where and what."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript and the shape in which it came.

    Attributes:
        messages: Its messages.
        around: The object that holds them, or None for a bare list or lines.
        key: Under which key of that object they stand.
        is_lines: True for JSON Lines.
    """

    messages: list[Any]
    around: dict[str, Any] | None = None
    key: str = ""
    is_lines: bool = False

    def render(self, messages: list[Any]) -> str:
        """Return the text of this transcript with other messages in it."""
        if self.is_lines:
            return "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)
        document = messages if self.around is None else {**self.around, self.key: messages}
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

    def write(self, messages: list[Any], path: str) -> None:
        """Write the transcript with other messages in it: the whole file or none of it.

        Raises:
            TranscriptError: It cannot be written.
        """
        data = self._encode(messages)
        try:
            if path == "-":
                print_bytes(data)
            else:
                target = Path(path).resolve()
                _write_whole(target, gzip.compress(data, mtime=0) if target.suffix == ".gz" else data)
        except OSError as error:
            name = "standard output" if path == "-" else path
            raise TranscriptError(f"{name} cannot be written: {error.strerror or error}") from error

    def _encode(self, messages: list[Any]) -> bytes:
        """Return the text in UTF-8; half a surrogate pair stays the escape that it came as."""
        try:
            text = self.render(messages)
        except TypeError as error:
            raise TranscriptError(
                "the transcript holds a value that JSON cannot hold, such as bytes that a program offloaded"
            ) from error
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode("utf-8")


def read_transcript(path: str) -> Transcript:
    """Read a transcript.

    Raises:
        TranscriptError: It cannot be read, or is no transcript.
    """
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise TranscriptError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error
    try:
        text = data.decode("utf-8-sig", "surrogatepass")
    except UnicodeDecodeError as error:
        raise TranscriptError(f"{path} is not UTF-8 text: byte {error.start:,} is not") from error
    return _parse(path, text)


def _parse(path: str, text: str) -> Transcript:
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise TranscriptError(f"{path} is nested too deeply") from error
    except json.JSONDecodeError as error:
        return _parse_lines(path, text, error)
    except ValueError as error:
        raise TranscriptError(f"{path} holds a number that is too long: {error}") from error
    if isinstance(document, list):
        return Transcript(document)
    if isinstance(document, dict):
        for key in LIST_KEYS:
            if isinstance(document.get(key), list):
                return Transcript(document[key], document, key)
        if "role" in document or "type" in document:
            return Transcript([document], is_lines=True)
    keys = ", ".join(LIST_KEYS)
    raise TranscriptError(
        f"{path} is no transcript: it takes a list of messages, or an object with one of {keys}"
    )


def _parse_lines(path: str, text: str, whole: json.JSONDecodeError) -> Transcript:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    messages: list[Any] = []
    for number, line in lines:
        try:
            messages.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            if number == 1 or not messages:
                raise TranscriptError(f"{path} is not JSON: {whole.msg} in line {whole.lineno}") from whole
            raise TranscriptError(f"{path} is not JSON Lines: line {number:,} is not JSON") from error
    if not messages:
        raise TranscriptError(f"{path} is empty")
    return Transcript(messages, is_lines=True)


def print_bytes(data: bytes) -> None:
    """Write to standard output. Raises `OSError` when there is none, or it is full."""
    if sys.stdout is None:
        raise OSError("it is closed")
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _write_whole(target: Path, data: bytes) -> None:
    """Write a file at once; what is no file, such as a pipe, is written to as it is."""
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, mode)  # noqa: PTH101  mkstemp makes it private
        os.replace(name, target)  # noqa: PTH105
    except BaseException:
        os.unlink(name)  # noqa: PTH108
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
