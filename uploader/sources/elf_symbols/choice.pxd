cimport cython

from uploader.sources.elf_symbols.candidates cimport CandidateColumns

cdef unsigned char RANK_OF_LABELS, RANK_OF_STUBS, RANK_OF_DATA, UNDERSCORE, DOT
cdef int ADDRESS_BITS, DIGIT_BITS
cdef Py_ssize_t DIGITS
cdef unsigned long long LAST_DIGIT, LAST_ADDRESS


@cython.final
cdef class SymbolChooser:
    cdef const unsigned char[::1] text
    cdef unsigned long long text_size
    cdef CandidateColumns among
    cdef unsigned int[::1] order, spare, bucket, chosen, first, last
    cdef Py_ssize_t count
    cdef unsigned long long[::1] start, end
    cdef unsigned char[::1] extended

    cdef int sort(self) except -1 nogil
    cdef int sort_by_digit(self, int shift) except -1 nogil
    cdef int choose(self) except -1 nogil
    cdef Py_ssize_t end_unsized(self, Py_ssize_t count) except? -1 nogil
    cdef bint goes_on(self, Py_ssize_t before, Py_ssize_t index) except -1 nogil
    cdef bint better(self, unsigned int one, unsigned int other) except -1 nogil
    cdef Py_ssize_t underscores(self, unsigned int symbol) except? -1 nogil
