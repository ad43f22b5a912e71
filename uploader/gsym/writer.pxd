from uploader.symbols.table_columns cimport TableColumns


cdef class GsymWriter:
    cdef unsigned char[::1] out
    cdef Py_ssize_t at, capacity
    cdef bint little

    cdef int reserve(self, Py_ssize_t size_bytes) except -1 nogil
    cdef int uleb(self, unsigned long long value) except -1 nogil
    cdef int sleb(self, long long value) except -1 nogil
    cdef int fixed(self, unsigned long long value, int size_bytes) except -1 nogil


cdef class PayloadWriter(GsymWriter):
    cdef TableColumns table
    cdef unsigned long long[::1] ends

    cdef int payload(self, Py_ssize_t piece) except? -1 nogil
    cdef int payloads(self, Py_ssize_t first, Py_ssize_t last) except -1 nogil


cdef class NamingWriter(PayloadWriter):
    cdef unsigned long long[::1] name_offset
    cdef int name_bytes

    cdef int name(self, unsigned int number) except -1 nogil
