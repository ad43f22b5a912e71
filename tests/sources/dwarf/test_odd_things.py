"""Cases that compilers and linkers of other times and makes leave behind."""

from __future__ import annotations

import pytest

from tests.sources.dwarf.reading import read, unfolded
from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import As, Die, Lines, Unit, assemble, compile_unit, elf_with, range_pairs, rows
from tests.writers.elf_writer import Symbol
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.read import read_dwarf
from uploader.symbols.columns import NameTable

ENTRY_PC = 0x52


def define_file(name: str, directory: int = 0) -> dw.Op:
    return dw.extended(3, name.encode() + b"\0" + dw.uleb(directory) + b"\0\0")


def test_a_program_may_define_files_of_its_own() -> None:
    program = [define_file("late.c", 1), *rows((0x1000, 5, 1), (0x1004, 7, 2), end=0x1010)]
    other = Lines(rows((0x1020, 9, 1), end=0x1030), files=["other.c"])
    first = Lines(program, files=["a.c"], directories=["/src"])
    unit = Unit(compile_unit(dw.subprogram("f", 0x1000, 0x1010), attributes={dw.STMT_LIST: 0}))
    found = read(assemble(unit, lines=[first, other]))
    assert found.rows == [
        [(0x1000, ("a.c", 5)), (0x1004, ("/src|late.c", 7)), (0x1010, None)],
        [(0x1020, ("other.c", 9)), (0x1030, None)],
    ]


@pytest.mark.parametrize("operand", [b"", b"late.c", b"late.c\0", b"late.c\0\x80"])
def test_a_definition_that_is_cut_off_has_no_name(operand: bytes) -> None:
    lines = Lines([dw.extended(3, operand), *rows((0x1000, 5, 2), (0x1004, 6, 1), end=0x1010)], files=["a.c"])
    (table,) = read(assemble(Unit(compile_unit(attributes={dw.STMT_LIST: 0})), lines=[lines])).rows
    assert (0x1004, ("a.c", 6)) in table


def test_without_a_low_pc_ranges_count_from_the_entry_pc() -> None:
    function = Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.RANGES: 0})
    root = compile_unit(function, attributes={ENTRY_PC: As(dw.ADDR, 0x1100)})
    assert read(assemble(Unit(root), ranges=range_pairs((0, 8)))).function("f").ranges == [(0x1100, 0x1108)]


def test_a_range_that_leaves_the_code_it_starts_in_is_no_function() -> None:
    unit = Unit(compile_unit(dw.subprogram("lie", 0x1F00, 0x2001), dw.subprogram("f", 0x1F00, 0x2000)))
    assert read(assemble(unit)).names == ["f"]


def test_type_units_are_passed_over() -> None:
    inside = Unit(compile_unit(dw.subprogram("in_type_unit", 0x1000, 0x1010)), version=5, unit_type=2)
    assert read(assemble(inside, Unit(compile_unit(dw.subprogram("f", 0x1010, 0x1020))))).names == ["f"]


class TestAddressZero:
    """Linkers send what they drop to address 0, and firmware has code there."""

    UNIT = Unit(
        compile_unit(dw.subprogram("dropped", 0, 0x80), dw.subprogram("live", 0, 0x20), dw.subprogram("f", 0x40, 0x60))
    )

    def names(self, symbols: list[Symbol], unit: Unit = UNIT, ranges: bytes = b"") -> list[str]:
        data = elf_with(assemble(unit, ranges=ranges), text=(0, 0x100), symbols=symbols)
        with ElfFile.from_bytes(data) as elf:
            result = read_dwarf(elf, elf.executable_ranges(), NameTable())
        assert result is not None
        return [function.name for function in unfolded(result).functions if function.ranges]

    def test_without_a_symbol_nothing_is_there(self) -> None:
        assert self.names([Symbol("f", 0x40, 0x20)]) == ["f"]

    def test_a_symbol_confirms_the_function_of_its_size(self) -> None:
        assert self.names([Symbol("live", 0, 0x20)]) == ["live", "f"]

    def test_a_symbol_without_a_size_confirms_any(self) -> None:
        assert self.names([Symbol("live", 0, 0)]) == ["dropped", "live", "f"]

    def test_the_same_goes_for_range_lists(self) -> None:
        listed = [Die(dw.SUBPROGRAM, {dw.NAME: name, dw.RANGES: at}) for name, at in (("dropped", 0), ("live", 32))]
        lists = range_pairs((0, 0x80)) + range_pairs((0, 0x20), (0x60, 0x70))
        unit = Unit(compile_unit(*listed))
        assert self.names([Symbol("live", 0, 0x20)], unit, lists) == ["live"]
        assert self.names([Symbol("live", 0x60, 0x10)], unit, lists) == ["live"]


def test_damage_says_how_much_of_a_unit_is_lost() -> None:
    deep = Unit(compile_unit(dw.subprogram("f", 0x1000, 0x1010)), after=b"")
    sections = assemble(deep)
    broken = bytearray(sections.info)
    broken[-1:] = b"\x7f"
    sections.info = bytes(broken)
    found = read(sections)
    assert found.names == ["f"]
    (warning,) = found.warnings
    assert "lost" in warning and f"of its {len(broken)} bytes" in warning


def test_an_elf_of_another_machine_size_is_read_with_its_own_address_size() -> None:
    unit = Unit(compile_unit(dw.subprogram("f", 0x1000, 0x1010)), address_size=4)
    data = elf_with(assemble(unit, little_endian=False), bits=32)
    with ElfFile.from_bytes(data) as elf:
        result = read_dwarf(elf, elf.executable_ranges(), NameTable())
    assert result is not None and unfolded(result).names == ["f"]
