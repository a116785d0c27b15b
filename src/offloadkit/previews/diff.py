"""Differences between files: which files, how many lines added and removed, and the first changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, counted, joined, part_of

__all__ = ["recognise", "render"]

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_GIT_PATHS: Final = re.compile(r'diff --git "?a/(?P<old>.+?)"? "?b/(?P<new>.+?)"?$')


@dataclass(slots=True)
class _File:
    path: str
    index: int
    added: int = 0
    removed: int = 0
    note: str = ""


def recognise(document: Document) -> bool:
    """Say whether there are file headers and hunks."""
    headers = sum(1 for line in document.sample if line.startswith(("diff --git ", "+++ ", "Index: ")))
    hunks = sum(1 for line in document.sample if _HUNK.match(line))
    return headers > 0 and hunks > 0


def render(document: Document, sheet: Sheet) -> Draft | None:
    """List the files, those with most changes first when not all fit, then show the first hunks."""
    files, first_hunk = _files(document.lines)
    if not files:
        return None
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    sheet.title(
        f"Diff of {counted(len(files), 'file')}, +{added} -{removed} lines{document.extent}", document.lead
    )
    by_size = sorted(files, key=lambda file: -(file.added + file.removed))
    room = len(sheet.fitting([_described(document, file) for file in by_size], share=0.6))
    chosen = files if room == len(files) else by_size
    listed = sheet.add_all([_described(document, file) for file in chosen], share=0.6, rest="file")
    lines = sheet.add_all(document.lines[first_hunk:], share=1.0) if first_hunk < len(document.lines) else 0
    shown = joined(
        part_of(listed, len(files), "file"), f"first {counted(lines, 'line')} of changes" if lines else ""
    )
    return Draft(shown, f"offset={document.number(first_hunk + lines)}" if lines else "")


def _described(document: Document, file: _File) -> str:
    return f"{file.path} +{file.added} -{file.removed}{file.note} (line {document.number(file.index)})"


def _files(lines: list[str]) -> tuple[list[_File], int]:
    """Count per file; return also where the first hunk begins. Hunk sizes say which lines are content."""
    files: list[_File] = []
    first_hunk, old_left, new_left = len(lines), 0, 0
    for index, line in enumerate(lines):
        if (old_left > 0 or new_left > 0) and files:
            old_left, new_left = _count(files[-1], line, old_left, new_left)
        elif hunk := _HUNK.match(line):
            first_hunk = min(first_hunk, index)
            old_left, new_left = int(hunk[1] or 1), int(hunk[2] or 1)
        elif line.startswith(
            ("diff --git ", "--- ", "+++ ", "new file", "deleted file", "rename ", "Binary files")
        ):
            _header(files, line.rstrip("\r"), index)
    return files, first_hunk


def _count(file: _File, line: str, old_left: int, new_left: int) -> tuple[int, int]:
    if line.startswith("+"):
        file.added += 1
        return old_left, new_left - 1
    if line.startswith("-"):
        file.removed += 1
        return old_left - 1, new_left
    if line.startswith("\\"):
        return old_left, new_left
    return old_left - 1, new_left - 1


def _header(files: list[_File], line: str, index: int) -> None:
    named = _GIT_PATHS.match(line)
    if named:
        files.append(_File(named["new"], index))
    elif line.startswith("--- ") and not _begins_file(files, index):
        files.append(_File(_path(line), index))
    elif line.startswith("+++ ") and files and line[4:] != "/dev/null":
        files[-1].path = _path(line)
    elif files and (note := _note(line)):
        files[-1].note = f", {note}"


def _begins_file(files: list[_File], index: int) -> bool:
    """Say whether the header that began a few lines before still describes the same file."""
    return bool(files) and index - files[-1].index < 8 and not files[-1].added and not files[-1].removed


def _path(line: str) -> str:
    return line[4:].partition("\t")[0].strip('"').removeprefix("a/").removeprefix("b/")


def _note(line: str) -> str:
    for words, note in (("new", "new"), ("deleted", "deleted"), ("rename", "renamed"), ("Binary", "binary")):
        if line.startswith(words):
            return note
    return ""
