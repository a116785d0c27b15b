"""How the two strings of an object are called.

The object ``default/run-42/abc`` is kept in ``offloadkit:{default/run-42/abc}:d`` (its data) and
``offloadkit:{default/run-42/abc}:m`` (all else). The braces are a hash tag: a cluster keeps both strings on
one node, where one transaction reaches them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from offloadkit.errors import ConfigError

__all__ = ["Names"]

_PREFIX: Final = re.compile(r"[A-Za-z0-9._:/-]{1,100}")
_GLOB: Final = re.compile(r"([\\*?\[\]])")


@dataclass(frozen=True, slots=True)
class Names:
    """The names below one prefix.

    Attributes:
        prefix: What all names begin with.

    Raises:
        ConfigError: The prefix is empty, longer than 100 characters, or holds others than [A-Za-z0-9._:/-].
    """

    prefix: str

    def __post_init__(self) -> None:
        """Check the prefix."""
        if not _PREFIX.fullmatch(self.prefix):
            raise ConfigError("the option 'prefix' takes 1 to 100 characters of [A-Za-z0-9._:/-]")

    def data(self, key: str) -> str:
        """Return the name of the string that holds the data."""
        return f"{self.prefix}:{{{key}}}:d"

    def record(self, key: str) -> str:
        """Return the name of the string that holds metadata, expiry and time of creation."""
        return f"{self.prefix}:{{{key}}}:m"

    def pattern(self, key_prefix: str) -> str:
        """Return what SCAN matches against: the records of all keys that begin with ``key_prefix``."""
        literal = _GLOB.sub(r"\\\1", key_prefix)
        return f"{self.prefix}:{{{literal}*}}:m"

    def key_of(self, record_name: bytes) -> str:
        """Return the key whose record has this name."""
        return record_name.decode()[len(self.prefix) + 2 : -3]
