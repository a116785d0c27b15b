"""``offloadkit stats``: how much is stored, and for whom."""

from __future__ import annotations

from collections import Counter

import click

from offloadkit.cli.options import backend_option, json_option, open_store
from offloadkit.cli.output import print_json, print_table, with_progress
from offloadkit.references import key_segment, name_of_segment
from offloadkit.retention import objects

__all__ = ["command"]


@click.command(name="stats")
@backend_option
@click.option("--namespace", help="Count this namespace only.")
@json_option
def command(backend: str | None, namespace: str | None, as_json: bool) -> None:
    """Count the stored results and bytes of each session, the largest first."""
    store = open_store(backend)
    count: Counter[tuple[str, str]] = Counter()
    size: Counter[tuple[str, str]] = Counter()
    try:
        prefix = "" if namespace is None else key_segment(namespace) + "/"
        for stat in with_progress(objects(store, prefix), label="Counting"):
            owner, _, rest = stat.key.partition("/")
            key = (name_of_segment(owner), name_of_segment(rest.partition("/")[0]))
            count[key] += 1
            size[key] += stat.size
    finally:
        store.close()
    sessions = [(*key, count[key], total) for key, total in size.most_common()]
    if as_json:
        names = ("namespace", "session", "results", "bytes")
        listed = [dict(zip(names, row, strict=True)) for row in sessions]
        print_json({"results": count.total(), "bytes": size.total(), "sessions": listed})
        return
    click.echo(f"{count.total():,} results, {size.total():,} bytes, {len(sessions):,} sessions")
    if sessions:
        rows = [[owner, name, f"{results:,}", f"{total:,}"] for owner, name, results, total in sessions]
        print_table(["namespace", "session", "results", "bytes"], rows)
