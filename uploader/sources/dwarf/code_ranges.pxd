cimport cython
from uploader.core.search cimport first_after

@cython.final
cdef class CodeRanges:
    cdef unsigned long long[::1] start
    cdef unsigned long long[::1] end
    cdef Py_ssize_t count

    cdef unsigned long long end_at(self, unsigned long long address) except? 0xFFFFFFFFFFFFFFFE nogil
