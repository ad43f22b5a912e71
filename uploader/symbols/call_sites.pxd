cimport cython

from uploader.symbols.table_columns cimport GrowingTable, TableColumns
from uploader.symbols.touching cimport join_touching

cdef unsigned long long HASH_FACTOR, HASH_BITS, HASH_SCATTER
cdef int HASH_SHIFT


@cython.final
cdef class SiteJoiner:
    cdef TableColumns table
    cdef Py_ssize_t nodes, ranges, room, slots
    cdef GrowingTable aside
    cdef unsigned int[::1] slot_site, slot_piece, site_node, site_parent, first_child, last_child, next_child
    cdef unsigned int[::1] last_node, next_node, path

    cdef int _piece(self, Py_ssize_t piece, Py_ssize_t first, Py_ssize_t last) except -1 nogil
    cdef Py_ssize_t _find_sites(self, unsigned int stamp, Py_ssize_t first, Py_ssize_t last) except? -1 nogil
    cdef int _begin_site(self, unsigned int site, unsigned int parent, Py_ssize_t node) except -1 nogil
    cdef int _put_sites(self, Py_ssize_t first) except -1 nogil
    cdef Py_ssize_t _place(self, unsigned int stamp, unsigned int parent, Py_ssize_t node) except? -1 nogil
    cdef int _move(self, Py_ssize_t node) except -1 nogil
    cdef int _set_aside(self, Py_ssize_t first, Py_ssize_t last) except -1 nogil
    cdef int _begin(self, TableColumns columns, Py_ssize_t node) except -1 nogil
    cdef int _put_ranges(self, TableColumns columns, Py_ssize_t first, Py_ssize_t last) except -1 nogil
    cdef int _finish(self) except -1 nogil
