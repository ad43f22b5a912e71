"""Inlined calls that claim too little: what is inlined into them is theirs all the same."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from tests.sources.dwarf.reading import Inline, Read, read
from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import Die, Unit, abstract, assemble, compile_unit, inlined, subprogram
from uploader.sources.dwarf.nest_inlines import InlineNester

Ranges = list[tuple[int, int]]
Node = tuple[int, Ranges]

A, B, C = (abstract(name) for name in "abc")


def read_function(*inlines: Die, end: int = 0x1100, others: tuple[Die, ...] = ()) -> Read:
    function = subprogram("f", 0x1000, end, *inlines)
    return read(assemble(Unit(compile_unit(A, B, C, function, *others), version=4)))


def told(inlines: list[Inline]) -> list[object]:
    return [(each.name, each.ranges, told(each.children)) for each in inlines]


class TestACallIsWidenedByWhatIsInlinedIntoIt:
    def test_where_it_states_no_code_at_all(self) -> None:
        """gcc's strict DWARF 2 gives a call with code at several places an end that is its begin."""
        result = read_function(inlined(A, 0x1010, 0x1010, inlined(B, 0x1040, 0x1050)))
        assert told(result.function("f").inlines) == [("a", [(0x1040, 0x1050)], [("b", [(0x1040, 0x1050)], [])])]

    def test_where_it_has_no_address(self) -> None:
        bare = Die(dw.INLINED, {dw.ABSTRACT_ORIGIN: A}, [inlined(B, 0x1040, 0x1050)])
        assert told(read_function(bare).function("f").inlines) == [
            ("a", [(0x1040, 0x1050)], [("b", [(0x1040, 0x1050)], [])])
        ]

    def test_where_it_ends_before_or_lies_elsewhere(self) -> None:
        deep = inlined(B, 0x1018, 0x1028, inlined(C, 0x1080, 0x1090))
        assert told(read_function(inlined(A, 0x1010, 0x1020, deep)).function("f").inlines) == [
            (
                "a",
                [(0x1010, 0x1028), (0x1080, 0x1090)],
                [("b", [(0x1018, 0x1028), (0x1080, 0x1090)], [("c", [(0x1080, 0x1090)], [])])],
            )
        ]

    def test_and_those_beside_it_stay_as_they_are(self) -> None:
        result = read_function(
            inlined(A, 0x1010, 0x1010, inlined(B, 0x1040, 0x1050)),
            inlined(C, 0x1060, 0x1070),
            inlined(A, 0x1080, 0x1080),
        )
        assert told(result.function("f").inlines) == [
            ("a", [(0x1040, 0x1050)], [("b", [(0x1040, 0x1050)], [])]),
            ("c", [(0x1060, 0x1070)], []),
        ]


class TestCallsWithoutCode:
    def test_are_left_out_where_nothing_in_them_has_any(self) -> None:
        nested = inlined(A, 0x1010, 0x1010, inlined(B, 0x1020, 0x1020), inlined(C, 0x1030, 0x1030))
        result = read_function(nested, inlined(C, 0x1060, 0x1070), nested)
        assert told(result.function("f").inlines) == [("c", [(0x1060, 0x1070)], [])]

    def test_are_told_apart_from_those_of_a_function_that_stands_in_them(self) -> None:
        inner = subprogram("inner", 0x1100, 0x1180, inlined(B, 0x1110, 0x1110), inlined(C, 0x1120, 0x1130))
        result = read_function(inlined(A, 0x1010, 0x1010, inner, inlined(C, 0x1040, 0x1050)))
        assert told(result.function("f").inlines) == [("a", [(0x1040, 0x1050)], [("c", [(0x1040, 0x1050)], [])])]
        assert told(result.function("f::inner").inlines) == [("c", [(0x1120, 0x1130)], [])]


def test_the_function_itself_is_the_bound() -> None:
    other = subprogram("other", 0x1100, 0x1200)
    result = read_function(
        inlined(A, 0x1010, 0x1020, inlined(B, 0x10F0, 0x1110), inlined(C, 0x1180, 0x1190)), others=(other,)
    )
    assert told(result.function("f").inlines) == [
        ("a", [(0x1010, 0x1020), (0x10F0, 0x1100)], [("b", [(0x10F0, 0x1100)], []), ("c", [], [])])
    ]


def nested(bound: Ranges, nodes: list[Node]) -> tuple[list[Ranges], InlineNester]:
    """The new ranges of one function's nodes, (depth, ranges) in preorder."""
    nester = InlineNester([(0x1000, 0x2000)])
    first = array("I", [0])
    for _, ranges in nodes:
        first.append(first[-1] + len(ranges))
    flat = [one for _, ranges in nodes for one in ranges]
    new_first, start, end = nester.nest(
        (memoryview(array("I", [0, len(bound)])), *columns(bound)),
        (array("I", [0]), array("I", [len(nodes)])),
        memoryview(array("I", [depth for depth, _ in nodes])),
        (first, *columns(flat)),
    )
    pairs = list(zip(start, end, strict=True))
    return [pairs[new_first[i] : new_first[i + 1]] for i in range(len(nodes))], nester


def columns(ranges: Ranges) -> tuple[memoryview, memoryview]:
    return memoryview(array("Q", [start for start, _ in ranges])), memoryview(array("Q", [end for _, end in ranges]))


def ascending(edges: set[int]) -> Ranges:
    ends = sorted(edges)
    return [(0x1000 + start, 0x1000 + end) for start, end in zip(ends[::2], ends[1::2], strict=False)]


edges = st.sets(st.integers(0, 40), max_size=6).map(ascending)


@st.composite
def trees(draw: st.DrawFn) -> list[Node]:
    depth = 0
    nodes: list[Node] = []
    for ranges in draw(st.lists(edges, min_size=1, max_size=12)):
        depth = draw(st.integers(1, depth + 1))
        nodes.append((depth, ranges))
    return nodes


def addresses(ranges: Ranges) -> set[int]:
    return {address for start, end in ranges for address in range(start, end)}


@given(edges.filter(bool), trees())
def test_each_call_holds_its_own_code_and_that_of_all_calls_in_it_within_the_function(
    bound: Ranges, nodes: list[Node]
) -> None:
    found, nester = nested(bound, nodes)
    if found == [ranges for _, ranges in nodes]:
        return
    code = addresses(bound)
    for index, (depth, _) in enumerate(nodes):
        end = next((i for i in range(index + 1, len(nodes)) if nodes[i][0] <= depth), len(nodes))
        whole = set().union(*(addresses(ranges) for _, ranges in nodes[index:end]))
        assert addresses(found[index]) == whole & code
        assert found[index] == sorted(found[index])
    assert nester.figures() != (0, 0, 0)


@given(edges.filter(bool), trees())
def test_what_nests_already_is_left_alone_and_what_does_not_is_counted(bound: Ranges, nodes: list[Node]) -> None:
    code = addresses(bound)
    above: list[set[int]] = [code]
    dropped = cut = widened = 0
    for depth, ranges in nodes:
        del above[depth:]
        for one in ranges:
            own = addresses([one])
            dropped += not own & code
            cut += bool(own & code) and not whole_in(one, bound)
            widened += bool(own & code) and depth > 1 and not own <= above[-1]
        above.append(addresses(ranges))
    found, nester = nested(bound, nodes)
    assert nester.figures() == (dropped, cut, widened)
    assert dropped or cut or widened or found == [ranges for _, ranges in nodes]


def whole_in(one: tuple[int, int], ranges: Ranges) -> bool:
    return any(start <= one[0] and one[1] <= end for start, end in ranges)


def test_code_that_a_linker_dropped_is_no_loss() -> None:
    _, nester = nested([(0x1000, 0x1100)], [(1, [(0x10, 0x20), (0x1010, 0x1020)])])
    assert nester.figures() == (0, 0, 0)


def test_calls_that_would_take_endless_widening_stay_as_they_are_and_count_as_dropped() -> None:
    """Each of many calls in one another would have to hold the many ranges of the innermost."""
    deep = 1000
    comb = [(0x1000 + 2 * i, 0x1001 + 2 * i) for i in range(1000)]
    nodes: list[Node] = [*((depth, []) for depth in range(1, deep)), (deep, comb)]
    found, nester = nested([(0x1000, 0x2000)], nodes)
    assert found == [ranges for _, ranges in nodes]
    assert nester.figures() == (1000, 0, 0)
