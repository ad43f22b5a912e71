"""Line number programs (DWARF 5 §6.2): what each opcode does, which rows count, and what damage costs."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.sources.dwarf.reading import Place, Read, read
from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import (
    Lines,
    Op,
    Unit,
    advance_line,
    advance_pc,
    assemble,
    compile_unit,
    const_add_pc,
    copy,
    end_sequence,
    fixed_advance_pc,
    raw,
    rows,
    set_address,
    set_file,
)
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf.line_header import read_line_header


def read_lines(
    lines: Lines, *, little_endian: bool = True, comp_dir: str = "/src", address_size: int = 8, **more: Any
) -> Read:
    root = compile_unit(attributes={dw.STMT_LIST: 0, **({dw.COMP_DIR: comp_dir} if comp_dir else {})})
    unit = Unit(root, version=lines.version, address_size=address_size)
    return read(assemble(unit, lines=[lines], little_endian=little_endian), address_size=address_size, **more)


def lines_of(lines: Lines, **more: Any) -> list[tuple[int, int | None]]:
    """(address, line) of every row, None for a gap."""
    result = read_lines(lines, **more)
    assert result.warnings == ()
    return [(address, place[1] if place else None) for address, place in result.rows[0]]


def places_of(lines: Lines, **more: Any) -> list[tuple[int, Place]]:
    result = read_lines(lines, **more)
    assert result.warnings == ()
    return result.rows[0]


def at(address: int, *ops: Op) -> list[Op]:
    """A sequence of 0x100 bytes from ``address`` on with these opcodes in it."""
    return [set_address(address), *ops]


END = [end_sequence()]


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("dwarf64", [False, True])
@pytest.mark.parametrize("address_size", [4, 8])
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_a_table_of_every_version_and_size(version: int, address_size: int, dwarf64: bool, little_endian: bool) -> None:
    lines = Lines(
        rows((0x1000, 7, 1), (0x1008, 9, 2), end=0x1010),
        files=["zero.c", "a.c", ("b.h", 1)] if version == 5 else ["a.c", ("b.h", 1)],
        directories=["/src", "include"] if version == 5 else ["include"],
        version=version,
        address_size=address_size,
        dwarf64=dwarf64,
    )
    assert places_of(lines, little_endian=little_endian, address_size=address_size) == [
        (0x1000, ("/src|a.c", 7)),
        (0x1008, ("/src/include|b.h", 9)),
        (0x1010, None),
    ]


class TestOpcodes:
    def test_a_special_opcode_advances_both_and_puts_a_row(self) -> None:
        lines = Lines([])
        lines.program = [*at(0x1000, lines.special(0, 4), lines.special(3, -5), lines.special(16, 8)), *END]
        assert lines_of(dataclasses.replace(lines, program=[*lines.program[:-1], advance_pc(1), *END])) == [
            (0x1000, 5),
            (0x1003, 0),
            (0x1013, 8),
            (0x1014, None),
        ]

    @pytest.mark.parametrize(("line_base", "line_range"), [(-1, 4), (-3, 12), (0, 1), (-100, 101), (1, 10)])
    def test_special_opcodes_follow_the_headers_base_and_range(self, line_base: int, line_range: int) -> None:
        lines = Lines([], line_base=line_base, line_range=line_range)
        last = line_base + line_range - 1
        program = [*at(0x1000, advance_line(499), copy(), lines.special(1, last), lines.special(1, line_base))]
        lines.program = [*program, advance_pc(4), *END]
        expected = [(0x1000, 500), (0x1001, 500 + last), (0x1002, 500 + last + line_base), (0x1006, None)]
        assert lines_of(lines) == [
            row for index, row in enumerate(expected) if index == 0 or row[1] != expected[index - 1][1]
        ]

    def test_advance_pc_counts_instructions_of_the_minimum_length(self) -> None:
        program = [*at(0x1000, copy(), advance_line(1), advance_pc(3), copy(), advance_pc(1)), *END]
        assert lines_of(Lines(program, minimum_instruction_length=4)) == [(0x1000, 1), (0x100C, 2), (0x1010, None)]

    def test_const_add_pc_advances_like_special_opcode_255(self) -> None:
        program = [*at(0x1000, copy(), advance_line(1), const_add_pc(), copy(), advance_pc(1)), *END]
        assert lines_of(Lines(program)) == [(0x1000, 1), (0x1000 + (255 - 13) // 14, 2), (0x1012, None)]
        assert lines_of(Lines(program, minimum_instruction_length=2))[1] == (0x1000 + 2 * ((255 - 13) // 14), 2)

    @pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
    def test_fixed_advance_pc_counts_bytes_whatever_the_minimum_length(self, little_endian: bool) -> None:
        program = [*at(0x1000, copy(), advance_line(1), fixed_advance_pc(0x123), copy(), fixed_advance_pc(1)), *END]
        assert lines_of(Lines(program, minimum_instruction_length=4), little_endian=little_endian) == [
            (0x1000, 1),
            (0x1123, 2),
            (0x1124, None),
        ]

    def test_op_index_counts_operations_of_wide_instructions(self) -> None:
        lines = Lines([], minimum_instruction_length=16, maximum_operations=3)
        lines.program = [
            *at(0x1000, copy()),
            *(advance_line(1), advance_pc(2), copy()),  # 0x1000, operation 2: the same address
            *(advance_line(1), advance_pc(2), copy()),  # operation 4 = 0x1010, operation 1
            lines.special(5, 1),  # operation 6 = 0x1030, operation 0
            *(advance_pc(3), *END),
        ]
        assert lines_of(lines) == [(0x1000, 2), (0x1010, 3), (0x1030, 4), (0x1040, None)]

    def test_special_opcodes_leave_off_in_the_midst_of_an_instruction(self) -> None:
        lines = Lines([], minimum_instruction_length=16, maximum_operations=3)
        lines.program = [
            *at(0x1000, copy()),
            lines.special(4, 1),  # operation 4 = 0x1010, operation 1
            lines.special(2, 1),  # operation 3 = 0x1020, operation 0
            lines.special(2, 1),  # operation 2: the same address
            *(advance_pc(1), *END),
        ]
        assert lines_of(lines) == [(0x1000, 1), (0x1010, 2), (0x1020, 4), (0x1030, None)]

    def test_operations_are_counted_modulo_2_to_the_64(self) -> None:
        lines = Lines([], minimum_instruction_length=8, maximum_operations=2)
        back = [advance_pc(1), advance_pc((1 << 64) - 1)]
        lines.program = [*at(0x1000, *back, copy(), advance_pc(2), *END)]
        assert lines_of(lines) == [(0x1000, 1), (0x1008, None)]

    def test_const_add_pc_counts_operations_too(self) -> None:
        program = [*at(0x1000, copy(), advance_line(1), const_add_pc(), copy(), advance_pc(4)), *END]
        lines = Lines(program, minimum_instruction_length=8, maximum_operations=4)
        assert lines_of(lines) == [(0x1000, 1), (0x1000 + 8 * (17 // 4), 2), (0x1000 + 8 * (21 // 4), None)]

    def test_fixed_advance_pc_and_set_address_reset_op_index(self) -> None:
        lines = Lines([], minimum_instruction_length=8, maximum_operations=2)
        lines.program = [
            *at(0x1000, copy(), advance_pc(1), fixed_advance_pc(8), advance_line(1), copy()),
            *(advance_pc(1), set_address(0x1010), advance_line(1), copy(), advance_pc(2), *END),
        ]
        assert lines_of(lines) == [(0x1000, 1), (0x1008, 2), (0x1010, 3), (0x1018, None)]

    def test_opcodes_without_meaning_here_are_passed_with_their_operands(self) -> None:
        program = [
            *at(0x1000, raw(b"\x05", dw.uleb(300)), raw(b"\x06\x07\x0a\x0b"), raw(b"\x0c", dw.uleb(5)), copy()),
            dw.extended(4, dw.uleb(300)),  # DW_LNE_set_discriminator
            dw.extended(3, b"x.c\0\0\0\0"),  # DW_LNE_define_file
            dw.extended(0x80, b"of some vendor"),
            *(advance_line(1), advance_pc(4), copy(), advance_pc(4), *END),
        ]
        assert lines_of(Lines(program)) == [(0x1000, 1), (0x1004, 2), (0x1008, None)]

    def test_standard_opcodes_of_later_versions_are_passed_by_their_lengths(self) -> None:
        lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2, 0, 1])
        unknown = raw(b"\x0d", dw.uleb(300), dw.uleb(2), b"\x0e", b"\x0f", dw.uleb(1 << 40))
        lines = Lines([], opcode_base=16, opcode_lengths=lengths)
        lines.program = [*at(0x1000, unknown, copy(), lines.special(4, 1), advance_pc(1)), *END]
        assert lines_of(lines) == [(0x1000, 1), (0x1004, 2), (0x1005, None)]

    def test_an_opcode_base_of_10_makes_opcodes_10_to_12_special(self) -> None:
        lines = Lines([], version=2, opcode_base=10, opcode_lengths=bytes([0, 1, 1, 1, 1, 0, 0, 0, 1]))
        lines.program = [
            *at(0x1000, copy(), raw(bytes([10 + 5 + 1])), advance_pc(1), raw(b"\x0a")),
            advance_pc(1),
            *END,
        ]
        assert lines_of(lines) == [(0x1000, 2), (0x1001, 2 - 5 & 0xFFFFFFFF), (0x1002, None)]

    def test_the_registers_start_anew_with_each_sequence(self) -> None:
        program = [
            *at(0x1000, advance_line(99), set_file(2), copy(), advance_pc(8), *END),
            *at(0x1010, copy(), advance_pc(8), *END),
        ]
        assert places_of(Lines(program, files=["a.c", "b.c"])) == [
            (0x1000, ("/src|b.c", 100)),
            (0x1008, None),
            (0x1010, ("/src|a.c", 1)),
            (0x1018, None),
        ]


class TestWhichRowsCount:
    def test_the_last_row_at_one_address_wins(self) -> None:
        assert lines_of(Lines(rows((0x1000, 1), (0x1000, 2), (0x1004, 3), (0x1004, 4), (0x1004, 5), end=0x1010))) == [
            (0x1000, 2),
            (0x1004, 5),
            (0x1010, None),
        ]

    def test_a_row_that_repeats_file_and_line_is_left_out(self) -> None:
        assert lines_of(Lines(rows((0x1000, 7), (0x1004, 7), (0x1008, 8), (0x100C, 7), end=0x1010))) == [
            (0x1000, 7),
            (0x1008, 8),
            (0x100C, 7),
            (0x1010, None),
        ]

    def test_a_row_with_the_same_line_of_another_file_counts(self) -> None:
        places = places_of(Lines(rows((0x1000, 7, 1), (0x1004, 7, 2), end=0x1010), files=["a.c", "b.c"]))
        assert places == [(0x1000, ("/src|a.c", 7)), (0x1004, ("/src|b.c", 7)), (0x1010, None)]

    def test_a_row_at_the_sequences_end_speaks_for_no_code(self) -> None:
        assert lines_of(Lines(rows((0x1000, 1), (0x1008, 2), end=0x1008))) == [(0x1000, 1), (0x1008, None)]

    def test_an_empty_sequence_leaves_no_trace(self) -> None:
        result = read_lines(Lines([*rows((0x1000, 1), end=0x1000), *rows((0x1010, 2), end=0x1018)]))
        assert result.rows == [[(0x1010, ("/src|a.c", 2)), (0x1018, None)]]
        assert result.sequences == [(0x1010, 0x1018, 0)]

    def test_a_sequence_without_rows_leaves_no_trace(self) -> None:
        result = read_lines(Lines([*at(0x1000, advance_pc(8)), *END]))
        assert (result.rows, result.sequences) == ([[]], [])

    def test_line_0_is_kept_as_code_of_no_line(self) -> None:
        assert lines_of(Lines(rows((0x1000, 1), (0x1004, 0), (0x1008, 2), end=0x1010)))[1] == (0x1004, 0)

    @pytest.mark.parametrize("version", [4, 5])
    def test_a_file_index_out_of_range_is_a_gap(self, version: int) -> None:
        lines = Lines(
            rows((0x1000, 1, 1), (0x1004, 2, 3), (0x1008, 3, 2), (0x100C, 4, 1 << 40), end=0x1010),
            files=["zero.c", "a.c", "b.c"] if version == 5 else ["a.c", "b.c"],
            directories=["/src"] if version == 5 else [],
            version=version,
        )
        assert places_of(lines) == [
            (0x1000, ("/src|a.c", 1)),
            (0x1004, None),
            (0x1008, ("/src|b.c", 3)),
            (0x100C, None),
            (0x1010, None),
        ]

    def test_file_0_is_the_first_in_version_5_and_none_before(self) -> None:
        program = rows((0x1000, 1, 0), (0x1004, 2, 1), end=0x1008)
        assert places_of(Lines(program, files=["first.c"], version=4))[:2] == [
            (0x1000, None),
            (0x1004, ("/src|first.c", 2)),
        ]
        assert places_of(Lines(program, files=["first.c", "second.c"], directories=["/src"], version=5))[:2] == [
            (0x1000, ("/src|first.c", 1)),
            (0x1004, ("/src|second.c", 2)),
        ]

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
    def test_sequences_in_any_order_come_out_ascending(self, order: tuple[int, ...]) -> None:
        sequences = [rows((0x1000 + 16 * index, index + 1), end=0x1010 + 16 * index) for index in range(3)]
        result = read_lines(Lines([op for index in order for op in sequences[index]]))
        assert result.rows == [
            [
                (0x1000, ("/src|a.c", 1)),
                (0x1010, ("/src|a.c", 2)),
                (0x1020, ("/src|a.c", 3)),
                (0x1030, None),
            ]
        ]
        assert result.sequences == [(0x1000, 0x1010, 0), (0x1010, 0x1020, 0), (0x1020, 0x1030, 0)]

    @pytest.mark.parametrize("swapped", [False, True])
    def test_where_sequences_overlap_the_later_start_wins(self, swapped: bool) -> None:
        pair = [rows((0x1000, 1), (0x1008, 2), end=0x1010), rows((0x1008, 9), end=0x1018)]
        if swapped:
            pair.reverse()
        assert lines_of(Lines([*pair[0], *pair[1]])) == [(0x1000, 1), (0x1008, 9), (0x1018, None)]

    def test_rows_ascend_strictly_however_sequences_overlap(self) -> None:
        program = [
            op
            for start, end in ((0x1000, 0x1100), (0x1010, 0x1020), (0x1010, 0x1030), (0x1030, 0x1040), (0x1000, 0x1008))
            for op in rows((start, start), (start + 4, start + 1), end=end)
        ]
        addresses = [address for address, _ in lines_of(Lines(program))]
        assert addresses == sorted(set(addresses))


class TestDeadCode:
    LIVE = rows((0x1100, 5), end=0x1108)
    KEPT = ((0x1100, 5), (0x1108, None))

    @pytest.mark.parametrize("address_size", [4, 8])
    @pytest.mark.parametrize("mark", [-1, -2, 0, 1, 0xFFF, 0x2000, 0x7FFFFFFF])
    def test_a_sequence_outside_of_executable_code_is_left_out(self, mark: int, address_size: int) -> None:
        program = [*at(mark, advance_line(1), copy(), advance_pc(8), copy(), advance_pc(8)), *END, *self.LIVE]
        lines = Lines(program, address_size=address_size)
        assert lines_of(lines, address_size=address_size) == [*self.KEPT]

    @pytest.mark.parametrize("mark", [-1, -2])
    def test_a_tombstone_inside_a_sequence_ends_it_at_its_last_row(self, mark: int) -> None:
        program = [
            *at(0x1000, copy(), advance_line(1), advance_pc(4), copy(), advance_pc(4), set_address(mark), copy()),
            *(advance_pc(2), advance_line(3), copy(), advance_pc(4), *END),
            *self.LIVE,
        ]
        assert lines_of(Lines(program)) == [(0x1000, 1), (0x1004, None), *self.KEPT]

    def test_an_address_that_decreases_ends_trust_until_the_sequences_end(self) -> None:
        program = [
            *at(0x1010, copy(), advance_line(1), advance_pc(4), copy(), set_address(0x1000), copy(), advance_pc(64)),
            *(copy(), advance_pc(4), *END),
            *self.LIVE,
        ]
        assert lines_of(Lines(program)) == [(0x1010, 1), (0x1014, None), *self.KEPT]

    def test_an_address_that_wraps_ends_trust(self) -> None:
        program = [*at(0x1010, copy(), advance_pc((1 << 64) - 8), copy(), advance_pc(16), copy(), advance_pc(1)), *END]
        result = read_lines(Lines([*program, *self.LIVE]))
        assert [row for row in result.rows[0] if row[0] >= 0x1100] == [(0x1100, ("/src|a.c", 5)), (0x1108, None)]
        assert all(end - start <= 8 for start, end, _ in result.sequences)

    def test_set_address_to_the_same_or_a_higher_address_is_sound(self) -> None:
        program = [*at(0x1000, copy(), set_address(0x1000), advance_line(1), copy(), set_address(0x1020)), *END]
        assert lines_of(Lines(program)) == [(0x1000, 2), (0x1020, None)]

    def test_where_address_0_is_code_a_sequence_there_counts(self) -> None:
        lines = Lines(rows((0, 1), (4, 2), end=8))
        assert lines_of(lines, executable=((0, 0x100),)) == [(0, 1), (4, 2), (8, None)]


class TestDamage:
    SOUND = rows((0x1000, 1), (0x1004, 2), end=0x1008)

    def kept(self, *ops: Op, **more: Any) -> tuple[list[tuple[int, int | None]], tuple[str, ...]]:
        result = read_lines(Lines([*self.SOUND, *ops], **more))
        return [(address, place[1] if place else None) for address, place in result.rows[0]], result.warnings

    def test_a_missing_end_sequence_keeps_what_has_an_end(self) -> None:
        assert lines_of(Lines([*self.SOUND, *at(0x1010, copy(), advance_line(1), advance_pc(4), copy())])) == [
            (0x1000, 1),
            (0x1004, 2),
            (0x1008, None),
            (0x1010, 1),
            (0x1014, None),
        ]

    @pytest.mark.parametrize(
        "broken",
        [
            pytest.param(raw(b"\x02"), id="advance_pc without operand"),
            pytest.param(raw(b"\x03\x80\x80"), id="advance_line cut off"),
            pytest.param(raw(b"\x09\x01"), id="fixed_advance_pc cut off"),
            pytest.param(raw(b"\0"), id="extended without length"),
            pytest.param(raw(b"\0\x09\x02\0"), id="set_address cut off"),
            pytest.param(raw(b"\0\xff\xff\xff\xff\x0f\x02"), id="an extended opcode of 4 GB"),
            pytest.param(raw(b"\0\x01\x02"), id="set_address without address"),
            pytest.param(raw(b"\0\x0a\x02", bytes(9)), id="set_address of 9 bytes"),
        ],
    )
    def test_a_program_that_is_cut_off_keeps_the_sequences_before(self, broken: Op) -> None:
        kept, warnings = self.kept(broken)
        assert kept == [(0x1000, 1), (0x1004, 2), (0x1008, None)]
        (warning,) = warnings
        assert warning.startswith("line table at 0x0")

    def test_a_special_opcode_with_a_line_range_of_0(self) -> None:
        kept, warnings = self.kept(raw(b"\xf0"), line_range=0)
        assert kept == [(0x1000, 1), (0x1004, 2), (0x1008, None)]
        assert len(warnings) == 1

    def test_an_extended_opcode_of_no_length_is_passed(self) -> None:
        assert self.kept(raw(b"\0\0"), *rows((0x1010, 3), end=0x1018)) == (
            [(0x1000, 1), (0x1004, 2), (0x1008, None), (0x1010, 3), (0x1018, None)],
            (),
        )

    @pytest.mark.parametrize("opcode_base", [0, 1])
    def test_an_opcode_base_without_standard_opcodes(self, opcode_base: int) -> None:
        lines = Lines([], opcode_base=opcode_base, opcode_lengths=b"")
        if opcode_base:
            lines.program = [*at(0x1000, lines.special(0, 0), lines.special(2, 1), lines.special(2, 1)), *END]
            assert lines_of(lines) == [(0x1000, 1), (0x1002, 2), (0x1004, None)]
        else:
            lines.program = self.SOUND
            assert len(read_lines(lines).rows) == 1

    @pytest.mark.parametrize("offset", [0x10000, 0x7FFFFFFF])
    def test_a_table_outside_of_the_section_costs_the_lines_only(self, offset: int) -> None:
        root = compile_unit(dw.subprogram("f", 0x1000, 0x1010), attributes={dw.STMT_LIST: offset})
        result = read(assemble(Unit(root), lines=[Lines(self.SOUND)]))
        assert result.names == ["f"]
        assert result.function("f").table == -1
        assert "outside" in result.warnings[0]

    def test_the_header_may_be_cut_anywhere(self) -> None:
        root = compile_unit(dw.subprogram("f", 0x1000, 0x1010), attributes={dw.STMT_LIST: 0})
        for version in (2, 4, 5):
            lines = Lines(self.SOUND, version=version, files=["a.c", "b.c"], directories=["/x", "y"])
            sections = assemble(Unit(root), lines=[lines])
            for cut in range(1, len(sections.line)):
                result = read(dataclasses.replace(sections, line=bytes(sections.line)[:cut]))
                assert result.names == ["f"]
                assert len(result.warnings) == 1, (version, cut)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"version": 1}, "unknown version 1"),
            ({"version": 6}, "unknown version 6"),
            ({"version": 5, "address_size": 3}, "unknown address size 3"),
        ],
    )
    def test_a_header_that_cannot_be_read_says_so(self, change: dict[str, Any], words: str) -> None:
        sections = assemble(Unit(compile_unit()), lines=[Lines([], **change)])
        with pytest.raises(MalformedDwarf, match=words):
            read_line_header(sections, 0, 8)

    def test_more_files_than_the_header_can_hold_are_not_believed(self) -> None:
        sections = assemble(Unit(compile_unit(attributes={dw.STMT_LIST: 0})), lines=[Lines([], version=5)])
        line = bytes(sections.line).replace(b"\x01a.c\0\0", b"\xff\xff\xff\xff\x7fa.c\0\0")
        result = read(dataclasses.replace(sections, line=(len(line) - 4).to_bytes(4, "little") + line[4:]))
        assert "claims" in result.warnings[0]


class TestTablesAndUnits:
    def test_each_unit_has_its_own_table_and_units_may_share_one(self) -> None:
        first = Lines(rows((0x1000, 1), end=0x1010), files=["a.c"])
        second = Lines(rows((0x1010, 2), end=0x1020), files=["b.c"])
        offset = len(assemble(lines=[first]).line)
        units = [
            Unit(compile_unit(dw.subprogram(name, low, low + 4), attributes={dw.STMT_LIST: at, dw.COMP_DIR: "/s"}))
            for name, low, at in (("f", 0x1000, 0), ("g", 0x1010, offset), ("h", 0x1004, 0))
        ]
        result = read(assemble(*units, lines=[first, second]))
        assert [each.table for each in result.functions] == [0, 1, 0]
        assert [[row[1] for row in table] for table in result.rows] == [
            [("/s|a.c", 1), None],
            [("/s|b.c", 2), None],
        ]

    def test_a_unit_without_a_table_has_functions_without_lines(self) -> None:
        result = read(assemble(Unit(compile_unit(dw.subprogram("f", 0x1000, 0x1010)))))
        assert (result.function("f").table, result.rows) == (-1, [])


class TestFileNames:
    def path(self, file: str | tuple[str, int], *directories: str, comp_dir: str = "/src", **more: Any) -> str:
        lines = Lines(rows((0x1000, 1), end=0x1010), files=[file], directories=directories, **more)
        if lines.version == 5:
            lines.files = [file, file]
        place = read_lines(lines, comp_dir=comp_dir).rows[0][0][1]
        assert place is not None
        return place[0]

    @pytest.mark.parametrize(
        ("file", "directories", "comp_dir", "path"),
        [
            ("a.c", (), "/src", "/src|a.c"),
            ("sub/a.c", (), "/src", "/src/sub|a.c"),
            ("/abs/a.c", ("/x",), "/src", "/abs|a.c"),
            (("a.c", 1), ("inc",), "/src", "/src/inc|a.c"),
            (("a.c", 1), ("/inc",), "/src", "/inc|a.c"),
            (("a.c", 2), ("/x", "/y"), "/src", "/y|a.c"),
            (("a.c", 9), ("/x",), "/src", "/src|a.c"),
            ("a.c", (), "", "a.c"),
            (("a.c", 1), ("inc",), "", "inc|a.c"),
            ("a.c", (), "/", "/|a.c"),
            ("a.c", (), "/src/", "/src|a.c"),
            ("a.c", (), "C:\\src", "C:\\src|a.c"),
            (("a.c", 1), ("inc",), "C:\\src", "C:\\src\\inc|a.c"),
            (("a.c", 1), ("D:\\inc",), "C:\\src", "D:\\inc|a.c"),
            ("C:\\x\\a.c", ("/y",), "/src", "C:\\x|a.c"),
            ("C:/x/a.c", ("/y",), "/src", "C:/x|a.c"),
            ("\\\\server\\share\\a.c", (), "/src", "\\\\server\\share|a.c"),
            (("a.c", 1), ("\\\\server\\share",), "/src", "\\\\server\\share|a.c"),
        ],
    )
    def test_names_up_to_version_4(
        self, file: str | tuple[str, int], directories: tuple[str, ...], comp_dir: str, path: str
    ) -> None:
        assert self.path(file, *directories, comp_dir=comp_dir) == path

    @pytest.mark.parametrize(
        ("file", "directories", "comp_dir", "path"),
        [
            (("a.c", 0), ("/real",), "/src", "/real|a.c"),
            (("a.c", 1), ("/real", "inc"), "/real", "/real/inc|a.c"),
            (("a.c", 1), ("/real", "/inc"), "/src", "/inc|a.c"),
            (("a.c", 0), ("rel",), "/src", "/src/rel|a.c"),
            (("a.c", 9), ("/real",), "/src", "/src|a.c"),
            (("a.c", 1), ("C:\\real", "inc"), "C:\\real", "C:\\real\\inc|a.c"),
        ],
    )
    @pytest.mark.parametrize("form", [dw.STRING, dw.STRP, dw.LINE_STRP, dw.STRX, dw.STRX1, dw.STRX2, dw.STRX4])
    @pytest.mark.parametrize("with_md5", [False, True])
    def test_names_of_version_5(
        self,
        file: tuple[str, int],
        directories: tuple[str, ...],
        comp_dir: str,
        path: str,
        form: int,
        with_md5: bool,
    ) -> None:
        more = {"version": 5, "path_form": form, "with_md5": with_md5}
        assert self.path(file, *directories, comp_dir=comp_dir, **more) == path

    @pytest.mark.parametrize("dwarf64", [False, True])
    @pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
    @pytest.mark.parametrize("form", [dw.STRX, dw.STRX1, dw.STRX2, dw.STRX3, dw.STRX4])
    def test_indexed_names_count_from_the_base_of_the_unit(self, form: int, dwarf64: bool, little_endian: bool) -> None:
        """DWARF 5 §6.2.4.1 with §7.26: of the unit that uses the table, which says where its part of `.debug_str_offsets` begins."""
        lines = Lines(
            rows((0x1000, 1), end=0x1010),
            files=["a.c", "a.c"],
            directories=["/src"],
            path_form=form,
            version=5,
            dwarf64=dwarf64,
        )
        filler = dw.Die(dw.VARIABLE, {dw.NAME: dw.As(dw.STRX, "filler")})
        size = 8 if dwarf64 else 4
        root = compile_unit(filler, attributes={dw.STMT_LIST: 0, dw.STR_OFFSETS_BASE: size})
        sections = assemble(Unit(root, version=5, dwarf64=dwarf64), lines=[lines], little_endian=little_endian)
        # The names' indexes begin behind the filler's, which the base leaves out: one less each.
        sections.string_offsets = bytes(size) + sections.string_offsets
        (table,) = read(sections).rows
        assert table == [(0x1000, ("/src|a.c", 1)), (0x1010, None)]
