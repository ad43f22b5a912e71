from uploader.gsym.writer cimport NamingWriter

cdef unsigned long long INFO_LINE_TABLE, INFO_INLINE_TREE, INFO_MERGED_FUNCTIONS, MAX_UINT32, COPIES_BYTES, COPIES_FACTOR
cdef int NUMBER_BYTES, INFO_HEAD_BYTES, FUNCTION_TOO_LONG, INFOS_TOO_LONG, ALIASES_TOO_LONG
cdef Py_ssize_t ALIGNMENT_BYTES


cdef class _Encoder(NamingWriter):
    cdef Py_ssize_t first, line_at, line_until, inline_at, inline_until
    cdef unsigned long long[::1] line_ends, inline_ends
    cdef unsigned long long bare_bytes, infos_bytes
    cdef bint has_aliases
    cdef const unsigned char[::1] lines, inlines

    cdef int refuse(self, int what) except -1 nogil
    cdef int next_infos(self, Py_ssize_t index) except -1 nogil
    cdef int put_infos(self) except -1 nogil
    cdef int put_aliases(self, Py_ssize_t piece, unsigned long long size) except -1 nogil
    cdef unsigned long long copies(self, unsigned long long count) except? -1 nogil
    cdef Py_ssize_t root_name(self) except? -1 nogil
    cdef int payload(self, Py_ssize_t piece) except? -1 nogil
