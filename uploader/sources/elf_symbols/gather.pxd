cimport cython

from uploader.sources.elf_symbols.candidates cimport CandidateColumns
from uploader.sources.elf_symbols.code_map cimport CodeMap
from uploader.sources.elf_symbols.names cimport SymbolNames

cdef Py_ssize_t WIDE_WORDS, NARROW_WORDS
cdef unsigned long long LOW_32_BITS, THUMB_BIT
cdef int DESCRIPTOR_SHIFT, BINDING_SHIFT
cdef unsigned int KIND_MASK, STT_OBJECT, STT_FUNC, STT_GNU_IFUNC, STT_ARM_TFUNC, STB_LOCAL, STB_GLOBAL, STB_WEAK
cdef unsigned int STB_GNU_UNIQUE, SHN_UNDEF, SHN_LORESERVE, SHN_ABS, SHN_XINDEX
cdef unsigned char RANK_WEAK, RANK_LOCAL, RANK_OF_LABELS, RANK_OF_DATA


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
    cdef int take(self, unsigned int info, unsigned long long value, unsigned long long size) except -1 nogil
    cdef bint find_section(self, Py_ssize_t index) except -1 nogil
    cdef unsigned long long find_code(self) except? 0 nogil
    cdef int put(self, unsigned long long limit) except -1 nogil
