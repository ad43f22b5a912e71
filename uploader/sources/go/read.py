"""Go's pc-line table as a source of symbols: functions, files, lines and inlined calls, without any DWARF."""

from __future__ import annotations

from array import array

from uploader.core.columns import NONE, TYPE_INDEX
from uploader.sources.go.find import FoundTable
from uploader.sources.go.function_names import ROOM_BYTES, TIMES_READ
from uploader.sources.go.layouts import Header
from uploader.sources.port import ColumnsRead, Reading
from uploader.symbols.columns import SourceColumns

GARBLED = "garble has hashed or removed the names, files and lines of its Go code: `garble reverse` tells what hashed ones were"


def read_go(table: FoundTable, reading: Reading) -> ColumnsRead:
    """The columns of a table, but for functions that better sources have. Raises `MalformedGoTable` where nothing sound can be had."""
    from uploader.sources.go.functions import FunctionReader

    header = table.header
    reader = FunctionReader(table, names=reading.names, executable=reading.executable, spoken_for=reading.spoken_for)
    reader.read(header.function_count)
    built = reader.built()
    count = len(built.start)
    files = FileNames(table.data, header)
    columns = SourceColumns(
        names=reading.names,
        file_at=files.at,
        file_slots=files.slots,
        function_name=built.name,
        function_table=array(TYPE_INDEX, range(count)),
        function_decl_file=array(TYPE_INDEX, [NONE]) * count,
        function_decl_line=array(TYPE_INDEX, [0]) * count,
        function_node=built.node_first[:-1],
        function_node_end=built.node_first[1:],
        function_range=array(TYPE_INDEX, range(count + 1)),
        range_start=built.start,
        range_end=built.end,
        node_depth=built.node_depth,
        node_name=built.node_name,
        node_call_file=built.node_call_file,
        node_call_line=built.node_call_line,
        node_range=built.range_first,
        node_range_start=built.range_start,
        node_range_end=built.range_end,
        table_first=built.row_first,
        row_address=built.row_address,
        row_file=built.row_file,
        row_line=built.row_line,
        sequence_start=built.start,
        sequence_end=built.end,
        sequence_table=array(TYPE_INDEX, range(count)),
    )
    lost_functions, lost_calls = reader.losses()
    warnings = [GARBLED] if header.garbled else []
    if lost_functions:
        warnings.append(f"{lost_functions} of {header.function_count} functions of Go's table could not be read")
    if lost_calls:
        warnings.append(f"{lost_calls} inlined calls of Go's table could not be read")
    if table.trees is None:
        warnings.append("Go's inline trees were not found: inlined calls are missing")
    return ColumnsRead(
        columns=columns,
        warnings=tuple(warnings),
        whole=not lost_functions and not lost_calls and table.trees is not None,
    )


class FileNames:
    """The files of a table by slot."""

    def __init__(self, data: memoryview, header: Header) -> None:
        self._data = data
        self._header = header
        self._order = "little" if header.little_endian else "big"
        self._names = bytes(data[header.files_at : header.files_end]) if header.layout.unit_files else b""
        self.slots = header.file_slots
        self._left_bytes = ROOM_BYTES + TIMES_READ * (len(data) if not header.layout.unit_files else len(self._names))

    def at(self, slot: int) -> tuple[bytes, bytes]:
        """(directory, base name) of a file; empty where the table names none, or names overlap beyond measure."""
        header = self._header
        at = (header.units_at if header.layout.unit_files else header.files_at) + 4 * slot
        offset = int.from_bytes(self._data[at : at + 4], self._order)  # type: ignore[arg-type]  # one of the two words
        if header.layout.unit_files:
            name = self._text(self._names, offset)
        else:
            name = self._text(bytes(self._data[offset : offset + 4096]), 0) if slot else b""
        self._left_bytes -= len(name)
        directory, slash, base = name.rpartition(b"/") if self._left_bytes >= 0 else (b"", b"", b"")
        return directory or slash, base

    @staticmethod
    def _text(names: bytes, offset: int) -> bytes:
        end = names.find(b"\0", offset) if offset < len(names) else -1
        return names[offset:end] if end > offset else b""
