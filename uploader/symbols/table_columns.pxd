cimport cython


cdef class TableColumns:
    cdef unsigned long long[::1] start, end
    cdef unsigned int[::1] name
    cdef unsigned int[::1] row_first, row_file, row_line
    cdef unsigned long long[::1] row_address
    cdef unsigned int[::1] node_first, node_depth, node_name, node_call_file, node_call_line
    cdef unsigned int[::1] range_first
    cdef unsigned long long[::1] range_start, range_end
    cdef unsigned int[::1] alias_first, alias_name


@cython.final
cdef class GrowingTable(TableColumns):
    cdef unsigned int[::1] origin
    cdef Py_ssize_t pieces, rows, nodes, ranges
    cdef Py_ssize_t piece_room, row_room, node_room, range_room

    cdef int open_piece(self, unsigned int origin, unsigned long long start, unsigned int name) except -1 nogil
    cdef int close_piece(self, unsigned long long end) except -1 nogil
    cdef int put_row(self, unsigned long long address, unsigned int file, unsigned int line) except -1 nogil
    cdef int put_node(
        self, unsigned int depth, unsigned int name, unsigned int call_file, unsigned int call_line
    ) except -1 nogil
    cdef int put_range(self, unsigned long long start, unsigned long long end) except -1 nogil
