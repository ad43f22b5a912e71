from uploader.sources.dwarf cimport constants
from uploader.core.numbers cimport NumberReader
from uploader.sources.dwarf.code_ranges cimport CodeRanges
from uploader.sources.dwarf.tables cimport RangeTable
from uploader.sources.dwarf.unit_columns cimport UnitColumns
from uploader.symbols.touching cimport join_touching
