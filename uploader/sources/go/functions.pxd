cimport cython
from uploader.core.numbers cimport NumberReader
from uploader.core.search cimport first_after
from uploader.sources.dwarf.code_ranges cimport CodeRanges
from uploader.sources.go.function_names cimport FunctionNames
from uploader.sources.go.inline_trees cimport InlineTrees
from uploader.sources.go.rows cimport FunctionRows
from uploader.symbols.table_columns cimport GrowingTable

@cython.final
cdef class FunctionReader(NumberReader):
    cdef GrowingTable table
    cdef FunctionNames names
    cdef FunctionRows rows
    cdef InlineTrees inlines
    cdef bint relative, unit_files, has_trees, garbled
    cdef int entry_bytes, pointer_bytes
    cdef long long functions_at, records_at, tables_at, start_line_at, steps_left
    cdef unsigned long long[::1] part_entry, part_address
    cdef unsigned long long trees_base
    cdef long long lost
    cdef CodeRanges code, spoken

    cdef int _function(self, Py_ssize_t number) except -1
    cdef int _put(self, long long p, unsigned long long start, unsigned long long size, unsigned int name, unsigned int line) except -1
    cdef int _inlined(self, long long p, unsigned long long start, unsigned long long size) except -1
