"""For any sources, the merged table is sound and says of each address what a slow model, address by address, says."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.symbols.sources import FILES, Answer, Function, Inline, Row, answer, merged, sequences_of

SPACE = 32


@st.composite
def some_ranges(draw: st.DrawFn, most: int = 2) -> list[tuple[int, int]]:
    """Ascending, disjoint, not empty."""
    cuts = sorted(draw(st.sets(st.integers(0, SPACE), min_size=2, max_size=2 * most)))
    return list(zip(cuts[::2], cuts[1::2], strict=False))


@st.composite
def some_inlines(draw: st.DrawFn) -> list[Inline]:
    nodes: list[Inline] = []
    for _ in range(draw(st.integers(0, 5))):
        nodes.append(
            Inline(
                depth=draw(st.integers(1, nodes[-1].depth + 1 if nodes else 1)),
                name=draw(st.sampled_from(["i", "j", "k", "l", ""])),
                ranges=draw(st.one_of(some_ranges(), st.just([]))),
                call_file=draw(st.sampled_from([None, 0, 1, 3])),
                call_line=draw(st.integers(0, 3)),
            )
        )
    return nodes


@st.composite
def some_rows(draw: st.DrawFn) -> list[Row]:
    addresses = sorted(draw(st.sets(st.integers(0, SPACE), max_size=8)))
    rows: list[Row] = [
        (address, draw(st.sampled_from([None, 0, 1, 2])), draw(st.integers(0, 2))) for address in addresses
    ]
    return [*rows, (SPACE + 1, None, 0)] if rows else []


@st.composite
def some_functions(draw: st.DrawFn, tables: int) -> list[Function]:
    return [
        Function(
            name=f"f{index}",
            ranges=draw(some_ranges()),
            table=draw(st.sampled_from([None, *range(tables)])),
            decl=draw(st.sampled_from([None, (2, 9), (0, 0)])),
            inlines=draw(some_inlines()),
        )
        for index in range(draw(st.integers(0, 4)))
    ]


@st.composite
def some_symbols(draw: st.DrawFn) -> list[tuple[int, int, str]] | None:
    if draw(st.booleans()):
        return None
    starts = draw(st.sets(st.integers(0, SPACE - 1), max_size=5))
    return [(start, draw(st.integers(start + 1, SPACE)), f"s{start}") for start in starts]


Sources = tuple[list[Function], list[list[Row]], list[tuple[int, int, str]] | None]


@st.composite
def some_sources(draw: st.DrawFn) -> Sources:
    tables = draw(st.lists(some_rows(), max_size=2))
    return draw(some_functions(len(tables))), tables, draw(some_symbols())


class Model:
    """The rules of `symbols.merge` and `symbols.shape`, said for one address after the other."""

    def __init__(
        self,
        functions: Sequence[Function],
        tables: Sequence[Sequence[Row]],
        symbols: Sequence[tuple[int, int, str]] | None,
    ) -> None:
        self.functions, self.tables, self.symbols = functions, tables, list(symbols or ())
        self.sequences = sequences_of(tables)
        self.speaker = [self.speaks(address) for address in range(SPACE + 1)]

    def speaks(self, address: int) -> tuple[tuple[int, int], int] | None:
        """The range that speaks, and whose: the latest start, then the shortest, then the richest, then the first."""
        holding = [
            (start, end, index)
            for index, function in enumerate(self.functions)
            for start, end in [(self.begin(*span), span[1]) for span in function.ranges]
            if start <= address < end
        ]
        if not holding:
            return None
        start, end, index = max(holding, key=lambda each: (each[0], -each[1], self.worth(each[2]), -each[2]))
        return (start, end), index

    def begin(self, start: int, end: int) -> int:
        """Where a range begins: with the nearest symbol before it that ends with it, where no range is in between."""
        spans = [span for function in self.functions for span in function.ranges]
        before = max((each for each in self.symbols if each[0] <= start), default=(start, 0, ""))
        reached = max((b for a, b in spans if a < start or (a == start and b > end)), default=0)
        return before[0] if before[1] == end and reached <= before[0] else start

    def worth(self, index: int) -> tuple[bool, bool]:
        return self.functions[index].table is not None, bool(self.functions[index].inlines)

    def symbol(self, address: int) -> tuple[int, int, str] | None:
        return max((each for each in self.symbols if each[0] <= address < each[1]), default=None)

    def answer(self, address: int) -> Answer | None:
        speaker = self.speaker[address]
        if speaker is None:
            return self.answer_of_symbol(address)
        (start, _), index = speaker
        function = self.functions[index]
        named = [name for at, _, name in self.symbols if at == start]
        name = named[0] if named else function.name
        place = self.place(function.table, address)
        if function.decl and not any(self.has_row(function.table, at) for at in self.run(address)):
            place = (FILES[function.decl[0]], function.decl[1]) if function.decl[1] else None
        return Answer(name.encode(), place, self.chain(function.inlines, address))

    def answer_of_symbol(self, address: int) -> Answer | None:
        symbol = self.symbol(address)
        if symbol is None:
            return None
        holding = [(start, -end, -table) for start, end, table in self.sequences if start <= address < end]
        return Answer(symbol[2].encode(), self.place(-max(holding)[2], address) if holding else None)

    def run(self, address: int) -> range:
        """The addresses around that belong to the same piece."""
        first = last = address
        while first > 0 and self.speaker[first - 1] == self.speaker[address]:
            first -= 1
        while last < SPACE and self.speaker[last + 1] == self.speaker[address]:
            last += 1
        return range(first, last + 1)

    def row(self, table: int | None, address: int) -> Row | None:
        found = None
        for row in self.tables[table] if table is not None else ():
            if row[0] <= address:
                found = row
        return found

    def has_row(self, table: int | None, address: int) -> bool:
        row = self.row(table, address)
        return row is not None and row[1] is not None

    def place(self, table: int | None, address: int) -> tuple[tuple[bytes, bytes], int] | None:
        row = self.row(table, address)
        if row is None or row[1] is None or row[2] == 0:
            return None
        return FILES[row[1]], row[2]

    def chain(self, nodes: Sequence[Inline], address: int) -> tuple[tuple[bytes, tuple[bytes, bytes], int], ...]:
        """Of siblings that hold the address the last speaks; a nameless one is as if it and all in it were not there."""
        chain: list[tuple[bytes, tuple[bytes, bytes], int]] = []
        first, last = 0, len(nodes)
        while True:
            depth = len(chain) + 1
            chosen = None
            for index in range(first, last):
                node = nodes[index]
                if node.depth == depth and node.name and any(low <= address < high for low, high in node.ranges):
                    chosen = index
            if chosen is None:
                return tuple(chain)
            node = nodes[chosen]
            file = (b"", b"") if node.call_file is None else FILES[node.call_file]
            chain.append((node.name.encode(), file, node.call_line))
            first = chosen + 1
            last = next((at for at in range(first, last) if nodes[at].depth <= depth), last)


@settings(max_examples=150)
@given(some_sources())
def test_the_table_is_sound_and_says_what_the_model_says(sources: Sources) -> None:
    functions, tables, symbols = sources
    table = merged(functions, tables, symbols)
    model = Model(functions, tables, symbols)
    for address in range(SPACE):
        assert answer(table, address) == model.answer(address), address


@given(some_sources(), st.data())
def test_nameless_functions_keep_the_table_sound(sources: Sources, data: st.DataObject) -> None:
    functions, tables, symbols = sources
    for function in functions:
        if data.draw(st.booleans()):
            function.name = ""
    table = merged(functions, tables, symbols)
    known = {at for function in functions for start, end in function.ranges for at in range(start, end)}
    known |= {at for start, end, _ in symbols or () for at in range(start, end)}
    assert all(at in known for piece in range(len(table)) for at in range(table.start[piece], table.end[piece]))
