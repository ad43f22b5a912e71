cimport cython


@cython.final
cdef class PlanColumns:
    cdef unsigned long long[::1] start, end
    cdef unsigned int[::1] name, function, table, symbol, early
    cdef Py_ssize_t count

    cdef int put(
        self,
        unsigned long long start,
        unsigned long long end,
        unsigned int name,
        unsigned int function,
        unsigned int table,
        unsigned int symbol,
    ) except -1 nogil
