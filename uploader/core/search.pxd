cpdef Py_ssize_t first_after(
    const unsigned long long[::1] column, Py_ssize_t low, Py_ssize_t high, unsigned long long value
) except -1 nogil
