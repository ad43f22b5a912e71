"""Which code is spoken for: ranges in any order, joined where they touch, and what is left between them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from uploader.symbols.spoken_for import SpokenFor

ranges = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: (min(pair), max(pair))), max_size=8
)


@given(first=ranges, second=ranges, asked=ranges)
def test_it_holds_the_very_addresses_that_were_taken_in(
    first: list[tuple[int, int]], second: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    spoken = SpokenFor()
    spoken.add(first)
    spoken.add(second)
    taken = {address for start, end in first + second for address in range(start, end)}
    held = list(zip(spoken.start, spoken.end, strict=True))
    assert {address for start, end in held for address in range(start, end)} == taken
    assert all(end < following for (_, end), (following, _) in zip(held, held[1:], strict=False)), (
        "touching ones are one"
    )
    for start, end in asked:
        left = {address for low, high in spoken.left_of(start, end) for address in range(low, high)}
        assert left == set(range(start, end)) - taken
