"""Compact relocation tables (SHT_CREL) hold what plain ones would, whichever way they are packed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.crel_writer import CrelEntry, crel_table
from uploader.errors import MalformedElf
from uploader.objects.elf.crel import CrelTable


def decoded(data: bytes, *, is_64: bool = True, entries_at_a_time: int = 1 << 16) -> list[tuple[int, ...]]:
    table = CrelTable(data=data, is_64=is_64, entries_at_a_time=entries_at_a_time)
    step = 3 if table.has_addends else 2
    return [
        tuple(words[at : at + step]) for words in table.chunks() for at in range(0, len(words), step)
    ]  # fmt: skip


def test_the_example_of_the_format() -> None:
    """Two entries 8 bytes apart; the second changes nothing but the offset, so that it takes one byte."""
    data = crel_table([CrelEntry(8, 1, 2, 5), CrelEntry(16, 1, 2, 5)], shift=3)
    assert data == bytes([2 << 3 | 4 | 3, 1 << 3 | 7, 2, 1, 5, 1 << 3])
    assert decoded(data) == [(8, 2 << 32 | 1, 5), (16, 2 << 32 | 1, 5)]


def test_words_of_32_bit_files() -> None:
    assert decoded(crel_table([CrelEntry(4, 10, 3, -1)]), is_64=False) == [(4, 3 << 8 | 10, 0xFFFFFFFF)]


def test_without_addends_the_entries_are_those_of_rel() -> None:
    assert decoded(crel_table([CrelEntry(4, 10, 3), CrelEntry(400, 2, 1)], addends=False)) == [
        (4, 3 << 32 | 10),
        (400, 1 << 32 | 2),
    ]


def test_what_a_number_says_beyond_64_bits_counts_for_nothing() -> None:
    overlong = b"\x85" + b"\x80" * 9 + b"\xff" * 9 + b"\x05"
    one_entry_with_addend, addend_changes = b"\x0c", b"\x04"
    assert decoded(one_entry_with_addend + addend_changes + overlong) == [(0, 0, 5)]


def test_the_least_number_of_64_bits_is_read_as_it_was_written() -> None:
    least = -(1 << 63)
    assert decoded(crel_table([CrelEntry(0, 0, 0, least)])) == [(0, 0, 1 << 63)]


ENTRIES = st.lists(
    st.builds(
        CrelEntry,
        st.integers(0, (1 << 61) - 1).map(lambda offset: offset * 8),
        st.integers(0, (1 << 32) - 1),
        st.integers(0, (1 << 32) - 1),
        st.integers(-(1 << 63), (1 << 63) - 1),
    ),
    max_size=20,
)


@given(ENTRIES, st.integers(0, 3), st.booleans(), st.integers(1, 30))
def test_any_entries_come_back(entries: list[CrelEntry], shift: int, addends: bool, at_a_time: int) -> None:
    top = (1 << 64) - 1
    found = decoded(crel_table(entries, shift=shift, addends=addends), entries_at_a_time=at_a_time)
    expected = [(each.offset, each.symbol << 32 | each.type, each.addend & top) for each in entries]
    assert found == (expected if addends else [each[:2] for each in expected])


@pytest.mark.parametrize("cut", range(1, 7))
def test_a_table_that_is_cut_off_says_so(cut: int) -> None:
    data = crel_table([CrelEntry(0x1000, 1, 2, 500), CrelEntry(8, 1, 300, 5)])
    with pytest.raises(MalformedElf, match="compact relocations"):
        decoded(data[:-cut])


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff" * 10, b"\xff" * 9 + b"\x01"])
def test_a_count_that_cannot_be_is_not_believed(data: bytes) -> None:
    with pytest.raises(MalformedElf, match="compact relocations"):
        decoded(data)


@given(st.binary(max_size=64), st.booleans())
def test_any_bytes_give_entries_or_a_clear_error(data: bytes, is_64: bool) -> None:
    try:
        entries = decoded(data, is_64=is_64)
    except MalformedElf:
        return
    assert len(entries) <= len(data)
    assert all(0 <= word < 1 << (64 if is_64 else 32) for entry in entries for word in entry)
