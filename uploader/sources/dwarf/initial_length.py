"""The length that units and line tables begin with (DWARF 5 §7.2.2)."""

from __future__ import annotations

import struct

LONG_FORMAT = 0xFFFFFFFF
"""What stands before a length of 64 bits."""


def read_initial_length(data: bytes | memoryview, offset: int, order: str) -> tuple[int, int, int]:
    """(length, offset behind it, size of offsets in what follows), by a byte order as `struct` has them. Raises `struct.error`."""
    (length,) = struct.unpack_from(order + "I", data, offset)
    if length != LONG_FORMAT:
        return length, offset + 4, 4
    (length,) = struct.unpack_from(order + "Q", data, offset + 4)
    return length, offset + 12, 8
