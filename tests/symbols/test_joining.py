"""Whatever is said of how much will come, a growing column holds what was appended to it."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from uploader.core.columns import LAZY_BYTES, first_of, zeros
from uploader.symbols.joining import Growing

some_columns = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=40), max_size=12)


@given(some_columns, st.sampled_from([0.0, 0.01, 0.5, 1.0]), st.integers(0, 300), st.booleans())
def test_columns_stand_end_to_end(columns: list[list[int]], done: float, room: int, wide: bool) -> None:
    typecode = "Q" if wide else "I"
    whole = Growing(typecode, 7, room=room)
    for column in columns:
        whole.extend(array(typecode, column), done)
    assert list(whole.items) == [7, *(item for column in columns for item in column)]
    assert len(whole) == len(whole.items)


@given(some_columns, st.integers(0, 2**31 - 1))
def test_what_is_shifted_is_only_what_is_appended(columns: list[list[int]], by: int) -> None:
    whole = Growing("I", 7)
    for column in columns:
        whole.extend_shifted(array("I", column), by)
    assert list(whole.items) == [7, *(item + by for column in columns for item in column)]


@given(st.lists(st.integers(0, 2**31 - 1), max_size=40), some_columns, st.integers(0, 400), st.booleans())
def test_what_goes_on_in_the_memory_of_a_column_begins_with_it(
    begin: list[int], columns: list[list[int]], room: int, wide: bool
) -> None:
    typecode = "Q" if wide else "I"
    memory = zeros(typecode, len(begin) + (room if room < 200 else LAZY_BYTES))
    memory[: len(begin)] = array(typecode, begin)
    whole = Growing.onto(first_of(memory, len(begin)))
    for column in columns:
        whole.extend(array(typecode, column))
    assert list(whole.items) == [*begin, *(item for column in columns for item in column)]
    if sum(map(len, columns)) <= len(memory) - len(begin):
        assert list(memory[: len(whole)]) == list(whole.items)


def test_a_large_column_moves_to_memory_of_its_own_and_keeps_what_it_holds() -> None:
    whole = Growing("Q")
    for begin in range(0, LAZY_BYTES, 1000):
        whole.extend(array("Q", range(begin, begin + 1000)), done=0.9)
    assert list(whole.items) == list(range(len(whole)))
