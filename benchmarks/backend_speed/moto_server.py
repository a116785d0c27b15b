"""An S3 server on this machine: moto in a process of its own, so that it takes no turn of ours."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from backend_speed.raw_s3 import S3Place, boto3_client

_SERVER = """
import signal
from moto.server import ThreadedMotoServer
signal.signal(signal.SIGINT, signal.SIG_IGN)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
input()
"""


@contextmanager
def moto_place() -> Iterator[S3Place]:
    """Run moto for as long as the block lasts; all that it holds ends with it.

    Raises:
        ImportError: moto or boto3 is not installed.
    """
    for module in ("moto", "boto3", "flask"):
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        host, port = process.stdout.readline().split()
        place = S3Place(f"http://{host}:{port}", "offloadkit-benchmark")
        client = boto3_client(place)
        client.create_bucket(Bucket=place.bucket)
        client.close()
        yield place
    finally:
        process.kill()
        process.communicate()
