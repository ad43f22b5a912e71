"""Any ranges come in the order of their starts, the longer first, and are cut into pieces that a slow model agrees with."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from uploader.symbols.nesting import cut, outermost_first

HIGHEST = 2**64 - 1

some_range = st.one_of(
    st.tuples(st.integers(0, 30), st.integers(1, 30)).map(lambda each: (each[0], each[0] + each[1])),
    st.tuples(st.integers(HIGHEST - 20, HIGHEST - 10), st.integers(1, 10)).map(lambda each: (each[0], sum(each))),
)


@given(st.lists(st.tuples(some_range, st.integers(0, 3)), max_size=60))
def test_ranges_are_ordered_outermost_first_and_each_stands_once(listed: list[tuple[tuple[int, int], int]]) -> None:
    start = array("Q", [start for (start, _), _ in listed])
    end = array("Q", [end for (_, end), _ in listed])
    order = list(outermost_first(start, end, bytes(worth for _, worth in listed)))
    distinct = sorted({span for span, _ in listed}, key=lambda span: (span[0], -span[1]))
    assert [(start[index], end[index]) for index in order] == distinct
    for index in order:
        same = [other for other, (span, _) in enumerate(listed) if span == (start[index], end[index])]
        assert index == max(same, key=lambda other: (listed[other][1], -other)), "the most worth, the first of equals"
    assert list(outermost_first(start, end)) == [
        listed.index(next(each for each in listed if each[0] == span)) for span in distinct
    ]


@given(st.lists(some_range, max_size=20))
def test_the_range_that_starts_latest_has_an_address_and_the_shorter_of_two(listed: list[tuple[int, int]]) -> None:
    start = array("Q", [start for start, _ in listed])
    end = array("Q", [end for _, end in listed])
    pieces = cut(start, end, outermost_first(start, end))
    assert all(low < high for low, high in zip(pieces.start, pieces.end, strict=True))
    assert all(high <= low for high, low in zip(pieces.end, pieces.start[1:], strict=False))
    found = {
        address: (start[of], end[of])
        for low, high, of in zip(pieces.start, pieces.end, pieces.of, strict=True)
        for address in range(low, high)
    }
    expected = {
        address: max(
            (span for span in listed if span[0] <= address < span[1]),
            key=lambda span: (span[0], -span[1]),
        )
        for low, high in listed
        for address in range(low, high)
    }
    assert found == expected


def test_many_ranges_in_one_another_take_time_in_proportion() -> None:
    count = 200_000
    start = array("Q", range(count))
    end = array("Q", range(3 * count, 2 * count, -1))
    pieces = cut(start, end, outermost_first(start, end))
    assert len(pieces.of) == 2 * count - 1
