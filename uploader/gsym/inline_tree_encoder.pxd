from uploader.gsym.writer cimport NamingWriter

cdef Py_ssize_t MAX_INLINE_DEPTH, NODE_MAX_BYTES, RANGE_MAX_BYTES
cdef unsigned char END_OF_CHILDREN


cdef class _Encoder(NamingWriter):
    cdef unsigned int[::1] file_number
    cdef unsigned long long[::1] base

    cdef int refuse(self, Py_ssize_t node) except -1 nogil
    cdef int put_root(self, Py_ssize_t piece) except -1 nogil
    cdef int put_ranges(self, Py_ssize_t node, Py_ssize_t depth) except -1 nogil
    cdef int payload(self, Py_ssize_t piece) except? -1 nogil
