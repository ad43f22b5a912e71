"""The index of a package file: what it claims is compared with what is there."""

from __future__ import annotations

import struct

import pytest

from uploader.errors import MalformedDwarf
from uploader.sources.dwarf.package_index import MAX_COLUMNS, Contribution, read_index

INFO, ABBREV = 1, 3


def index(columns: int) -> bytes:
    """One unit, whose contributions begin at 100 times the kind of each column."""
    kinds = [INFO, ABBREV, *range(columns, 2 * columns)][:columns]
    slot, row = bytes(8), struct.pack("<I", 1)
    head = struct.pack("<IIII", 2, columns, 1, 1)
    return (
        head
        + slot
        + row
        + struct.pack(f"<{columns}I", *kinds)
        + struct.pack(f"<{columns}I", *(100 * k for k in kinds))
        + bytes(4 * columns)
    )


def test_an_index_may_have_columns_of_unknown_kinds_up_to_a_bound() -> None:
    found = {100: Contribution(abbrev=300, string_offsets=0, rnglists=0)}
    assert read_index(index(2), little_endian=True) == found
    assert read_index(index(MAX_COLUMNS), little_endian=True) == found
    with pytest.raises(MalformedDwarf, match=f"claims {MAX_COLUMNS + 1} columns"):
        read_index(index(MAX_COLUMNS + 1), little_endian=True)
