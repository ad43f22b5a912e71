"""Unit headers (DWARF 5 §7.5.1) and abbreviation tables (§7.5.3), sound and damaged."""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

import pytest

from tests.sources.dwarf.reading import read
from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import As, Die, Unit, assemble, compile_unit, subprogram, uleb
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.unit_headers import read_units
from uploader.sources.dwarf.units import Units

IMPORTED_UNIT, IMPORT = 0x3D, 0x18


def units_of(sections: DwarfSections) -> Units:
    return read_units(sections, Abbrevs(sections.abbrev))


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("dwarf64", [False, True])
@pytest.mark.parametrize("address_size", [4, 8])
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_a_header_of_every_version_and_size(
    version: int, address_size: int, dwarf64: bool, little_endian: bool
) -> None:
    root = compile_unit(
        subprogram("f", 0x1000, 0x1010),
        attributes={dw.NAME: "a.c", dw.COMP_DIR: "/src", dw.LANGUAGE: 0x0C, dw.LOW_PC: 0x1000, dw.STMT_LIST: 7},
    )
    shape: dict[str, Any] = {"version": version, "address_size": address_size, "dwarf64": dwarf64}
    sections = assemble(Unit(root, **shape), Unit(root, **shape), little_endian=little_endian)
    units = units_of(sections)
    assert units.warnings == []
    assert [unit.offset for unit in units.units] == [0, units.units[0].end]
    assert units.units[1].end == len(sections.info)
    for unit in units.units:
        assert (unit.version, unit.address_size, unit.offset_size) == (version, address_size, 8 if dwarf64 else 4)
        assert (unit.name, unit.comp_dir, unit.low_pc) == (b"a.c", b"/src", 0x1000)
        assert unit.line_offset == 7


@pytest.mark.parametrize("unit_type", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("dwarf64", [False, True])
def test_every_unit_type_of_version_5_has_its_own_header(unit_type: int, dwarf64: bool) -> None:
    unit = Unit(compile_unit(attributes={dw.NAME: "a.c"}), version=5, unit_type=unit_type, dwarf64=dwarf64)
    units = units_of(assemble(unit))
    assert [(each.name, each.unit_type) for each in units.units] == [(b"a.c", unit_type)]


def test_a_unit_contains_the_offsets_from_its_header_to_its_end() -> None:
    units = units_of(assemble(Unit(compile_unit()), Unit(compile_unit())))
    first, second = units.units
    assert units.containing(0) is first
    assert units.containing(first.end - 1) is first
    assert units.containing(first.end) is second
    assert units.containing(second.end) is None


SOUND = Unit(compile_unit(subprogram("sound", 0x1000, 0x1010)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"version": 1}, "version 1", id="version-1"),
        pytest.param({"version": 6}, "version 6", id="version-6"),
        pytest.param({"address_size": 3}, "address size of 3", id="address-size-3"),
        pytest.param({"address_size": 0}, "address size of 0", id="address-size-0"),
    ],
)
def test_a_unit_that_cannot_be_read_costs_itself_only(change: dict[str, Any], words: str) -> None:
    broken = dataclasses.replace(Unit(compile_unit(subprogram("lost", 0x1100, 0x1110))), **change)
    result = read(assemble(SOUND, broken, SOUND))
    assert result.names == ["sound", "sound"]
    (warning,) = result.warnings
    assert words in warning


def test_a_header_that_runs_past_its_unit_costs_that_unit_only() -> None:
    sections = assemble(SOUND)
    skeleton = struct.pack("<IHBBI", 8, 5, 4, 8, 0)
    result = read(dataclasses.replace(sections, info=skeleton + bytes(sections.info)))
    assert result.names == ["sound"]
    (warning,) = result.warnings
    assert "the header runs past the unit" in warning


@pytest.mark.parametrize("length", [b"\xff\xff\xff\x7f", b"\xf0\xff\xff\xff", b"\xff\xff\xff\xff", b"\x40"])
def test_a_length_that_cannot_be_costs_what_follows(length: bytes) -> None:
    sections = assemble(SOUND)
    damaged = dataclasses.replace(sections, info=bytes(sections.info) + length + bytes(4))
    result = read(damaged)
    assert result.names == ["sound"]
    (warning,) = result.warnings
    assert "are lost" in warning


def test_zeros_between_units_are_padding() -> None:
    sections = assemble(SOUND)
    info = bytes(sections.info)
    result = read(dataclasses.replace(sections, info=info + bytes(8) + info + bytes(4)))
    assert result.names == ["sound", "sound"]
    assert result.warnings == ()


def test_bytes_behind_the_last_die_belong_to_nobody() -> None:
    result = read(assemble(dataclasses.replace(SOUND, after=bytes(5)), SOUND))
    assert result.names == ["sound", "sound"]
    assert result.warnings == ()


def test_units_may_claim_the_same_code_and_code_that_is_not_theirs() -> None:
    """Linkers fold functions, and compilers round: a function counts where it says itself that it is, whatever its unit says."""
    wide = {dw.LOW_PC: 0x1000, dw.HIGH_PC: 0x2000}
    narrow = {dw.LOW_PC: 0x1800, dw.HIGH_PC: 0x1801}
    found = read(
        assemble(
            Unit(compile_unit(subprogram("first", 0x1000, 0x1010), attributes=wide)),
            Unit(compile_unit(subprogram("second", 0x1010, 0x1020), attributes=wide)),
            Unit(compile_unit(subprogram("outside", 0x1020, 0x1030), attributes=narrow)),
        )
    )
    assert [(each.name, each.ranges) for each in found.functions] == [
        ("first", [(0x1000, 0x1010)]),
        ("second", [(0x1010, 0x1020)]),
        ("outside", [(0x1020, 0x1030)]),
    ]


def test_what_a_unit_imports_is_read_where_it_stands() -> None:
    """Partial units (DWARF 5 §3.1.1): their functions count once, however many units import them."""
    partial = Die(dw.PARTIAL_UNIT, {}, [subprogram("shared", 0x1000, 0x1010)])
    importing = [Die(IMPORTED_UNIT, {IMPORT: As(dw.REF_ADDR, partial)}) for _ in range(2)]
    found = read(assemble(Unit(partial), *(Unit(compile_unit(each)) for each in importing)))
    assert found.names == ["shared"]
    assert found.warnings == ()


def test_a_unit_without_any_die_is_sound() -> None:
    sections = assemble(SOUND)
    header_only = b"\x07\0\0\0\x04\0\0\0\0\0\x08"
    result = read(dataclasses.replace(sections, info=header_only + bytes(sections.info)))
    assert result.names == ["sound"]
    assert result.warnings == ()


def test_a_die_cut_off_by_its_units_end_keeps_what_came_before() -> None:
    sections = assemble(Unit(compile_unit(subprogram("kept", 0x1000, 0x1010), subprogram("cut", 0x1100, 0x1110))))
    info = bytearray(sections.info)[:-12]
    info[0] -= 12
    result = read(dataclasses.replace(sections, info=bytes(info)))
    assert result.names == ["kept"]
    (warning,) = result.warnings
    assert "unit at 0x0" in warning


def test_dies_nested_beyond_reason_are_refused_and_what_came_before_counts() -> None:
    sections = assemble(Unit(compile_unit(subprogram("kept", 0x1000, 0x1010), Die(dw.LEXICAL_BLOCK, {}, []))))
    info = bytearray(sections.info)
    block = info.rindex(b"\x03\0\0")
    deep = bytes(info[:block]) + b"\x03" * 100_000 + b"\0" * 100_002
    result = read(dataclasses.replace(sections, info=(len(deep) - 4).to_bytes(4, "little") + deep[4:]))
    assert result.names == ["kept"]
    assert "nested too deep" in result.warnings[0]


def test_blocks_nested_as_deep_as_compilers_do_are_walked() -> None:
    inner = subprogram("deep", 0x1000, 0x1010)
    for _ in range(300):
        inner = Die(dw.LEXICAL_BLOCK, {}, [inner])
    assert read(assemble(Unit(compile_unit(inner)))).names == ["deep"]


class TestAbbreviations:
    TABLE = uleb(1) + uleb(dw.COMPILE_UNIT) + b"\0" + uleb(dw.NAME) + uleb(dw.STRING) + b"\0\0"

    def test_an_offset_outside_of_the_section(self) -> None:
        abbrevs = Abbrevs(self.TABLE)
        with pytest.raises(MalformedDwarf, match="outside"):
            abbrevs.table(len(self.TABLE), 8, 4, 4)

    @pytest.mark.parametrize("cut", range(1, len(TABLE)))
    def test_a_table_that_is_cut_off(self, cut: int) -> None:
        with pytest.raises(MalformedDwarf, match="cut off"):
            Abbrevs(self.TABLE[:cut]).table(0, 8, 4, 4)

    def test_a_table_may_end_with_the_section(self) -> None:
        assert Abbrevs(self.TABLE).table(0, 8, 4, 4) == 0

    @pytest.mark.parametrize("form", [0x00, 0x02, 0x2D, 0x1F00, 0x1F22, 1 << 60])
    def test_an_unknown_form(self, form: int) -> None:
        table = uleb(1) + uleb(dw.COMPILE_UNIT) + b"\0" + uleb(dw.NAME) + uleb(form) + b"\0\0\0"
        with pytest.raises(MalformedDwarf, match="unknown form"):
            Abbrevs(table).table(0, 8, 4, 4)

    def test_a_code_out_of_all_proportion(self) -> None:
        table = uleb(1 << 40) + uleb(dw.COMPILE_UNIT) + b"\0\0\0\0"
        with pytest.raises(MalformedDwarf, match="proportion"):
            Abbrevs(table).table(0, 8, 4, 4)

    def test_an_abbreviation_too_large_to_be_true(self) -> None:
        table = uleb(1) + uleb(dw.COMPILE_UNIT) + b"\0" + (uleb(dw.CONST_VALUE) + uleb(dw.DATA16)) * 70_000 + b"\0\0\0"
        with pytest.raises(MalformedDwarf, match="too large"):
            Abbrevs(table).table(0, 8, 4, 4)

    def test_tables_that_overlap_without_end(self) -> None:
        one = uleb(1) + uleb(dw.COMPILE_UNIT) + b"\0\0\0"
        abbrevs = Abbrevs(one * 4000 + b"\0")

        def read_all() -> None:
            for index in range(4000):
                abbrevs.table(index * len(one), 8, 4, 4)

        with pytest.raises(MalformedDwarf, match="overlapping"):
            read_all()

    def test_the_same_table_for_two_address_sizes_is_read_as_each_needs(self) -> None:
        small = subprogram("small", 0x1000, 0x1010)
        large = subprogram("large", 0x1100, 0x1110)
        one = assemble(Unit(compile_unit(small), address_size=4), Unit(compile_unit(large), address_size=8))
        assert [(each.name, each.ranges) for each in read(one).functions] == [
            ("small", [(0x1000, 0x1010)]),
            ("large", [(0x1100, 0x1110)]),
        ]

    def test_a_die_with_an_unknown_code_costs_the_rest_of_its_unit(self) -> None:
        sections = assemble(SOUND, SOUND)
        info = bytearray(sections.info)
        info[info.index(b"sound") - 1] = 77
        result = read(dataclasses.replace(sections, info=bytes(info)))
        assert result.names == ["sound"]
        assert "unknown abbreviation 77" in result.warnings[0]

    def test_codes_of_two_bytes(self) -> None:
        strangers = [Die(dw.VARIABLE, {0x3000 + index: As(dw.DATA1, 0)}) for index in range(200)]
        assert read(assemble(Unit(compile_unit(*strangers, subprogram("f", 0x1000, 0x1010))))).names == ["f"]

    def test_codes_may_leave_gaps_and_stand_in_any_order(self) -> None:
        table = b"".join(
            uleb(code) + uleb(tag) + bytes([children]) + attributes + b"\0\0"
            for code, tag, children, attributes in (
                (
                    300,
                    dw.SUBPROGRAM,
                    0,
                    uleb(dw.NAME)
                    + uleb(dw.STRING)
                    + uleb(dw.LOW_PC)
                    + uleb(dw.ADDR)
                    + uleb(dw.HIGH_PC)
                    + uleb(dw.DATA1),
                ),
                (5, dw.COMPILE_UNIT, 1, b""),
            )
        )
        dies = uleb(5) + uleb(300) + b"f\0" + (0x1000).to_bytes(8, "little") + b"\x10" + b"\0"
        body = b"\x04\0" + bytes(4) + b"\x08" + dies
        sections = DwarfSections(info=len(body).to_bytes(4, "little") + body, abbrev=table + b"\0")
        assert [(each.name, each.ranges) for each in read(sections).functions] == [("f", [(0x1000, 0x1010)])]
