cimport cython
from uploader.core.numbers cimport NumberReader
from uploader.core.search cimport first_after
from uploader.sources.go.function_names cimport FunctionNames
from uploader.sources.go.rows cimport FunctionRows, change_of
from uploader.sources.go.tables cimport CallTable, PieceTable, RunTable
from uploader.symbols.table_columns cimport GrowingTable

@cython.final
cdef class InlineTrees(NumberReader):
    cdef NumberReader trees
    cdef FunctionRows rows
    cdef FunctionNames names
    cdef GrowingTable table
    cdef bint by_pc
    cdef long long entry_bytes, values_at, tree
    cdef unsigned long long size
    cdef public long long steps, lost
    cdef long long most_steps
    cdef RunTable runs
    cdef CallTable calls
    cdef PieceTable pieces
    cdef int[::1] number_of
    cdef int[::1] chain

    cdef int put(self, unsigned long long entry, unsigned long long size, unsigned long long runs, unsigned long long tree) except -1
    cdef int _read_runs(self, unsigned long long table) except -1
    cdef int _mark(self, unsigned long long start, unsigned long long end, int index) except -1
    cdef int _number(self, int index) except -2
    cdef int _parent(self, int index) except -2
    cdef int _adopt(self, int number, int parent) except -1
    cdef int _extend(self, int number, unsigned long long start, unsigned long long end) except -1
    cdef int _put_calls(self, unsigned long long entry) except -1
    cdef int _put_call(self, unsigned long long entry, int number, unsigned int depth) except -1
