"""Reads damaged copies of a Go program in a process of bounded memory, and tells what came of it and how long the slowest took.

    python -m tests.sources.go.damaged PROGRAM        # every one
    python -m tests.sources.go.damaged PROGRAM 20     # so many of each kind

Any error but the package's own ends it, and so does a copy that takes too long.
"""

from __future__ import annotations

import json
import random
import re
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.extract import build
from uploader.sources.go.find import find_table

MOST_BYTES = 512 << 20
MOST_SECONDS = 20
EVERY = 97
MUTANTS = 1000
SECTION_SIZE_AT = 32
HEADER_BYTES = 72
MANY = (1 << 31, 0xFFFFFFFF, 1 << 40, (1 << 64) - 1)


class Places(NamedTuple):
    """(start, end) in the file of what is damaged, and where the section's header says how long the table is."""

    header: tuple[int, int]
    functions: tuple[int, int]
    records: tuple[int, int]
    values: tuple[int, int]
    trees: tuple[int, int]
    size_at: int
    size_bytes: int


def places(data: bytes) -> Places:
    with ElfFile.from_bytes(data) as elf:
        found = find_table(elf)
        section = elf.section(".gopclntab")
        assert found is not None and found.trees is not None and section is not None
        at, header = section.offset, found.header
        records = header.functions_at + (2 * header.function_count + 1) * header.entry_bytes
        trees = data.index(bytes(found.trees[:4096]))
        size_at = struct.unpack_from("<Q", data, 40)[0] + 64 * section.index + SECTION_SIZE_AT
        return Places(
            header=(at, at + HEADER_BYTES), functions=(at + header.functions_at, at + records),
            records=(at + records, at + section.size_bytes), values=(at + header.values_at, at + header.functions_at),
            trees=(trees, trees + min(len(found.trees), 1 << 16)), size_at=size_at, size_bytes=section.size_bytes,
        )  # fmt: skip


class Damage(NamedTuple):
    """How much of the file is left, and what is written into it where."""

    length: int
    changes: tuple[tuple[int, bytes], ...] = ()

    def of(self, data: bytes) -> bytes:
        copy = bytearray(data[: self.length])
        for at, new in self.changes:
            copy[at : at + len(new)] = new
        return bytes(copy)


class Kind(NamedTuple):
    """One kind of damage: how many copies have it, and how each is made."""

    name: str
    copies: int
    made: Callable[[int], Damage]


def kinds(data: bytes) -> list[Kind]:
    """All kinds; a copy's damage follows from its number."""
    where, length = places(data), len(data)
    words = range(*where.header, 8)

    def scattered(name: str, place: tuple[int, int], times: int, new: Callable[[random.Random], bytes]) -> Kind:
        def made(number: int) -> Damage:
            draw = random.Random(f"{name} {number}")
            return Damage(length, tuple((draw.randrange(*place) & ~3, new(draw)) for _ in range(times)))

        return Kind(name, MUTANTS, made)

    def any_bytes(draw: random.Random) -> bytes:
        return draw.randbytes(draw.randint(1, 8))

    def table_cut(number: int) -> Damage:
        return Damage(length, ((where.size_at, struct.pack("<Q", EVERY * number)),))

    def many_in_header(number: int) -> Damage:
        return Damage(length, ((words[number // len(MANY)], struct.pack("<Q", MANY[number % len(MANY)])),))

    return [
        Kind("table cut", where.size_bytes // EVERY + 1, table_cut),
        Kind("file cut", length // EVERY + 1, lambda number: Damage(EVERY * number)),
        scattered("random bytes in the header", where.header, 1, any_bytes),
        scattered("random bytes in functions", where.functions, 20, any_bytes),
        scattered("random bytes in records", where.records, 200, any_bytes),
        scattered("random bytes in values", where.values, 200, any_bytes),
        scattered("random bytes in trees", where.trees, 200, any_bytes),
        Kind("many in the header", len(words) * len(MANY), many_in_header),
        scattered(
            "many in records", where.records, 200, lambda draw: struct.pack("<I", draw.choice(MANY) & 0xFFFFFFFF)
        ),
        # Wherever entries begin, small numbers in them are pcs of other calls: callers go round.
        scattered("callers that go round", where.trees, 2000, lambda draw: struct.pack("<I", draw.randrange(64))),
    ]


def read(data: bytes) -> bool:
    """Whether anything came of it."""
    try:
        with ElfFile.from_bytes(data) as elf:
            return len(build(elf).table) > 0
    except InputError:
        return False


def peak_bytes() -> int:
    """The most memory that this process took. What the system counts as used (``ru_maxrss``) goes on from the process that started it."""
    (told,) = re.findall(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return 1024 * int(told)


def main() -> None:
    data = Path(sys.argv[1]).read_bytes()
    most = int(sys.argv[2]) if len(sys.argv) > 2 else sys.maxsize
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    draw = random.Random(11)
    told = {}
    for kind in kinds(data):
        chosen = range(kind.copies) if kind.copies <= most else draw.sample(range(kind.copies), most)
        answers, slowest = 0, 0.0
        for number in chosen:
            damaged = kind.made(number).of(data)
            before = time.monotonic()
            signal.alarm(MOST_SECONDS)
            answers += read(damaged)
            signal.alarm(0)
            slowest = max(slowest, time.monotonic() - before)
        told[kind.name] = {"read": len(chosen), "with_functions": answers, "slowest_seconds": round(slowest, 3)}
    print(json.dumps({"kinds": told, "peak_bytes": peak_bytes()}))  # noqa: T201  # it is a program


if __name__ == "__main__":
    main()
