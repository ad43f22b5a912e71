cimport cython
from uploader.sources.dwarf cimport constants
from uploader.core.numbers cimport NumberReader
from uploader.sources.dwarf.abbrev cimport Abbrevs
from uploader.sources.dwarf.unit_columns cimport UnitColumns

@cython.final
cdef class DieReader(NumberReader):
    cdef Abbrevs abbrevs
    cdef int address_size
    cdef int offset_size
    cdef long long unit_offset
    cdef public long long unit_end
    cdef long long code_first
    cdef long long code_count
    cdef unsigned long long[::1] value
    cdef int[::1] form
    cdef public long long present

    cdef int enter(self, long long unit_offset, long long unit_end, int table, int address_size, int offset_size) except -1 nogil
    cdef int enter_unit(self, UnitColumns units, Py_ssize_t index) except -1 nogil
    cdef int abbrev_at(self, long long offset) except -2 nogil
    cdef long long reference(self, int slot) except? 0x7FFFFFFFFFFFFFFF nogil
    cdef int step_of(self, unsigned long long form) except -9 nogil
    cdef Py_ssize_t skip_form(self, long long p, int step) except -1 nogil
    cdef Py_ssize_t capture(self, long long p, int abbrev) except -1 nogil
