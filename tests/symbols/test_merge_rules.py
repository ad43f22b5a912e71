"""The rules by which sources become one table, one by one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.symbols.sources import Function, Inline, Row, merged, pieces, told
from uploader.symbols.siblings import part_siblings

A, B, C = 0, 1, 2
"""File slots of `sources.FILES`: a.c, b.c, c.h; slot 3 is a.c again."""


class TestNames:
    @pytest.mark.parametrize("symbol", ["f.cold", "f.isra.0", "f.lto_priv.0", "f.part.1.constprop.0", "other"])
    def test_a_symbol_at_the_exact_start_names_the_piece(self, symbol: str) -> None:
        table = merged([Function(name="f", ranges=[(0, 10), (40, 50)])], symbols=[(0, 10, "f"), (40, 50, symbol)])
        assert pieces(table) == [(0, 10, "f"), (40, 50, symbol)]

    def test_a_symbol_elsewhere_in_the_function_does_not(self) -> None:
        table = merged([Function(name="f", ranges=[(0, 10)])], symbols=[(4, 10, "label")])
        assert pieces(table) == [(0, 10, "f")]

    def test_a_symbol_a_few_bytes_before_that_ends_with_the_function_is_the_function(self) -> None:
        table = merged([Function(name="f", ranges=[(8, 40)])], symbols=[(0, 40, "f.constprop.0"), (40, 60, "g")])
        assert pieces(table) == [(0, 40, "f.constprop.0"), (40, 60, "g")]

    @pytest.mark.parametrize(
        ("symbols", "found"),
        [
            pytest.param([(0, 48, "s")], [(0, 8, "s"), (8, 40, "f"), (40, 48, "s")], id="ends elsewhere"),
            pytest.param([(0, 8, "s"), (8, 40, "t")], [(0, 8, "s"), (8, 40, "t")], id="another at the exact start"),
            pytest.param([(0, 40, "s"), (4, 8, "t")], [(0, 4, "s"), (4, 8, "t"), (8, 40, "f")], id="another between"),
        ],
    )
    def test_another_symbol_before_a_function_is_not_it(
        self, symbols: list[tuple[int, int, str]], found: list[tuple[int, int, str]]
    ) -> None:
        assert pieces(merged([Function(name="f", ranges=[(8, 40)])], symbols=symbols)) == found

    def test_a_symbol_far_before_a_function_is_not_it(self) -> None:
        near = merged([Function(name="f", ranges=[(64, 90)])], symbols=[(0, 90, "s")])
        far = merged([Function(name="f", ranges=[(65, 90)])], symbols=[(0, 90, "s")])
        assert pieces(near) == [(0, 90, "s")]
        assert pieces(far) == [(0, 65, "s"), (65, 90, "f")]

    def test_a_symbol_that_begins_in_another_function_is_not_that_of_the_next(self) -> None:
        functions = [Function(name="e", ranges=[(0, 6)]), Function(name="f", ranges=[(8, 40)])]
        assert pieces(merged(functions, symbols=[(4, 40, "s")])) == [(0, 6, "e"), (6, 8, "s"), (8, 40, "f")]

    def test_an_outer_function_keeps_its_symbols_name_behind_the_inner_one(self) -> None:
        functions = [Function(name="outer", ranges=[(0, 20)]), Function(name="inner", ranges=[(5, 10)])]
        table = merged(functions, symbols=[(0, 20, "outer.cold")])
        assert pieces(table) == [(0, 5, "outer.cold"), (5, 10, "inner"), (10, 20, "outer.cold")]

    def test_a_nameless_function_takes_the_name_of_the_symbol_around_it(self) -> None:
        table = merged([Function(name="", ranges=[(4, 8)], decl=(A, 3))], symbols=[(0, 10, "around")])
        assert pieces(table) == [(0, 4, "around"), (4, 8, "around"), (8, 10, "around")]

    def test_a_nameless_function_without_a_symbol_is_left_out(self) -> None:
        assert pieces(merged([Function(name="", ranges=[(4, 8)])])) == []
        assert pieces(merged([Function(name="", ranges=[(4, 8)])], symbols=[])) == []

    def test_a_nameless_function_leaves_its_code_to_the_symbols_in_it(self) -> None:
        table = merged([Function(name="", ranges=[(0, 20)])], symbols=[(5, 10, "inside")])
        assert pieces(table) == [(5, 10, "inside")]

    def test_a_symbol_is_not_stretched_over_a_nameless_function(self) -> None:
        table = merged([Function(name="", ranges=[(4, 20)])], symbols=[(0, 8, "ends early")])
        assert pieces(table) == [(0, 4, "ends early"), (4, 8, "ends early")]


class TestPieces:
    def test_symbols_fill_what_functions_leave(self) -> None:
        table = merged([Function(name="f", ranges=[(10, 20)])], symbols=[(0, 5, "s"), (8, 12, "t"), (18, 25, "u")])
        assert pieces(table) == [(0, 5, "s"), (8, 10, "t"), (10, 20, "f"), (20, 25, "u")]

    def test_a_symbol_goes_on_behind_the_functions_in_it(self) -> None:
        functions = [Function(name="f", ranges=[(5, 8)]), Function(name="g", ranges=[(8, 10)])]
        assert pieces(merged(functions, symbols=[(0, 20, "s")])) == [
            (0, 5, "s"),
            (5, 8, "f"),
            (8, 10, "g"),
            (10, 20, "s"),
        ]

    def test_symbols_nest(self) -> None:
        assert pieces(merged(symbols=[(0, 20, "outer"), (5, 10, "inner"), (8, 25, "late")])) == [
            (0, 5, "outer"),
            (5, 8, "inner"),
            (8, 25, "late"),
        ]

    def test_nothing_is_stretched_over_a_gap(self) -> None:
        table = merged([Function(name="f", ranges=[(0, 5), (20, 25)])], symbols=[(10, 12, "s")])
        assert pieces(table) == [(0, 5, "f"), (10, 12, "s"), (20, 25, "f")]

    def test_the_inner_function_wins_and_the_outer_one_resumes(self) -> None:
        functions = [
            Function(name="outer", ranges=[(0, 30)]),
            Function(name="inner", ranges=[(5, 20)]),
            Function(name="innermost", ranges=[(10, 12)]),
        ]
        assert pieces(merged(functions)) == [
            (0, 5, "outer"),
            (5, 10, "inner"),
            (10, 12, "innermost"),
            (12, 20, "inner"),
            (20, 30, "outer"),
        ]

    def test_of_two_that_start_together_the_shorter_wins(self) -> None:
        functions = [Function(name="short", ranges=[(0, 10)]), Function(name="long", ranges=[(0, 20)])]
        assert pieces(merged(functions)) == [(0, 10, "short"), (10, 20, "long")]

    def test_of_two_that_cross_the_later_start_wins(self) -> None:
        functions = [Function(name="late", ranges=[(5, 20)]), Function(name="early", ranges=[(0, 10)])]
        assert pieces(merged(functions)) == [(0, 5, "early"), (5, 20, "late")]

    def test_of_one_and_the_same_range_the_one_with_lines_wins_then_with_inlines_then_the_first(self) -> None:
        rows: list[Row] = [(0, A, 1), (10, None, 0)]
        inline = Inline(depth=1, name="i", ranges=[(2, 4)])
        bare = Function(name="bare", ranges=[(0, 10)])
        folded = Function(name="folded", ranges=[(0, 10)])
        inlining = Function(name="inlining", ranges=[(0, 10)], inlines=[inline])
        lined = Function(name="lined", ranges=[(0, 10)], table=0)
        assert pieces(merged([bare, folded], [rows])) == [(0, 10, "bare")]
        assert pieces(merged([bare, inlining, folded], [rows])) == [(0, 10, "inlining")]
        assert pieces(merged([bare, inlining, lined], [rows])) == [(0, 10, "lined")]

    def test_no_source_at_all_gives_an_empty_table(self) -> None:
        assert pieces(merged()) == []
        assert pieces(merged(symbols=[])) == []


class TestLines:
    def test_the_row_before_the_start_is_clamped_to_it(self) -> None:
        table = merged([Function(name="f", ranges=[(4, 10)], table=0)], [[(0, A, 1), (6, A, 2), (20, None, 0)]])
        assert told(table) == [(4, 10, "f", [(4, "a.c", 1), (6, "a.c", 2)], [])]

    def test_a_gap_in_the_lines_cuts_the_piece(self) -> None:
        rows: list[Row] = [(0, A, 1), (3, None, 0), (6, A, 2), (8, None, 0)]
        table = merged([Function(name="f", ranges=[(0, 10)], table=0, decl=(A, 9))], [rows])
        assert told(table) == [
            (0, 3, "f", [(0, "a.c", 1)], []),
            (3, 6, "f", [], []),
            (6, 8, "f", [(6, "a.c", 2)], []),
            (8, 10, "f", [], []),
        ]

    def test_rows_that_begin_inside_leave_the_start_without_lines(self) -> None:
        table = merged([Function(name="f", ranges=[(0, 10)], table=0)], [[(4, A, 1), (20, None, 0)]])
        assert told(table) == [(0, 4, "f", [], []), (4, 10, "f", [(4, "a.c", 1)], [])]

    def test_what_only_the_symbol_knows_of_a_function_stays_in_one_piece_with_it_and_has_no_line(self) -> None:
        functions = [Function(name="f", ranges=[(8, 20)], table=0)]
        table = merged(functions, [[(8, A, 5), (12, A, 6), (20, None, 0)]], symbols=[(0, 20, "f")])
        assert told(table) == [(0, 20, "f", [(0, "a.c", 0), (8, "a.c", 5), (12, "a.c", 6)], [])]

    def test_without_any_row_the_line_of_the_declaration_speaks(self) -> None:
        function = Function(name="f", ranges=[(0, 10), (20, 30)], decl=(B, 7))
        assert told(merged([function])) == [(0, 10, "f", [(0, "b.c", 7)], []), (20, 30, "f", [(20, "b.c", 7)], [])]

    @pytest.mark.parametrize("decl", [None, (B, 0)])
    def test_without_row_and_declaration_there_is_no_line(self, decl: tuple[int, int] | None) -> None:
        assert told(merged([Function(name="f", ranges=[(0, 10)], decl=decl)])) == [(0, 10, "f", [], [])]

    def test_an_inner_function_takes_the_lines_of_its_own_table(self) -> None:
        functions = [
            Function(name="outer", ranges=[(0, 20)], table=0),
            Function(name="inner", ranges=[(5, 10)], table=1),
        ]
        tables: list[list[Row]] = [[(0, A, 1), (7, A, 2), (20, None, 0)], [(5, B, 50), (10, None, 0)]]
        assert told(merged(functions, tables)) == [
            (0, 5, "outer", [(0, "a.c", 1)], []),
            (5, 10, "inner", [(5, "b.c", 50)], []),
            (10, 20, "outer", [(10, "a.c", 2)], []),
        ]

    def test_a_symbol_has_lines_where_some_table_speaks(self) -> None:
        tables: list[list[Row]] = [[(4, A, 1), (6, A, 2), (8, None, 0)], [(8, B, 5), (12, None, 0)]]
        assert told(merged(tables=tables, symbols=[(0, 20, "asm")])) == [
            (0, 4, "asm", [], []),
            (4, 8, "asm", [(4, "a.c", 1), (6, "a.c", 2)], []),
            (8, 12, "asm", [(8, "b.c", 5)], []),
            (12, 20, "asm", [], []),
        ]

    def test_a_row_that_repeats_the_one_before_is_left_out(self) -> None:
        table = merged([Function(name="f", ranges=[(0, 10)], table=0)], [[(0, A, 1), (4, A, 1), (20, None, 0)]])
        assert told(table) == [(0, 10, "f", [(0, "a.c", 1)], [])]

    def test_a_row_that_repeats_the_one_before_by_another_slot_of_the_same_file_is_left_out(self) -> None:
        table = merged([Function(name="f", ranges=[(0, 10)], table=0)], [[(0, A, 1), (4, 3, 1), (20, None, 0)]])
        assert told(table) == [(0, 10, "f", [(0, "a.c", 1)], [])]

    def test_where_sequences_nest_the_outer_one_resumes_for_symbols(self) -> None:
        tables: list[list[Row]] = [[(0, A, 1), (20, None, 0)], [(5, B, 5), (8, None, 0)]]
        last = told(merged(tables=tables, symbols=[(0, 20, "asm")]))[-1]
        assert last == (8, 20, "asm", [(8, "a.c", 1)], [])


class TestInlines:
    def function(self, *inlines: Inline) -> Function:
        return Function(name="f", ranges=[(10, 20)], table=0, inlines=inlines)

    ROWS: tuple[Row, ...] = ((0, A, 1), (100, None, 0))

    def nodes(self, *inlines: Inline) -> list[tuple[int, str, list[tuple[int, int]]]]:
        ((_, _, _, _, nodes),) = told(merged([self.function(*inlines)], [list(self.ROWS)]))
        return nodes

    def test_they_are_clipped_to_the_piece(self) -> None:
        assert self.nodes(Inline(depth=1, name="i", ranges=[(5, 12), (18, 30)])) == [(1, "i", [(10, 12), (18, 20)])]

    def test_they_are_clipped_to_their_parents_ranges(self) -> None:
        assert self.nodes(
            Inline(depth=1, name="i", ranges=[(10, 12), (14, 16)]), Inline(depth=2, name="j", ranges=[(11, 15)])
        ) == [(1, "i", [(10, 12), (14, 16)]), (2, "j", [(11, 12), (14, 15)])]

    def test_what_is_then_empty_goes_with_all_below_it(self) -> None:
        assert self.nodes(
            Inline(depth=1, name="out", ranges=[(30, 40)]),
            Inline(depth=2, name="below", ranges=[(12, 14)]),
            Inline(depth=1, name="in", ranges=[(15, 16)]),
        ) == [(1, "in", [(15, 16)])]

    def test_a_nameless_one_goes_with_all_below_it(self) -> None:
        assert self.nodes(
            Inline(depth=1, name="", ranges=[(12, 16)]),
            Inline(depth=2, name="below", ranges=[(12, 14)]),
            Inline(depth=1, name="in", ranges=[(15, 16)]),
        ) == [(1, "in", [(15, 16)])]

    def test_of_siblings_that_overlap_the_later_speaks(self) -> None:
        assert self.nodes(
            Inline(depth=1, name="i", ranges=[(10, 16)]),
            Inline(depth=2, name="in i", ranges=[(10, 16)]),
            Inline(depth=1, name="j", ranges=[(12, 14)]),
        ) == [(1, "i", [(10, 12), (14, 16)]), (2, "in i", [(10, 12), (14, 16)]), (1, "j", [(12, 14)])]

    def test_each_part_of_a_piece_has_its_share(self) -> None:
        rows: list[Row] = [(0, A, 1), (14, None, 0), (16, A, 2), (100, None, 0)]
        parts = told(merged([self.function(Inline(depth=1, name="i", ranges=[(12, 18)]))], [rows]))
        assert [(start, end, nodes) for start, end, _, _, nodes in parts] == [
            (10, 14, [(1, "i", [(12, 14)])]),
            (14, 16, [(1, "i", [(14, 16)])]),
            (16, 20, [(1, "i", [(16, 18)])]),
        ]

    def test_where_there_is_no_line_a_row_of_line_0_keeps_them_visible(self) -> None:
        function = Function(
            name="f", ranges=[(0, 10)], inlines=[Inline(depth=1, name="i", ranges=[(2, 4)], call_file=B, call_line=3)]
        )
        assert told(merged([function])) == [(0, 10, "f", [(0, "b.c", 0)], [(1, "i", [(2, 4)])])]

    def test_a_chain_deeper_than_readers_go_is_cut(self) -> None:
        inlines = [Inline(depth=depth, name=f"i{depth}", ranges=[(10, 20)]) for depth in range(1, 3000)]
        depths = [depth for depth, _, _ in self.nodes(*inlines)]
        assert depths == list(range(1, 1024))


class TestFiles:
    def test_files_are_numbered_by_their_first_use_each_once(self) -> None:
        rows: list[Row] = [(0, C, 1), (2, 3, 1), (4, A, 2), (100, None, 0)]
        inline = Inline(depth=1, name="i", ranges=[(1, 2)], call_file=B, call_line=8)
        table = merged([Function(name="f", ranges=[(0, 10)], table=0, inlines=[inline])], [rows])
        assert list(table.files) == [(b"", b""), (b"/inc", b"c.h"), (b"/src", b"a.c"), (b"/src", b"b.c")]
        assert list(table.row_file) == [1, 2, 2]
        assert list(table.node_call_file) == [3]


Nodes = list[tuple[int, list[tuple[int, int]]]]


@st.composite
def some_nodes(draw: st.DrawFn) -> Nodes:
    """Nodes in preorder, each inside its parent, siblings as they come."""
    nodes: Nodes = []
    parents: list[set[int]] = [set(range(20))]
    for _ in range(draw(st.integers(0, 7))):
        depth = draw(st.integers(1, len(parents)))
        del parents[depth:]
        held = draw(st.sets(st.sampled_from(sorted(parents[-1])), min_size=1))
        parents.append(held)
        nodes.append((depth, [(at, at + 1) for at in sorted(held)]))
    return nodes


@given(some_nodes())
def test_parted_siblings_keep_each_address_with_the_last_that_holds_it(nodes: Nodes) -> None:
    parted = part_siblings(nodes)
    after = [ranges for _, ranges in nodes] if parted is None else parted
    for address in range(20):
        holding = [index for index, (_, ranges) in enumerate(nodes) if (address, address + 1) in ranges]
        expected: list[int] = []
        first, last = 0, len(nodes)
        while chosen := [at for at in holding if first <= at < last and nodes[at][0] == len(expected) + 1]:
            expected.append(chosen[-1])
            first = chosen[-1] + 1
            last = next((at for at in range(first, last) if nodes[at][0] <= len(expected)), last)
        assert [at for at, ranges in enumerate(after) if any(low <= address < high for low, high in ranges)] == expected


class TestCost:
    """Cost grows with what is put in and with what comes out, not with their product."""

    LIMIT_SECONDS = 5.0

    def assert_quick(self, functions: list[Function], rows: list[Row]) -> None:
        began = time.process_time()
        merged(functions, [rows])
        assert time.process_time() - began < self.LIMIT_SECONDS

    def test_many_siblings_side_by_side(self) -> None:
        inlines = [Inline(depth=1, name="i", ranges=[(4 * at, 4 * at + 4)]) for at in range(3000)]
        self.assert_quick([Function(name="f", ranges=[(0, 12000)], table=0, inlines=inlines)], [(0, A, 1)])
