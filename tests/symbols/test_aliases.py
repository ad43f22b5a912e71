"""Which pieces carry which other names."""

from __future__ import annotations

from array import array

from uploader.core.columns import NONE
from uploader.symbols.aliases import REPEATS_PER_PIECE, attach_aliases
from uploader.symbols.columns import NameTable, SymbolTable
from uploader.symbols.piece_plan import PiecePlan


def attached(symbols: list[int], origin: list[int], aliases: dict[int, list[bytes]]) -> list[list[bytes]]:
    """The aliases of each piece of a table, whose pieces were cut from a plan's; ``symbols`` named these."""
    plan = PiecePlan(symbol=array("I", symbols))
    table = SymbolTable(start=array("Q", range(len(origin))))
    names = NameTable()
    attach_aliases(table, plan, array("I", origin), lambda symbol: aliases.get(symbol, []), names)
    if not table.alias_first:
        assert not table.alias_name
        return [[] for _ in origin]
    bounds = zip(table.alias_first, table.alias_first[1:], strict=False)
    return [[table.names[name] for name in table.alias_name[first:last]] for first, last in bounds]


def test_a_piece_has_the_aliases_of_the_symbol_that_named_it() -> None:
    assert attached([7, NONE, 3], [0, 1, 2], {7: [b"a", b"b"], 3: [b"c"]}) == [[b"a", b"b"], [], [b"c"]]


def test_every_piece_of_a_function_has_its_aliases() -> None:
    assert attached([7, 3, 7], [0, 0, 1, 2], {7: [b"a"]}) == [[b"a"], [b"a"], [], [b"a"]]


def test_where_nothing_has_an_alias_the_columns_stay_empty() -> None:
    assert attached([7, NONE], [0, 1], {}) == [[], []]


def test_a_name_that_is_empty_is_no_alias() -> None:
    assert attached([7], [0], {7: [b"", b"a"]}) == [[b"a"]]


def test_many_names_of_a_function_in_many_pieces_are_not_repeated_without_end() -> None:
    many = [b"%d" % number for number in range(1000)]
    found = attached([7], [0] * 1000, {7: many})
    assert found[0] == many
    assert sum(map(len, found)) <= len(many) + REPEATS_PER_PIECE * 1000
