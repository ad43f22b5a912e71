cimport cython

from uploader.core.search cimport first_after
from uploader.gsym.reader cimport GsymReader

cdef unsigned long long INFO_END, KINDS, MAX_UINT64, SLACK_BYTES
cdef int NUMBER_BYTES, CUT_OFF, RUNS_INTO_NEXT, BAD_SIZE, OVERLAPS, BAD_END, TWICE, SHARED_TOO_OFTEN


@cython.final
cdef class _Decoder(GsymReader):
    cdef unsigned long long[::1] starts, offsets, ends, names, record_end, payload_begin, payload_end, own
    cdef Py_ssize_t own_count, records
    cdef int name_bytes
    cdef bint strict

    cdef int read_record(self, Py_ssize_t piece) except -1 nogil
    cdef bint known(self, unsigned long long offset) except -1 nogil
    cdef int read_records(self) except -1 nogil
