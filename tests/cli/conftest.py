"""The real thing, as a user has it: symup as a process, a server as another, binaries from a real compiler."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = 50

SOURCE = """
#include <stdio.h>
static inline __attribute__((always_inline)) int add_{n}(int x) {{ return x * 3 + {n}; }}
{functions}
int main(int count, char **words) {{ (void)words; printf("%d\\n", work_{n}_0(count)); return 0; }}
"""
FUNCTION = """
__attribute__((noinline)) int work_{n}_{i}(int count) {{
  int sum = {i};
  for (int k = 0; k < count; k++)
    sum += add_{n}(k) * {i};
  return sum;
}}
"""


STRUCK = """
import importlib, itertools, os, time
owner = getattr(importlib.import_module({module!r}), {owner!r})
commit, calls = owner.commit, itertools.count(1)

def struck(*arguments, **named):
    call = next(calls)
    if call > {after}:
        time.sleep(60)
    committed = commit(*arguments, **named)
    if call == {after}:
        os.kill(os.getpid(), {number})
        time.sleep(60)
    return committed

owner.commit = struck
from uploader.cli.main import main
main()
"""


@dataclass(frozen=True)
class Struck:
    """Has a signal strike a process of symup as it commits one of its first files; those behind wait, so that it is in their midst."""

    owner: str
    """``module:class`` whose method ``commit`` it is."""
    after: int
    """Which commit, counted from 1: it is done, those before it may not be."""
    number: signal.Signals

    def words(self) -> list[str]:
        module, _, owner = self.owner.partition(":")
        return ["-c", STRUCK.format(module=module, owner=owner, after=self.after, number=int(self.number))]


@dataclass(frozen=True)
class Ran:
    """What one run of symup printed and ended with."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


@dataclass(frozen=True)
class Symup:
    """Runs symup in an environment of its own: no configuration, data folder or CI of whoever runs the tests."""

    home: Path

    def environ(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH") if name in os.environ}
        root = str(Path(__file__).parents[2])
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, [root, kept.get("PYTHONPATH")]))
        return kept | {"HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"} | more

    def __call__(self, *words: object, stdin: str = "", cwd: Path | None = None, **env: str) -> Ran:
        done = subprocess.run(
            self.words(*words),
            input=stdin,
            capture_output=True,
            text=True,
            env=self.environ(**env),
            cwd=cwd or self.home,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def words(self, *words: object, struck: Struck | None = None) -> list[str]:
        program = struck.words() if struck is not None else ["-m", "uploader"]
        return [sys.executable, *program, *(str(word) for word in words)]

    def start(self, *words: object, struck: Struck | None = None, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words(*words, struck=struck),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environ(**env),
            cwd=self.home,
        )


@dataclass
class Server:
    """A real ``symup serve`` with a log of the requests that it answered."""

    symup: Symup
    store: Path
    log: Path
    port: int = 0
    starts: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, *, struck: Struck | None = None) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.symup.words(
                    "serve", "--store", self.store, "--create", "--port", self.port, "--access-log", struck=struck
                ),
                stdout=log,
                stderr=log,
                env=self.symup.environ(PYTHONUNBUFFERED="1"),
            )
        self.starts += 1
        wait_for(lambda: self.log.read_text().count("http://127.0.0.1:") == self.starts)
        self.port = int(self.log.read_text().rsplit("http://127.0.0.1:", 1)[1].split()[0])

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def requests(self, words: str) -> int:
        """How many answered requests have these words in their line of the log."""
        return sum(words in line for line in self.log.read_text().splitlines() if "HTTP/1.1" in line)


def wait_for(happened: Callable[[], bool], *, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.002)


@pytest.fixture
def symup(tmp_path: Path) -> Symup:
    home = tmp_path / "home"
    home.mkdir()
    return Symup(home)


@pytest.fixture
def server(symup: Symup, tmp_path: Path) -> Iterator[Server]:
    running = Server(symup, tmp_path / "served", tmp_path / "requests.log")
    running.start()
    yield running
    running.kill()


@pytest.fixture(scope="session")
def cc(peer: Callable[[str], str]) -> str:
    """A C compiler."""
    return shutil.which("cc") or peer("gcc")


@pytest.fixture(scope="session")
def programs(cc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 50 small programs, all different, with functions, lines and inlines."""
    folder = tmp_path_factory.mktemp("programs")

    def compile_one(n: int) -> None:
        functions = "".join(FUNCTION.format(n=n, i=i) for i in range(12))
        compile_c(cc, SOURCE.format(n=n, functions=functions), folder / f"program-{n:02}")

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(compile_one, range(PROGRAMS)))
    return folder


def compile_c(cc: str, source: str, target: Path, *flags: str) -> Path:
    subprocess.run(
        [cc, "-g", "-O2", "-Wl,--build-id", *flags, "-x", "c", "-", "-o", str(target)],
        input=source,
        text=True,
        check=True,
        capture_output=True,
    )
    return target


@pytest.fixture(scope="session")
def program(programs: Path) -> Path:
    return programs / "program-07"
