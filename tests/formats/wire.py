"""Bodies as they went over the wire, and whole transcripts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import DATA, missing_parameters


def wire_histories(name: str, key: str) -> list[Any]:
    """Return the message lists of a format's recorded request bodies, as parameters; or one skip."""
    paths = sorted(DATA.glob(f"transcripts/wire/{name}/*"))
    if not paths:
        return missing_parameters(f"no recorded {name} bodies: set OFFLOADKIT_DATA to where transcripts/ is")
    return [pytest.param(load(path)[key], id=path.name.partition(".")[0]) for path in paths]


def load(path: Path) -> Any:
    """Return what a JSON file holds, compressed or not."""
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
