from uploader.core.search cimport first_after
from uploader.sources.dwarf.tables cimport RangeTable
from uploader.symbols.touching cimport join_touching
