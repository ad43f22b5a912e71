"""A `SymbolTable` to the bytes of a GSYM file."""

from __future__ import annotations

import struct
from array import array
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from uploader.core.columns import in_byte_order
from uploader.errors import UsageError
from uploader.gsym.function_info_encoder import encode_function_infos
from uploader.gsym.inline_tree_encoder import encode_inline_trees
from uploader.gsym.layout import (
    ADDRESS_OFFSET_TYPES,
    MAGIC,
    MAX_UINT32,
    SECTION_ADDRESS_OFFSETS,
    SECTION_FILES,
    SECTION_FUNCTION_INFOS,
    SECTION_INFO_OFFSETS,
    SECTION_STRINGS,
    SECTION_UUID,
    V1_HEADER_BYTES,
    V1_UUID_MAX_BYTES,
    V2_HEADER_BYTES,
    V2_SECTION_ENTRY_BYTES,
    VERSIONS,
    align,
)
from uploader.gsym.line_table_encoder import encode_line_tables
from uploader.gsym.sharing import share_records
from uploader.gsym.strings import StringTable
from uploader.gsym.writer import NameForm
from uploader.symbols.columns import SymbolTable
from uploader.symbols.uses import tally, used_ids
from uploader.values import frozen

PIECES_A_SLICE = 2048
"""How many pieces are encoded in one go; slices are independent, and their number doesn't change a byte."""


@frozen
class _Tables:
    """The string and file table."""

    strings: StringTable
    files: list[int]
    """String offsets, directory and base name in turn."""


def encode(
    table: SymbolTable,
    *,
    base_address: int,
    uuid: bytes,
    little_endian: bool = True,
    version: int | None = None,
    threads: int = 1,
) -> bytes:
    """Writes a symbol table as a GSYM file; equal tables give equal bytes.

    ``base_address`` is the address of the binary's first segment; where a piece starts below it, that start takes its place.
    Without a ``version`` it is v1, and v2 only where v1 can't hold the file: a UUID over 20 bytes, or more than 4 GiB.
    Only names and files in use are written. Several threads give the same bytes, sooner. The table's invariants are relied
    upon, not checked.

    Raises `UsageError` where v1 was asked for and can't hold the file, and `InputError` for a piece over 4 GiB or inlines
    nested deeper than `layout.MAX_INLINE_DEPTH`. Source: LLVM ``llvm/DebugInfo/GSYM``.
    """
    if version is not None and version not in VERSIONS:
        raise UsageError(f"there is no GSYM version {version}", remedy="Choose 1 or 2.")
    if len(table):
        base_address = min(base_address, table.start[0])
    with _Pieces(table, threads) as pieces:
        tables = pieces.collect()
        if version != 2 and len(uuid) <= V1_UUID_MAX_BYTES and tables.strings.size_bytes <= MAX_UINT32:
            data = _write_v1(pieces, tables, base_address, uuid, little_endian)
            if data is not None:
                return data
        if version == 1:
            raise UsageError(
                "GSYM v1 has no room for a UUID over 20 bytes or a file over 4 GiB", remedy="Choose GSYM version 2."
            )
        return _write_v2(pieces, tables, base_address, uuid, little_endian)


NO_FILE = 0
"""Of a table's files: the one that inlines of unknown places have."""


def _collect(table: SymbolTable, used_files: list[int]) -> _Tables:
    """Places names and files in the string table. Names are sorted, which compresses best.

    LLVM's reader leaves out the frame of a caller where both strings of its file stand at offset 0. So the name of ``NO_FILE`` is the
    empty string that ends the string table.
    """
    used_names = used_ids((table.name, table.node_name, table.alias_name), len(table.names))
    strings = StringTable(table.names, used_names, ascending=table.names_ascend)
    files = [strings.add(text) for file in used_files if file != NO_FILE for text in table.files[file]]
    if NO_FILE in used_files:
        files += [0, strings.size_bytes - 1]
    return _Tables(strings=strings, files=[0, 0, *files])


def _used_files(table: SymbolTable) -> list[int]:
    """The files that rows or call sites name, the most used first, so that the common ones have the short numbers; ``NO_FILE`` last."""
    uses, used = tally((table.row_file, table.node_call_file), len(table.files))
    return sorted(used, key=lambda file: (file == NO_FILE, -uses[file]))


def _file_numbers(table: SymbolTable, used_files: list[int]) -> array[int]:
    """The number in the GSYM file of each file of the table."""
    numbers = array("I", [0]) * len(table.files)
    for number, file in enumerate(used_files, start=1):
        numbers[file] = number
    return numbers


@frozen
class _Slice:
    """Some pieces in a row, and their line tables: they don't need to know where names are."""

    first: int
    last: int
    lines: tuple[memoryview, array[int]]


class _Pieces:
    """Encodes the pieces of a table slice by slice, on several threads where there are any."""

    def __init__(self, table: SymbolTable, threads: int) -> None:
        self.table = table
        self.used_files = _used_files(table)
        self.file_number = _file_numbers(table, self.used_files)
        self.firsts = range(0, len(table), PIECES_A_SLICE)
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix="symup-encode") if threads > 1 else None
        self.waiting: list[Future[_Slice]] = []
        self.ready: list[_Slice] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def collect(self) -> _Tables:
        """The string and file table; with several threads, line tables are encoded meanwhile."""
        if self.pool is None:
            return _collect(self.table, self.used_files)
        tables = self.pool.submit(_collect, self.table, self.used_files)
        self.waiting = [self.pool.submit(self._lines, first) for first in self.firsts]
        return tables.result()

    def records(self, tables: _Tables, name_bytes: int, little_endian: bool) -> tuple[bytes, memoryview, array[int]]:
        """The string table, the function infos of all pieces, and the offset of each piece's in them."""
        if self.ready is None:
            self.ready = (
                [waiting.result() for waiting in self.waiting]
                if self.pool is not None
                else [self._lines(first) for first in self.firsts]
            )

        names = NameForm(offset=tables.strings.name_offset, size_bytes=name_bytes, little_endian=little_endian)

        def encoded(part: _Slice) -> tuple[memoryview, array[int]]:
            return self._infos(part, names)

        slices = (self.pool.map if self.pool is not None else map)(encoded, self.ready)
        strings = tables.strings.to_bytes()
        return strings, *share_records(list(slices))

    def _lines(self, first: int) -> _Slice:
        last = min(first + PIECES_A_SLICE, len(self.table))
        return _Slice(first=first, last=last, lines=encode_line_tables(self.table, first, last, self.file_number))

    def _infos(self, part: _Slice, names: NameForm) -> tuple[memoryview, array[int]]:
        """The function infos of a slice, and the offset of each piece's in them."""
        inlines = encode_inline_trees(self.table, part.first, part.last, self.file_number, names)
        return encode_function_infos(self.table, part.first, part.last, part.lines, inlines, names)


def _write_v1(pieces: _Pieces, tables: _Tables, base_address: int, uuid: bytes, little_endian: bool) -> bytes | None:
    """The v1 file, or None where an offset doesn't fit it."""
    table = pieces.table
    strings, records, offsets = pieces.records(tables, 4, little_endian)
    address_offset_bytes, addresses = _address_offsets(table, base_address, little_endian)
    addresses_offset = align(V1_HEADER_BYTES, address_offset_bytes)
    infos_offset = align(addresses_offset + len(addresses), 4)
    files = _items("I", [len(tables.files) // 2, *tables.files], little_endian)
    strings_offset = infos_offset + 4 * len(table) + len(files)
    records_offset = align(strings_offset + len(strings), 4)
    if records_offset + len(records) > MAX_UINT32:
        return None
    header = struct.pack(
        ("<" if little_endian else ">") + "IHBBQIII20s",
        MAGIC,
        1,
        address_offset_bytes,
        len(uuid),
        base_address,
        len(table),
        strings_offset,
        len(strings),
        uuid,
    )
    infos = _items("I", [records_offset + offset for offset in offsets], little_endian)
    placed = [
        (0, header),
        (addresses_offset, addresses),
        (infos_offset, infos),
        (infos_offset + len(infos), files),
        (strings_offset, strings),
    ]
    return _join(placed, records_offset, records)


def _write_v2(pieces: _Pieces, tables: _Tables, base_address: int, uuid: bytes, little_endian: bool) -> bytes:
    """The v2 file, its sections in LLVM's order."""
    table = pieces.table
    strings, records, offsets = pieces.records(tables, 8, little_endian)
    address_offset_bytes, addresses = _address_offsets(table, base_address, little_endian)
    files = _items("I", [len(tables.files) // 2], little_endian) + _items("Q", tables.files, little_endian)
    parts: list[tuple[int, int, bytes]] = [
        (SECTION_ADDRESS_OFFSETS, address_offset_bytes, addresses),
        (SECTION_INFO_OFFSETS, 8, _items("Q", list(offsets), little_endian)),
        (SECTION_FILES, 4, files),
        (SECTION_STRINGS, 1, strings),
    ]
    if uuid:
        parts.insert(0, (SECTION_UUID, 1, uuid))
    order = "<" if little_endian else ">"
    at = V2_HEADER_BYTES + V2_SECTION_ENTRY_BYTES * (len(parts) + 2)
    head = [struct.pack(order + "IHBBQI", MAGIC, 2, address_offset_bytes, 0, base_address, len(table))]
    placed = []
    for kind, alignment_bytes, content in parts:
        at = align(at, alignment_bytes)
        head.append(struct.pack(order + "IQQ", kind, at, len(content)))
        placed.append((at, content))
        at += len(content)
    at = align(at, 4)
    head.append(struct.pack(order + "IQQ", SECTION_FUNCTION_INFOS, at, len(records)))
    head.append(bytes(V2_SECTION_ENTRY_BYTES))
    return _join([(0, b"".join(head)), *placed], at, records)


def _address_offsets(table: SymbolTable, base_address: int, little_endian: bool) -> tuple[int, bytes]:
    """The size of one address offset, the smallest that fits, and all of them."""
    farthest = table.start[-1] - base_address if len(table) else 0
    size_bytes = next(size for size in ADDRESS_OFFSET_TYPES if farthest < 1 << (8 * size))
    offsets = [start - base_address for start in table.start]
    return size_bytes, _items(ADDRESS_OFFSET_TYPES[size_bytes], offsets, little_endian)


def _items(typecode: str, values: list[int], little_endian: bool) -> bytes:
    return in_byte_order(array(typecode, values), little_endian).tobytes()


def _join(placed: list[tuple[int, bytes]], records_offset: int, records: memoryview) -> bytes:
    """Puts the parts at their ascending offsets, zeros between them, the records last."""
    parts: list[bytes | memoryview] = []
    at = 0
    for offset, content in placed:
        parts += [bytes(offset - at), content]
        at = offset + len(content)
    return b"".join([*parts, bytes(records_offset - at), records])
