"""Columns: memory that grows, and the numbers that bytes hold."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.core.columns import LAZY_BYTES, grown, in_byte_order, read_items, taken, taken_each, zeros, zeros_each

typecodes = st.sampled_from(("B", "I", "Q"))


@given(typecodes, st.binary(max_size=100), st.booleans(), st.integers(1, 4))
def test_bytes_become_whole_groups_of_items(typecode: str, data: bytes, little_endian: bool, group: int) -> None:
    size = array(typecode).itemsize
    count = len(data) // (size * group) * group
    expected = [
        int.from_bytes(data[size * index : size * (index + 1)], "little" if little_endian else "big")
        for index in range(count)
    ]
    items = read_items(typecode, memoryview(data), little_endian, group=group)
    assert list(items) == expected
    assert in_byte_order(items, little_endian).tobytes() == data[: count * size]


@pytest.mark.parametrize("count", [0, 1, LAZY_BYTES])
def test_columns_of_one_size_begin_as_zeros_and_keep_what_they_hold_when_they_grow(count: int) -> None:
    for column in zeros_each("BIQ", count):
        assert len(column) == count
        assert not any(column)
        column[:] = array(column.format, [7]) * count
        bigger = grown(column, count + 1)
        assert len(bigger) > count
        assert list(bigger[:count]) == [7] * count
        assert not any(bigger[count:])


def test_what_is_used_of_columns_is_taken_by_their_names() -> None:
    first, second = zeros("I", 5), zeros("Q", 5)
    first[1], second[2] = 3, 2**63
    assert taken_each(3, first=first, second=second) == {"first": taken(first, 3), "second": taken(second, 3)}
    assert taken(second, 3) == array("Q", [0, 0, 2**63])
