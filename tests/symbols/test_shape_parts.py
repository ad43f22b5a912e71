"""A plan is shaped in parts, on as many threads as there are: the table does not depend on how, nor on how well its size was guessed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.symbols.sources import Function, Inline, Row, columns
from tests.symbols.validity import assert_valid
from uploader.symbols.columns import NameTable, SymbolTable
from uploader.symbols.merge import merge
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.shape import shape
from uploader.symbols.shaper import Shaper


def program(functions: int, inlines: int, rows: int) -> tuple[list[Function], list[list[Row]]]:
    """Functions of 4 KiB each, one behind another, with that many inlines side by side and that many rows."""
    made = [
        Function(
            name=f"f{index}",
            ranges=[(4096 * index, 4096 * index + 4096)],
            table=0,
            inlines=[
                Inline(depth=1, name=f"i{nth % 7}", ranges=[(at, at + 3)], call_file=nth % 3, call_line=nth + 1)
                for nth, at in enumerate(range(4096 * index, 4096 * index + 8 * inlines, 8))
            ],
        )
        for index in range(functions)
    ]
    lines: list[Row] = [(4096 * index + 4 * nth, nth % 3, nth + 1) for index in range(functions) for nth in range(rows)]
    return made, [[*lines, (4096 * functions, None, 0)]]


def shaped(functions: Sequence[Function], tables: Sequence[Sequence[Row]], threads: int) -> dict[str, object]:
    names = NameTable()
    source = columns(functions, tables, names)
    table, origin = shape(source, merge(source, None), threads=threads)
    assert_valid(table)
    return {field.name: getattr(table, field.name) for field in dataclasses.fields(table)} | {"origin": list(origin)}


@given(functions=st.integers(1, 40), inlines=st.integers(0, 90), rows=st.integers(1, 60), threads=st.integers(2, 12))
def test_any_number_of_threads_gives_one_table(functions: int, inlines: int, rows: int, threads: int) -> None:
    made, tables = program(functions, inlines, rows)
    assert shaped(made, tables, threads) == shaped(made, tables, 1)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0, 5.0])
def test_a_wrong_guess_of_the_size_costs_time_only(share: float) -> None:
    made, tables = program(300, 40, 50)
    names = NameTable()
    source = columns(made, tables, names)
    plan = merge(source, None)

    def cut(guess: float) -> SymbolTable:
        shaper = Shaper(source, share=guess)
        shaper.run(plan, 0, len(plan.start))
        return shaper.table()

    expected, found = cut(1.0), cut(share)
    for field in dataclasses.fields(SymbolTable):
        assert getattr(found, field.name) == getattr(expected, field.name), field.name
    assert len(found.node_depth) == 300 * 40


MANY = 256
"""A function with more inlines than that has them in so many of its parts."""


def parted(parts: int, inlines: int) -> tuple[SymbolTable, list[str], RangeCounts]:
    """One function, cut by gaps in its lines into that many parts, whose inlines lie one in each part, as far as there are parts."""
    within = [(16 * (nth % parts) + nth // parts, 16 * (nth % parts) + nth // parts + 1) for nth in range(inlines)]
    function = Function(
        name="f",
        ranges=[(0, 16 * parts)],
        table=0,
        inlines=[
            Inline(depth=1, name=f"i{nth}", ranges=[where], call_file=0, call_line=nth + 1)
            for nth, where in enumerate(within)
        ],
    )
    # Every second part has lines.
    lines: list[Row] = [(16 * part, None if part % 2 else 0, part + 1) for part in range(parts + 1)]
    source = columns([function], [[*lines, (16 * parts, None, 0)]], NameTable())
    warnings: list[str] = []
    counts = RangeCounts()
    table, _ = shape(source, merge(source, None), warnings=warnings, range_counts=counts)
    assert_valid(table)
    assert len(table.start) == parts
    return table, warnings, counts


@pytest.mark.parametrize(("parts", "inlines"), [(MANY, MANY + 1), (MANY + 100, MANY)])
def test_few_parts_or_few_inlines_keep_all(parts: int, inlines: int) -> None:
    table, warnings, counts = parted(parts, inlines)
    assert (len(table.node_depth), warnings, counts.dropped) == (inlines, [], 0)


def test_a_function_of_endless_parts_and_inlines_has_them_in_the_first_parts_only_and_says_so() -> None:
    table, warnings, counts = parted(MANY + 100, MANY + 1)
    assert len(table.node_depth) == MANY
    assert table.node_first[MANY] == table.node_first[MANY + 100] == MANY
    assert counts.dropped == 100
    (warning,) = warnings
    assert "at 100 places" in warning
