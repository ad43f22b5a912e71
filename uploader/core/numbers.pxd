cimport cython


cdef class NumberReader:
    cdef const unsigned char[::1] data
    cdef readonly Py_ssize_t data_size
    cdef readonly bint little_endian
    cdef public long long position

    cdef unsigned long long uleb(self, long long p) except? 0xFFFFFFFFFFFFFFFE nogil
    cdef unsigned long long short_uleb(self, long long p) except? 0xFFFFFFFFFFFFFFFE nogil
    cdef unsigned long long sleb(self, long long p) except? 0xFFFFFFFFFFFFFFFE nogil
    cdef unsigned long long fixed(self, long long p, int size_bytes) except? 0xFFFFFFFFFFFFFFFE nogil
