"""Times S3 through both engines beside boto3 and obstore alone, one call at a time and many at once.

    python benchmarks/s3.py [--seconds 1.0] [--threads 16]

All of them talk to one moto server in a process of its own. They write objects of 10 KB, create-only and with
metadata, and read 4 KB from the middle of an object of 1 MB. Prints the calls per second and the ratio to
boto3. moto is the limit of the fast ones: the ratios on a real server are larger.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import obstore
from obstore.store import S3Store

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from s3_servers import ACCESS_KEY, BUCKET, SECRET_KEY, client, moto_server, open_s3, s3_url

SMALL, LARGE = bytes(10_000), bytes(1_000_000)
START, LENGTH = 500_000, 4_096
META = b"m" * 300

Operation = Callable[[str], Any]


def boto3_alone(endpoint: str) -> tuple[Operation, Operation]:
    """Return a put and a ranged read."""
    s3, meta = client(endpoint), {"meta": META.decode()}
    wanted = f"bytes={START}-{START + LENGTH - 1}"
    return (
        lambda key: s3.put_object(Bucket=BUCKET, Key=key, Body=SMALL, IfNoneMatch="*", Metadata=meta),
        lambda _: s3.get_object(Bucket=BUCKET, Key="large", Range=wanted)["Body"].read(),
    )


def obstore_alone(endpoint: str) -> tuple[Operation, Operation]:
    """Return a put and a ranged read."""
    store = S3Store(
        BUCKET,
        config={
            "aws_endpoint": endpoint,
            "aws_access_key_id": ACCESS_KEY,
            "aws_secret_access_key": SECRET_KEY,
            "aws_region": "us-east-1",
        },
        client_options={"allow_http": True},
    )
    wanted: Any = {"range": (START, START + LENGTH)}
    return (
        lambda key: obstore.put(store, key, SMALL, mode="create", attributes={"meta": META.decode()}),
        lambda _: bytes(obstore.get(store, "large", options=wanted).bytes()),
    )


def ours(endpoint: str, scheme: str) -> tuple[Operation, Operation]:
    """Return a put and a ranged read."""
    backend = open_s3(s3_url(endpoint, scheme=scheme))
    backend.put(f"warm-up-{scheme}".replace("+", "-"), b"")
    return (
        lambda key: backend.put(key, SMALL, meta=META),
        lambda _: backend.read("large", START, LENGTH),
    )


def calls_per_second(operation: Operation, keys: Iterator[str], *, threads: int, seconds: float) -> float:
    """Call an operation from several threads for some time."""
    end = time.perf_counter() + seconds

    def work(_: int) -> int:
        done = 0
        while time.perf_counter() < end:
            operation(next(keys))
            done += 1
        return done

    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(work, range(threads))) / seconds


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="length of each measurement (1.0)")
    parser.add_argument("--threads", type=int, default=16, help="calls at once (16)")
    given = parser.parse_args()
    keys = (f"object-{number}" for number in itertools.count())
    with moto_server() as endpoint:
        client(endpoint).put_object(Bucket=BUCKET, Key="large", Body=LARGE)
        clients = {
            "boto3": boto3_alone(endpoint),
            "s3://": ours(endpoint, "s3"),
            "obstore": obstore_alone(endpoint),
            "s3+obstore://": ours(endpoint, "s3+obstore"),
        }
        for number, name in enumerate(("put 10 KB", "read 4 KB of 1 MB")):
            for threads in (1, given.threads):
                rates = {
                    which: calls_per_second(operations[number], keys, threads=threads, seconds=given.seconds)
                    for which, operations in clients.items()
                }
                shown = (
                    f"{which} {rate:,.0f}/s ({rate / rates['boto3']:.2f})" for which, rate in rates.items()
                )
                print(f"{name}, {threads} at once: ", ", ".join(shown))


if __name__ == "__main__":
    main()
