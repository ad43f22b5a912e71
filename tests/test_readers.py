"""What LLVM's own programs read from the files that symup makes, for machines of either byte order and word size."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from uploader.model import Decision
from uploader.pipeline.convert import convert
from uploader.pipeline.plan import USUAL_FORM, Conversion, GsymForm, Plan
from uploader.progress import Silent

SOURCE = """
#include "inline.h"
volatile int seen;
__attribute__((noinline)) int sum(int count) {
  int total = 0;
  for (int i = 0; i < count; i++)
    total += twice(i) - seen;
  return total;
}
__attribute__((noinline)) int choose(int value) {
  if (value > 3)
    seen = square(value);
  return sum(value) + seen;
}
int other_sum(int) __attribute__((alias("sum")));
int weak_sum(int) __attribute__((weak, alias("sum")));
void _start(void) { seen = choose(seen) + other_sum(2) + weak_sum(3); for (;;) {} }
"""
HEADER = """
static inline __attribute__((always_inline)) int square(int x) { return x * x + 1; }
static inline __attribute__((always_inline)) int twice(int x) {
  return square(x) + square(x + 1);
}
"""
COMPILERS = {
    "x86-64": "gcc",
    "386": "i686-linux-gnu-gcc",
    "arm64": "aarch64-linux-gnu-gcc",
    "arm": "arm-linux-gnueabihf-gcc",
    "riscv64": "riscv64-linux-gnu-gcc",
    "mips, big endian": "mips-linux-gnu-gcc",
    "ppc64, big endian": "powerpc64-linux-gnu-gcc",
    "ppc64": "powerpc64le-linux-gnu-gcc",
    "s390x, big endian": "s390x-linux-gnu-gcc",
}

ALIASES = re.compile(r"^(other_sum|weak_sum)$")

Peer = Callable[[str], str]
Chain = list[tuple[str, str, int]]


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path, peer: Peer) -> Path:
    """A small program for the machine that the test asks for, with its debug information."""
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / "program.c").write_text(SOURCE)
    (folder / "inline.h").write_text(HEADER)
    compiler = peer(COMPILERS[request.param])
    flags = ("-g", "-O2", "-fno-pie", "-no-pie", "-ffreestanding", "-nostdlib", "-static", "-Wl,--build-id=sha1")
    subprocess.run([compiler, *flags, "program.c", "-o", "program"], check=True, cwd=folder, timeout=120)
    return folder / "program"


every_machine = pytest.mark.parametrize("program", COMPILERS, indirect=True)


def converted(program: Path, target: Path, form: GsymForm = USUAL_FORM) -> Path:
    finished = convert(Plan(paths=[program], jobs=1, conversion=Conversion(form=form)), target, progress=Silent())
    assert [outcome.decision for outcome in finished.outcomes] == [Decision.CONVERTED], finished.outcomes
    return target


def code_addresses(program: Path, peer: Peer) -> list[int]:
    """Every second address of the executable sections."""
    listing = subprocess.run(
        [peer("llvm-readelf-22"), "-SW", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    found = re.findall(r"PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \d+ +AX ", listing)
    assert found
    return [address for start, size in found for address in range(int(start, 16), int(start, 16) + int(size, 16), 2)]


def symbolized(peer: Peer, binary: Path, addresses: list[int], *options: str) -> dict[int, Chain]:
    """What llvm-symbolizer tells of each address; it may not complain. Of a function's names it may tell any."""
    done = subprocess.run(
        [peer("llvm-symbolizer-22"), "--output-style=JSON", "--basenames", *options, f"--obj={binary}"],
        input="\n".join(hex(address) for address in addresses),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert not done.stderr, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        int(answer["Address"], 16): [
            (ALIASES.sub("sum", frame["FunctionName"]), frame["FileName"], frame["Line"])
            for frame in answer["Symbol"]
            if frame["FunctionName"]
        ]
        for answer in answers
    }


@every_machine
def test_the_symbolizer_answers_from_our_file_as_from_the_debug_information(
    program: Path, tmp_path: Path, peer: Peer, request: pytest.FixtureRequest
) -> None:
    """The binary beside our file is stripped: all that is told of it comes from there."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    strip = peer(COMPILERS[request.node.callspec.params["program"]].removesuffix("gcc") + "strip")
    subprocess.run([strip, "--strip-all", program, "-o", shipped / "program"], check=True, timeout=60)
    converted(program, shipped / "program.gsym")
    addresses = code_addresses(program, peer)
    answers = symbolized(peer, shipped / "program", addresses)
    assert not any(symbolized(peer, shipped / "program", addresses, "--disable-gsym").values())
    assert answers == symbolized(peer, program, addresses, "--disable-gsym")
    assert {len(chain) for chain in answers.values()} >= {1, 2, 3}
    assert {name for chain in answers.values() for name, _, _ in chain} >= {"sum", "choose", "square", "twice"}


@every_machine
def test_gsymutil_reads_our_file_and_its_aliases_without_a_complaint(program: Path, tmp_path: Path, peer: Peer) -> None:
    path = converted(program, tmp_path / "program.gsym", GsymForm(keep_aliases=True))
    assert path.read_bytes()[:4] == b"MYSG"
    dump = gsymutil(peer, path)
    assert "error" not in dump and "warning" not in dump
    (start,) = re.findall(r'\[0x([0-9a-f]+) - 0x[0-9a-f]+\) "sum"', dump)
    told = gsymutil(peer, "--merged-functions", f"--address=0x{start}", path)
    names = re.findall(r": (\w+) @ .*/program\.c:[4-6]$", told, re.MULTILINE)
    assert names[0] == "sum"
    # The linker of mips has a name of its own for the first byte of code.
    assert sorted({*names} - {"_ftext"}) == ["other_sum", "sum", "weak_sum"]


@pytest.mark.parametrize("program", ["x86-64", "ppc64, big endian"], indirect=True)
def test_only_the_flag_brings_aliases(program: Path, tmp_path: Path, peer: Peer) -> None:
    usual = converted(program, tmp_path / "usual.gsym").read_bytes()
    kept = converted(program, tmp_path / "kept.gsym", GsymForm(keep_aliases=True)).read_bytes()
    assert b"sum\0" in usual and b"weak_sum" not in usual
    assert b"weak_sum" in kept and b"other_sum" in kept


def gsymutil(peer: Peer, *arguments: str | Path) -> str:
    done = subprocess.run(
        [peer("llvm-gsymutil-22"), *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    assert not done.stderr, done.stderr
    return done.stdout
