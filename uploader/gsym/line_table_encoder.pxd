from uploader.gsym.writer cimport PayloadWriter
from uploader.symbols.table_columns cimport TableColumns


cdef class _Encoder(PayloadWriter):
    cdef TableColumns table
    cdef unsigned int[::1] file_number

    cdef int put_row(self, long long delta, unsigned long long advance) except -1 nogil
    cdef int payload(self, Py_ssize_t piece) except? -1 nogil
