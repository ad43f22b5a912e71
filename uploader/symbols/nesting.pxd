cimport cython

from uploader.symbols.ordering cimport order_by


@cython.final
cdef class PieceColumns:
    cdef unsigned long long[::1] start, end
    cdef unsigned int[::1] of
    cdef Py_ssize_t count

    cdef int put(self, unsigned long long start, unsigned long long end, unsigned int of) except -1 nogil
