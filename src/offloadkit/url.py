"""Config URLs: ``scheme[+engine]://[user[:password]@]host[:port]/path?option=value``.

A `BackendURL` is what a backend's ``from_url`` receives: taken apart, percent-decoded, its options checked
against what the backend declared. Secrets are masked wherever the value is shown, and it refuses to be
pickled; only `BackendURL.reveal` and the attributes ``password`` and ``options`` hand them out.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from offloadkit.errors import ConfigError

__all__ = ["BackendURL", "Option", "parse_url"]

_MASK = "***"
_SECRET_WORD = re.compile(r"pass|pwd|secret|token|key|sig|cred|auth", re.IGNORECASE)
_SIZES = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}

OptionKind = Literal["text", "integer", "boolean", "bytes", "seconds", "choice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option that a backend takes in its URL.

    Attributes:
        name: As it stands in the URL.
        kind: How its text is read: ``bytes`` takes ``64MiB``, ``seconds`` takes ``15m``.
        default: The value when the URL does not name it.
        choices: The allowed texts of a ``choice``.
        secret: Never shown. Give it by ``NAME_env=VARIABLE`` or ``NAME_file=PATH`` to keep it out of the URL.
        help: One line for ``offloadkit backends``.
    """

    name: str
    kind: OptionKind = "text"
    default: Any = None
    choices: tuple[str, ...] = ()
    secret: bool = False
    help: str

    def parse(self, text: str) -> Any:
        """Return the value that ``text`` stands for. Raises `ConfigError`, which never shows a secret."""
        value: Any = None
        if self.kind == "text":
            value = text
        elif self.kind == "choice":
            value = text if text in self.choices else None
        elif self.kind == "boolean":
            value = _BOOLEANS.get(text.lower())
        elif self.kind == "integer":
            value = int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
        else:
            units = _SIZES if self.kind == "bytes" else _SECONDS
            value = _scaled(text, units)
            if value is not None and self.kind == "bytes":
                value = int(value)
        if value is None:
            shown = "" if self.secret else f", not {text!r}"
            raise ConfigError(f"option {self.name!r} takes {self.expects()}{shown}")
        return value

    def expects(self) -> str:
        """Say in words what the option takes."""
        return {
            "text": "text",
            "integer": "a whole number from 0",
            "boolean": "true or false",
            "bytes": "a size such as 65536, 64KiB or 64MiB",
            "seconds": "a duration such as 30, 500ms, 15m, 2h or 7d",
            "choice": "one of " + ", ".join(self.choices),
        }[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendURL:
    """A config URL, taken apart.

    Attributes:
        scheme: What stands before ``://`` without the engine: ``redis`` of ``redis+unix://``.
        engine: What follows the ``+``, or "".
        netloc: Host and port as written, without user and password; several hosts stay joined by commas.
        username: Decoded, or None.
        password: Decoded, or None. Taken from ``password_env`` or ``password_file`` where those are given.
        path: Decoded, with its leading slash, or "".
        options: After `with_options`: every declared option with its value. Before: the texts as written.
    """

    scheme: str
    engine: str = ""
    netloc: str = ""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    secret_options: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def full_scheme(self) -> str:
        """Scheme and engine as they stand in the URL."""
        return f"{self.scheme}+{self.engine}" if self.engine else self.scheme

    @property
    def host(self) -> str:
        """The host without its port and brackets, or ""."""
        return self._split_netloc()[0]

    @property
    def port(self) -> int | None:
        """The port, or None. Raises `ConfigError` when it is no number from 1 to 65535."""
        text = self._split_netloc()[1]
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
            raise ConfigError(f"the port in {self} must be a number from 1 to 65535")
        return int(text)

    def _split_netloc(self) -> tuple[str, str]:
        found = re.fullmatch(r"(?:\[([^\]]*)\]|([^:]*))(?::(.*))?", self.netloc)
        if found is None:
            raise ConfigError(f"the host in {self} must be a name or an address, an IPv6 address in brackets")
        return found[1] or found[2] or "", found[3] or ""

    def with_options(self, declared: Iterable[Option]) -> BackendURL:
        """Return the URL with its options read as ``declared`` and defaults filled in.

        Raises:
            ConfigError: An unknown option (with the nearest known one) or a value of the wrong kind.
        """
        known = {option.name: option for option in declared}
        values: dict[str, Any] = {name: option.default for name, option in known.items()}
        password = self.password
        for written, text in self.options.items():
            name, given = _resolve_indirect(written, text, {*known, "password"})
            if name == "password":
                password = given
            elif name in known:
                values[name] = known[name].parse(given)
            else:
                raise ConfigError(_unknown_option(self.full_scheme, written, known))
        secrets = frozenset(name for name, option in known.items() if option.secret)
        return replace(self, options=values, password=password, secret_options=secrets)

    def reveal(self) -> str:
        """Return the URL of user, password, host and path for a driver, secrets included, options left out."""
        return self._render(self.password) + _quoted_path(self.path)

    def __str__(self) -> str:
        """Return the URL with every secret masked."""
        shown = [f"{name}={self._shown(name, value)}" for name, value in self.options.items() if value is not None]
        query = "?" + "&".join(shown) if shown else ""
        return self._render(None if self.password is None else _MASK) + _quoted_path(self.path) + query

    __repr__ = __str__

    def __reduce__(self) -> NoReturn:
        """Refuse: a pickle would hold the secrets."""
        raise TypeError("a BackendURL is not pickled, since it may hold a secret; pass the URL text instead")

    def _shown(self, name: str, value: Any) -> str:
        if name in self.secret_options or _SECRET_WORD.search(name):
            return _MASK
        return quote(str(value).lower() if isinstance(value, bool) else str(value), safe="/:,")

    def _render(self, password: str | None) -> str:
        user = "" if self.username is None else quote(self.username, safe="")
        if password is not None:
            user += ":" + (password if password == _MASK else quote(password, safe=""))
        return f"{self.full_scheme}://{user}{'@' if user else ''}{self.netloc}"


def parse_url(text: str) -> BackendURL:
    """Take a config URL apart; its options stay texts until `BackendURL.with_options`.

    Raises:
        ConfigError: Not such a URL. The message never repeats what may be a secret.
    """
    scheme, separator, rest = text.partition("://")
    if not separator or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        raise ConfigError(
            "a backend URL looks like scheme://host/path?option=value, for instance "
            "file:///var/lib/agent or redis://localhost:6379/0"
        )
    parts = urlsplit("x://" + rest)
    if parts.fragment or "#" in rest:
        raise ConfigError(f"the {scheme}:// URL holds a raw '#'; write it as %23")
    credentials, at, netloc = parts.netloc.rpartition("@")
    if "?" in credentials or "/" in credentials:
        raise ConfigError(f"write '/', '?' and '@' in the password of the {scheme}:// URL as %2F, %3F and %40")
    username, colon, password = credentials.partition(":")
    name, _, engine = scheme.lower().partition("+")
    return BackendURL(
        scheme=name,
        engine=engine,
        netloc=netloc,
        username=unquote(username) if at and username else None,
        password=unquote(password) if colon else None,
        path=unquote(parts.path),
        options=_parse_query(scheme, parts.query),
    )


def _parse_query(scheme: str, query: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True, strict_parsing=False):
        if name in options:
            raise ConfigError(f"option {name!r} stands twice in the {scheme}:// URL")
        options[name] = value
    return options


def _resolve_indirect(name: str, text: str, known: set[str]) -> tuple[str, str]:
    """Follow ``NAME_env=VARIABLE`` and ``NAME_file=PATH``."""
    if name.removesuffix("_env") in known and name not in known:
        target = name.removesuffix("_env")
        if text not in os.environ:
            raise ConfigError(f"option {name!r} names the environment variable {text!r}, which is not set")
        return target, os.environ[text]
    if name.removesuffix("_file") in known and name not in known:
        target = name.removesuffix("_file")
        try:
            return target, Path(text).read_text(encoding="utf-8").rstrip("\r\n")
        except OSError as error:
            raise ConfigError(f"option {name!r} names the file {text!r}: {error.strerror}") from error
    return name, text


def _unknown_option(scheme: str, name: str, known: Mapping[str, Option]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    names = ", ".join(sorted(known)) or "none"
    return f"{scheme}:// has no option {name!r}{hint} (known: {names})"


def _scaled(text: str, units: Mapping[str, float]) -> float | None:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", text)
    if found is None or found[2].lower() not in units:
        return None
    return float(found[1]) * units[found[2].lower()]


def _quoted_path(path: str) -> str:
    return quote(path, safe="/:~")
