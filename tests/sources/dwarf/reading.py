"""What reading DWARF gives, as plain values that a test can compare."""

from __future__ import annotations

from dataclasses import dataclass, field

from uploader.core.columns import NONE
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.line_tables import read_line_tables
from uploader.sources.dwarf.read import read_dwarf, read_sections
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.port import ColumnsRead
from uploader.symbols.columns import NameTable, SourceColumns

CODE = ((0x1000, 0x2000),)
"""The executable range that tests put their functions in."""

Place = tuple[str, int] | None


@dataclass(slots=True)
class Inline:
    name: str
    ranges: list[tuple[int, int]]
    call: tuple[str, int]
    """Where it is called from: the file's path, empty where it is unknown, and the line."""
    children: list[Inline] = field(default_factory=list)

    def tree(self) -> tuple[str, list[object]]:
        """The names alone, nested."""
        return self.name, [child.tree() for child in self.children]


@dataclass(slots=True)
class Function:
    name: str
    ranges: list[tuple[int, int]]
    table: int
    decl: tuple[str, int]
    inlines: list[Inline]

    def tree(self) -> list[object]:
        return [inline.tree() for inline in self.inlines]


@dataclass(slots=True)
class Read:
    """All functions in the order of the columns; ``rows`` are (address, (path, line)) of each table, None for a gap."""

    functions: list[Function]
    rows: list[list[tuple[int, Place]]]
    sequences: list[tuple[int, int, int]]
    warnings: tuple[str, ...]
    columns: SourceColumns

    @property
    def names(self) -> list[str]:
        return [function.name for function in self.functions]

    def function(self, name: str) -> Function:
        (found,) = [function for function in self.functions if function.name == name]
        return found


def read(sections: DwarfSections, executable: tuple[tuple[int, int], ...] = CODE, *, address_size: int = 8) -> Read:
    """``address_size`` is the file's: it counts for line tables that don't say it themselves."""
    code = list(executable)
    return unfolded(read_sections(sections, read_line_tables(sections, code, address_size), code, NameTable()))


def read_file(elf: ElfFile) -> Read:
    result = read_dwarf(elf, elf.executable_ranges(), NameTable())
    assert result is not None
    return unfolded(result)


def unfolded(result: ColumnsRead) -> Read:
    columns = result.columns
    functions = [_function(columns, index) for index in range(len(columns.function_name))]
    rows: list[list[tuple[int, Place]]] = [
        [
            (
                columns.row_address[row],
                None
                if columns.row_file[row] == NONE
                else (path_of(columns, columns.row_file[row]), columns.row_line[row]),
            )
            for row in range(columns.table_first[table], columns.table_first[table + 1])
        ]
        for table in range(len(columns.table_first) - 1)
    ]
    return Read(
        functions,
        rows,
        sorted(zip(columns.sequence_start, columns.sequence_end, columns.sequence_table, strict=True)),
        result.warnings,
        columns,
    )


def path_of(columns: SourceColumns, slot: int) -> str:
    if slot == NONE:
        return ""
    directory, name = columns.file_at(slot)
    return "|".join(part.decode("utf-8", "replace") for part in (directory, name) if part)


def _function(columns: SourceColumns, index: int) -> Function:
    spans = range(columns.function_range[index], columns.function_range[index + 1])
    return Function(
        columns.names.names[columns.function_name[index]].decode("utf-8", "replace"),
        [(columns.range_start[at], columns.range_end[at]) for at in spans],
        -1 if columns.function_table[index] == NONE else columns.function_table[index],
        (path_of(columns, columns.function_decl_file[index]), columns.function_decl_line[index]),
        _inlines(columns, index),
    )


def _inlines(columns: SourceColumns, index: int) -> list[Inline]:
    top: list[Inline] = []
    levels = [top]
    for node in range(columns.function_node[index], columns.function_node_end[index]):
        spans = range(columns.node_range[node], columns.node_range[node + 1])
        inline = Inline(
            columns.names.names[columns.node_name[node]].decode("utf-8", "replace"),
            [(columns.node_range_start[at], columns.node_range_end[at]) for at in spans],
            (path_of(columns, columns.node_call_file[node]), columns.node_call_line[node]),
        )
        depth = columns.node_depth[node]
        del levels[depth:]
        levels[depth - 1].append(inline)
        levels.append(inline.children)
    return top
