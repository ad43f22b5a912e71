cimport cython

from uploader.core.search cimport first_after
from uploader.symbols.nesting cimport PieceColumns
from uploader.symbols.piece_plan cimport PlanColumns
from uploader.symbols.source_view cimport SourceView

cdef unsigned int NONE
cdef unsigned long long MAX_EARLY_BYTES
cdef unsigned char LINES_WORTH, INLINES_WORTH


@cython.final
cdef class _Merger:
    cdef SourceView source
    cdef PieceColumns functions, parts, stretches
    cdef const unsigned long long[::1] head, known, symbol_start
    cdef const unsigned int[::1] symbol_name
    cdef Py_ssize_t symbols
    cdef object range_counts
    cdef PlanColumns plan

    cdef int _add_symbol(self, unsigned long long start, unsigned long long end, unsigned int symbol) except -1 nogil
    cdef int _add_function(self, Py_ssize_t piece, Py_ssize_t part) except -1 nogil
    cdef int _merge(self) except -1 nogil
