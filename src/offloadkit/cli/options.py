"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, TypeVar, get_args, get_type_hints

import click

from offloadkit.backend import Backend
from offloadkit.errors import ConfigError, Denied
from offloadkit.formats import FORMATS
from offloadkit.policy import Policy
from offloadkit.registry import open_backend

__all__ = [
    "DEFAULT_SESSION",
    "backend_option",
    "format_option",
    "json_option",
    "open_store",
    "policy_options",
    "read_policy",
    "session_options",
]

DEFAULT_SESSION: Final = "default"
_C = TypeVar("_C", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
format_option = click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    help="The message format; recognised when not given.",
)
backend_option = click.option(
    "--backend", metavar="URL", help="The store, as a config URL.  [env: OFFLOADKIT_BACKEND]"
)


def session_options(command: _C) -> _C:
    """Add ``--backend``, ``--session`` and ``--namespace``."""
    for option in (
        click.option("--namespace", default="default", show_default=True, help="Whose session it is."),
        click.option("--session", default=DEFAULT_SESSION, show_default=True, help="Whose results they are."),
        backend_option,
    ):
        command = option(command)
    return command


def policy_options(command: _C) -> _C:
    """Add ``--policy`` and ``--set``."""
    for option in (
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="FIELD=VALUE",
            help="Set one field of the policy; may be repeated.",
        ),
        click.option(
            "--policy",
            "preset",
            type=click.Choice(["default", "frugal"]),
            default="default",
            show_default=True,
            help="The policy to start from.",
        ),
    ):
        command = option(command)
    return command


def open_store(url: str | None) -> Backend:
    """Open the store that the command line, the environment or the default names.

    Raises:
        ConfigError: The URL cannot be meant.
    """
    if url is None:
        url = os.environ.get("OFFLOADKIT_BACKEND") or _default_url()
    return open_backend(url)


def _default_url() -> str:
    from platformdirs import user_state_path  # noqa: PLC0415  only where no store is named

    path = user_state_path("offloadkit") / "store"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Denied(
            f"{path.parent} cannot be made ({error.strerror}); name a store with --backend"
        ) from error
    return path.as_uri()


def read_policy(preset: str, settings: tuple[str, ...]) -> Policy:
    """Return the policy that the options describe.

    Raises:
        ConfigError: An unknown field, or a value of the wrong type.
    """
    changes = dict(_setting(text) for text in settings)
    return Policy.frugal(**changes) if preset == "frugal" else Policy(**changes)


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    names = [f.name for f in fields(Policy) if f.name != "tools"]
    if not equals or name not in names:
        raise ConfigError(f"--set takes FIELD=VALUE with one of {', '.join(names)}, not {text!r}")
    kinds = get_args(get_type_hints(Policy)[name]) or (get_type_hints(Policy)[name],)
    if name == "exclude_tools":
        return name, tuple(value.split(","))
    if name == "clear_tool_inputs":
        return name, _boolean(name, value)
    if type(None) in kinds and value.lower() == "none":
        return name, None
    if int in kinds:
        return name, _whole_number(name, value)
    return name, value


def _whole_number(name: str, value: str) -> int:
    digits = value.replace("_", "").replace(",", "")
    if not digits.isdecimal():
        raise ConfigError(f"{name} takes a whole number, not {value!r}")
    return int(digits)


def _boolean(name: str, value: str) -> bool:
    if value.lower() not in {"true", "false"}:
        raise ConfigError(f"{name} takes true or false, not {value!r}")
    return value.lower() == "true"
