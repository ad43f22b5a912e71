"""What every test may use: the peers of this machine, and real binaries built by its compilers."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

from tests.store.object_storage import ObjectStorage, program, running

import builds

# These machines are shared and noisy: how long an example takes says nothing about the code. CI draws the same examples every time, so that
# what fails there fails again; by hand they are new ones.
settings.register_profile(
    "symup", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=os.environ.get("CI") == "true"
)
settings.load_profile("symup")

# Shells start what they run in the background with interruptions ignored, and every process that the tests interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REQUIRE_PEERS = os.environ.get("SYMUP_REQUIRE_PEERS") == "1"
"""Where it is set, a peer that is missing fails its tests instead of skipping them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-peers",
        action="store_true",
        default=REQUIRE_PEERS,
        help="fail a test whose peer (a compiler, an LLVM tool) is missing instead of skipping it",
    )


@pytest.fixture(scope="session")
def missing(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Ends the test for want of something that this machine lacks: a skip, or a failure where peers are required."""
    return partial(_without, request.config)


def _without(config: pytest.Config, reason: str) -> NoReturn:
    if config.getoption("--require-peers"):
        pytest.fail(f"{reason}, and peers are required here", pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _started_programs(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _started_programs(item))


def _started_programs(item: pytest.Item) -> Generator[None, object, object]:
    """Where a test, or what it is set up with, starts a program that this machine lacks, the test ends for want of that peer."""
    try:
        return (yield)
    except FileNotFoundError as error:
        program = error.filename
        if isinstance(program, str) and os.sep not in program and _raised_by_a_start(error.__traceback__):
            _without(item.config, f"{program} is not installed")
        raise


def _raised_by_a_start(trace: TracebackType | None) -> bool:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == subprocess.__file__


@pytest.fixture(scope="session")
def peer(missing: Callable[[str], None]) -> Callable[[str], str]:
    """``peer("llvm-gsymutil-22")`` gives the path of a tool that a test runs, or ends the test where it is missing."""

    def find(command: str) -> str:
        path = shutil.which(command)
        if path is None:
            missing(f"{command} is not installed")
            raise AssertionError("unreachable")
        return path

    return find


@pytest.fixture(scope="session")
def object_storage(
    missing: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], ObjectStorage]]:
    """``object_storage("moto")`` gives a running server of that kind, one for all tests; or ends the test where it is missing."""
    servers: dict[str, ObjectStorage] = {}
    with contextlib.ExitStack() as all_of_them:

        def find(kind: str) -> ObjectStorage:
            if kind not in servers:
                if program(kind) is None:
                    missing(f"{kind} is not installed")
                servers[kind] = all_of_them.enter_context(running(kind, tmp_path_factory.mktemp(kind)))
            return servers[kind]

        yield find


@pytest.fixture(scope="session")
def built_binary(missing: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``built_binary("gcc-dwarf5")`` gives the path of the binary that a recipe of ``bench/builds.py`` makes.

    A binary is built once for all workers of a test run. It is shared: a test that changes it copies it first.
    """
    own = tmp_path_factory.getbasetemp()
    shared = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "built"
    shared.mkdir(exist_ok=True)

    def build(name: str) -> Path:
        try:
            return builds.build(builds.RECIPES[name], shared)
        except builds.BuildUnavailable as error:
            missing(str(error))
            raise AssertionError("unreachable") from error

    return build
