"""Which ids columns hold is what a counter says of them."""

from __future__ import annotations

from array import array
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from uploader.core.columns import NONE
from uploader.symbols.uses import first_uses, tally, used_ids

SIZE = 12

ids = st.lists(st.one_of(st.integers(0, SIZE - 1), st.just(NONE)))


@given(st.lists(ids, max_size=4))
def test_ids_are_counted_and_told_in_the_order_of_their_first_use(listed: list[list[int]]) -> None:
    columns = [array("I", each) for each in listed]
    seen = Counter(one for each in listed for one in each if one != NONE)
    counts, order = tally(columns, SIZE)
    assert list(counts) == [seen[one] for one in range(SIZE)]
    assert list(order) == list(first_uses(columns, SIZE)) == list(seen)
    assert list(used_ids(columns, SIZE)) == sorted(seen)
