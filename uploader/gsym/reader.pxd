cimport cython

cdef int CUT_OFF, TOO_LARGE, MAX_SLEB_SHIFT
cdef long long MAX_SLEB


cdef class GsymReader:
    cdef const unsigned char[::1] data
    cdef Py_ssize_t at, end
    cdef bint little
    cdef str what
    cdef tuple reasons

    cdef int fail(self, int reason) except -1 nogil
    @cython.final
    cdef int byte(self) except -1 nogil
    cdef unsigned long long uleb(self) except? 0xFFFFFFFFFFFFFFFF nogil
    cdef long long sleb(self) except? 0x7FFFFFFFFFFFFFFF nogil
    cdef unsigned long long fixed(self, int size_bytes) except? 0xFFFFFFFFFFFFFFFF nogil
