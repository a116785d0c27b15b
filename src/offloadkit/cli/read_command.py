"""``offloadkit read``: a page of a stored result, as the agent's tool gives it."""

from __future__ import annotations

from typing import Any

import click

from offloadkit.archive import Archive
from offloadkit.cli.options import json_option, open_store, session_options
from offloadkit.cli.output import print_json
from offloadkit.cli.transcripts import print_bytes
from offloadkit.errors import ConfigError, NotFound
from offloadkit.offloader import Offloader
from offloadkit.policy import MIN_PAGE_TOKENS, Policy

__all__ = ["command"]


@click.command(name="read")
@click.argument("ref")
@click.option("--offset", type=int, help="First line, from 1; negative counts from the end.")
@click.option("--limit", type=click.IntRange(min=1), help="How many lines, or matches.")
@click.option("--column", type=int, help="First character in that line, from 1.")
@click.option("--search", help="Literal text to find.")
@click.option("--regex", help="Regular expression (RE2) to find.")
@click.option("--context", type=int, help="Lines around each hit.")
@click.option("--query", help="JMESPath, for JSON and JSON Lines.")
@click.option(
    "--page-tokens",
    type=click.IntRange(min=MIN_PAGE_TOKENS),
    default=Policy().page_tokens,
    show_default=True,
    help="The most that is shown.",
)
@session_options
@json_option
def command(
    ref: str,
    page_tokens: int,
    backend: str | None,
    session: str,
    namespace: str,
    as_json: bool,
    **asked: Any,
) -> None:
    """Show a page of the stored result REF, as the agent's tool does."""
    if asked["search"] is not None and asked["regex"] is not None:
        raise ConfigError("read takes --search or --regex, not both")
    policy = Policy(page_tokens=page_tokens)
    store = open_store(backend)
    try:
        if Archive(store, session=session, namespace=namespace).find(ref) is None:
            raise NotFound(
                f"session {session!r} has no stored result {ref!r}; 'offloadkit ls' lists what it has"
            )
        answer = Offloader(store, session=session, namespace=namespace, policy=policy).read(ref, **asked)
    finally:
        store.close()
    if as_json:
        print_json({"ref": ref, "answer": answer})
    else:
        print_bytes(f"{answer}\n".encode("utf-8", "backslashreplace"))
