from uploader.gsym.writer cimport PayloadWriter

cdef int LINE_END, LINE_SET_FILE, LINE_ADVANCE_ADDRESS, LINE_ADVANCE_LINE, LINE_FIRST_SPECIAL, ROW_MAX_BYTES
cdef long long LAST_SPECIAL, WINDOW_LOW, WINDOW_WIDTH
cdef unsigned long long MAX_SPECIAL_ADVANCE


cdef class _Encoder(PayloadWriter):
    cdef unsigned int[::1] file_number

    cdef int put_row(self, long long delta, unsigned long long advance) except -1 nogil
    cdef int payload(self, Py_ssize_t piece) except? -1 nogil
