cimport cython
from uploader.sources.dwarf cimport constants
from uploader.sources.dwarf.die cimport DieReader
from uploader.sources.dwarf.memo cimport Memo
from uploader.sources.dwarf.unit_columns cimport UnitColumns
