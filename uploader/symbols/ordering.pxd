cpdef int order_by(
    const unsigned long long[::1] major,
    const unsigned long long[::1] minor,
    unsigned int[::1] order,
    unsigned int[::1] spare,
    Py_ssize_t count,
) except -1 nogil
