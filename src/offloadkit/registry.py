"""From a config URL to a backend, by entry points.

A distribution (a package as pip installs it) announces a backend in its metadata::

    [project.entry-points."offloadkit.backends"]
    redis = "offloadkit_redis:RedisBackend [redis]"

The name is the URL scheme; the extra in brackets is where the driver stands. Nothing is imported before its
scheme is used, and never the entry point of another scheme. The built-in backends come through the same door.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from offloadkit.backend import Backend, BackendClass
from offloadkit.errors import BackendConflict, ConfigError, MissingDependency, UnknownScheme
from offloadkit.url import BackendURL, parse_url

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from packaging.requirements import Requirement

__all__ = ["BackendInfo", "available_backends", "forget_scan", "open_backend", "register"]

GROUP: Final = "offloadkit.backends"
_OURS: Final = "offloadkit"
_SCHEME: Final = re.compile(r"[a-z][a-z0-9.-]*(?:\+[a-z0-9.+-]+)?")
_VALUE: Final = re.compile(r"(\w+(?:\.\w+)*)\s*:\s*(\w+(?:\.\w+)*)\s*(?:\[([^\]]*)\])?\s*")

_log = logging.getLogger("offloadkit")
_registered: dict[str, type[BackendClass]] = {}

Status = Literal["ok", "missing", "broken", "conflict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendInfo:
    """One backend that could be opened, told without importing it.

    Attributes:
        scheme: The URL scheme it serves.
        provider: The distribution that brings it, or the module of a class given to `register`.
        version: The version of that distribution, or "".
        builtin: True for the backends of offloadkit itself.
        status: "ok"; "missing" when its driver is not installed; "broken" when its module is not there;
            "conflict" when another provider claims the scheme too.
        detail: What is the matter and what to do, for instance the install command; "" when all is well.
    """

    scheme: str
    provider: str
    version: str
    builtin: bool
    status: Status
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a distribution says of one scheme: that ``value`` serves it."""

    scheme: str
    value: str
    provider: str
    version: str
    requires: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.provider} {self.version} ({self.value})"

    def target(self) -> tuple[str, str, tuple[str, ...]]:
        """Return module, attribute and extras. Raises `ConfigError`."""
        found = _VALUE.fullmatch(self.value)
        if found is None:
            raise ConfigError(f"the entry point of {self} for {self.scheme}:// is not 'module:Class [extra]'")
        return found[1], found[2], tuple(filter(None, re.split(r"[\s,]+", found[3] or "")))


def open_backend(url: str) -> Backend:
    """Open the backend that a config URL names. There is no I/O before its first call.

    The full scheme is looked up first (``s3+obstore``), then the part before the ``+``.

    Raises:
        UnknownScheme: No backend is registered for it.
        MissingDependency: Its driver is not installed. The message holds the install command.
        BackendConflict: Two distributions claim the scheme.
        ConfigError: The URL or an option cannot be meant, or the plug-in is broken.
    """
    parsed = parse_url(url)
    for scheme in (parsed.full_scheme, parsed.scheme):
        if scheme in _registered:
            return _made(_registered[scheme], parsed)
        if scheme in _claims():
            claim = _chosen(scheme)
            backend_class = _loaded(claim)
            try:
                return _made(backend_class, parsed)
            except ImportError as error:
                raise _load_error(claim, error) from error
    raise UnknownScheme(_unknown_scheme(parsed.full_scheme))


def register(scheme: str, backend_class: type[BackendClass], *, replace: bool = False) -> None:
    """Serve a scheme by a class, in programs that have no entry point to announce it with.

    Args:
        scheme: In lower case, with its engine if it has one: ``mystore`` or ``s3+mine``.
        backend_class: What `offloadkit.backend.BackendClass` describes.
        replace: Take the scheme even from whoever has it.

    Raises:
        BackendConflict: The scheme is taken.
        ConfigError: The scheme or the class cannot be meant.
    """
    if not _SCHEME.fullmatch(scheme):
        raise ConfigError(f"{scheme!r} is no URL scheme: one begins with a letter, then [a-z0-9.-]")
    _check_class(backend_class, f"{backend_class!r}, registered for {scheme}://,")
    if not replace and _registered.get(scheme, backend_class) is not backend_class:
        raise BackendConflict(
            f"{scheme}:// is served by {_registered[scheme]!r}; pass replace=True to take it over"
        )
    if not replace and scheme in _claims():
        owners = " and ".join(map(str, _claims()[scheme]))
        raise BackendConflict(f"{scheme}:// is served by {owners}; pass replace=True to take it over")
    _registered[scheme] = backend_class


def available_backends() -> tuple[BackendInfo, ...]:
    """Describe every backend that is installed or registered, by scheme, without importing any."""
    found = [_registered_info(scheme) for scheme in _registered]
    for scheme, claims in _claims().items():
        if scheme not in _registered:
            found.extend(_claimed_info(claim) for claim in claims)
    return tuple(sorted(found, key=lambda info: (info.scheme, info.provider)))


def forget_scan() -> None:
    """Look at the installed distributions again at the next call. For tests; a program has no need of it."""
    _claims.cache_clear()


@functools.cache
def _claims() -> Mapping[str, tuple[_Claim, ...]]:
    """Scan the metadata of all distributions, once per process."""
    from importlib.metadata import distributions  # noqa: PLC0415 - 30 ms that only a user of backends pays

    found: dict[str, list[_Claim]] = {}
    seen: set[str] = set()
    for distribution in distributions():
        if GROUP not in (distribution.read_text("entry_points.txt") or "") or not _has_metadata(distribution):
            continue
        name = _normal(distribution.name)
        if name not in seen:  # else a second listing of it, as editable installs make, or a shadowed copy
            seen.add(name)
            for claim in dict.fromkeys(_claims_of(distribution)):
                found.setdefault(claim.scheme, []).append(claim)
    return {scheme: tuple(sorted(claims, key=str)) for scheme, claims in sorted(found.items())}


def _has_metadata(distribution: Distribution) -> bool:
    """Tell a distribution from the nameless remains of one."""
    return bool(distribution.read_text("METADATA") or distribution.read_text("PKG-INFO"))


def _claims_of(distribution: Distribution) -> Iterator[_Claim]:
    try:
        entry_points = distribution.entry_points
    except (TypeError, ValueError):
        _log.warning("the entry points of %s cannot be read; its backends are left out", distribution.name)
        return
    for entry_point in entry_points:
        if entry_point.group == GROUP:
            yield _Claim(
                scheme=entry_point.name.lower(),
                value=entry_point.value,
                provider=distribution.name,
                version=distribution.version,
                requires=tuple(distribution.requires or ()),
            )


def _chosen(scheme: str) -> _Claim:
    """Return the one claim that counts, by the user's word where there are several."""
    claims = _claims()[scheme]
    variable = f"OFFLOADKIT_PROVIDER_{re.sub(r'[^A-Z0-9]', '_', scheme.upper())}"
    wanted = os.environ.get(variable, "")
    named = [claim for claim in claims if not wanted or _normal(claim.provider) == _normal(wanted)]
    if len(named) == 1:
        return named[0]
    owners = " and ".join(map(str, claims))
    if not named:
        raise ConfigError(
            f"{variable}={wanted!r} names no distribution that serves {scheme}://: that is {owners}"
        )
    raise BackendConflict(
        f"{scheme}:// is claimed by {owners}; uninstall one of them, "
        f"or choose by the environment variable {variable}={claims[0].provider}"
    )


def _loaded(claim: _Claim) -> type[BackendClass]:
    module, attribute, _ = claim.target()
    try:
        loaded: Any = functools.reduce(getattr, attribute.split("."), importlib.import_module(module))
    except Exception as error:
        raise _load_error(claim, error) from error
    _check_class(loaded, f"the plug-in {claim} for {claim.scheme}://")
    backend_class: type[BackendClass] = loaded
    return backend_class


def _load_error(claim: _Claim, error: Exception) -> ConfigError:
    needs = _missing(claim) if isinstance(error, ModuleNotFoundError) else []
    if needs:
        return MissingDependency(f"{claim.scheme}:// {_what_to_install(claim, needs)}")
    return ConfigError(
        f"the plug-in {claim} for {claim.scheme}:// cannot be loaded: {type(error).__name__}: {error}"
    )


def _check_class(backend_class: Any, who: str) -> None:
    if not isinstance(backend_class, type) or not all(
        hasattr(backend_class, member) for member in ("options", "from_url")
    ):
        raise ConfigError(
            f"{who} is no class with 'options' and 'from_url'; see offloadkit.backend.BackendClass"
        )


def _made(backend_class: type[BackendClass], url: BackendURL) -> Backend:
    return backend_class.from_url(url.with_options(backend_class.options))


def _registered_info(scheme: str) -> BackendInfo:
    module = _registered[scheme].__module__
    return BackendInfo(scheme=scheme, provider=module, version="", builtin=False, status="ok")


def _claimed_info(claim: _Claim) -> BackendInfo:
    status, detail = _status(claim)
    return BackendInfo(
        scheme=claim.scheme,
        provider=claim.provider,
        version=claim.version,
        builtin=_normal(claim.provider) == _OURS,
        status=status,
        detail=detail,
    )


def _status(claim: _Claim) -> tuple[Status, str]:
    try:
        chosen = _chosen(claim.scheme)
    except ConfigError as error:
        return "conflict", str(error)
    if chosen is not claim:
        return "conflict", f"the environment chooses {chosen}"
    try:
        module, _, _ = claim.target()
    except ConfigError as error:
        return "broken", str(error)
    if not _is_importable(module):
        return "broken", f"{claim} is announced, but there is no module {module!r}"
    needs = _missing(claim)
    return ("missing", _what_to_install(claim, needs)) if needs else ("ok", "")


def _is_importable(module: str) -> bool:
    from importlib.util import find_spec  # noqa: PLC0415 - only for listing

    try:
        return find_spec(module.partition(".")[0]) is not None
    except ValueError:  # it is loaded already, without a spec
        return True


def _what_to_install(claim: _Claim, needs: Sequence[str]) -> str:
    _, _, extras = claim.target()
    return f'needs {", ".join(needs)}: pip install "{claim.provider}[{",".join(extras)}]"'


def _missing(claim: _Claim) -> list[str]:
    """Return which requirements of the entry point's extras are not installed, or not in that version."""
    _, _, extras = claim.target()
    try:
        needs = [need for need in _requirements(claim, frozenset(extras)) if not _is_installed(need)]
    except ValueError:  # metadata that cannot be read proves nothing
        return []
    return list(dict.fromkeys(f"{need.name}{need.specifier}" for need in needs))


def _requirements(claim: _Claim, extras: frozenset[str]) -> Iterator[Requirement]:
    """Yield what belongs to the extras alone; an extra may name others of the same distribution."""
    from packaging.requirements import Requirement  # noqa: PLC0415 - only for listing and for errors

    for requirement in map(Requirement, claim.requires):
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            continue
        if any(marker.evaluate({"extra": extra}) for extra in extras):
            if _normal(requirement.name) != _normal(claim.provider):
                yield requirement
            elif not requirement.extras <= extras:
                yield from _requirements(claim, extras | requirement.extras)


def _is_installed(requirement: Requirement) -> bool:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - see _claims

    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return False
    return bool(installed) and requirement.specifier.contains(installed, prereleases=True)


def _unknown_scheme(scheme: str) -> str:
    known = sorted({*_registered, *_claims()})
    if not known:
        return f"no backend at all is registered, so none for {scheme}://: is offloadkit installed by pip?"
    near = difflib.get_close_matches(scheme, known, n=1)
    hint = f"did you mean {near[0]}://? " if near else ""
    return f"no backend is registered for {scheme}://; {hint}Known schemes: {', '.join(known)}"


def _normal(name: str) -> str:
    """Return the name of a distribution in the one spelling that all its spellings share."""
    return re.sub(r"[-_.]+", "-", name).lower()
