"""Files that ask for much more than they are: each is answered in time and memory that are a small multiple of its size."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.writers.elf_writer import CODE, Section, Symbol, elf
from uploader.core import which

MEMORY_BYTES = 512 << 20
SECONDS = 10 if which.compiled() else 120

CONVERTED_IN_BOUNDS = """
import resource, sys
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.extract import build
from uploader.gsym.encode import encode
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[3]),) * 2)
with ElfFile.open(sys.argv[1]) as elf:
    extracted = build(elf)
    encode(extracted.table, base_address=0, uuid=b"")
    print(extracted.figures.functions)
    print(*extracted.warnings, sep="\\n")
"""


def told_of(bomb: bytes, folder: Path, *, memory_bytes: int = MEMORY_BYTES) -> list[str]:
    """The warnings of a file whose symbol table still tells of ``main``."""
    path = folder / "bomb"
    path.write_bytes(bomb)
    command = [sys.executable, "-c", CONVERTED_IN_BOUNDS, str(path), str(memory_bytes), str(SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    functions, *warnings = done.stdout.split("\n")
    assert int(functions) >= 1
    return [warning for warning in warnings if warning]


def with_dwarf(info: bytes, abbrev: bytes, *more: Section, compress: str = "") -> bytes:
    return elf(
        [
            Section(".text", b"\xc3" * 64, flags=CODE, address=0x1000),
            Section(".debug_info", info, compress=compress),
            Section(".debug_abbrev", abbrev),
            *more,
        ],
        symbols=[Symbol("main", 0x1000, 16)],
    )


def units(abbreviations: list[int]) -> bytes:
    """Units of one DIE, each with the table at one of these offsets."""
    return b"".join(struct.pack("<IHIB", 8, 4, offset, 8) + b"\1" for offset in abbreviations)


ONE = b"\1\x2e\0\x03\x0f\x3a\x0f\0\0"
"""Code 1, a subprogram with two attributes of no fixed size."""

WILD = b"\x80\x20\x2e\0\0\0\0"
"""Code 4096, and the end of its table."""


@pytest.mark.parametrize(
    ("one", "end", "said"),
    [
        (ONE, b"\1\x2e\0\x03\x3f\0\0\0", "unknown form"),
        (ONE, b"\1\x2e\0\x03", "cut off"),
        (ONE, b"\0", "unit at"),
        (WILD, b"", "unknown abbreviation"),
    ],
    ids=["unknown-form", "cut-off", "sound", "wild-codes"],
)
def test_abbreviation_tables_that_lie_in_each_other(one: bytes, end: bytes, said: str, tmp_path: Path) -> None:
    count = 60_000 if which.compiled() else 6_000
    bomb = with_dwarf(units([index * len(one) for index in range(count)]), one * count + end)
    assert said in told_of(bomb, tmp_path)[0]


def test_a_broken_table_that_many_units_share_takes_no_sound_one_with_it(tmp_path: Path) -> None:
    broken = ONE * 1000 + b"\1\x2e\0\x03\x3f\0\0\0"
    body = struct.pack("<HIB", 4, len(broken), 8) + b"\1f\0" + struct.pack("<QQ", 0x1020, 0x1030)
    info = units([0] * 1000) + struct.pack("<I", len(body)) + body
    sound = b"\1\x2e\0\x03\x08\x11\x01\x12\x01\0\0\0"
    warnings = told_of(with_dwarf(info, broken + sound), tmp_path)
    assert not any("overlapping" in warning for warning in warnings)
    assert warnings[-1] == "and 980 more of the kind"


@pytest.mark.parametrize("compress", ["", "zlib"])
def test_debug_information_that_is_nothing_but_zeros(compress: str, tmp_path: Path) -> None:
    size_bytes = 256 << 20
    bomb = with_dwarf(bytes(size_bytes), b"\1\x11\0\0\0\0", compress=compress)
    assert told_of(bomb, tmp_path, memory_bytes=MEMORY_BYTES + size_bytes) == []


def test_what_follows_padding_is_read(tmp_path: Path) -> None:
    for padding in (4, 8, 16_380, 16_384, 16_388, 65_536):
        warnings = told_of(with_dwarf(bytes(padding) + units([99]), b"\1\x11\0\0\0\0"), tmp_path)
        assert warnings == [
            f"unit at 0x{padding:x}: abbreviation table at 0x63 lies outside .debug_abbrev; its 12 bytes are lost"
        ]


def test_thousands_of_sections_of_one_name_that_share_their_bytes(tmp_path: Path) -> None:
    shared = [Section(".debug_str", offset=64, size_bytes=1 << 20) for _ in range(20_000)]
    bomb = with_dwarf(bytes(1 << 20), b"\0", *shared)
    assert "hold more than the file does" in told_of(bomb, tmp_path)[0]


SIZE_BYTES = 2 << 20 if which.compiled() else 1 << 18


def long_origin(functions: int) -> bytes:
    """Functions that all have one long DIE as their origin."""
    abbrev = b"\1\x11\1\0\0" + b"\2\x2e\0\x31\x13\x11\1\x12\x21\1\0\0" + b"\3\x2e\0\x40\x0a\x40\x08\0\0" + b"\0"
    dies = b"\1" + b"\3\0" + b"n" * SIZE_BYTES + b"\0"
    dies += b"".join(b"\2" + struct.pack("<IQ", 12, 0x1000 + index % 64) for index in range(functions)) + b"\0"
    return with_dwarf(one_unit(dies), abbrev)


def long_scope(functions: int) -> bytes:
    """Functions that all stand in one namespace with a long name."""
    abbrev = b"\1\x11\1\0\0" + b"\2\x39\1\x03\x08\0\0" + b"\3\x2e\0\x03\x08\x11\1\x12\x21\1\0\0" + b"\0"
    dies = b"\1\2" + b"n" * SIZE_BYTES + b"\0"
    dies += b"".join(b"\3f%d\0" % index + struct.pack("<Q", 0x1000 + index % 64) for index in range(functions))
    return with_dwarf(one_unit(dies + b"\0\0"), abbrev)


def one_unit(dies: bytes) -> bytes:
    body = struct.pack("<HIB", 4, 0, 8) + dies
    return struct.pack("<I", len(body)) + body


@pytest.mark.parametrize("bomb", [long_origin, long_scope])
def test_a_long_die_that_many_are_named_by(bomb: Callable[[int], bytes], tmp_path: Path) -> None:
    told_of(bomb(SIZE_BYTES // 16), tmp_path)
