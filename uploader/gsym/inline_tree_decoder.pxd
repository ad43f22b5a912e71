from uploader.core.search cimport first_after
from uploader.gsym.payload_reader cimport PayloadReader
from uploader.symbols.table_columns cimport GrowingTable

cdef Py_ssize_t MAX_INLINE_DEPTH, MAX_ITEMS
cdef unsigned long long MAX_CALL_LINE, MAX_UINT64, RANGE_MIN_BYTES
cdef int CUT_OFF, TOO_LARGE, BAD_ROOT, TOO_DEEP, OUTSIDE, DISORDER, BAD_FILE, TRAILING, BAD_FLAG


cdef class _Decoder(PayloadReader):
    cdef GrowingTable made
    cdef unsigned long long[::1] name_offset, run_end, last_end
    cdef Py_ssize_t name_room, run_room
    cdef unsigned long long base, name
    cdef unsigned int[::1] parent
    cdef bint ordered
    cdef int name_bytes
    cdef unsigned int call_file, call_line

    cdef int check_inside(self, Py_ssize_t node, Py_ssize_t parent) except -1 nogil
    cdef int read_ranges(
        self, unsigned long long count, unsigned long long base, unsigned long long start, unsigned long long end
    ) except -1 nogil
    cdef int find_runs(self, Py_ssize_t first) except -1 nogil
    cdef int read_flag(self) except -1 nogil
    cdef int read_call(self) except -1 nogil
    cdef bint read_root(self, unsigned long long start, unsigned long long end) except -1 nogil
    cdef bint read_node(
        self, unsigned long long count, Py_ssize_t depth, unsigned long long start, unsigned long long end
    ) except -1 nogil
    cdef Py_ssize_t payload(self, unsigned long long start, unsigned long long end) except? -1 nogil
