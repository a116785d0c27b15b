"""Transcript files: what `reduce` and `restore` read and write.

A transcript is a JSON list of messages, an object that holds one (under ``messages``, ``input`` or
``contents``), or JSON Lines with one message a line; ``.gz`` is unpacked, ``-`` is standard input. It is
written back in the shape in which it came.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from offloadkit.errors import OffloadkitError

__all__ = ["Transcript", "TranscriptError", "read_transcript"]

LIST_KEYS: Final = ("messages", "input", "contents")


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
        data = self.render(messages).encode("utf-8", "surrogatepass")
        if path == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        target = Path(path)
        try:
            _write_whole(target, gzip.compress(data, mtime=0) if target.suffix == ".gz" else data)
        except OSError as error:
            raise TranscriptError(f"{path} cannot be written: {error.strerror}") from error


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
        except (json.JSONDecodeError, RecursionError) as error:
            if number == 1 or not messages:
                raise TranscriptError(f"{path} is not JSON: {whole.msg} in line {whole.lineno}") from whole
            raise TranscriptError(f"{path} is not JSON Lines: line {number:,} is not JSON") from error
    if not messages:
        raise TranscriptError(f"{path} is empty")
    return Transcript(messages, is_lines=True)


def _write_whole(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o666 & ~_umask())  # noqa: PTH101  mkstemp makes it private; a transcript is a file of the user's
        os.replace(name, target)  # noqa: PTH105
    except BaseException:
        os.unlink(name)  # noqa: PTH108
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
