"""Indexes come in the order of two columns, and equal ones as they lie."""

from __future__ import annotations

import random
from array import array

from hypothesis import given
from hypothesis import strategies as st

from uploader.symbols.ordering import order_by

KEYS = st.tuples(st.integers(0, 5), st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1)))


@given(st.lists(KEYS, max_size=80), st.randoms(), st.integers(0, 3))
def test_the_order_is_that_of_a_stable_sort(keys: list[tuple[int, int]], shuffled: random.Random, more: int) -> None:
    before = list(range(len(keys)))
    shuffled.shuffle(before)
    major = array("Q", [one for one, _ in keys])
    minor = array("Q", [other for _, other in keys])
    order = array("I", before + [9] * more)
    order_by(major, minor, order, array("I", order), len(keys))
    assert list(order[: len(keys)]) == sorted(before, key=keys.__getitem__)
    assert list(order[len(keys) :]) == [9] * more
