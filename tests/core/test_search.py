"""A place in an ascending column is found as `bisect` finds it."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from uploader.core.search import first_after

addresses = st.one_of(st.integers(0, 20), st.integers(2**64 - 3, 2**64 - 1))


@given(st.lists(addresses).map(sorted), addresses, st.data())
def test_the_first_greater_item_is_found(items: list[int], value: int, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, len(items)))
    high = data.draw(st.integers(low, len(items)))
    assert first_after(array("Q", items), low, high, value) == bisect_right(items, value, low, high)
