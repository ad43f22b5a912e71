cimport cython
from uploader.sources.dwarf.code_ranges cimport CodeRanges
from uploader.sources.dwarf.tables cimport RowTable, SequenceTable

@cython.final
cdef class LineRows:
    cdef CodeRanges code
    cdef readonly RowTable kept
    cdef readonly list table_first
    cdef readonly list sequence_start
    cdef readonly list sequence_end
    cdef readonly list sequence_table
    cdef RowTable scratch
    cdef SequenceTable sequences
    cdef Py_ssize_t sequence_first
    cdef bint pending
    cdef unsigned long long pending_address
    cdef unsigned int pending_file
    cdef unsigned int pending_line
    cdef bint begun
    cdef bint dead
    cdef unsigned long long begin_address
    cdef unsigned int first_slot
    cdef unsigned long long file_base
    cdef unsigned long long file_count

    cdef int begin(self) except -1 nogil
    cdef int move(self, unsigned long long address, unsigned long long top) except -1 nogil
    cdef int cut(self) except -1 nogil
    cdef int give_up(self) except -1 nogil
    cdef int row(self, unsigned long long address, unsigned long long file, unsigned long long line) except -1 nogil
    cdef int _flush(self) except -1 nogil
    cdef int end(self, unsigned long long address) except -1 nogil
    cdef int _append(self, Py_ssize_t floor, Py_ssize_t sequence) except -1 nogil
