cimport cython

from uploader.core.search cimport first_after
from uploader.symbols.inline_clipper cimport InlineClipper
from uploader.symbols.piece_plan cimport PlanColumns
from uploader.symbols.source_view cimport SourceView
from uploader.symbols.table_columns cimport GrowingTable

cdef unsigned int NONE, MANY


@cython.final
cdef class Shaper:
    cdef SourceView source
    cdef GrowingTable made
    cdef InlineClipper inlines

    cdef int _piece(self, PlanColumns plan, Py_ssize_t index) except -1 nogil
    cdef bint _has_no_row(self) except -1 nogil
    cdef Py_ssize_t _put_lines(
        self, Py_ssize_t row, Py_ssize_t first, Py_ssize_t last, unsigned long long start, unsigned long long end, unsigned int early
    ) except? -1 nogil
    cdef Py_ssize_t _put_run(
        self, Py_ssize_t row, Py_ssize_t last, unsigned long long start, unsigned long long end
    ) except? -1 nogil
    cdef Py_ssize_t _next_lined(self, Py_ssize_t row, Py_ssize_t last) except? -1 nogil
    cdef int _put_declaration(self, unsigned long long start, unsigned int function) except -1 nogil
    cdef int _put_inlines(
        self, unsigned long long start, unsigned long long end, unsigned int function, unsigned int parts
    ) except -1 nogil
    cdef int _keep_inlines_visible(self, unsigned long long start, unsigned int function) except -1 nogil
