"""Config URLs: ``scheme[+engine]://[user[:password]@]host[:port][,host[:port]]/path?option=value``.

A `BackendURL` is what a backend's ``from_url`` receives: taken apart, percent-decoded, its options checked
against what the backend declared. Secrets are masked wherever the value is shown, and it refuses to be
pickled; only `BackendURL.reveal` and the attributes ``password`` and ``options`` hand them out.

The grammar is stricter than that of the web, since a URL that is read in two ways leaks a password: what
follows a ``#`` is no fragment but a mistake, an ``@`` stands once at most, and ``+`` is no blank.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NoReturn
from urllib.parse import quote, unquote

from offloadkit.errors import ConfigError

__all__ = ["BackendURL", "Option", "parse_url"]

_PART_NAMES: Final[Mapping[URLPart, str]] = {
    "engine": "engine after a '+'",
    "username": "user",
    "password": "password",
    "netloc": "host",
    "path": "path",
}
_MASK: Final = "***"
_SECRET_WORD: Final = re.compile(r"pass|pwd|secret|token|key|sig|cred|auth", re.IGNORECASE)
_USER_INFO: Final = re.compile(r"(?<=://)[^/?#]*@")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9.-]*(?:\+[A-Za-z0-9.+-]+)?")
_HOST: Final = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]\\]*))(?::([0-9]{0,9}))?")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_SIZES: Final = {
    "": 1,
    "b": 1,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
}
_SECONDS: Final = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_BOOLEANS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}

OptionKind = Literal["text", "integer", "boolean", "bytes", "seconds", "choice"]
URLPart = Literal["engine", "username", "password", "netloc", "path"]


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
        value = self._value(text)
        if value is None:
            shown = "" if _is_secret(self.name) or self.secret else f", not {text!r}"
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

    def _value(self, text: str) -> Any:
        if self.kind == "text":
            return text
        if self.kind == "choice":
            return text if text in self.choices else None
        if self.kind == "boolean":
            return _BOOLEANS.get(text.lower())
        if self.kind == "integer":
            return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
        if self.kind == "bytes":
            size = _scaled(text, _SIZES)
            return None if size is None else round(size)
        seconds = _scaled(text, _SECONDS)
        return None if seconds is None else float(seconds)


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
        secret_options: The options declared as secret; None before `with_options`, when any may be.
    """

    scheme: str
    engine: str = ""
    netloc: str = ""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    secret_options: frozenset[str] | None = field(default=None, repr=False)

    @property
    def full_scheme(self) -> str:
        """Scheme and engine as they stand in the URL."""
        return f"{self.scheme}+{self.engine}" if self.engine else self.scheme

    @property
    def hosts(self) -> tuple[tuple[str, int | None], ...]:
        """Each host without its brackets, and its port or None; one empty host where the URL names none.

        Raises `ConfigError` when a port is no number from 1 to 65535.
        """
        return tuple(_split_host(self.full_scheme, host) for host in self.netloc.split(","))

    @property
    def host(self) -> str:
        """The host without its brackets, or "". Raises `ConfigError` when there are several."""
        return self._only_host()[0]

    @property
    def port(self) -> int | None:
        """The port, or None. Raises `ConfigError` when it is no number from 1 to 65535."""
        return self._only_host()[1]

    def allow_only(self, *parts: URLPart) -> None:
        """Raise `ConfigError` if the URL holds a part that its backend has no use for.

        ``parts`` are the attributes that may be given; options are checked by `with_options`.
        """
        for part, name in _PART_NAMES.items():
            if part not in parts and getattr(self, part) not in ("", None):
                raise ConfigError(f"{self.scheme}:// takes no {name}")

    def with_options(self, declared: Iterable[Option]) -> BackendURL:
        """Return the URL with its options read as ``declared`` and defaults filled in.

        Raises:
            ConfigError: An unknown option (with the nearest known one) or a value of the wrong kind.
        """
        known = {option.name: option for option in declared}
        given = self._given_texts(known)
        password = given.pop("password", self.password)
        values = {
            name: option.parse(given[name]) if name in given else option.default
            for name, option in known.items()
        }
        secrets = frozenset(name for name, option in known.items() if option.secret)
        return replace(self, options=MappingProxyType(values), password=password, secret_options=secrets)

    def reveal(self) -> str:
        """Return user, password, host and path as a URL for a driver: secrets included, options left out."""
        return self._render(self.password) + _quoted_path(self.path)

    def __str__(self) -> str:
        """Return the URL with every secret masked."""
        shown = [
            f"{name}={self._shown(name, value)}" for name, value in self.options.items() if value is not None
        ]
        query = "?" + "&".join(shown) if shown else ""
        return self._render(None if self.password is None else _MASK) + _quoted_path(self.path) + query

    __repr__ = __str__

    def __copy__(self) -> BackendURL:
        """Return itself: it cannot change."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> BackendURL:
        """Return itself: it cannot change."""
        return self

    def __reduce__(self) -> NoReturn:
        """Refuse: a pickle would hold the secrets."""
        raise TypeError("a BackendURL is not pickled, since it may hold a secret; pass the URL text instead")

    def _only_host(self) -> tuple[str, int | None]:
        if len(self.hosts) > 1:
            raise ConfigError(
                f"the {self.full_scheme}:// URL names {len(self.hosts)} hosts where one is expected"
            )
        return self.hosts[0]

    def _given_texts(self, known: Mapping[str, Option]) -> dict[str, str]:
        given = {} if self.password is None else {"password": self.password}
        for written, text in self.options.items():
            name, value = _resolve_indirect(written, text, {*known, "password"})
            if name != "password" and name not in known:
                raise ConfigError(_unknown_option(self.full_scheme, written, known))
            if name in given:
                raise ConfigError(f"{name!r} is given twice in the {self.full_scheme}:// URL")
            given[name] = value
        return given

    def _shown(self, name: str, value: Any) -> str:
        if self.secret_options is None or name in self.secret_options or _is_secret(name):
            return _MASK
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return quote(_USER_INFO.sub(f"{_MASK}@", text), safe="/:,*")

    def _render(self, password: str | None) -> str:
        user = "" if self.username is None else quote(self.username, safe="")
        if password is not None:
            user += ":" + quote(password, safe="*" if password == _MASK else "", errors="surrogateescape")
        return f"{self.full_scheme}://{user}{'@' if user else ''}{self.netloc}"


def parse_url(text: str) -> BackendURL:
    """Take a config URL apart; its options stay texts until `BackendURL.with_options`.

    Raises:
        ConfigError: Not such a URL. The message never repeats what may be a secret.
    """
    scheme, separator, rest = text.strip().partition("://")
    if not separator or not _SCHEME.fullmatch(scheme):
        raise ConfigError(
            "a backend URL looks like scheme://host/path?option=value, for instance "
            "file:///var/lib/agent or redis://localhost:6379/0"
        )
    authority, path, query = _split(scheme, rest)
    credentials, _, netloc = authority.rpartition("@")
    username, colon, password = credentials.partition(":")
    name, _, engine = scheme.lower().partition("+")
    return BackendURL(
        scheme=name,
        engine=engine,
        netloc=netloc,
        username=_decoded(scheme, username) or None,
        password=_decoded(scheme, password) if colon else None,
        path=_decoded_path(scheme, path),
        options=_parse_query(scheme, query),
    )


def _split(scheme: str, rest: str) -> tuple[str, str, str]:
    """Return authority, path and query. Refuse whatever could hide a part of a password in one of them."""
    if "#" in rest:
        raise ConfigError(f"the {scheme}:// URL holds a raw '#'; write it as %23")
    if _UNPRINTABLE.search(rest):
        raise ConfigError(f"the {scheme}:// URL holds a control character or a lone surrogate")
    place, _, query = rest.partition("?")
    authority, slash, path = place.partition("/")
    if authority.count("@") > 1 or (":" in authority and "@" in path + query):
        raise ConfigError(
            f"the {scheme}:// URL holds an '@' too many: write '/', '?' and '@' inside a user, a password or "
            "an option as %2F, %3F and %40, and give user and password once, before all hosts"
        )
    for host in authority.rpartition("@")[2].split(","):
        if not _HOST.fullmatch(host):
            raise ConfigError(
                f"a host of the {scheme}:// URL is a name or an address (IPv6 in brackets), then maybe ':' "
                "and a port number; a user and a password stand before it and end with '@'"
            )
    return authority, slash + path, query


def _split_host(scheme: str, text: str) -> tuple[str, int | None]:
    found = _HOST.fullmatch(text)
    port = found[3] if found else None
    if found is None or (port and not 0 < int(port) < 65536):
        raise ConfigError(f"a port in the {scheme}:// URL must be a number from 1 to 65535")
    return found[1] or found[2] or "", int(port) if port else None


def _decoded(scheme: str, text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise ConfigError(f"percent-encoded bytes in the {scheme}:// URL must be UTF-8") from None


def _decoded_path(scheme: str, text: str) -> str:
    path = _decoded(scheme, text)
    if _UNPRINTABLE.search(path):
        raise ConfigError(f"the path of the {scheme}:// URL holds a control character")
    return path


def _parse_query(scheme: str, query: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        written, _, text = pair.partition("=")
        name = _decoded(scheme, written)
        if name in options:
            raise ConfigError(f"option {name!r} stands twice in the {scheme}:// URL")
        options[name] = _decoded(scheme, text)
    return options


def _resolve_indirect(name: str, text: str, known: set[str]) -> tuple[str, str]:
    """Follow ``NAME_env=VARIABLE`` and ``NAME_file=PATH``.

    No message shows the text: whoever mistakes the option for its plain sibling has put the secret there.
    """
    if name not in known and name.removesuffix("_env") in known:
        if text not in os.environ:
            raise ConfigError(f"option {name!r} names an environment variable that is not set")
        return name.removesuffix("_env"), os.environ[text]
    if name not in known and name.removesuffix("_file") in known:
        return name.removesuffix("_file"), _read_secret(name, text)
    return name, text


def _read_secret(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        reason = error.strerror
    except ValueError:
        reason = "it is no UTF-8 text, or the name holds a NUL"
    raise ConfigError(f"option {name!r} names a file that cannot be read: {reason}")


def _unknown_option(scheme: str, name: str, known: Mapping[str, Option]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    names = ", ".join(sorted(known)) or "none"
    return f"{scheme}:// has no option {name!r}{hint} (known: {names})"


def _is_secret(name: str) -> bool:
    return _SECRET_WORD.search(name) is not None


def _scaled(text: str, units: Mapping[str, float]) -> float | None:
    """Return the number times its unit, exact for whole numbers."""
    found = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)", text)
    unit = units.get(found[2].lower()) if found else None
    if found is None or unit is None:
        return None
    return (float(found[1]) if "." in found[1] else int(found[1])) * unit


def _quoted_path(path: str) -> str:
    return quote(path, safe="/:~")
