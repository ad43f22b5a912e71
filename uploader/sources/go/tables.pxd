cimport cython
from uploader.sources.dwarf.tables cimport Table

@cython.final
cdef class RunTable(Table):
    cdef public unsigned long long[::1] end
    cdef public int[::1] call

    cdef int put(self, unsigned long long end, int call) except -1

@cython.final
cdef class CallTable(Table):
    cdef public int[::1] index, parent, child, last_child, sibling, piece, last_piece

    cdef int put(self, int index) except -2

@cython.final
cdef class PieceTable(Table):
    cdef public unsigned long long[::1] start, end
    cdef public int[::1] following

    cdef int put(self, unsigned long long start, unsigned long long end) except -2
