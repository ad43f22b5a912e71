cimport cython


cdef class Table:
    cdef public Py_ssize_t count
    cdef public Py_ssize_t room

    cdef Py_ssize_t add(self) except -1 nogil
