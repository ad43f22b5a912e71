cimport cython

from uploader.core.search cimport first_after
from uploader.symbols.ordering cimport order_by
from uploader.symbols.source_view cimport SourceView
from uploader.symbols.table_columns cimport GrowingTable

cdef unsigned int TOO_DEEP, NOTHING_DROPPED
cdef Py_ssize_t RANGES_FACTOR, RANGES_MORE


@cython.final
cdef class InlineClipper:
    cdef SourceView source
    cdef GrowingTable made
    cdef Py_ssize_t lost, hidden, cut
    cdef unsigned int[::1] order, spare
    cdef unsigned long long[::1] order_depth
    cdef Py_ssize_t order_room
    cdef Py_ssize_t[::1] level_first, level_last, level_place
    cdef unsigned long long[::1] level_claimed

    cdef int put(
        self, unsigned long long start, unsigned long long end, Py_ssize_t first, Py_ssize_t last
    ) except -1 nogil
    cdef int _put_ranges(
        self, Py_ssize_t node, unsigned int parent, unsigned long long start, unsigned long long end, Py_ssize_t room
    ) except -1 nogil
    cdef bint _claim(self, unsigned int depth, Py_ssize_t first) except -1 nogil
    cdef bint _overlapping(self) except -1 nogil
    cdef int _group_by_depth(self, Py_ssize_t first, Py_ssize_t base) except -1 nogil
    cdef int _put_inside(
        self, unsigned long long start, unsigned long long end, unsigned int parent, Py_ssize_t room
    ) except -1 nogil
    cdef int _put_clipped(
        self, unsigned long long start, unsigned long long end, unsigned long long low, unsigned long long high
    ) except -1 nogil
