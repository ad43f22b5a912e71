"""Dynamic symbols of files whose section headers are gone: what the loader finds, symup finds."""

from __future__ import annotations

import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.writers.elf_writer import ALLOC, Section, Segment, elf
from uploader.errors import InputError
from uploader.model import Decision, Quality, Source
from uploader.objects.elf.dynamic import DT_GNU_HASH, DT_STRTAB, DT_SYMTAB, dynamic_symbols
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import PT_DYNAMIC
from uploader.pipeline.convert import convert
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion, Plan
from uploader.progress import Silent
from uploader.sources.elf_symbols.read import read_symbols
from uploader.sources.identify import identify
from uploader.sources.registry import expected

SOURCE = """
extern int away(int);
int %s
static int hidden(int a) { return a * 3; }
int shown(int a) { return hidden(a) + away(a); }
__attribute__((weak)) int weak(int a) { return a; }
int data = 3;
"""

HASH_STYLES = ["gnu", "sysv", "both"]


def without_section_headers(data: bytes) -> bytes:
    """The file as `llvm-objcopy --strip-sections` leaves it."""
    changed = bytearray(data)
    if data[4] == 2:
        struct.pack_into("<Q", changed, 0x28, 0)
        struct.pack_into("<HHH", changed, 0x3A, 64, 0, 0)
    else:
        struct.pack_into("<I", changed, 0x20, 0)
        struct.pack_into("<HHH", changed, 0x2E, 40, 0, 0)
    return bytes(changed)


def functions(data: bytes) -> list[tuple[int, int, bytes]]:
    elf = ElfFile.from_bytes(data)
    symbols = read_symbols(elf, symtab=False)
    return list(zip(symbols.start, symbols.end, symbols.names(), strict=True))


@pytest.fixture(scope="module", params=HASH_STYLES)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("library")
    names = "".join(f"f{index}(int a) {{ return a + {index}; }}\nint " for index in range(200)) + "last;"
    command = ["gcc", "-O1", "-shared", "-fPIC", f"-Wl,--hash-style={request.param}", "-x", "c", "-", "-o", "lib.so"]
    subprocess.run(command, input=SOURCE % names, text=True, check=True, cwd=folder)
    return (folder / "lib.so").read_bytes()


def test_the_same_functions_with_section_headers_and_without(library: bytes) -> None:
    whole, bare = functions(library), functions(without_section_headers(library))
    assert len(whole) >= 202
    # A section's end is no longer known, only a segment's.
    assert [(start, name) for start, _, name in bare] == [(start, name) for start, _, name in whole]
    assert bare == whole


@pytest.mark.parametrize(
    "compiler", ["aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc", "s390x-linux-gnu-gcc", "mips-linux-gnu-gcc"]
)
def test_on_other_machines(compiler: str, peer: Callable[[str], str], tmp_path: Path) -> None:
    command = [peer(compiler), "-O1", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", "lib.so"]
    subprocess.run(command, input=SOURCE % "last;", text=True, check=True, cwd=tmp_path)
    data = (tmp_path / "lib.so").read_bytes()
    if data[5] == 1:
        assert functions(without_section_headers(data)) == functions(data) != []
    with ElfFile.from_bytes(data) as elf:
        table = dynamic_symbols(elf)
        (section,) = [section for section in elf.sections if section.name == ".dynsym"]
        assert table is not None
        assert (table.offset, table.size_bytes) == (section.offset, section.size_bytes)


def test_such_a_file_has_its_symbols_on_the_street(library: bytes, tmp_path: Path) -> None:
    (tmp_path / "lib.so").write_bytes(without_section_headers(library))
    with ElfFile.open(tmp_path / "lib.so") as elf:
        told = identify(elf)
    assert told.sources == (Source.DYNSYM,)
    assert expected(told.sources) is Quality.FUNCTIONS
    finished = convert(
        Plan(paths=[tmp_path / "lib.so"], jobs=1, conversion=Conversion(debug=DebugSources(system_dirs=()))),
        tmp_path / "out.gsym",
        progress=Silent(),
    )
    (outcome,) = finished.outcomes
    assert outcome.decision is Decision.CONVERTED
    assert outcome.figures is not None
    assert outcome.figures.functions >= 202
    assert "section headers" in outcome.warnings[0]


@pytest.mark.parametrize(("chain", "symbols"), [(b"", None), (struct.pack("<I", 0), 2), (struct.pack("<2I", 0, 1), 3)])
def test_a_hash_table_that_ends_before_its_chains_leads_to_no_symbols(chain: bytes, symbols: int | None) -> None:
    buckets_first_bloom_shift, bucket = struct.pack("<4I", 1, 1, 0, 0), struct.pack("<I", 1)
    tags = {DT_SYMTAB: 0x2000, DT_STRTAB: 0x2000, DT_GNU_HASH: 0x3000}
    dynamic = b"".join(struct.pack("<2Q", *tag) for tag in tags.items())
    parts = [
        Section(".dynamic", dynamic, flags=ALLOC, address=0x1000),
        Section(".table", bytes(24 * 8), flags=ALLOC, address=0x2000),
        Section(".hash", buckets_first_bloom_shift + bucket + chain, flags=ALLOC, address=0x3000),
    ]
    segments = [Segment(section=".dynamic", type=PT_DYNAMIC), Segment(section=".table"), Segment(section=".hash")]
    with ElfFile.from_bytes(elf(parts, segments=segments, section_headers=False)) as file:
        table = dynamic_symbols(file)
    assert (table and table.size_bytes) == (symbols and 24 * symbols)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data())
def test_any_damage_gives_symbols_or_none_in_bounded_time(library: bytes, draw: st.DataObject) -> None:
    bare = bytearray(without_section_headers(library))
    (dynamic,) = [each for each in ElfFile.from_bytes(bytes(bare)).segments if each.type == PT_DYNAMIC]
    for _ in range(draw.draw(st.integers(1, 6))):
        low, high = draw.draw(st.sampled_from([(dynamic.offset, dynamic.offset + dynamic.size_bytes), (64, 0x1000)]))
        at = draw.draw(st.integers(low, min(high, len(bare)) - 8))
        bare[at : at + 8] = draw.draw(
            st.one_of(
                st.binary(min_size=8, max_size=8),
                st.integers(0, 1 << 63).map(lambda value: value.to_bytes(8, "little")),
            )
        )
    began = time.process_time()
    try:
        with ElfFile.from_bytes(bytes(bare)) as elf:
            table = dynamic_symbols(elf)
            identify(elf)
            read_symbols(elf)
    except InputError:
        return
    assert time.process_time() - began < 2
    if table is not None:
        assert table.offset + table.size_bytes <= len(bare)
        assert table.strings_offset + table.strings_size_bytes <= len(bare)
