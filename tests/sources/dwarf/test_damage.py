"""Any bytes in any section give an answer with warnings, or an error of `errors`, soon; and what is merged of it is sound."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.symbols.validity import assert_valid
from tests.writers import dwarf_writer as dw
from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.line_tables import read_line_tables
from uploader.sources.dwarf.read import read_sections
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.extract import build
from uploader.symbols.columns import NameTable
from uploader.symbols.merge import merge
from uploader.symbols.shape import shape

CODE = [(0x1000, 0x2000)]
FIELDS = tuple(dw.SECTION_NAMES)


def answer(sections: DwarfSections, code: list[tuple[int, int]], address_size: int) -> None:
    """Reads and merges; everything but an answer or an `InputError` fails."""
    names = NameTable()
    try:
        read = read_sections(sections, read_line_tables(sections, code, address_size), code, names)
    except InputError:
        return
    assert not any("\n" in warning for warning in read.warnings)
    for slot in range(min(read.columns.file_slots, 100)):
        read.columns.file_at(slot)
    # Two slots may mean one file, which is merge's own matter: here each is a file of its own.
    read.columns.file_at = lambda slot: (b"", b"%d" % slot)
    table, _ = shape(read.columns, merge(read.columns, None))
    assert_valid(table)


def written(version: int, little_endian: bool, dwarf64: bool) -> DwarfSections:
    """Sections with something of everything."""
    origin = dw.abstract("inner", linkage_name="_Z5innerv")
    inline = dw.inlined(origin, 0x1004, 0x1008, call_file=1, call_line=5)
    encoding = dw.Encoding(little_endian=little_endian, dwarf64=dwarf64)
    spread = dw.Die(
        dw.SUBPROGRAM,
        {
            dw.NAME: dw.As(dw.STRP, "spread"),
            dw.RANGES: dw.As(dw.RNGLISTX, 0) if version == 5 else dw.As(dw.SEC_OFFSET, 0),
            dw.CONST_VALUE: dw.As(dw.BLOCK, b"block"),
            dw.LOCATION: dw.As(dw.INDIRECT, dw.As(dw.DATA2, 3)),
        },
        [dw.inlined(origin, 0x1100, 0x1104, inline)],
    )
    root = dw.compile_unit(
        origin,
        dw.Die(dw.NAMESPACE, {dw.NAME: "space"}, [dw.subprogram("f", 0x1000, 0x1010, inline)]),
        spread,
        attributes={dw.NAME: "a.c", dw.COMP_DIR: "/src", dw.LOW_PC: 0, dw.STMT_LIST: dw.As(dw.SEC_OFFSET, 0)},
    )
    lines = dw.Lines(
        [*dw.rows((0x1000, 1), (0x1004, 5), end=0x1010), *dw.rows((0x1100, 7), end=0x1110)],
        files=["a.c", "b.c"],
        directories=["/src"],
        version=version,
        dwarf64=dwarf64,
    )
    entries = b"\x07" + encoding.address(0x1100) + b"\x10" + b"\x03\0\x08" + b"\0"
    return dw.assemble(
        dw.Unit(root, version=version, dwarf64=dwarf64),
        lines=[lines],
        ranges=dw.range_pairs((0x1100, 0x1110), (0x1200, 0x1204), encoding=encoding),
        rnglists=dw.rnglists(entries, encoding=encoding),
        addresses=encoding.address(0x1200),
        little_endian=little_endian,
    )


def changed(sections: DwarfSections, field: str, body: bytes) -> DwarfSections:
    change: dict[str, Any] = {field: body}
    return dataclasses.replace(sections, **change)


WRITTEN = [
    written(version, little, wide) for version in (2, 4, 5) for little in (True, False) for wide in (False, True)
]


@given(st.data())
def test_random_bytes_in_every_section(data: st.DataObject) -> None:
    contents = {field: data.draw(st.binary(max_size=80), label=field) for field in FIELDS}
    answer(DwarfSections(**contents, little_endian=data.draw(st.booleans())), CODE, 8)


@settings(max_examples=200)
@given(st.data())
def test_any_change_of_sound_sections(data: st.DataObject) -> None:
    sections = data.draw(st.sampled_from(WRITTEN))
    for _ in range(data.draw(st.integers(1, 3))):
        field = data.draw(st.sampled_from([each for each in FIELDS if len(getattr(sections, each))]))
        body = bytes(getattr(sections, field))
        at = data.draw(st.integers(0, len(body) - 1))
        new = data.draw(
            st.one_of(st.binary(max_size=9), st.sampled_from([b"\xff" * 8, b"\0" * 8, b"\xff" * 7 + b"\x7f"]))
        )
        removed = data.draw(st.sampled_from([0, len(new), len(body)]))
        sections = changed(sections, field, body[:at] + new + body[at + removed :])
    answer(sections, CODE, 8)


@pytest.mark.parametrize("field", ["info", "abbrev", "line", "ranges", "rnglists"])
def test_every_truncation_of_a_section(field: str) -> None:
    for sections in (WRITTEN[0], WRITTEN[-1]):
        body = bytes(getattr(sections, field))
        for cut in range(len(body)):
            answer(changed(sections, field, body[:cut]), CODE, 8)


@pytest.mark.parametrize("field", ["info", "abbrev", "line"])
def test_every_byte_changed_in_turn(field: str) -> None:
    for sections in (WRITTEN[5], WRITTEN[-4]):
        body = bytes(getattr(sections, field))
        for at in range(len(body)):
            for value in {0, 1, 0x7F, 0x80, 0xFF, body[at] ^ 1} - {body[at]}:
                answer(changed(sections, field, body[:at] + bytes([value]) + body[at + 1 :]), CODE, 8)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_real_files_bytes_changed(changes: list[tuple[int, int]], built_binary: Callable[[str], Path]) -> None:
    image = bytearray(built_binary("gcc-dwarf5").read_bytes())
    for at, value in changes:
        image[at % len(image)] = value
    try:
        with ElfFile.from_bytes(bytes(image)) as elf:
            build(elf)
    except InputError:
        pass
