"""Every range that debug information states and that isn't followed to the letter is counted, and told where it costs answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import (
    As,
    Die,
    abstract,
    assemble,
    compile_unit,
    inlined,
    range_pairs,
    rnglists,
    subprogram,
)
from tests.writers.elf_writer import Symbol
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.extract import Extracted, build

A, B = abstract("a"), abstract("b")
NAMELESS = Die(dw.SUBPROGRAM, {dw.INLINE: 1})
END, STARTX_LENGTH, OFFSET_PAIR, START_END = (bytes([kind]) for kind in (0, 3, 4, 6))

Counts = tuple[int, int, int]


def built(*functions: Die, version: int = 4, attributes: dict[int, Any] | None = None, **sections: Any) -> Extracted:
    root = compile_unit(A, B, NAMELESS, *functions, attributes=attributes or {dw.LOW_PC: 0})
    image = dw.elf_with(assemble(dw.Unit(root, version=version), **sections), symbols=(Symbol("s", 0x1F00, 16),))
    with ElfFile.from_bytes(image) as elf:
        return build(elf)


def counts(extracted: Extracted) -> Counts:
    figures = extracted.figures
    return figures.dropped_ranges, figures.cut_ranges, figures.widened_ranges


def listed(*pairs: tuple[int, int], end: bool = True) -> Extracted:
    function = Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.RANGES: As(dw.SEC_OFFSET, 16)})
    return built(function, ranges=bytes(16) + range_pairs(*pairs, end=end))


def f(*inlines: Die) -> Die:
    return subprogram("f", 0x1000, 0x1100, *inlines)


class TestDropped:
    @pytest.mark.parametrize(
        "functions",
        [
            pytest.param((subprogram("g", 0x1010, 0x1000),), id="a function that ends before it begins"),
            pytest.param((subprogram("g", 0x1F00, 0x2100),), id="a function that runs out of the code"),
            pytest.param((subprogram("g", 0x9000, 0x9100),), id="a function behind all code"),
            pytest.param((f(inlined(A, 0x1020, 0x1010)),), id="a call that ends before it begins"),
            pytest.param((f(inlined(A, 0x1200, 0x1210)),), id="a call outside of its function"),
            pytest.param((f(inlined(NAMELESS, 0x1010, 0x1020)),), id="a call of a function without a name"),
            pytest.param(
                (f(inlined(A, 0x1010, 0x1020), inlined(B, 0x1010, 0x1020)),), id="a call where a later one is"
            ),
        ],
    )
    def test_by_dies(self, functions: tuple[Die, ...]) -> None:
        extracted = built(*functions)
        assert counts(extracted) == (1, 0, 0)
        (warning,) = extracted.warnings
        assert "(1 dropped)" in warning

    def test_all_in_a_call_without_a_name(self) -> None:
        assert counts(built(f(inlined(NAMELESS, 0x1010, 0x1020, inlined(A, 0x1010, 0x1018))))) == (2, 0, 0)

    @pytest.mark.parametrize(
        "pairs",
        [[(0x1020, 0x1010)], [(0x1F00, 0x2100)], [(0x9000, 0x9100)]],
        ids=["backward", "out of code", "elsewhere"],
    )
    def test_of_a_list(self, pairs: list[tuple[int, int]]) -> None:
        assert counts(listed((0x1000, 0x1010), *pairs)) == (1, 0, 0)

    def test_the_rest_of_a_list_that_is_cut_off(self) -> None:
        assert counts(listed((0x1000, 0x1010), end=False)) == (1, 0, 0)

    @pytest.mark.parametrize("offset", [0x1000, 1 << 63], ids=["past the section", "past all bounds"])
    @pytest.mark.parametrize("version", [4, 5])
    def test_a_list_that_is_not_there(self, offset: int, version: int) -> None:
        function = Die(
            dw.SUBPROGRAM, {dw.NAME: "f", dw.RANGES: As(dw.SEC_OFFSET if offset < 1 << 32 else dw.DATA8, offset)}
        )
        assert counts(built(function, version=version, ranges=bytes(32), rnglists=rnglists(END))) == (1, 0, 0)

    @pytest.mark.parametrize(
        "entry",
        [
            pytest.param(OFFSET_PAIR + dw.uleb(0x1020) + dw.uleb(0x1010) + END, id="backward"),
            pytest.param(START_END + (0x1010).to_bytes(8, "little"), id="cut off"),
            pytest.param(bytes([99]), id="of an unknown kind"),
            pytest.param(STARTX_LENGTH + dw.uleb(7) + dw.uleb(16) + END, id="of an address that is not there"),
        ],
    )
    def test_of_a_list_of_version_5(self, entry: bytes) -> None:
        function = Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.RANGES: As(dw.SEC_OFFSET, dw.RNGLISTS_HEADER_SIZE)})
        extracted = built(function, version=5, rnglists=rnglists(entry, offsets=False))
        assert counts(extracted) == (1, 0, 0)

    def test_not_what_linkers_drop_nor_what_is_empty_nor_what_two_functions_share(self) -> None:
        top = 0xFFFFFFFFFFFFFFFF
        extracted = built(
            f(inlined(A, 0x1010, 0x1010)),
            *(subprogram("g", start, start + 16) for start in (0, 1, 0x40)),
            Die(dw.SUBPROGRAM, {dw.NAME: "g", dw.LOW_PC: top, dw.HIGH_PC: As(dw.DATA4, 16)}),
            Die(dw.SUBPROGRAM, {dw.NAME: "g", dw.LOW_PC: top - 1, dw.HIGH_PC: As(dw.DATA4, 16)}),
            subprogram("empty", 0x1200, 0x1200),
            subprogram("the_same", 0x1000, 0x1100),
        )
        assert counts(extracted) == (0, 0, 0)
        assert counts(listed((0, 16), (1, 17), (0x1000, 0x1010), (0x1010, 0x1010), (0x20, 0x30))) == (0, 0, 0)
        assert extracted.warnings == ()


class TestCut:
    @pytest.mark.parametrize(
        "functions",
        [
            pytest.param((f(inlined(A, 0x10F0, 0x1110)),), id="a call that leaves its function"),
            pytest.param((f(), subprogram("g", 0x1080, 0x1180)), id="a function that another one begins in"),
            pytest.param(
                (f(inlined(A, 0x1010, 0x1020), inlined(B, 0x1018, 0x1028)),), id="a call that a later one begins in"
            ),
        ],
    )
    def test_by_dies(self, functions: tuple[Die, ...]) -> None:
        extracted = built(*functions)
        assert counts(extracted) == (0, 1, 0)
        (warning,) = extracted.warnings
        assert "(1 cut)" in warning


def test_widened_ranges_cost_no_answer_and_need_no_warning() -> None:
    extracted = built(f(inlined(A, 0x1010, 0x1010, inlined(B, 0x1040, 0x1050), inlined(B, 0x1060, 0x1070))))
    assert counts(extracted) == (0, 0, 2)
    assert extracted.warnings == ()
