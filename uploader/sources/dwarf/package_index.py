"""The index of a DWARF package file, `.debug_cu_index` (DWARF 5 §7.3.5, and version 2 of GNU before it)."""

from __future__ import annotations

import struct

from uploader.errors import MalformedDwarf
from uploader.values import frozen

_INFO, _ABBREV, _STR_OFFSETS = 1, 3, 6
_RNGLISTS = 8

MAX_COLUMNS = 64


@frozen
class Contribution:
    """Where one unit's parts of the sections begin."""

    abbrev: int
    string_offsets: int
    rnglists: int


def read_index(data: bytes | memoryview, *, little_endian: bool) -> dict[int, Contribution]:
    """The contributions of all units, by the offset of each in `.debug_info.dwo`. Raises `MalformedDwarf`."""
    order = "<" if little_endian else ">"
    try:
        version, columns, units, slots = struct.unpack_from(order + "IIII", data)
        if version != 2:
            (version,) = struct.unpack_from(order + "H", data)
        if version not in (2, 5):
            raise MalformedDwarf(f"a package's index has the unknown version {version}")
        if columns > MAX_COLUMNS:
            raise MalformedDwarf(f"a package's index claims {columns} columns")
        rows_at = 16 + 8 * slots + 4 * slots
        kinds = struct.unpack_from(f"{order}{columns}I", data, rows_at)
        table = rows_at + 4 * columns
        if table + 4 * columns * units > len(data):
            raise MalformedDwarf("a package's index is cut off")
        column_of = {kind: at for at, kind in enumerate(kinds)}
        if _INFO not in column_of or _ABBREV not in column_of:
            raise MalformedDwarf("a package's index names neither units nor abbreviations")
        found: dict[int, Contribution] = {}
        for row in struct.iter_unpack(f"{order}{columns}I", data[table : table + 4 * columns * units]):
            found[row[column_of[_INFO]]] = Contribution(
                abbrev=row[column_of[_ABBREV]],
                string_offsets=row[column_of[_STR_OFFSETS]] if _STR_OFFSETS in column_of else 0,
                rnglists=row[column_of[_RNGLISTS]] if version == 5 and _RNGLISTS in column_of else 0,
            )
    except struct.error:
        raise MalformedDwarf("a package's index is cut off") from None
    return found
