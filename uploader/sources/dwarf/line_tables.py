"""All line tables of a file, read one after another without asking the units, and found again by a unit's DW_AT_stmt_list."""

from __future__ import annotations

from array import array

from uploader.core.columns import first_of
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf.file_entries import FileEntries
from uploader.sources.dwarf.files import FileSlots
from uploader.sources.dwarf.line_header import read_line_header
from uploader.sources.dwarf.line_rows import LineRows
from uploader.sources.dwarf.lines import LineReader
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.units import Unit
from uploader.symbols.uses import first_uses


class LineTables:
    """The rows of every table (`line_rows.LineRows`), and which table belongs to which offset."""

    def __init__(self, sections: DwarfSections, executable: list[tuple[int, int]]) -> None:
        self.files = FileSlots(sections)
        self.warnings: list[str] = []
        self._sections = sections
        self._entries = FileEntries(sections.line, little_endian=sections.little_endian)
        # Seldom more are kept; room that is not used takes no memory.
        self._rows = LineRows(executable, 64 + len(sections.line) // 8)
        self._reader = LineReader(sections.line, self._rows, little_endian=sections.little_endian)
        self._table_at: dict[int, int] = {}
        self._header_budget_bytes = 4 * len(sections.line) + 65536

    def read(self, offset: int, address_size: int) -> int | None:
        """Reads the table at an offset; gives the offset behind it, or None where not even its length can be trusted."""
        if self._header_budget_bytes < 0:
            self.warnings.append(f"line table at 0x{offset:x}: too many overlapping headers to be true")
            self._table_at[offset] = -1
            return None
        try:
            header = read_line_header(self._sections, offset, address_size, self._entries)
        except MalformedDwarf as error:
            self.warnings.append(error.message)
            self._table_at[offset] = -1
            self._header_budget_bytes -= max(64, self._entries.behind() - offset)
            return None
        self._header_budget_bytes -= header.program_offset - offset
        trouble = self._reader.read(header, self.files.add(header))
        if trouble:
            self.warnings.append(trouble)
        for at in self._reader.defined_files():
            self.files.define(at)
        self._table_at[offset] = self.files.tables - 1
        return header.end

    def table_for(self, unit: Unit) -> int:
        """The table that a unit uses, -1 where it has none. The unit's directory is where relative names of the table start."""
        if unit.line_offset < 0 or not self._sections.line:
            return -1
        if unit.line_offset not in self._table_at:
            self.read(unit.line_offset, unit.address_size)
        table = self._table_at[unit.line_offset]
        if table >= 0:
            self.files.use(table, unit)
        return table

    def name_files_ahead(self) -> None:
        """Names the files of rows, which are nearly all that will be asked for."""
        self.files.name_ahead(first_uses((self.file,), len(self.files)))

    @property
    def lack_file_names(self) -> bool:
        """Whether tables name their files in `.debug_line_str`, which is not there."""
        return not self._sections.line_strings and self.files.in_line_strings()

    @property
    def first(self) -> array[int]:
        """The first row of each table, and the count of all rows."""
        return array("I", self._rows.table_first)

    @property
    def address(self) -> array[int]:
        """The address of every row."""
        return first_of(self._rows.kept.address, self._rows.kept.count)

    @property
    def file(self) -> array[int]:
        """The file slot of every row."""
        return first_of(self._rows.kept.file, self._rows.kept.count)

    @property
    def line(self) -> array[int]:
        """The line of every row."""
        return first_of(self._rows.kept.line, self._rows.kept.count)

    def sequences(self) -> tuple[array[int], array[int], array[int]]:
        """Start, end and table of every stretch of code that some table speaks for; asked for once all are read."""
        rows = self._rows
        return array("Q", rows.sequence_start), array("Q", rows.sequence_end), array("I", rows.sequence_table)


def read_line_tables(sections: DwarfSections, executable: list[tuple[int, int]], address_size: int) -> LineTables:
    """Reads `.debug_line` from its start to its end, or to the first table whose length can't be trusted.

    ``address_size`` is that of tables which don't say it themselves (before DWARF 5).
    """
    tables = LineTables(sections, executable)
    offset: int | None = 0
    while offset is not None and offset < len(sections.line):
        offset = tables.read(offset, address_size)
    return tables
