"""Every form (DWARF 5 §7.5.6, and GNU's) is passed over, and captured, at its right size."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sources.dwarf.reading import read
from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import As, Unit, assemble, compile_unit, subprogram

VALUES: dict[str, list[Any]] = {
    "ADDR": [0x1234],
    "BLOCK1": [b"", b"abc", bytes(255)],
    "BLOCK2": [b"", b"abc", bytes(300)],
    "BLOCK4": [b"", b"abc", bytes(70000)],
    "BLOCK": [b"", b"abc", bytes(300)],
    "EXPRLOC": [b"", b"\x91\x00", bytes(200)],
    "DATA1": [7],
    "DATA2": [7],
    "DATA4": [7],
    "DATA8": [7],
    "DATA16": [7],
    "SDATA": [0, -1, 63, 64, -64, -65, 1 << 62, -(1 << 63)],
    "UDATA": [0, 127, 128, (1 << 64) - 1, 1 << 100],
    "STRING": ["", "x", "y" * 300],
    "STRP": ["pooled"],
    "LINE_STRP": ["pooled"],
    "FLAG": [1],
    "FLAG_PRESENT": [True],
    "IMPLICIT_CONST": [0, -1, 1 << 40, -(1 << 63)],
    "REF_ADDR": [0x20],
    "REF1": [9],
    "REF2": [9],
    "REF4": [9],
    "REF8": [9],
    "REF_UDATA": [9, 300],
    "REF_SIG8": [9],
    "REF_SUP4": [9],
    "REF_SUP8": [9],
    "STRP_SUP": [9],
    "SEC_OFFSET": [9],
    "STRX": [3, 300],
    "STRX1": [3],
    "STRX2": [3],
    "STRX3": [3],
    "STRX4": [3],
    "ADDRX": [3, 300],
    "ADDRX1": [3],
    "ADDRX2": [3],
    "ADDRX3": [3],
    "ADDRX4": [3],
    "LOCLISTX": [3, 300],
    "RNGLISTX": [3, 300],
    "GNU_ADDR_INDEX": [3, 300],
    "GNU_STR_INDEX": [3, 300],
    "GNU_REF_ALT": [9],
    "GNU_STRP_ALT": [9],
}
CASES = [(form, value) for form, values in VALUES.items() for value in values]
SHAPES = [
    pytest.param({"version": 2, "address_size": 4}, id="v2-32"),
    pytest.param({"version": 2, "address_size": 8, "dwarf64": True}, id="v2-64-dwarf64"),
    pytest.param({"version": 4, "address_size": 4, "dwarf64": True}, id="v4-32-dwarf64"),
    pytest.param({"version": 5, "address_size": 8}, id="v5-64"),
    pytest.param({"version": 5, "address_size": 8, "dwarf64": True}, id="v5-64-dwarf64"),
]
GUARD = 0x1800


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_die_that_nobody_asks_about_is_passed_at_the_size_of_its_forms(
    shape: dict[str, Any], little_endian: bool
) -> None:
    for form, value in CASES:
        stranger = dw.Die(dw.VARIABLE, {dw.CONST_VALUE: As(getattr(dw, form), value), dw.LOCATION: As(dw.DATA1, 1)})
        unit = Unit(compile_unit(stranger, subprogram("after", GUARD, GUARD + 4)), **shape)
        result = read(assemble(unit, little_endian=little_endian))
        assert result.names == ["after"], (form, value)
        assert result.functions[0].ranges == [(GUARD, GUARD + 4)], (form, value)
        assert result.warnings == (), (form, value)


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("shape", SHAPES)
def test_attributes_of_a_function_that_mean_nothing_here_are_passed_at_the_size_of_their_forms(
    shape: dict[str, Any], little_endian: bool
) -> None:
    for form, value in CASES:
        function = dw.Die(
            dw.SUBPROGRAM,
            {
                dw.CONST_VALUE: As(getattr(dw, form), value),
                dw.NAME: "f",
                dw.LOCATION: As(getattr(dw, form), value),
                dw.LOW_PC: GUARD,
                dw.TYPE: As(getattr(dw, form), value),
                dw.HIGH_PC: As(dw.DATA4, 4),
            },
        )
        result = read(assemble(Unit(compile_unit(function), **shape), little_endian=little_endian))
        assert [(each.name, each.ranges) for each in result.functions] == [("f", [(GUARD, GUARD + 4)])], (form, value)
        assert result.warnings == (), (form, value)


@pytest.mark.parametrize("form", [form for form in VALUES if form != "IMPLICIT_CONST"])
def test_an_indirect_form_stands_in_the_die_itself(form: str) -> None:
    function = dw.Die(
        dw.SUBPROGRAM,
        {
            dw.CONST_VALUE: As(dw.INDIRECT, As(getattr(dw, form), VALUES[form][0])),
            dw.NAME: As(dw.INDIRECT, As(dw.STRING, "f")),
            dw.LOW_PC: As(dw.INDIRECT, As(dw.ADDR, GUARD)),
            dw.HIGH_PC: As(dw.INDIRECT, As(dw.UDATA, 4)),
        },
    )
    result = read(assemble(Unit(compile_unit(function), version=5)))
    assert [(each.name, each.ranges) for each in result.functions] == [("f", [(GUARD, GUARD + 4)])]


@pytest.mark.parametrize("inner", [dw.INDIRECT, dw.IMPLICIT_CONST, 0, 0x2D, 0x7777])
def test_an_indirect_form_that_cannot_be_costs_its_unit(inner: int) -> None:
    broken = dw.Die(dw.VARIABLE, {dw.CONST_VALUE: As(dw.INDIRECT, As(inner, As(dw.DATA1, 0) if inner == 22 else 0))})
    sound = Unit(compile_unit(subprogram("sound", GUARD, GUARD + 4)))
    result = read(assemble(Unit(compile_unit(subprogram("early", 0x1000, 0x1004), broken)), sound))
    assert result.names == ["early", "sound"]
    (warning,) = result.warnings
    assert "unit at 0x0" in warning


@pytest.mark.parametrize("form", ["STRING", "STRP", "LINE_STRP", "STRX", "STRX1", "STRX2", "STRX3", "STRX4"])
@pytest.mark.parametrize("dwarf64", [False, True])
@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
def test_every_string_form_gives_a_name(form: str, dwarf64: bool, little_endian: bool) -> None:
    functions = [
        subprogram(As(getattr(dw, form), f"name{index}"), 0x1000 + 16 * index, 0x1010 + 16 * index)
        for index in range(3)
    ]
    unit = Unit(compile_unit(*functions), version=5, dwarf64=dwarf64)
    assert read(assemble(unit, little_endian=little_endian)).names == ["name0", "name1", "name2"]


def test_gnu_string_index_of_version_4() -> None:
    function = subprogram(As(dw.GNU_STR_INDEX, "split"), 0x1000, 0x1010)
    assert read(assemble(Unit(compile_unit(function)))).names == ["split"]


@pytest.mark.parametrize("form", ["STRP", "LINE_STRP", "STRX", "GNU_STRP_ALT", "STRP_SUP", "DATA4"])
def test_a_string_that_is_not_here_leaves_the_function_nameless(form: str) -> None:
    function = subprogram(As(getattr(dw, form), 0x00FFFFFF), 0x1000, 0x1010)
    result = read(assemble(Unit(compile_unit(function), version=5)))
    assert [(each.name, each.ranges) for each in result.functions] == [("", [(0x1000, 0x1010)])]


@pytest.mark.parametrize("form", ["ADDRX", "ADDRX1", "ADDRX2", "ADDRX3", "ADDRX4"])
@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("address_size", [4, 8])
def test_every_address_form_gives_an_address(form: str, little_endian: bool, address_size: int) -> None:
    low = As(getattr(dw, form), dw.Address(0x1000))
    high = As(getattr(dw, form), dw.Address(0x1020))
    function = subprogram("f", 0, 0, low_pc=low, high_pc=high)
    unit = Unit(compile_unit(function), version=5, address_size=address_size)
    assert read(assemble(unit, little_endian=little_endian)).function("f").ranges == [(0x1000, 0x1020)]


def test_gnu_address_index_of_version_4() -> None:
    function = subprogram("f", 0, 0, low_pc=As(dw.GNU_ADDR_INDEX, dw.Address(0x1000)), high_pc=As(dw.DATA4, 8))
    assert read(assemble(Unit(compile_unit(function)))).function("f").ranges == [(0x1000, 0x1008)]


def test_indexes_count_from_the_bases_of_their_unit() -> None:
    function = subprogram(As(dw.STRX1, 1), 0, 0, low_pc=As(dw.ADDRX, 1), high_pc=As(dw.DATA1, 8))
    root = compile_unit(function, attributes={dw.STR_OFFSETS_BASE: 8, dw.ADDR_BASE: 16})
    donor = compile_unit(
        *(dw.Die(dw.VARIABLE, {dw.NAME: As(dw.STRX, text)}) for text in ("zero", "one", "two", "three")),
        *(dw.Die(dw.VARIABLE, {dw.LOW_PC: As(dw.ADDRX, dw.Address(value))}) for value in (1, 2, 3, 0x1100)),
    )
    result = read(assemble(Unit(root, version=5), Unit(donor, version=5)))
    assert [(each.name, each.ranges) for each in result.functions] == [("three", [(0x1100, 0x1108)])]


@pytest.mark.parametrize("selector_size", [0, 2, 8])
@pytest.mark.parametrize("dwarf64", [False, True])
@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
def test_segment_selectors_before_addresses_are_passed(selector_size: int, dwarf64: bool, little_endian: bool) -> None:
    """DWARF 5 §7.27: the header of a contribution to `.debug_addr` may put a selector before each address."""
    encoding = dw.Encoding(little_endian=little_endian, dwarf64=dwarf64)
    selector = b"\x77" * selector_size
    head = encoding.number(5, 2) + bytes([encoding.address_size, selector_size])
    addresses = [0x1100, 0x1000, 0x1010, 0x1020]
    section = encoding.with_length(head + b"".join(selector + encoding.address(each) for each in addresses))
    base = len(section) - len(addresses) * (8 + selector_size)
    plain = subprogram("plain", 0, 0, low_pc=As(dw.ADDRX, 1), high_pc=As(dw.ADDRX1, 2))
    listed = dw.Die(dw.SUBPROGRAM, {dw.NAME: "listed", dw.RANGES: As(dw.SEC_OFFSET, dw.RNGLISTS_HEADER_SIZE)})
    indexed = bytes([3]) + dw.uleb(3) + dw.uleb(8)
    from_base = bytes([4]) + dw.uleb(8) + dw.uleb(16)
    root = compile_unit(plain, listed, attributes={dw.ADDR_BASE: As(dw.SEC_OFFSET, base), dw.LOW_PC: As(dw.ADDRX, 0)})
    lists = dw.rnglists(indexed + from_base + b"\0", encoding=dw.Encoding(little_endian=little_endian), offsets=False)
    unit = Unit(root, version=5, dwarf64=dwarf64)
    found = read(assemble(unit, addresses=section, rnglists=lists, little_endian=little_endian))
    assert {each.name: each.ranges for each in found.functions} == {
        "plain": [(0x1000, 0x1010)],
        "listed": [(0x1020, 0x1028), (0x1108, 0x1110)],
    }


@pytest.mark.parametrize("form", ["DATA1", "DATA2", "DATA4", "DATA8", "UDATA", "SDATA", "IMPLICIT_CONST", "DATA16"])
@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
def test_a_constant_high_pc_counts_from_the_low_pc(form: str, little_endian: bool) -> None:
    function = subprogram("f", 0x1000, 0, high_pc=As(getattr(dw, form), 0x20))
    result = read(assemble(Unit(compile_unit(function), version=5), little_endian=little_endian))
    assert result.function("f").ranges == [(0x1000, 0x1020)]


def test_what_would_be_a_sign_is_none_in_a_number_without_sign() -> None:
    """In one byte 64 to 127, in two 8192 to 16383."""
    ranges = [(start, start + 64 * number) for number, start in enumerate(range(0x100000, 130 * 0x100000, 0x100000), 1)]
    functions = [
        subprogram(
            As(dw.STRX, f"f{start}"), 0, 0, low_pc=As(dw.ADDRX, dw.Address(start)), high_pc=As(dw.UDATA, end - start)
        )
        for start, end in ranges
    ]
    found = read(assemble(Unit(compile_unit(*functions), version=5)), ((0, 1 << 40),)).functions
    assert [(each.name, each.ranges) for each in found] == [(f"f{start}", [(start, end)]) for start, end in ranges]


@pytest.mark.parametrize("high", [0, 1 << 63, (1 << 64) - 1, (1 << 64) - 0x1000, (1 << 64) - 0xFFF])
def test_a_high_pc_that_is_no_end_leaves_no_function_or_one_that_ends_behind_its_start(high: int) -> None:
    function = subprogram("f", 0x1000, 0, high_pc=As(dw.DATA8, high))
    for each in read(assemble(Unit(compile_unit(function)))).functions:
        assert each.ranges == [(0x1000, 0x1000 + high)]
        assert 0 < high <= (1 << 64) - 1 - 0x1000


@pytest.mark.parametrize("form", ["REF1", "REF2", "REF4", "REF8", "REF_UDATA", "REF_ADDR"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
def test_every_reference_form_leads_to_its_die(form: str, shape: dict[str, Any], little_endian: bool) -> None:
    origin = dw.abstract("inner")
    inline = dw.inlined(None, 0x1004, 0x1008, abstract_origin=As(getattr(dw, form), origin))
    first = Unit(compile_unit(subprogram("elsewhere", 0x1100, 0x1110)), **shape)
    second = Unit(compile_unit(origin, subprogram("f", 0x1000, 0x1010, inline)), **shape)
    result = read(assemble(first, second, little_endian=little_endian))
    assert result.function("f").tree() == [("inner", [])]


@pytest.mark.parametrize(
    "reference", [As(dw.REF4, 0xFFFFFF), As(dw.REF8, 1 << 63), As(dw.REF_ADDR, 0xFFFFFF), As(dw.GNU_REF_ALT, 4)]
)
def test_a_reference_that_leads_out_of_the_file_names_nothing(reference: As) -> None:
    inline = dw.inlined(None, 0x1004, 0x1008, abstract_origin=reference)
    result = read(assemble(Unit(compile_unit(subprogram("f", 0x1000, 0x1010, inline)))))
    assert result.function("f").tree() == [("", [])]
    assert result.warnings == ()
