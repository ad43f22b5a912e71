cdef Py_ssize_t MANY


cpdef Py_ssize_t join_touching(
    unsigned long long[::1] start, unsigned long long[::1] end, Py_ssize_t first, Py_ssize_t last
) except -1 nogil
