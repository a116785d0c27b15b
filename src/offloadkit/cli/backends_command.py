"""``offloadkit backends``: what is there, and whether a store works."""

from __future__ import annotations

import sys

import click

from offloadkit.cli.options import json_option
from offloadkit.cli.output import print_json, print_table

__all__ = ["command"]


@click.group(name="backends", invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the storage backends: scheme, provider, and what to install. No driver is loaded.

    With check URL: probe a live store.
    """
    if context.invoked_subcommand is not None:
        return
    from offloadkit.registry import available_backends  # noqa: PLC0415

    found = available_backends()
    if as_json:
        print_json(
            [
                {
                    "scheme": info.scheme,
                    "provider": info.provider,
                    "version": info.version,
                    "builtin": info.builtin,
                    "status": info.status,
                    "detail": info.detail,
                }
                for info in found
            ]
        )
        return
    rows = [
        [
            f"{info.scheme}://",
            f"{info.provider} {info.version}",
            "built-in" if info.builtin else "plug-in",
            info.status if not info.detail else f"{info.status}: {info.detail}",
        ]
        for info in found
    ]
    print_table(["scheme", "provider", "kind", "state"], rows)


@command.command(name="check")
@click.argument("url")
@json_option
def check(url: str, as_json: bool) -> None:
    """Probe the store at URL in a scratch prefix, and leave nothing behind."""
    from offloadkit.testing import check_backend  # noqa: PLC0415

    report = check_backend(url)
    if as_json:
        print_json(report.to_json())
    else:
        click.echo(str(report))
    if not report.passed:
        sys.exit(1)
