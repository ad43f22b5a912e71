from uploader.gsym.payload_reader cimport PayloadReader
from uploader.symbols.table_columns cimport GrowingTable

cdef int LINE_SET_FILE, LINE_ADVANCE_ADDRESS, LINE_ADVANCE_LINE, LINE_FIRST_SPECIAL, CUT_OFF, NO_RANGE, BAD_LINE
cdef int OUTSIDE, LATE, NO_ADVANCE, BAD_FILE, TRAILING, REPEATED
cdef unsigned long long MAX_FIRST_LINE
cdef long long MAX_LINE


cdef class _Decoder(PayloadReader):
    cdef GrowingTable made

    cdef int check_line(self, long long line) except -1 nogil
    cdef int check_row(
        self, Py_ssize_t first, unsigned long long advance, unsigned long long file, long long line
    ) except -1 nogil
    cdef Py_ssize_t payload(self, unsigned long long start, unsigned long long end) except? -1 nogil
