cimport cython

from uploader.symbols.ordering cimport order_by

cdef unsigned long long LAST_ADDRESS


@cython.final
cdef class PieceColumns:
    cdef unsigned long long[::1] start, end
    cdef unsigned int[::1] of
    cdef Py_ssize_t count

    cdef int put(self, unsigned long long start, unsigned long long end, unsigned int of) except -1 nogil


@cython.final
cdef class _Ranges:
    cdef const unsigned long long[::1] start, end
    cdef unsigned long long[::1] backward
    cdef unsigned int[::1] order, spare
    cdef Py_ssize_t count

    cdef int _sort(self) except -1 nogil
    cdef Py_ssize_t _drop_repeats(self, const unsigned char[::1] worth) except? -1 nogil
