"""``offloadkit restore``: every original back in its place."""

from __future__ import annotations

import click

from offloadkit.cli.options import format_option, json_option, open_store, session_options
from offloadkit.cli.output import print_json
from offloadkit.cli.transcripts import read_transcript
from offloadkit.errors import NotFound
from offloadkit.events import Event, Restored, RestoreMissed
from offloadkit.offloader import Offloader

__all__ = ["command"]


@click.command(name="restore")
@click.argument("transcript")
@click.option("-o", "--output", metavar="FILE", default="-", help="Where the restored transcript goes.")
@format_option
@click.option(
    "--keep-missing", is_flag=True, help="Leave placeholders whose reference does not open in place."
)
@session_options
@json_option
def command(
    transcript: str,
    output: str,
    format_name: str | None,
    keep_missing: bool,
    backend: str | None,
    session: str,
    namespace: str,
    as_json: bool,
) -> None:
    """Put every original back into the reduced TRANSCRIPT.

    Unless --keep-missing is given nothing is written when a reference does not open in this session.
    """
    source = read_transcript(transcript)
    events: list[Event] = []
    store = open_store(backend)
    try:
        offloader = Offloader(store, session=session, namespace=namespace, on_event=events.append)
        restored = offloader.restore(source.messages, format=format_name)
    finally:
        store.close()
    missing = [event.ref for event in events if isinstance(event, RestoreMissed)]
    if missing and not keep_missing:
        raise NotFound(
            f"{len(missing):,} of the references do not open in session {session!r}, "
            f"the first is {missing[0]}; "
            "name the right --session and --backend, or pass --keep-missing to leave them in place"
        )
    source.write(restored, output)
    count = sum(isinstance(event, Restored) for event in events)
    if as_json:
        print_json({"restored": count, "missing": missing}, err=output == "-")
    else:
        click.echo(f"{count:,} results restored, {len(missing):,} left in place", err=True)
