from uploader.gsym.reader cimport GsymReader

cdef int TOO_LARGE
cdef Py_ssize_t MAX_UINT32


cdef class PayloadReader(GsymReader):
    cdef unsigned int[::1] first
    cdef unsigned long long files
    cdef bint strict

    cdef Py_ssize_t payload(self, unsigned long long start, unsigned long long end) except? -1 nogil
    cdef int payloads(
        self,
        unsigned long long[::1] starts,
        unsigned long long[::1] ends,
        unsigned long long[::1] begin,
        unsigned long long[::1] until,
        Py_ssize_t pieces,
    ) except -1 nogil
