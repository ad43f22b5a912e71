cimport cython
from uploader.sources.dwarf cimport constants
from uploader.core.numbers cimport NumberReader
from uploader.sources.dwarf.kinds cimport kind_of

@cython.final
cdef class Abbrevs(NumberReader):
    cdef public dict _table_at
    cdef public dict _refused
    cdef public Py_ssize_t _budget
    cdef public Py_ssize_t _code_budget
    cdef int[::1] kind
    cdef int[::1] children
    cdef int[::1] skip_first
    cdef int[::1] capture_first
    cdef int[::1] skip_step
    cdef int[::1] step
    cdef int[::1] step_slot
    cdef int[::1] step_form
    cdef unsigned long long[::1] step_constant
    cdef unsigned long long[::1] codes
    cdef int[::1] code_index
    cdef int[::1] table_first
    cdef int[::1] table_codes
    cdef int[::1] form_steps
    cdef int[::1] slot_of
    cdef Py_ssize_t abbreviation_room
    cdef Py_ssize_t skip_room
    cdef Py_ssize_t step_room
    cdef Py_ssize_t code_room
    cdef int offset_size
    cdef bint declared
    cdef Py_ssize_t count
    cdef Py_ssize_t skip_count
    cdef Py_ssize_t step_count
    cdef Py_ssize_t code_total
    cdef Py_ssize_t code_count
    cdef Py_ssize_t table_count
    cdef unsigned long long forms
    cdef list _asked

    cdef int _read_table(self, long long begin) except -1
    cdef long long _read_attributes(self, long long p) except? 0x7FFFFFFFFFFFFFFF
    cdef int _skip(self, int step) except -1
    cdef int _pass(self, int step) except -1
    cdef int _check(self, int step) except -1
    cdef int _put_step(self, int step, int slot, int form, unsigned long long constant) except -1
    cdef int _step_of(self, unsigned long long form) except -101
    cdef int _slot_of(self, unsigned long long attribute) except -2
    cdef unsigned long long _bit_of(self, unsigned long long form) except? 0xFFFFFFFFFFFFFFFE
    cdef int _add_code(self, unsigned long long code) except -1
    cdef int _make_room(self, Py_ssize_t n) except -1
    cdef int _index_codes(self, Py_ssize_t first) except -1
