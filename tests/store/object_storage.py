"""Real servers that speak S3, each on a port of this machine, for as long as a test session lasts."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

# Those that AWS's own documentation shows: rclone wants some of a real length.
KEY_ID = "AKIAIOSFODNN7EXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

KINDS = ("moto", "ministack", "rclone")
UNGUARDED = frozenset({"rclone"})
"""Those that ignore conditional writes."""


class ObjectStorage(NamedTuple):
    """One running server with one bucket."""

    kind: str
    url: str
    bucket: str

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that lead a client to it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
        }


@contextmanager
def running(kind: str, folder: Path) -> Iterator[ObjectStorage]:
    """The server with an empty bucket, which it keeps in memory or in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        _command(kind, folder, port),
        env=os.environ | {"GATEWAY_PORT": str(port), "HOST": "127.0.0.1"},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        storage = ObjectStorage(kind=kind, url=f"http://127.0.0.1:{port}", bucket="symbols")
        _wait_until_it_answers(storage, process)
        _make_bucket(storage, folder)
        yield storage
    finally:
        process.kill()
        process.wait()


def program(kind: str) -> str | None:
    """The program of a server, beside this interpreter or on the path; None where it isn't installed."""
    name = {"moto": "moto_server", "ministack": "ministack", "rclone": "rclone"}[kind]
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def _command(kind: str, folder: Path, port: int) -> list[str]:
    found = program(kind)
    assert found is not None, kind
    if kind == "moto":
        return [found, "-H", "127.0.0.1", "-p", str(port)]
    if kind == "ministack":
        return [found]
    (folder / "data").mkdir(exist_ok=True)
    return [
        found,
        "serve",
        "s3",
        "--addr",
        f"127.0.0.1:{port}",
        "--auth-key",
        f"{KEY_ID},{SECRET}",
        str(folder / "data"),
    ]


def _wait_until_it_answers(storage: ObjectStorage, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None, f"{storage.kind} has ended"
        try:
            urllib.request.urlopen(storage.url, timeout=2).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
            continue
        return
    raise AssertionError(f"{storage.kind} does not answer")


def _make_bucket(storage: ObjectStorage, folder: Path) -> None:
    if storage.kind == "rclone":
        (folder / "data" / storage.bucket).mkdir()
        return
    import boto3  # type: ignore[import-untyped]  # it has none

    client = boto3.client(
        "s3", endpoint_url=storage.url, aws_access_key_id=KEY_ID, aws_secret_access_key=SECRET, region_name="us-east-1"
    )
    client.create_bucket(Bucket=storage.bucket)
