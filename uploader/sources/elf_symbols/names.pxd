cimport cython

cdef unsigned char AT, DOT, DOLLAR, ZERO, NINE, UPPER_L, LOWER_A, LOWER_D, LOWER_T, LOWER_X
cdef Py_ssize_t PART_BYTES, PLT_BYTES


@cython.final
cdef class SymbolNames:
    cdef bytes raw
    cdef const unsigned char[::1] text, part, plt
    cdef bint is_riscv
    cdef long long budget_bytes
    cdef Py_ssize_t begin, end

    cdef int find(self, Py_ssize_t begin, Py_ssize_t limit) except -1 nogil
    cdef Py_ssize_t before_part(self, Py_ssize_t begin, Py_ssize_t end) except -1 nogil
    cdef bint stands_at(self, Py_ssize_t at, const unsigned char[::1] word, Py_ssize_t length) except -1 nogil
    cdef bint counts(self, bint is_function, bint is_local) except -1 nogil
