"""``offloadkit ls``: what a session has stored."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from offloadkit.archive import Archive
from offloadkit.cli.options import json_option, open_store, session_options
from offloadkit.cli.output import print_json, print_table

__all__ = ["command"]


@click.command(name="ls")
@session_options
@json_option
def command(backend: str | None, session: str, namespace: str, as_json: bool) -> None:
    """List the stored results of a session, newest first."""
    store = open_store(backend)
    try:
        found = list(Archive(store, session=session, namespace=namespace).entries())
    finally:
        store.close()
    found.sort(key=lambda entry: (-entry[1].stored_at, entry[0]))
    if as_json:
        print_json(
            [
                {
                    "ref": ref,
                    "tool": meta.tool,
                    "type": meta.type,
                    "bytes": meta.size + meta.structure,
                    "lines": meta.lines,
                    "tokens": meta.tokens,
                    "failed": meta.failed,
                    "stored_at": meta.stored_at,
                }
                for ref, meta in found
            ]
        )
        return
    if not found:
        click.echo(f"session {session!r} has nothing stored", err=True)
        return
    rows = [
        [
            ref,
            meta.tool or "-",
            f"{meta.tokens:,}",
            f"{meta.lines:,}",
            f"{meta.size + meta.structure:,}",
            datetime.fromtimestamp(meta.stored_at, UTC).strftime("%Y-%m-%d %H:%M:%S"),
        ]
        for ref, meta in found
    ]
    print_table(["reference", "tool", "tokens", "lines", "bytes", "stored (UTC)"], rows)
