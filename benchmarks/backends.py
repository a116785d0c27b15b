"""Times every backend beside a raw client of the same store and beside py-key-value, in one run.

    python benchmarks/backends.py [--rounds 20] [--only redis] [--json]

Ours and the raw client create the same objects, never replacing one, with the same metadata and expiry, and
as durably; py-key-value as it does by itself. Then they read them whole, and 4 KB of them from random places
(a quarter of an object that is smaller). In a round it is each one's turn once, in an order that changes: ten
calls with an object of up to 100 KB, four with one of up to 1 MB, one with a larger one; ten for a range. The
medians of all calls are compared. Only ratios are printed.

What has no server or no package is a row that says so. All traces are removed, also after Ctrl-C. The default
takes some ten minutes and, for a store in memory, 1 GB.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from backend_speed.measuring import measure
from backend_speed.report import Absence, Ratio, Spread, markdown, ratios, spreads
from backend_speed.stores import PEER, SESSION, STORES, Places, entered

SIZES = (1_000, 100_000, 1_000_000, 10_000_000)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=inspect.getdoc(sys.modules[__name__]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=20, help="turns of the largest objects (20)")
    parser.add_argument("--only", action="append", choices=tuple(STORES), help="a backend; may be repeated")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="BYTES")
    parser.add_argument("--json", action="store_true", help="print the ratios as JSON")
    parser.add_argument("--folder", type=Path, default=Path(), help="where files are measured (here)")
    for name, url in (
        ("postgresql", "postgresql://postgres@127.0.0.1:5432/test"),
        ("mariadb", "mariadb://root@127.0.0.1:3306/test"),
        ("redis", "redis://127.0.0.1:6379/9"),
    ):
        default = os.environ.get(f"OFFLOADKIT_TEST_{name.upper()}", url)
        parser.add_argument(f"--{name}", metavar="URL", default=default, help=f"({default})")
    return parser.parse_args()


def as_json(found: Sequence[Ratio], flat: Sequence[Spread], missing: Sequence[Absence], rounds: int) -> str:
    """Return what was found as one JSON object."""
    rows = {
        "ratios": [asdict(each) for each in found],
        "spreads": [asdict(each) for each in flat],
        "missing": [asdict(each) for each in missing],
    }
    return json.dumps({"rounds": rounds, **rows})


def main() -> None:
    """Measure, and print what was found."""
    given = arguments()
    places = Places(
        folder=given.folder, postgresql=given.postgresql, mariadb=given.mariadb, redis=given.redis
    )
    found: list[Ratio] = []
    flat: list[Spread] = []
    missing: list[Absence] = []
    for backend in given.only or STORES:
        with entered(backend, places) as contest:
            if isinstance(contest, str):
                missing.append(Absence(backend, "", contest))
                continue
            if contest.no_peer:
                missing.append(Absence(backend, PEER, contest.no_peer))
            medians = measure(contest.clients, sorted(given.sizes), given.rounds, SESSION)
            found += ratios(backend, medians)
            flat += spreads(backend, medians)
    if given.json:
        print(as_json(found, flat, missing, given.rounds))
    else:
        print(markdown(found, flat, missing, given.rounds))


if __name__ == "__main__":
    main()
