"""The ``offloadkit`` command: one file per sub-command, each loaded when it is called.

Exit codes: 0 fine, 1 a fault in the data or in the store, 2 wrong use.
"""

from __future__ import annotations

import importlib
import logging
import sys
from typing import Any, Final

import click

from offloadkit.errors import ConfigError, OffloadkitError

__all__ = ["main"]

COMMANDS: Final = {
    "reduce": "Reduce a transcript as a live agent would have met it, and show what that saves.",
    "restore": "Put every original back into a reduced transcript.",
    "read": "Show a page of a stored result, as the agent's tool does.",
    "ls": "List stored results.",
    "stats": "Count what is stored.",
    "rm": "Delete stored results.",
    "sweep": "Delete stored results that have expired.",
    "backends": "List the storage backends, or check one.",
    "demo": "Run a scripted agent with real tool output: no key, no network.",
}


class _Commands(click.Group):
    """A group whose commands are imported when they are called, so that ``--help`` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"offloadkit.cli.{cmd_name}_command")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="offloadkit", prog_name="offloadkit")
def cli() -> None:
    """Keep large and old tool results out of an agent's context, and within its reach.

    The store comes from --backend, else from OFFLOADKIT_BACKEND, else it is a folder in your state directory.
    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line and exit: every error of ours is one line on stderr, and an exit code."""
    logging.getLogger("offloadkit").addHandler(logging.NullHandler())
    try:
        return cli.main(arguments, prog_name="offloadkit")
    except OffloadkitError as error:
        click.echo(f"offloadkit: {error}", err=True)
        sys.exit(2 if isinstance(error, ConfigError) else 1)
