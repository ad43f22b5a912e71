cimport cython

from uploader.sources.elf_symbols.candidates cimport CandidateColumns
from uploader.sources.elf_symbols.code_map cimport CodeMap
from uploader.sources.elf_symbols.names cimport SymbolNames


@cython.final
cdef class SymbolGatherer:
    cdef bint wide, little_endian, is_arm, is_function
    cdef CodeMap code
    cdef SymbolNames names
    cdef CandidateColumns found
    cdef Py_ssize_t opd_index, wide_count, name
    cdef unsigned long long opd_address, opd_count, value, size
    cdef unsigned long long[::1] opd, words
    cdef unsigned int[::1] wide_index
    cdef unsigned int kind, binding, section

    cdef int gather(self, Py_ssize_t symbols, Py_ssize_t begin, Py_ssize_t end) except -1 nogil
    cdef int read_wide(self, Py_ssize_t at) except -1 nogil
    cdef int read_narrow(self, Py_ssize_t at) except -1 nogil
    cdef bint find_section(self, Py_ssize_t index) except -1 nogil
    cdef unsigned long long find_code(self) except? 0 nogil
    cdef int put(self, unsigned long long limit) except -1 nogil
