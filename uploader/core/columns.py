"""Columns: flat memory of one item type, which the core's loops read as typed memoryviews.

Bulk data is held in columns, not objects: 64-bit items for addresses, 32-bit ones for ids, files, lines and indexes. A column is any
writable buffer of that item type.
"""

from __future__ import annotations

import mmap
import sys
from array import array
from collections.abc import Iterator
from typing import Any, cast

TYPE_ADDRESS = "Q"
TYPE_INDEX = "I"

LAZY_BYTES = 1 << 17
"""From here on a column has memory of its own from the system, which gives pages as they are written to."""

_ITEM_BYTES = {typecode: array(typecode).itemsize for typecode in "BIQiq"}
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def addresses() -> array[int]:
    """An empty column of unsigned 64-bit items."""
    return array(TYPE_ADDRESS)


def indexes() -> array[int]:
    """An empty column of unsigned 32-bit items."""
    return array(TYPE_INDEX)


NONE = 0xFFFFFFFF
"""In a column of indexes: there is none."""


def zeros(typecode: str, count: int) -> memoryview:
    """A column of zeros with a size that never changes; of a large one, only what is written to takes memory."""
    size_bytes = count * _ITEM_BYTES[typecode]
    if size_bytes < LAZY_BYTES:
        return memoryview(array(typecode, [0]) * count)
    try:
        return memoryview(mmap.mmap(-1, size_bytes, **_PRIVATE)).cast(typecode)  # type: ignore[call-overload]  # by system
    except OSError as error:
        raise MemoryError from error


def zeros_each(typecodes: str, count: int) -> Iterator[Any]:
    """A column of zeros for each type code, all of one size."""
    return (zeros(typecode, count) for typecode in typecodes)


def grown(column: Any, wanted: int) -> memoryview:
    """A copy of a column (array or typed memoryview) with room for at least ``wanted`` items, the new ones zero."""
    view = memoryview(column)
    bigger = zeros(view.format, max(wanted, 2 * len(view), 64))
    bigger[: len(view)] = view
    return bigger


def first_of(column: Any, count: int) -> array[int]:
    """The first ``count`` items of a column, in the memory where they are."""
    return cast("array[int]", memoryview(column)[:count])


def whole_of(column: Any) -> memoryview:
    """The column that `first_of` took the first items of."""
    view = memoryview(column)
    whole = memoryview(view.obj)
    typecode: Any = view.format
    return whole if whole.format == typecode else whole.cast(typecode)


def taken(column: Any, count: int) -> array[int]:
    """The first ``count`` items of a column as an array of just that length."""
    view = memoryview(column)
    exact = array(view.format)
    exact.frombytes(view[:count].cast("B"))
    return exact


def taken_each(count: int, **columns: Any) -> dict[str, array[int]]:
    """`taken` of several columns, by their names."""
    return {name: taken(column, count) for name, column in columns.items()}


def read_items(typecode: str, data: Any, little_endian: bool, *, group: int = 1) -> array[int]:
    """The items that bytes hold, in whole groups of so many; bytes left behind the last group are no items."""
    items = array(typecode)
    items.frombytes(data[: len(data) - len(data) % (group * items.itemsize)])
    return in_byte_order(items, little_endian)


def in_byte_order(items: array[int], little_endian: bool) -> array[int]:
    """The array, its items' bytes turned around where this machine's order is the other one: from a file's order or to it."""
    if little_endian != (sys.byteorder == "little"):
        items.byteswap()
    return items
