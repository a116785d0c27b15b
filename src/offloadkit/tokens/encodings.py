"""Encodings of tiktoken, loaded from files on this machine and never from the network.

tiktoken itself downloads an encoding when its cache does not hold it. So the vocabulary is read here, and
only the pattern and the special tokens are taken from tiktoken, whose definitions are run in a private copy
of its module.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha1, sha256
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from offloadkit.errors import ConfigError, MissingDependency

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["load_encoding"]

_INSTALL = 'pip install "offloadkit[tiktoken]"'


def load_encoding(name: str) -> Encoding:
    """Return the encoding; it takes about half a second.

    Raises:
        ConfigError: No such encoding, or its vocabulary is not on this machine.
        MissingDependency: tiktoken is not installed.
    """
    try:
        from tiktoken import Encoding  # noqa: PLC0415  an optional dependency
    except ImportError as error:
        raise MissingDependency(f"'tiktoken:{name}' needs the package tiktoken: {_INSTALL}") from error
    definitions = _private_definitions()
    known = definitions.ENCODING_CONSTRUCTORS
    if name not in known:
        raise ConfigError(f"tiktoken has no encoding {name!r}; it has {', '.join(sorted(known))}")
    return Encoding(**known[name]())


def _private_definitions() -> ModuleType:
    """Run tiktoken's definitions in a module of our own, in which vocabularies come from files alone."""
    spec = find_spec("tiktoken_ext.openai_public")
    if spec is None or spec.loader is None:
        raise MissingDependency(f"the installed tiktoken holds no definitions of encodings: {_INSTALL}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(load_tiktoken_bpe=_vocabulary, data_gym_to_mergeable_bpe_ranks=_refuse_gpt2)
    return module


def _vocabulary(address: str, expected_hash: str | None = None) -> dict[bytes, int]:
    for content in _candidates(address):
        if expected_hash is None or sha256(content).hexdigest() == expected_hash:
            return {b64decode(token): int(rank) for token, rank in map(bytes.split, content.splitlines())}
    raise ConfigError(
        f"the vocabulary {Path(address).name} is not on this machine, and offloadkit downloads nothing. "
        f"Either install the package bpe-openai, which holds o200k_base and cl100k_base ({_INSTALL}), or set "
        "TIKTOKEN_CACHE_DIR to a folder that tiktoken filled where there was a network"
    )


def _refuse_gpt2(**_: str) -> NoReturn:
    raise ConfigError("the encoding gpt2 cannot be loaded without a network; r50k_base counts the same")


def _candidates(address: str) -> Iterator[bytes]:
    """Yield what may be the vocabulary: from tiktoken's cache, then from the package bpe-openai."""
    folder = _cache_folder()
    if folder is not None:
        cached = folder / sha1(address.encode(), usedforsecurity=False).hexdigest()
        if cached.is_file():
            yield cached.read_bytes()
    packaged = _packaged(Path(address).name + ".gz")
    if packaged is not None and packaged.is_file():
        yield gzip.decompress(packaged.read_bytes())


def _cache_folder() -> Path | None:
    """Return where tiktoken keeps what it downloaded; None when its cache is switched off."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir(), "data-gym-cache")


def _packaged(name: str) -> Path | None:
    """Find a data file of bpe-openai without importing it: that would load its 74 MB library."""
    spec = find_spec("bpe_openai")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "data" / name
