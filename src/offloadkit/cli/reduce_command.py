"""``offloadkit reduce``: a transcript as a live agent would have met it."""

from __future__ import annotations

from typing import Any

import click

from offloadkit.cli.options import (
    format_option,
    json_option,
    open_store,
    policy_options,
    read_policy,
    session_options,
)
from offloadkit.cli.output import print_json, print_table
from offloadkit.cli.transcripts import read_transcript
from offloadkit.errors import Unavailable
from offloadkit.events import Event, StoreFailed
from offloadkit.offloader import Offloader
from offloadkit.usage import Comparison, Usage

__all__ = ["command"]


@click.command(name="reduce")
@click.argument("transcript")
@click.option("-o", "--output", metavar="FILE", default="-", help="Where the reduced transcript goes.")
@format_option
@policy_options
@session_options
@json_option
def command(
    transcript: str,
    output: str,
    format_name: str | None,
    preset: str,
    settings: tuple[str, ...],
    backend: str | None,
    session: str,
    namespace: str,
    as_json: bool,
) -> None:
    """Reduce TRANSCRIPT as a live agent would have met it, and show what that saves.

    TRANSCRIPT is JSON or JSON Lines: a list of messages or an object that holds one; .gz is unpacked, - is
    standard input. The reduced transcript goes to standard output, or to the file of -o; the figures then go
    to standard error, or to standard output.
    """
    policy = read_policy(preset, settings)
    source = read_transcript(transcript)
    failures: list[Event] = []
    store = open_store(backend)
    with_events = Offloader(
        store, session=session, namespace=namespace, policy=policy, on_event=failures.append
    )
    try:
        reduced = with_events.reduce(source.messages, format=format_name)
        comparison = with_events.compare(source.messages, format=format_name)
    finally:
        store.close()
    if not store.caps.persistent and comparison.offloaded + comparison.cleared:
        click.echo("offloadkit: this store ends with the command; nothing can be restored from it", err=True)
    failed = [event for event in failures if isinstance(event, StoreFailed)]
    if failed:
        raise Unavailable(
            f"the store failed to {failed[0].operation} ({failed[0].error}); nothing was written"
        )
    source.write(reduced, output)
    to_stderr = output == "-"
    if as_json:
        print_json(_report(comparison), err=to_stderr)
    else:
        _print_report(comparison, to_stderr)


def _report(comparison: Comparison) -> dict[str, Any]:
    return {
        **comparison.to_json(),
        "cache_share_before": round(comparison.before.cache_share, 4),
        "cache_share_after": round(comparison.after.cache_share, 4),
    }


def _print_report(comparison: Comparison, to_stderr: bool) -> None:
    before, after = comparison.before, comparison.after
    click.echo(
        f"{comparison.offloaded:,} results offloaded, {comparison.cleared:,} cleared "
        f"over {before.calls:,} model calls",
        err=to_stderr,
    )
    rows = [
        _row("tokens of tool results", comparison.tokens_before, comparison.tokens_after),
        _row("tokens sent, all calls", before.tokens_sent, after.tokens_sent),
        _row("tokens of the largest call", before.largest_call, after.largest_call),
        ["share read from the prompt cache", _share(before), _share(after), ""],
    ]
    print_table(["", "before", "after", "change"], rows, err=to_stderr)


def _row(name: str, before: int, after: int) -> list[str]:
    change = f"{(after - before) / before:+.1%}" if before else "0%"
    return [name, f"{before:,}", f"{after:,}", change]


def _share(usage: Usage) -> str:
    return f"{usage.cache_share:.1%}"
