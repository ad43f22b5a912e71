"""Of several sources the better speaks where it does, and the next where that is silent; a model says so byte by byte."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from uploader.core.columns import NONE
from uploader.symbols.columns import NameTable, SourceColumns
from uploader.symbols.merge import merge
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.shape import shape
from uploader.symbols.stack import owner_of, stacked

END = 120


def columns(names: NameTable, which: int, functions: list[tuple[int, int]]) -> SourceColumns:
    """A source with disjoint functions; each has a line table of one row, and a call inlined into all of it."""
    made = SourceColumns(names=names, file_at=lambda slot: (b"/src%d" % which, b"f%d.c" % slot), file_slots=2)
    for number, (start, end) in enumerate(functions):
        made.function_name.append(names.intern(b"s%d_f%d" % (which, number)))
        made.function_table.append(number)
        made.function_decl_file.append(NONE)
        made.function_decl_line.append(0)
        made.function_node.append(number)
        made.function_node_end.append(number + 1)
        made.range_start.append(start)
        made.range_end.append(end)
        made.function_range.append(number + 1)
        made.node_depth.append(1)
        made.node_name.append(names.intern(b"s%d_inline" % which))
        made.node_call_file.append(1)
        made.node_call_line.append(100 + which)
        made.node_range_start.append(start)
        made.node_range_end.append(end)
        made.node_range.append(number + 1)
        made.row_address.append(start)
        made.row_file.append(1)
        made.row_line.append(10 * which + number + 1)
        made.table_first.append(number + 1)
        made.sequence_start.append(start)
        made.sequence_end.append(end)
        made.sequence_table.append(number)
    made.range_counts = RangeCounts(cut=which)
    return made


@st.composite
def disjoint(draw: st.DrawFn) -> list[tuple[int, int]]:
    bounds = sorted(draw(st.sets(st.integers(1, END), max_size=8)))
    return list(zip(bounds[0::2], bounds[1::2], strict=False))


@given(st.lists(disjoint(), min_size=1, max_size=3))
def test_the_better_source_speaks_and_the_next_fills_what_it_leaves(sources: list[list[tuple[int, int]]]) -> None:
    names = NameTable()
    given_columns = [columns(names, which, functions) for which, functions in enumerate(sources)]
    one, firsts = stacked(given_columns)
    assert [owner_of(firsts, first) for first in firsts][-1] == len(sources) - 1 or not sources[-1]
    plan = merge(one, None)
    table, _ = shape(one, plan, threads=1, warnings=[], range_counts=RangeCounts())
    for address in range(END + 1):
        expected = next(
            (
                (which, number)
                for which, functions in enumerate(sources)
                for number, (start, end) in enumerate(functions)
                if start <= address < end
            ),
            None,
        )
        found = next((piece for piece in range(len(table)) if table.start[piece] <= address < table.end[piece]), None)
        if expected is None:
            assert found is None
            continue
        which, number = expected
        assert found is not None
        assert table.names[table.name[found]] == b"s%d_f%d" % expected
        assert owner_of(firsts, plan.function[found]) == which
        row = table.row_first[found]
        assert table.row_line[row] == 10 * which + number + 1
        assert table.files[table.row_file[row]] == (b"/src%d" % which, b"f1.c")
        node = table.node_first[found]
        assert table.names[table.node_name[node]] == b"s%d_inline" % which
        assert table.files[table.node_call_file[node]] == (b"/src%d" % which, b"f1.c")
        assert table.node_call_line[node] == 100 + which


def test_a_single_source_is_given_back_as_it_is() -> None:
    only = columns(NameTable(), 0, [(1, 5)])
    assert stacked([only]) == (only, (0,))


def test_what_became_of_ranges_is_added_up() -> None:
    names = NameTable()
    one, firsts = stacked([columns(names, 1, [(1, 5)]), columns(names, 2, [(1, 9)])])
    assert one.range_counts == RangeCounts(cut=3)
    assert firsts == (0, 1)
    assert (one.range_start, one.range_end) == (array("Q", [1, 5]), array("Q", [5, 9]))
