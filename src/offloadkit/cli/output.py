"""How commands print: tables for people, JSON for programs, progress on standard error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import click

__all__ = ["print_json", "print_table", "with_progress"]

_T = TypeVar("_T")


def print_json(value: Any, *, err: bool = False) -> None:
    """Print a value as JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    click.echo(text.encode("utf-8", "backslashreplace").decode(), err=err)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, err: bool = False) -> None:
    """Print a table; the first column is text, numbers in the others stand right."""
    from rich import box  # noqa: PLC0415  loaded by those who print a table
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    content = [list(row) for row in rows]
    for number, column in enumerate(columns):
        right = bool(content) and all(
            row[number][:1].isdigit() or row[number] in {"", "-"} for row in content
        )
        table.add_column(column, justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in content:
        table.add_row(*(_plain(cell) for cell in row))
    console = Console(stderr=err, soft_wrap=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def with_progress(items: Iterable[_T], *, label: str, total: int | None = None) -> Iterator[_T]:
    """Yield the items and show on standard error how far it is, when that is a terminal."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import track  # noqa: PLC0415

    console = Console(stderr=True)
    yield from track(items, description=label, total=total, console=console, disable=not console.is_terminal)


def _plain(cell: str) -> Any:
    from rich.text import Text  # noqa: PLC0415

    return Text("".join(character if character.isprintable() else "�" for character in cell))
