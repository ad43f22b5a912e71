cimport cython


@cython.final
cdef class CandidateColumns:
    cdef unsigned long long[::1] start, size, limit, name_offset
    cdef unsigned int[::1] name_length
    cdef unsigned char[::1] rank
    cdef Py_ssize_t count
