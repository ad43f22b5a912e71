"""Ranges in any order come out ascending, and those that touch or overlap as one."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from uploader.symbols.touching import join_touching

some_ranges = st.lists(
    st.tuples(st.integers(0, 400), st.integers(1, 12)).map(lambda each: (each[0], each[0] + each[1])), max_size=90
)


@given(some_ranges, some_ranges, some_ranges)
def test_the_same_addresses_are_covered_by_ranges_with_gaps_between(
    before: list[tuple[int, int]], ranges: list[tuple[int, int]], behind: list[tuple[int, int]]
) -> None:
    everything = [*before, *ranges, *behind]
    start = array("Q", [start for start, _ in everything])
    end = array("Q", [end for _, end in everything])
    first = len(before)
    last = join_touching(start, end, first, first + len(ranges))
    joined = list(zip(start[first:last], end[first:last], strict=True))
    assert all(high < low for (_, high), (low, _) in zip(joined, joined[1:], strict=False))
    assert {at for low, high in joined for at in range(low, high)} == {
        at for low, high in ranges for at in range(low, high)
    }
    others = list(zip(start, end, strict=True))
    assert others[:first] == before, "what lies before is not touched"
    assert others[first + len(ranges) :] == behind


def test_many_in_the_worst_order_take_no_time_to_speak_of() -> None:
    count = 300_000
    start = array("Q", range(4 * count, 0, -4))
    end = array("Q", (at + 1 for at in start))
    assert join_touching(start, end, 0, count) == count
    assert list(start[:3]) == [4, 8, 12]
