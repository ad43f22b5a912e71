"""Functions and what is inlined into them: their names, their ranges, their nesting."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sources.dwarf.reading import read
from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import (
    As,
    Die,
    Lines,
    Unit,
    abstract,
    assemble,
    compile_unit,
    inlined,
    range_pairs,
    rows,
    subprogram,
)

ENTRY_POINT, MODULE = 0x03, 0x1E


def read_unit(*children: Die, version: int = 4, attributes: dict[int, Any] | None = None, **sections: Any) -> Any:
    return read(assemble(Unit(compile_unit(*children, attributes=attributes), version=version), **sections))


def scope(tag: int, name: str | None, *children: Die) -> Die:
    return Die(tag, {} if name is None else {dw.NAME: name}, children)


def function_without_name(start: int = 0x1000, **more: Any) -> Die:
    return subprogram(None, start, start + 16, **more)


class TestNames:
    def test_the_linkage_name_beats_the_name(self) -> None:
        assert read_unit(subprogram("f", 0x1000, 0x1010, linkage_name="_Z1fv")).names == ["_Z1fv"]

    def test_the_linkage_name_of_older_compilers(self) -> None:
        assert read_unit(subprogram("f", 0x1000, 0x1010, mips_linkage_name="_Z1fv"), version=3).names == ["_Z1fv"]

    def test_an_empty_linkage_name_is_none(self) -> None:
        assert read_unit(subprogram("f", 0x1000, 0x1010, linkage_name="")).names == ["f"]

    def test_an_empty_name_is_none(self) -> None:
        assert read_unit(subprogram("", 0x1000, 0x1010)).names == [""]

    @pytest.mark.parametrize("link", ["abstract_origin", "specification"])
    def test_a_function_without_name_takes_that_of_what_it_stems_from(self, link: str) -> None:
        origin = Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.LINKAGE_NAME: "_Z1fv", dw.DECLARATION: 1})
        assert read_unit(origin, function_without_name(0x1000, **{link: origin})).names == ["_Z1fv"]

    def test_the_linkage_name_at_the_end_of_a_chain_beats_a_name_on_the_way(self) -> None:
        declaration = Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.LINKAGE_NAME: "_ZN1A1fEv", dw.DECLARATION: 1})
        definition = Die(dw.SUBPROGRAM, {dw.NAME: "other", dw.SPECIFICATION: declaration, dw.INLINE: 1})
        assert read_unit(declaration, definition, function_without_name(abstract_origin=definition)).names == [
            "_ZN1A1fEv"
        ]

    def test_a_chain_ends_after_16_steps(self) -> None:
        chain = [Die(dw.SUBPROGRAM, {dw.NAME: "end", dw.LINKAGE_NAME: "_end"})]
        for index in range(40):
            chain.append(Die(dw.SUBPROGRAM, {dw.CONST_VALUE: As(dw.DATA1, index), dw.ABSTRACT_ORIGIN: chain[-1]}))
        near, far = (
            function_without_name(0x1000, abstract_origin=chain[14]),
            function_without_name(0x1100, abstract_origin=chain[-1]),
        )
        assert read_unit(*chain, near, far).names == ["_end", ""]

    def test_a_cycle_ends(self) -> None:
        one = Die(dw.SUBPROGRAM, {dw.NAME: "one"})
        other = Die(dw.SUBPROGRAM, {dw.ABSTRACT_ORIGIN: one})
        one.attributes[dw.SPECIFICATION] = other
        itself = function_without_name()
        itself.attributes[dw.ABSTRACT_ORIGIN] = itself
        assert read_unit(one, other, itself, function_without_name(0x1100, abstract_origin=other)).names == ["", "one"]

    @pytest.mark.parametrize("version", [2, 3, 4, 5])
    def test_a_chain_may_cross_units_forwards_and_back(self, version: int) -> None:
        before, behind = abstract("before", linkage_name="_before"), abstract("behind", linkage_name="_behind")
        units = (
            Unit(compile_unit(before), version=version),
            Unit(
                compile_unit(
                    function_without_name(0x1000, abstract_origin=As(dw.REF_ADDR, before)),
                    function_without_name(0x1100, abstract_origin=As(dw.REF_ADDR, behind)),
                ),
                version=version,
            ),
            Unit(Die(dw.PARTIAL_UNIT, {}, [behind]), version=version, dwarf64=version > 2),
        )
        assert read(assemble(*units)).names == ["_before", "_behind"]

    def test_a_reference_beside_any_die_names_nothing(self) -> None:
        assert read_unit(function_without_name(abstract_origin=As(dw.REF4, 2)), subprogram("f", 0x1100, 0x1110)).names[
            1:
        ] == ["f"]


class TestScopes:
    def test_a_name_without_linkage_name_stands_behind_its_scopes(self) -> None:
        inner = scope(dw.CLASS_TYPE, "Shape", subprogram("area", 0x1000, 0x1010))
        assert read_unit(scope(dw.NAMESPACE, "geo", inner)).names == ["geo::Shape::area"]

    @pytest.mark.parametrize(
        ("tag", "written"), [(dw.NAMESPACE, "(anonymous namespace)"), (dw.STRUCTURE_TYPE, "(anonymous)")]
    )
    def test_an_anonymous_scope(self, tag: int, written: str) -> None:
        assert read_unit(scope(tag, None, subprogram("f", 0x1000, 0x1010))).names == [f"{written}::f"]

    def test_scopes_are_not_put_before_a_linkage_name(self) -> None:
        function = subprogram("f", 0x1000, 0x1010, linkage_name="_ZN3geo1fEv")
        assert read_unit(scope(dw.NAMESPACE, "geo", function)).names == ["_ZN3geo1fEv"]

    def test_a_definition_outside_stands_in_the_scopes_of_its_declaration(self) -> None:
        declaration = Die(dw.SUBPROGRAM, {dw.NAME: "area", dw.DECLARATION: 1})
        first = Die(dw.SUBPROGRAM, {dw.NAME: "first", dw.DECLARATION: 1})
        shape = scope(dw.STRUCTURE_TYPE, "Shape", first, declaration)
        definition = function_without_name(specification=declaration)
        assert read_unit(scope(dw.NAMESPACE, "geo", shape), definition).names == ["geo::Shape::area"]

    def test_an_inline_stands_in_the_scopes_of_its_origin(self) -> None:
        origin = abstract("inner")
        outer = subprogram("outer", 0x1000, 0x1010, inlined(origin, 0x1004, 0x1008))
        assert read_unit(scope(dw.NAMESPACE, "geo", origin), outer).function("outer").tree() == [("geo::inner", [])]

    def test_scopes_that_lie_side_by_side_are_told_apart(self) -> None:
        scopes = [
            scope(
                dw.NAMESPACE,
                f"n{index}",
                *(subprogram(f"f{k}", at := 0x1000 + 64 * index + 16 * k, at + 16) for k in range(2)),
            )
            for index in range(3)
        ]
        assert read_unit(*scopes).names == [f"n{index}::f{k}" for index in range(3) for k in range(2)]

    def test_a_function_in_a_function_stands_behind_its_name(self) -> None:
        inner = subprogram("inner", 0x1008, 0x100C)
        assert read_unit(scope(dw.NAMESPACE, "n", subprogram("outer", 0x1000, 0x1010, inner))).names == [
            "n::outer",
            "n::outer::inner",
        ]

    def test_what_stands_in_an_abstract_function_does_so_where_it_is_inlined(self) -> None:
        inner = abstract("inner")
        outer = Die(dw.SUBPROGRAM, {dw.NAME: "outer", dw.INLINE: 1}, [inner])
        caller = subprogram("f", 0x1000, 0x1010, inlined(inner, 0x1004, 0x1008))
        assert read_unit(outer, caller).function("f").tree() == [("outer::inner", [])]

    def test_a_block_in_a_function_is_no_scope(self) -> None:
        block = Die(dw.LEXICAL_BLOCK, {}, [subprogram("inner", 0x1008, 0x100C)])
        assert read_unit(subprogram("outer", 0x1000, 0x1010, block)).names == ["outer", "outer::inner"]

    @pytest.mark.parametrize("tag", [dw.STRUCTURE_TYPE, dw.CLASS_TYPE])
    def test_a_nameless_class_with_a_call_operator_is_a_lambda(self, tag: int) -> None:
        within = scope(tag, None, subprogram("operator()", 0x1004, 0x1006))
        outer = scope(tag, None, subprogram("operator()", 0x1002, 0x1008, within))
        assert read_unit(subprogram("main", 0x1000, 0x1010, outer)).names == [
            "main",
            "main::{lambda}::operator()",
            "main::{lambda}::operator()::{lambda}::operator()",
        ]

    def test_a_method_of_a_class_in_a_function_stands_behind_both(self) -> None:
        local = scope(dw.STRUCTURE_TYPE, "Local", subprogram("run", 0x1002, 0x1008))
        assert read_unit(subprogram("main", 0x1000, 0x1010, local)).names == ["main", "main::Local::run"]

    @pytest.mark.parametrize(
        ("linkage_name", "outer"),
        [
            ("_ZN2ns1S1mEi", "ns::S::m"),
            ("_ZNK2ns1S1mEi", "ns::S::m"),
            ("_ZN12_GLOBAL__N_11mEv", "(anonymous namespace)::m"),
            ("_D4geom1S1mMFiZi", "geom::S::m"),
            ("_Z1mi", "m"),
            ("_ZN2ns1SIiE1mEi", "m"),
            ("_ZN2ns9999mEv", "m"),
            ("__geom_MOD_m", "m"),
        ],
    )
    def test_the_linkage_name_of_a_function_tells_the_scopes_of_what_stands_in_it(
        self, linkage_name: str, outer: str
    ) -> None:
        declaration = Die(dw.SUBPROGRAM, {dw.NAME: "m", dw.LINKAGE_NAME: linkage_name, dw.DECLARATION: 1})
        shape = scope(dw.STRUCTURE_TYPE, "S", declaration)
        inner = subprogram("inner", 0x1004, 0x1008)
        definition = subprogram(None, 0x1000, 0x1010, inner, specification=declaration)
        assert read_unit(scope(dw.NAMESPACE, "ns", shape), definition).names == [linkage_name, f"{outer}::inner"]

    def test_what_a_function_merely_declares_stands_elsewhere(self) -> None:
        declared = Die(dw.SUBPROGRAM, {dw.NAME: "elsewhere", dw.DECLARATION: 1})
        outer = subprogram("outer", 0x1000, 0x1010, declared)
        assert read_unit(outer, subprogram(None, 0x1010, 0x1020, specification=declared)).names == [
            "outer",
            "elsewhere",
        ]

    def test_a_name_that_begins_with_its_scopes_as_in_ada_stays(self) -> None:
        inner = subprogram("geom__area__helper", 0x1004, 0x1008)
        assert read_unit(subprogram("geom__area", 0x1000, 0x1010, inner)).names == ["geom__area", "geom__area__helper"]


class TestInlines:
    def test_inlines_nest_as_the_dies_do_whatever_blocks_lie_between(self) -> None:
        a, b, c = abstract("a"), abstract("b"), abstract("c")
        block = Die(dw.LEXICAL_BLOCK, {}, [inlined(b, 0x1004, 0x1008, inlined(c, 0x1004, 0x1006))])
        function = subprogram("f", 0x1000, 0x1020, inlined(a, 0x1002, 0x1010, block), inlined(b, 0x1010, 0x1018))
        result = read_unit(a, b, c, function).function("f")
        assert result.tree() == [("a", [("b", [("c", [])])]), ("b", [])]
        assert result.inlines[0].children[0].ranges == [(0x1004, 0x1008)]

    @pytest.mark.parametrize("version", [4, 5])
    def test_the_call_site_counts_files_as_its_version_does(self, version: int) -> None:
        origin = abstract("inner")
        inline = inlined(origin, 0x1004, 0x1008, call_file=1, call_line=42)
        function = subprogram("f", 0x1000, 0x1010, inline, decl_file=As(dw.DATA1, 2), decl_line=7)
        lines = Lines(rows((0x1000, 1), end=0x1010), files=["0.c", "1.c", "2.c"], directories=["/src"], version=version)
        result = read_unit(
            origin, function, version=version, lines=[lines], attributes={dw.STMT_LIST: 0, dw.COMP_DIR: "/src"}
        ).function("f")
        first = 1 if version == 5 else 0
        place = "/src" if version == 5 else "/src/src"
        assert result.inlines[0].call[1] == 42
        assert result.inlines[0].call[0].endswith(f"|{first}.c")
        assert result.decl[0].endswith(f"|{first + 1}.c")
        assert result.decl[1] == 7
        assert place.startswith("/src")

    @pytest.mark.parametrize(("file", "line"), [(99, 42), (0, 42), (1 << 40, 42)])
    def test_a_call_file_that_is_not_there_is_unknown(self, file: int, line: int) -> None:
        origin = abstract("inner")
        inline = inlined(origin, 0x1004, 0x1008, call_file=file, call_line=line)
        lines = Lines(rows((0x1000, 1), end=0x1010))
        result = read_unit(origin, subprogram("f", 0x1000, 0x1010, inline), lines=[lines], attributes={dw.STMT_LIST: 0})
        assert result.function("f").inlines[0].call == ("", 42)

    def test_an_inline_may_have_several_ranges(self) -> None:
        origin = abstract("inner")
        inline = Die(dw.INLINED, {dw.ABSTRACT_ORIGIN: origin, dw.RANGES: As(dw.SEC_OFFSET, 0)})
        ranges = range_pairs((0x100C, 0x1010), (0x1004, 0x1008))
        result = read_unit(origin, subprogram("f", 0x1000, 0x1020, inline), ranges=ranges)
        assert result.function("f").inlines[0].ranges == [(0x1004, 0x1008), (0x100C, 0x1010)]

    def test_an_inline_outside_of_any_function_is_nobodys(self) -> None:
        origin = abstract("inner")
        result = read_unit(origin, inlined(origin, 0x1004, 0x1008), subprogram("f", 0x1000, 0x1010))
        assert result.function("f").tree() == []


class TestCode:
    def test_a_function_has_all_its_ranges_hot_and_cold(self) -> None:
        function = Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.RANGES: As(dw.SEC_OFFSET, 0)})
        result = read_unit(function, ranges=range_pairs((0x1800, 0x1810), (0x1000, 0x1010)))
        assert result.function("f").ranges == [(0x1000, 0x1010), (0x1800, 0x1810)]

    @pytest.mark.parametrize("start", [0, 1, -1, -2, 0xFFF, 0x2000])
    def test_a_dead_function_is_left_out(self, start: int) -> None:
        dead = subprogram("dead", start, 0, high_pc=As(dw.DATA4, 16))
        assert read_unit(dead, subprogram("f", 0x1000, 0x1010)).names == ["f"]

    @pytest.mark.parametrize(("start", "end"), [(0x1000, 0x1000), (0x1010, 0x1000)])
    def test_a_function_of_no_code_is_left_out(self, start: int, end: int) -> None:
        assert read_unit(subprogram("none", start, end), subprogram("f", 0x1100, 0x1110)).names == ["f"]

    def test_a_declaration_is_no_function(self) -> None:
        assert read_unit(Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.DECLARATION: 1})).names == []

    def test_a_low_pc_alone_is_no_function(self) -> None:
        assert read_unit(Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.LOW_PC: 0x1000})).names == []

    @pytest.mark.parametrize("code", [{dw.LOW_PC: 0x1008}, {}], ids=["low pc alone", "no code"])
    def test_an_entry_point_within_a_function_leaves_it_its_code_and_inlines(self, code: dict[int, Any]) -> None:
        """Fortran's ENTRY (DWARF 5 §3.3): a second way into the same code."""
        inner = abstract("inner")
        entry = Die(ENTRY_POINT, {dw.NAME: "second", **code})
        function = subprogram("f", 0x1000, 0x1010, entry, inlined(inner, 0x1008, 0x100C))
        found = read_unit(inner, function)
        assert [(each.name, each.ranges) for each in found.functions] == [("f", [(0x1000, 0x1010)])]
        assert found.function("f").tree() == [("inner", [])]

    def test_an_entry_point_with_code_of_its_own_is_a_function(self) -> None:
        inner = abstract("inner")
        code = {dw.LOW_PC: 0x1010, dw.HIGH_PC: As(dw.DATA4, 16)}
        entry = Die(ENTRY_POINT, {dw.NAME: "second", **code}, [inlined(inner, 0x1014, 0x1018)])
        found = read_unit(inner, subprogram("f", 0x1000, 0x1010, entry))
        assert found.names == ["f", "second"]
        assert found.function("second").ranges == [(0x1010, 0x1020)]
        assert found.function("second").tree() == [("inner", [])]

    def test_an_entry_point_stands_beside_the_function_around_it(self) -> None:
        entry = Die(ENTRY_POINT, {dw.NAME: "second", dw.LOW_PC: 0x1010, dw.HIGH_PC: As(dw.DATA4, 16)})
        module = scope(MODULE, "m", subprogram("f", 0x1000, 0x1010, entry))
        assert read_unit(module).names == ["m::f", "m::second"]

    def test_a_nested_function_keeps_its_inlines_and_the_outer_one_its_own(self) -> None:
        a, b, c = abstract("a"), abstract("b"), abstract("c")
        nested = subprogram("nested", 0x1100, 0x1110, inlined(b, 0x1104, 0x1108, inlined(c, 0x1104, 0x1106)))
        outer = subprogram(
            "outer",
            0x1000,
            0x1020,
            inlined(a, 0x1002, 0x1004, nested),
            inlined(c, 0x1008, 0x100C),
            inlined(b, 0x1010, 0x1012),
        )
        result = read_unit(a, b, c, outer, subprogram("next", 0x1200, 0x1210, inlined(a, 0x1204, 0x1208)))
        assert result.function("outer").tree() == [("a", []), ("c", []), ("b", [])]
        assert result.function("outer::nested").tree() == [("b", [("c", [])])]
        assert result.function("next").tree() == [("a", [])]

    def test_a_dead_function_loses_its_inlines_but_not_the_live_functions_in_it(self) -> None:
        a, b = abstract("a"), abstract("b")
        live = subprogram("live", 0x1000, 0x1010, inlined(b, 0x1004, 0x1008))
        dead = subprogram("dead", 0, 0, inlined(a, 4, 8, live), inlined(a, 8, 12), high_pc=As(dw.DATA4, 16))
        result = read_unit(a, b, dead)
        assert result.names == ["dead::live"]
        assert result.function("dead::live").tree() == [("b", [])]

    def test_a_function_whose_list_holds_no_code_has_no_range(self) -> None:
        function = Die(dw.SUBPROGRAM, {dw.NAME: "dead", dw.RANGES: As(dw.SEC_OFFSET, 0)})
        result = read_unit(function, ranges=range_pairs((0, 8), (0x3000, 0x3010)))
        assert [each.ranges for each in result.functions] == [[]]

    def test_functions_keep_the_order_of_the_dies(self) -> None:
        starts = [0x1200, 0x1000, 0x1100]
        assert read_unit(*(subprogram(f"f{at:x}", at, at + 4) for at in starts)).names == ["f1200", "f1000", "f1100"]
