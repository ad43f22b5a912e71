"""A stripped Go program against its own DWARF, as llvm-symbolizer reads that: functions, lines and inlined calls of many addresses."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from uploader.gsym.lookup import Gsym
from uploader.model import Quality
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline.gather import gather
from uploader.pipeline.make import make
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion, Plan
from uploader.progress import Silent
from uploader.sources.extract import build

SOURCE = """package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

type pair struct {
	key   string
	value int
}

func add(a, b int) int { return a + b }
func twice(a int) int  { return add(a, a) + add(a, 1) }

func main() {
	pairs := []pair{{"a", twice(len(os.Args))}, {"b", twice(len(os.Args[0]))}}
	sort.Slice(pairs, func(i, j int) bool { return pairs[i].value < pairs[j].value })
	fmt.Println(strings.Repeat("x", add(1, len(pairs))), pairs)
}
"""
ADDRESSES = 3000
ALONE = Conversion(debug=DebugSources(system_dirs=()))

Chain = list[tuple[str, str, int]]


def go(peer: Callable[[str], str], folder: Path, out: str, *flags: str, **environment: str) -> Path:
    (folder / "p.go").write_text(SOURCE)
    told = (
        os.environ
        | {"GO111MODULE": "off", "GOCACHE": str(folder / "cache"), "GOFLAGS": "", "CGO_ENABLED": "0"}
        | environment
    )
    subprocess.run([peer("go"), "build", *flags, "-o", out, "p.go"], cwd=folder, env=told, check=True, timeout=280)
    return folder / out


def llvm(peer: Callable[[str], str], whole: Path, addresses: list[int]) -> Mapping[int, Chain]:
    asked = "\n".join(map(hex, addresses)) + "\n"
    command = [peer("llvm-symbolizer-22"), "--output-style=JSON", "--no-demangle", f"--obj={whole}"]
    answers = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, timeout=120).stdout
    chains = {}
    for line in answers.splitlines():
        answer = json.loads(line)
        # Its linkage names tell of assembly's calling convention, and it puts the folder of the build before names that are no files.
        chains[int(answer["Address"], 16)] = [
            (each["FunctionName"].removesuffix(".abi0"), each["FileName"].removeprefix("./"), each["Line"])
            for each in answer["Symbol"]
        ]
    return chains


@pytest.mark.parametrize("mode", ["exe", "pie"])
def test_a_stripped_program_tells_what_its_dwarf_would(mode: str, peer: Callable[[str], str], tmp_path: Path) -> None:
    whole = go(peer, tmp_path, "whole", f"-buildmode={mode}")
    stripped = go(peer, tmp_path, "stripped", f"-buildmode={mode}", "-ldflags=-s -w")
    agree(peer, whole, stripped)


@pytest.mark.parametrize(
    ("linker", "told"),
    [
        pytest.param("ld.gold", "", id="gold"),
        pytest.param("ld.lld-22", "-Wl,--pack-dyn-relocs=relr", id="lld, RELR"),
        pytest.param("ld.lld-22", "-Wl,--pack-dyn-relocs=android", id="lld, Android's"),
    ],
)
def test_other_linkers_and_their_relocations_are_followed(
    linker: str, told: str, peer: Callable[[str], str], tmp_path: Path
) -> None:
    name = linker.removeprefix("ld.").removesuffix("-22")
    (tmp_path / f"ld.{name}").symlink_to(peer(linker))
    surroundings = {
        "CGO_ENABLED": "1",
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "GOCACHE": str(tmp_path.parent / "external-cache"),
    }
    flags = f"-linkmode=external '-extldflags=-fuse-ld={name} {told}'"
    whole = go(peer, tmp_path, "whole", "-buildmode=pie", f"-ldflags={flags}", **surroundings)
    # Linked anew without its symbols, its code would lie elsewhere.
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, whole], check=True)
    agree(peer, whole, stripped)


def test_a_table_is_found_under_another_name_and_without_section_headers(
    peer: Callable[[str], str], tmp_path: Path
) -> None:
    stripped = go(peer, tmp_path, "stripped", "-ldflags=-s -w")
    renamed, bare = tmp_path / "renamed", tmp_path / "bare"
    subprocess.run(["objcopy", "--rename-section", ".gopclntab=.other", stripped, renamed], check=True)
    data = bytearray(stripped.read_bytes())
    struct.pack_into("<Q", data, 40, 0)
    struct.pack_into("<3H", data, 58, 64, 0, 0)
    bare.write_bytes(data)
    tables = []
    for path in (stripped, renamed, bare):
        with ElfFile.open(path) as elf:
            table = build(elf).table
            tables.append(
                [(table.names[name], *place) for name, *place in zip(table.name, table.start, table.end, strict=True)]
            )
    assert len(tables[0]) > 1000
    assert tables[1] == tables[0]
    assert tables[2] == tables[0]


def test_damage_to_a_real_program_costs_what_is_damaged_and_little_time(
    peer: Callable[[str], str], tmp_path: Path
) -> None:
    stripped = go(peer, tmp_path, "stripped", "-ldflags=-s -w")
    command = [sys.executable, "-m", "tests.sources.go.damaged", str(stripped), "12"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["peak_bytes"] < 512 << 20
    kinds = told["kinds"]
    for kind in ("records", "values", "trees"):
        assert kinds[f"random bytes in {kind}"]["with_functions"] == 12
    assert max(kind["slowest_seconds"] for kind in kinds.values()) < 10


def agree(peer: Callable[[str], str], whole: Path, stripped: Path) -> None:
    """Holds that chains of a stripped program are those of its twin with DWARF."""
    (artifact,) = gather(Plan(paths=[stripped], conversion=ALONE), progress=Silent()).artifacts
    assert artifact.expected_quality is Quality.FULL
    made = make(artifact, conversion=ALONE, threads=1)
    assert made.figures.quality is Quality.FULL
    assert not any("DWARF" in warning for warning in made.warnings)
    with ElfFile.open(stripped) as elf:
        start, end = max(elf.executable_ranges(), key=lambda place: place[1] - place[0])
    rng = random.Random(7)
    addresses = sorted(rng.randrange(start, end) for _ in range(ADDRESSES))
    theirs = llvm(peer, whole, addresses)
    ours = Gsym(memoryview(made.gsym))
    counted = functions = lines = chains = 0
    for address in addresses:
        expected = theirs[address]
        if not expected or not expected[0][1] or not expected[0][2]:
            continue  # padding, and code whose line the compiler tells nobody
        if expected[0][1].endswith((".c", ".h")):
            continue  # linked in
        found = [
            (frame.name.decode(), "/".join(part.decode() for part in (frame.directory, frame.base) if part), frame.line)
            for frame in ours.lookup(address)
        ]
        counted += 1
        functions += bool(found) and _name(found[-1][0]) == _name(expected[-1][0])
        lines += bool(found) and found[0][1:] == expected[0][1:]
        chains += [(_name(name), *place) for name, *place in found] == [
            (_name(name), *place) for name, *place in expected
        ]
    assert counted > ADDRESSES * 0.8
    assert functions / counted > 0.999
    assert lines / counted > 0.999
    assert chains / counted > 0.995


def _name(name: str) -> str:
    """Go 1.18 and 1.19 leave what stands in brackets out of the names of their tables."""
    return name.partition("[")[0]
