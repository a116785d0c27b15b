"""``offloadkit sweep``: delete what has expired."""

from __future__ import annotations

import time

import click

from offloadkit.cli.options import backend_option, json_option, open_store
from offloadkit.cli.output import print_json, with_progress
from offloadkit.retention import sweep

__all__ = ["command"]


@click.command(name="sweep")
@backend_option
@json_option
def command(backend: str | None, as_json: bool) -> None:
    """Delete the stored results that have expired. Several sweeps at once are safe."""
    store = open_store(backend)
    try:
        deleted = sum(with_progress(sweep(store, time.time()), label="Sweeping"))
    finally:
        store.close()
    if as_json:
        print_json({"deleted": deleted})
    else:
        click.echo(f"{deleted:,} expired results deleted")
