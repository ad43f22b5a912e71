"""Range lists: `.debug_ranges` (DWARF 4 §2.17.3) and `.debug_rnglists` (DWARF 5 §7.25)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.dwarf.reading import read
from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import (
    RNGLISTS_HEADER_SIZE,
    As,
    Die,
    Encoding,
    Unit,
    assemble,
    compile_unit,
    range_pairs,
    rnglists,
    uleb,
)

ENCODINGS = [
    pytest.param(Encoding(), id="64-little"),
    pytest.param(Encoding(little_endian=False), id="64-big"),
    pytest.param(Encoding(address_size=4), id="32-little"),
    pytest.param(Encoding(address_size=4, little_endian=False, dwarf64=True), id="32-big-dwarf64"),
]
END, BASEX, STARTX_ENDX, STARTX_LENGTH, OFFSET_PAIR, BASE, START_END, START_LENGTH = (
    bytes([kind]) for kind in range(8)
)


def ranges_of(
    *,
    version: int,
    encoding: Encoding,
    reference: Any,
    unit: dict[int, Any] | None = None,
    executable: tuple[tuple[int, int], ...] = ((0x1000, 0x2000),),
    **sections: Any,
) -> list[tuple[int, int]]:
    """The ranges of one function whose DW_AT_ranges is ``reference``."""
    function = Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.RANGES: reference})
    root = compile_unit(function, attributes={dw.LOW_PC: 0, **(unit or {})})
    shape = Unit(root, version=version, address_size=encoding.address_size, dwarf64=encoding.dwarf64)
    result = read(assemble(shape, little_endian=encoding.little_endian, **sections), executable)
    assert result.names == ["f"]
    assert result.warnings == ()
    return result.functions[0].ranges


@pytest.mark.parametrize("encoding", ENCODINGS)
class TestPairs:
    def ranges(
        self, encoding: Encoding, *pairs: tuple[int, int], low: int = 0, end: bool = True
    ) -> list[tuple[int, int]]:
        section = bytes(encoding.address_size * 2) + range_pairs(*pairs, encoding=encoding, end=end)
        return ranges_of(
            version=4,
            encoding=encoding,
            reference=As(dw.SEC_OFFSET, encoding.address_size * 2),
            unit={dw.LOW_PC: low},
            ranges=section,
        )

    def test_pairs_count_from_the_units_low_pc(self, encoding: Encoding) -> None:
        assert self.ranges(encoding, (0, 8), (0x20, 0x30), low=0x1000) == [(0x1000, 0x1008), (0x1020, 0x1030)]

    def test_a_base_selection_counts_for_what_follows(self, encoding: Encoding) -> None:
        pairs = ((0, 8), (-1, 0x1100), (0, 8), (-1, 0), (0x1200, 0x1208))
        assert self.ranges(encoding, *pairs, low=0x1000) == [(0x1000, 0x1008), (0x1100, 0x1108), (0x1200, 0x1208)]

    def test_what_stands_behind_the_end_is_another_list(self, encoding: Encoding) -> None:
        assert self.ranges(encoding, (0x1000, 0x1008), (0, 0), (0x1100, 0x1108)) == [(0x1000, 0x1008)]

    def test_ranges_come_out_ascending_and_joined(self, encoding: Encoding) -> None:
        pairs = ((0x1300, 0x1310), (0x1000, 0x1008), (0x1008, 0x1010), (0x1308, 0x1320), (0x1304, 0x1306))
        assert self.ranges(encoding, *pairs) == [(0x1000, 0x1010), (0x1300, 0x1320)]

    @pytest.mark.parametrize(
        "bad",
        [
            pytest.param((0x1100, 0x1100), id="empty"),
            pytest.param((0x1180, 0x1100), id="backwards"),
            pytest.param((0, 4), id="dead at 0"),
            pytest.param((1, 1), id="dead by GNU ld"),
            pytest.param((-2, -2), id="dead by lld"),
            pytest.param((0x3000, 0x3010), id="not code"),
        ],
    )
    def test_a_bad_pair_does_not_cost_the_others(self, encoding: Encoding, bad: tuple[int, int]) -> None:
        assert self.ranges(encoding, (0x1000, 0x1008), bad, (0x1200, 0x1208)) == [(0x1000, 0x1008), (0x1200, 0x1208)]

    def test_a_sum_beyond_the_address_space_is_no_range(self, encoding: Encoding) -> None:
        pairs = ((-1, 0x1100), (0, 8), (-0x10C0, -0x1000), (0x10, 0x18))
        assert self.ranges(encoding, *pairs) == [(0x1100, 0x1108), (0x1110, 0x1118)]

    def test_a_dead_base_takes_its_pairs_with_it(self, encoding: Encoding) -> None:
        pairs = ((0x1000, 0x1008), (-1, -1), (0x1100, 0x1108), (-1, 0), (0x1200, 0x1208))
        assert self.ranges(encoding, *pairs) == [(0x1000, 0x1008), (0x1200, 0x1208)]

    def test_a_list_cut_off_by_its_section_keeps_what_it_has(self, encoding: Encoding) -> None:
        assert self.ranges(encoding, (0x1000, 0x1008), end=False) == [(0x1000, 0x1008)]

    def test_a_list_outside_of_its_section_is_empty(self, encoding: Encoding) -> None:
        reference = As(dw.SEC_OFFSET, 0x00FFFFFF)
        assert ranges_of(version=4, encoding=encoding, reference=reference, ranges=bytes(64)) == []


def test_a_long_list_is_sorted_too() -> None:
    pairs = [(0x1000 + 8 * index, 0x1004 + 8 * index) for index in range(300)]
    section = range_pairs(*reversed(pairs))
    assert ranges_of(version=4, encoding=Encoding(), reference=As(dw.SEC_OFFSET, 0), ranges=section) == pairs


@pytest.mark.parametrize("form", [dw.DATA4, dw.DATA8])
def test_version_2_and_3_refer_by_plain_constants(form: int) -> None:
    section = bytes(16) + range_pairs((0x1000, 0x1008))
    for version in (2, 3):
        assert ranges_of(version=version, encoding=Encoding(), reference=As(form, 16), ranges=section) == [
            (0x1000, 0x1008)
        ]


@pytest.mark.parametrize("encoding", ENCODINGS)
class TestRnglists:
    def header_size(self, encoding: Encoding) -> int:
        return 20 if encoding.dwarf64 else RNGLISTS_HEADER_SIZE

    def ranges(
        self, encoding: Encoding, *entries: bytes, low: int = 0, addresses: tuple[int, ...] = ()
    ) -> list[tuple[int, int]]:
        return ranges_of(
            version=5,
            encoding=encoding,
            reference=As(dw.SEC_OFFSET, self.header_size(encoding)),
            unit={dw.LOW_PC: low},
            rnglists=rnglists(b"".join(entries), encoding=encoding, offsets=False),
            addresses=b"".join(map(encoding.address, addresses)),
        )

    def test_every_kind_of_entry(self, encoding: Encoding) -> None:
        address = encoding.address
        entries = (
            OFFSET_PAIR + uleb(0) + uleb(4),
            BASE + address(0x1100),
            OFFSET_PAIR + uleb(0x10) + uleb(0x18),
            START_END + address(0x1200) + address(0x1208),
            START_LENGTH + address(0x1300) + uleb(0x90),
            BASEX + uleb(1),
            OFFSET_PAIR + uleb(0) + uleb(8),
            STARTX_ENDX + uleb(2) + uleb(3),
            STARTX_LENGTH + uleb(0) + uleb(0x10),
            END,
            START_LENGTH + address(0x1F00) + uleb(8),
        )
        assert self.ranges(encoding, *entries, low=0x1000, addresses=(0x1600, 0x1400, 0x1500, 0x1508)) == [
            (0x1000, 0x1004),
            (0x1110, 0x1118),
            (0x1200, 0x1208),
            (0x1300, 0x1390),
            (0x1400, 0x1408),
            (0x1500, 0x1508),
            (0x1600, 0x1610),
        ]

    @pytest.mark.parametrize("kind", ["backwards", "empty", "too long", "no such address", "dead", "not code"])
    def test_a_bad_entry_does_not_cost_the_others(self, encoding: Encoding, kind: str) -> None:
        address = encoding.address
        bad = {
            "backwards": START_END + address(0x1108) + address(0x1100),
            "empty": START_LENGTH + address(0x1100) + uleb(0),
            "too long": START_LENGTH + address(0x1100) + uleb((1 << 64) - 1),
            "no such address": STARTX_ENDX + uleb(7) + uleb(8),
            "dead": START_LENGTH + address(-1) + uleb(8),
            "not code": START_LENGTH + address(0x3000) + uleb(8),
        }[kind]
        sound = START_LENGTH + address(0x1000) + uleb(8), START_LENGTH + address(0x1200) + uleb(8)
        assert self.ranges(encoding, sound[0], bad, sound[1], END) == [(0x1000, 0x1008), (0x1200, 0x1208)]

    def test_a_dead_base_takes_its_pairs_with_it(self, encoding: Encoding) -> None:
        pair = OFFSET_PAIR + uleb(0x1100) + uleb(0x1108)
        last = START_LENGTH + encoding.address(0x1200) + uleb(8)
        assert self.ranges(encoding, BASE + encoding.address(-1), pair, last, END) == [(0x1200, 0x1208)]

    def test_an_unknown_entry_ends_the_list(self, encoding: Encoding) -> None:
        first, last = (START_LENGTH + encoding.address(at) + uleb(8) for at in (0x1000, 0x1200))
        assert self.ranges(encoding, first, b"\x08", last, END) == [(0x1000, 0x1008)]

    def test_a_list_may_be_cut_anywhere(self, encoding: Encoding) -> None:
        whole = START_LENGTH + encoding.address(0x1000) + uleb(8) + START_END + encoding.address(0x1100) * 2
        for cut in range(2 + encoding.address_size, len(whole)):
            assert self.ranges(encoding, whole[:cut]) == [(0x1000, 0x1008)]

    def test_rnglistx_goes_by_the_offsets_of_the_units_contribution(self, encoding: Encoding) -> None:
        first, second = (
            rnglists(
                *(START_LENGTH + encoding.address(at) + uleb(8) + END for at in starts),
                encoding=encoding,
            )
            for starts in ((0x1000, 0x1100), (0x1200, 0x1300, 0x1400))
        )
        section = first + second
        for base, index, expected in (
            (None, 1, 0x1100),
            (self.header_size(encoding), 0, 0x1000),
            (len(first) + self.header_size(encoding), 2, 0x1400),
        ):
            unit = {} if base is None else {dw.RNGLISTS_BASE: As(dw.SEC_OFFSET, base)}
            assert ranges_of(
                version=5, encoding=encoding, reference=As(dw.RNGLISTX, index), unit=unit, rnglists=section
            ) == [(expected, expected + 8)]

    @pytest.mark.parametrize("index", [1000, 1 << 31, (1 << 63) - 1, (1 << 64) - 1])
    def test_a_rnglistx_out_of_range_is_empty(self, encoding: Encoding, index: int) -> None:
        section = rnglists(END, encoding=encoding)
        assert ranges_of(version=5, encoding=encoding, reference=As(dw.RNGLISTX, index), rnglists=section) == []


@pytest.mark.parametrize("attribute", [dw.RNGLISTS_BASE, dw.ADDR_BASE, dw.STR_OFFSETS_BASE, dw.STMT_LIST])
@pytest.mark.parametrize("base", [1 << 31, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_a_wild_base_finds_nothing_and_harms_nothing(attribute: int, base: int) -> None:
    function = Die(dw.SUBPROGRAM, {dw.NAME: As(dw.STRX, 1), dw.RANGES: As(dw.RNGLISTX, 1)})
    plain = dw.subprogram("plain", 0, 0, low_pc=As(dw.ADDRX, 1), high_pc=As(dw.DATA1, 8))
    root = compile_unit(function, plain, attributes={attribute: As(dw.DATA8, base)})
    section = rnglists(STARTX_LENGTH + uleb(1) + uleb(4) + END)
    sound = Unit(compile_unit(dw.subprogram("sound", 0x1000, 0x1010)))
    sections = assemble(Unit(root, version=5), sound, rnglists=section, addresses=bytes(64))
    assert "sound" in read(sections).names


@pytest.mark.parametrize("offset", [1 << 31, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 20])
def test_a_wild_offset_in_the_offsets_table_finds_nothing(offset: int) -> None:
    encoding = Encoding(dwarf64=True)
    head = encoding.number(5, 2) + b"\x08\0" + encoding.number(1, 4)
    section = encoding.with_length(head + encoding.offset(offset) + START_LENGTH + encoding.address(0x1000) + uleb(8))
    assert ranges_of(version=5, encoding=encoding, reference=As(dw.RNGLISTX, 0), rnglists=section) == []


def test_the_offsets_table_may_end_the_section_and_lead_back_into_itself() -> None:
    encoding = Encoding()
    from_0_to_8 = b"\x04\0\x08\0"
    head = encoding.number(5, 2) + b"\x08\0" + encoding.number(2, 4)
    section = encoding.with_length(head + from_0_to_8 + encoding.offset(0))
    assert ranges_of(
        version=5, encoding=encoding, reference=As(dw.RNGLISTX, 1), unit={dw.LOW_PC: 0x1000}, rnglists=section
    ) == [(0x1000, 0x1008)]


@given(
    pairs=st.lists(st.tuples(st.integers(0x1000, 0x1FC0), st.integers(0, 0x40)), max_size=100),
)
def test_a_functions_ranges_cover_just_what_its_list_says(pairs: list[tuple[int, int]]) -> None:
    entries = b"".join(START_LENGTH + start.to_bytes(8, "little") + uleb(size) for start, size in pairs)
    found = ranges_of(
        version=5,
        encoding=Encoding(),
        reference=As(dw.SEC_OFFSET, RNGLISTS_HEADER_SIZE),
        rnglists=rnglists(entries + END, offsets=False),
    )
    assert {at for start, end in found for at in range(start, end)} == {
        at for start, size in pairs for at in range(start, start + size)
    }
    assert all(start < end for start, end in found)
    assert all(found[index][1] < found[index + 1][0] for index in range(len(found) - 1))
