"""``offloadkit rm``: delete stored results."""

from __future__ import annotations

import click

from offloadkit.archive import Archive
from offloadkit.cli.options import backend_option, json_option, open_store
from offloadkit.cli.output import print_json, with_progress
from offloadkit.errors import ConfigError
from offloadkit.references import is_reference, key_segment
from offloadkit.retention import delete_objects

__all__ = ["command"]


@click.command(name="rm")
@click.argument("refs", nargs=-1)
@backend_option
@click.option("--session", help="Whose results; without REFS all results of this session are deleted.")
@click.option("--namespace", default="default", show_default=True, help="Whose session it is.")
@click.option("--all-sessions", is_flag=True, help="Delete all sessions of the namespace.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def command(
    refs: tuple[str, ...],
    backend: str | None,
    session: str | None,
    namespace: str,
    all_sessions: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete the stored results REFS of a session, or all of a session, or all of a namespace.

    A history that still shows their references can then no longer be restored.
    """
    if all_sessions == (session is not None):
        raise ConfigError("rm takes either --session NAME, with or without references, or --all-sessions")
    if all_sessions and refs:
        raise ConfigError("references belong to one session: pass --session NAME, not --all-sessions")
    bad = [ref for ref in refs if not is_reference(ref)]
    if bad:
        raise ConfigError(f"{bad[0]!r} is no reference: those are 16 characters of a-z and 2-7")
    what = f"{len(refs):,} results" if refs else "all results"
    whose = f"session {session!r}" if session is not None else f"namespace {namespace!r}"
    if not yes:
        click.confirm(f"Delete {what} of {whose}?", abort=True, err=True)
    store = open_store(backend)
    try:
        if refs and session is not None:
            archive = Archive(store, session=session, namespace=namespace)
            there = [(ref, meta) for ref in dict.fromkeys(refs) if (meta := archive.find(ref)) is not None]
            archive.delete([ref for ref, _ in there])
            deleted, size = len(there), sum(meta.size + meta.structure for _, meta in there)
        else:
            prefix = (
                key_segment(namespace) + "/" + (f"{key_segment(session)}/" if session is not None else "")
            )
            done = [(1, stat.size) for stat in with_progress(delete_objects(store, prefix), label="Deleting")]
            deleted, size = len(done), sum(bytes_ for _, bytes_ in done)
    finally:
        store.close()
    if as_json:
        print_json({"deleted": deleted, "bytes": size})
    else:
        click.echo(f"{deleted:,} results deleted, {size:,} bytes")
