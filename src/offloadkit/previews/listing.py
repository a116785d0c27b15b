"""Lists of files: how many under which folder and of which type, and the first names."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from offloadkit.previews.document import Document
from offloadkit.previews.sheet import Draft, Sheet, counted, joined, part_of

__all__ = ["recognise", "render"]

_FOLDER: Final = re.compile(r"(?:\.{0,2}/|[A-Za-z]:[\\/])?[\w.@+~ -]*(?:[/\\][\w.@+~ -]+)*[/\\]?:$")
_NAME: Final = re.compile(r"(?:\S{1,255}|[\w.@+~-]+(?: [\w.@+~-]+){1,2}\.\w{1,8})$")
_PATH: Final = re.compile(
    r"(?:\./|/|~/|[A-Za-z]:\\)?[\w.@+~%=,\[\]()-]+(?:[/\\][\w.@+~%=,\[\]() -]+)+[/\\]?$"
)
_FEW_FOLDERS: Final = 12
_FOLDER_DEPTH: Final = 8


def recognise(document: Document) -> bool:
    """Say whether the lines are paths, or names under folders as ``ls -R`` prints them."""
    sample = document.sample
    if len(sample) < 8:
        return False
    paths = sum(1 for line in sample if _PATH.match(line))
    if paths >= 0.8 * len(sample):
        return True
    folders = sum(1 for line in sample if _FOLDER.match(line))
    names = sum(1 for line in sample if _NAME.match(line))
    return folders >= 2 and folders + names >= 0.9 * len(sample)


def render(document: Document, sheet: Sheet) -> Draft | None:
    """Write totals, types, the folders with most files, and the first paths."""
    paths = _paths(document.lines)
    if not paths:
        return None
    parts = [path.replace("\\", "/").split("/") for _, path in paths]
    shared = _shared_depth(parts)
    under = f" under {'/'.join(parts[0][:shared])}/" if shared else ""
    total = counted(len(paths), "path")
    sheet.title(f"{total}{document.extent}{under}: {_types([part[-1] for part in parts])}", document.lead)
    by_folder = _folders([part[shared:-1] for part in parts])
    folders = [f"{folder or 'directly'}: {number}" for folder, number in by_folder]
    listed = sheet.add_all(folders, share=0.6, rest="folder") if len(folders) > 1 else 0
    named = sheet.add_all(["/".join(part[shared:]) for part in parts])
    shown = joined(part_of(listed, len(folders), "folder"), part_of(named, len(paths), "path"))
    return Draft(shown, f"offset={document.number(paths[min(named, len(paths) - 1)][0])}")


def _paths(lines: list[str]) -> list[tuple[int, str]]:
    """Return full paths and where they stand; a line that ends in a colon is the folder of what follows."""
    paths: list[tuple[int, str]] = []
    folder = ""
    for index, line in enumerate(lines):
        name = line.strip()
        if name.endswith(":") and len(name) != 2 and _FOLDER.match(name):
            folder = name[:-1].removeprefix("./") + "/" if name not in {".:", "./:"} else ""
        elif _NAME.match(name) or _PATH.match(name):
            paths.append((index, folder + name.removeprefix("./")))
    return paths


def _types(names: list[str]) -> str:
    """Return the commonest file name endings with their numbers."""
    endings = Counter(_ending(name) for name in names)
    return ", ".join(f"{number} {ending}" for ending, number in endings.most_common(6))


def _ending(name: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return f".{ending}" if dot and stem and ending.isalnum() and len(ending) <= 8 else "without ending"


def _folders(parts: list[list[str]]) -> list[tuple[str, int]]:
    """Count files by folder, as deep as there are only a few folders."""
    best: Counter[str] = Counter()
    for depth in range(1, _FOLDER_DEPTH):
        finer = Counter("/".join(part[:depth]) for part in parts)
        if best and len(finer) > _FEW_FOLDERS:
            break
        best = finer
    return best.most_common()


def _shared_depth(parts: list[list[str]]) -> int:
    """Return how many folders all paths have in common."""
    first, last = min(parts), max(parts)
    depth = 0
    while depth < min(len(first), len(last)) - 1 and first[depth] == last[depth]:
        depth += 1
    return depth
