"""The other names of functions, put to the pieces of a finished table."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from uploader.core.columns import NONE
from uploader.symbols.columns import NameTable, SymbolTable
from uploader.symbols.piece_plan import PiecePlan

REPEATS_PER_PIECE = 8
"""A function in several pieces has its aliases at each, until all these repeats are so many times the pieces: no bound is known
for how often a symbol with a million names may be cut."""


def attach_aliases(
    table: SymbolTable,
    plan: PiecePlan,
    origin: Sequence[int],
    aliases_of: Callable[[int], Sequence[bytes]],
    names: NameTable,
) -> None:
    """Fills the alias columns: each piece that a symbol named gets that symbol's other names.

    ``origin`` is the plan's piece for each piece of the table, as `shape` gives it; ``aliases_of`` tells the other names of a
    symbol by its index; ``names`` is where the table's names are kept.
    """
    numbers: dict[int, array[int]] = {}
    known_names = len(names.names)
    first = array("I", [0])
    alias_name = array("I")
    repeats_left = REPEATS_PER_PIECE * len(table)
    for index in origin:
        symbol = plan.symbol[index]
        if symbol != NONE:
            known = numbers.get(symbol)
            if known is None:
                known = numbers[symbol] = array("I", [names.intern(name) for name in aliases_of(symbol) if name])
                alias_name.extend(known)
            elif len(known) <= repeats_left:
                repeats_left -= len(known)
                alias_name.extend(known)
        first.append(len(alias_name))
    if len(alias_name):
        table.alias_first, table.alias_name = first, alias_name
    table.names = names.names
    table.names_ascend = table.names_ascend and len(names.names) == known_names
