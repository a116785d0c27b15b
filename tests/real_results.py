"""The texts of real tool results, for tests that measure."""

from __future__ import annotations

import gzip
import json

from conftest import DATA, missing, transcript_paths


def real_results() -> list[str]:
    """Return the texts of the tool results of every third real transcript."""
    paths = transcript_paths()[::3]
    if not paths:
        missing(f"no transcripts in {DATA}: set OFFLOADKIT_DATA")
    found = []
    for path in paths:
        data = path.read_bytes()
        document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
        contents = [message["content"] for message in document["messages"] if message["role"] == "tool"]
        found += [content for content in contents if isinstance(content, str)]
    return found
