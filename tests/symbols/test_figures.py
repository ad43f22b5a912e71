"""What a table is said to hold."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from uploader.core.columns import NONE
from uploader.symbols.figures import count_functions

PIECES = st.lists(st.tuples(st.sampled_from([NONE, 0, 1, 2, 70]), st.integers(0, 3)), max_size=30)


@given(PIECES)
def test_a_function_counts_once_and_a_part_with_a_name_of_its_own_too(pieces: list[tuple[int, int]]) -> None:
    function, name = array("I", [one for one, _ in pieces]), array("I", [other for _, other in pieces])
    assert count_functions(function, name) == len({piece for piece in pieces if piece[0] != NONE})
