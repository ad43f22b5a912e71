"""Conversions in processes of their own: what one takes is limited there, and a file that is cut short kills only that process."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.writers.elf_writer import CODE, Section, Symbol, elf
from uploader.errors import InputError
from uploader.model import Decision, Outcome
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.identity import code_digest
from uploader.objects.file_bytes import READ_WHOLE_BYTES
from uploader.pipeline import crew as crew_module
from uploader.pipeline.convert import convert
from uploader.pipeline.gather import gather
from uploader.pipeline.limit import ROOM_BYTES, allowed_bytes, wants_memory, within
from uploader.pipeline.memory import peak_bytes
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.processes import Processes
from uploader.progress import Silent
from uploader.sources.identify import identify

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked and limited on Linux")

ROOT = Path(__file__).parents[2]
MEBIBYTE = 1 << 20
NOWHERE = DebugSources(system_dirs=())


def fill(size_bytes: int) -> int:
    """Takes memory as columns do."""
    return len(mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def columns(size_bytes: int) -> int:
    from uploader.core.columns import zeros

    return len(zeros("B", size_bytes))


def threads(count: int) -> int:
    """Begins threads that all wait for each other: each has a stack of its own."""
    together = threading.Barrier(count)
    begun = []
    try:
        for _ in range(count):
            thread = threading.Thread(target=together.wait, daemon=True)
            thread.start()
            begun.append(thread)
    except BaseException:
        together.abort()
        raise
    return len(begun)


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    # Threads that other tests have left behind would have the run convert in its own process.
    for module in ("processes", "crew"):
        monkeypatch.setattr(f"uploader.pipeline.{module}.forks", lambda: True)
    # Nor may the allocator give back, in the fork, what other tests have left free: that would be room above the limit.
    gc.collect()
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    made = Processes(1)
    yield made
    made.kill()


@pytest.mark.parametrize(
    ("take", "much"), [(fill, 400 * MEBIBYTE), (columns, 400 * MEBIBYTE), (bytearray, 400 * MEBIBYTE), (threads, 500)]
)
def test_a_call_that_takes_more_than_it_may_has_no_memory_and_the_next_has(
    one: Processes, take: Callable[[int], int], much: int
) -> None:
    with pytest.raises((MemoryError, OSError, RuntimeError)) as caught:
        one.call(partial(within, 100 * MEBIBYTE, take), much)
    assert wants_memory(caught.value)
    assert one.call(partial(within, 600 * MEBIBYTE, columns), 400 * MEBIBYTE) == 400 * MEBIBYTE


def test_a_mapped_file_takes_no_memory(one: Processes, tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(elf([Section(".text", b"\xc3" * 64, flags=CODE)]))
    os.truncate(path, 400 * MEBIBYTE)
    assert one.call(partial(within, 50 * MEBIBYTE, mapped_size), path) == 400 * MEBIBYTE


def mapped_size(path: Path) -> int:
    with ElfFile.open(path) as file:
        return len(bytes(file.bytes_at(0, 4096))) and file.size_bytes


def large(path: Path, debug_size_bytes: int = 64 * MEBIBYTE, *, compress: str = "zlib") -> Path:
    """A binary whose debug information inflates to that size."""
    padding = Section(".debug_info", bytes(debug_size_bytes), compress=compress)
    sections = [Section(".text", b"\xc3" * 64, flags=CODE, address=0x1000), padding, Section(".debug_abbrev", b"\0")]
    path.write_bytes(elf(sections, symbols=[Symbol("main", 0x1000, 16)]))
    return path


def converted(path: Path, target: Path) -> Outcome:
    (outcome,) = convert(
        Plan(paths=[path], jobs=2, conversion=Conversion(debug=NOWHERE)), target, progress=Silent()
    ).outcomes
    return outcome


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize("allowed", [0, 1, 8, 40, 60, 70, 100, 400])
def test_a_file_is_converted_or_told_to_take_too_much(
    allowed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "allowed_bytes", lambda *_: allowed * MEBIBYTE)
    outcome = converted(large(tmp_path / "app"), tmp_path / "app.gsym")
    if outcome.decision is Decision.FAILED:
        assert "more memory than is allowed" in outcome.reason
        assert "--max-memory" in (outcome.remedy or "")
    assert (outcome.decision is Decision.CONVERTED) == (allowed >= 70)


def test_what_a_file_may_take_follows_the_bound_and_is_no_less_than_what_it_is_expected_to(tmp_path: Path) -> None:
    (artifact,) = gather(
        Plan(paths=[large(tmp_path / "app")], conversion=Conversion(debug=NOWHERE)), progress=Silent()
    ).artifacts
    assert peak_bytes(artifact) > 128 * MEBIBYTE
    assert allowed_bytes(artifact, 4 << 30) == (4 << 30) + ROOM_BYTES
    assert allowed_bytes(artifact, 1) == 2 * peak_bytes(artifact) + ROOM_BYTES


CUT = """
import os, sys
from pathlib import Path
from uploader.cli.main import main
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline import convert
from uploader.pipeline.make import make as real

def make(artifact, **named):
    with ElfFile.open(artifact.path) as elf:
        os.truncate(artifact.path, 4096)
        section = elf.section(".debug_info")
        elf.inflated_size_bytes(section)
        bytes(elf.contents(section))
    return real(artifact, **named)

convert.make = make
main()
"""


@pytest.mark.parametrize("again", [False, True], ids=["cut once", "cut again and again"])
def test_a_file_that_is_cut_while_it_is_read_costs_that_file_only(again: bool, tmp_path: Path) -> None:
    path = large(tmp_path / "app", 16 * MEBIBYTE, compress="")
    script = (
        CUT.replace("    with", f"    os.truncate(artifact.path, {path.stat().st_size})\n    with", 1) if again else CUT
    )
    command = [sys.executable, "-c", script, "convert", str(path), "-o", str(tmp_path / "app.gsym")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stderr
    assert "1 failed" in done.stderr
    if not again:
        assert "ends within its section headers" in done.stderr


def test_a_file_that_is_cut_while_it_is_identified_is_an_error_of_that_file(tmp_path: Path) -> None:
    path = tmp_path / "app"
    path.write_bytes(elf([Section(".text", b"\xc3" * (READ_WHOLE_BYTES + 1), flags=CODE)]))
    with ElfFile.open(path, mapped=False) as file:
        assert code_digest(file)
        os.truncate(path, 4096)
        with pytest.raises(InputError, match="cut short"):
            code_digest(file)
        with pytest.raises(InputError, match="cut short"):
            identify(file)


def test_a_small_file_that_is_cut_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "app"
    path.write_bytes(elf([Section(".text", b"\xc3" * 4096, flags=CODE)]))
    with ElfFile.open(path) as file:
        os.truncate(path, 0)
        assert code_digest(file)
