"""Several regular expressions as one."""

from __future__ import annotations

import re

__all__ = ["any_of"]


def any_of(*patterns: str) -> re.Pattern[str]:
    """Return a pattern that matches what any of ``patterns`` matches."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
