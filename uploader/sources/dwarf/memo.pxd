cimport cython

@cython.final
cdef class Memo:
    cdef unsigned long long[::1] keys
    cdef unsigned int[::1] values
    cdef unsigned long long mask
    cdef Py_ssize_t count
    cdef Py_ssize_t limit
    cdef bint latest

    cdef Py_ssize_t get(self, unsigned long long key) except -2 nogil
    cdef int _forget(self) except -1 nogil
    cdef int put(self, unsigned long long key, unsigned int value) except -1 nogil
