cimport cython
from uploader.core.numbers cimport NumberReader

@cython.final
cdef class Abbrevs(NumberReader):
    cdef public dict _table_at
    cdef public dict _refused
    cdef public Py_ssize_t _budget
    cdef public Py_ssize_t _code_budget
    cdef int[::1] kind
    cdef int[::1] children
    cdef int[::1] skip_first
    cdef int[::1] skip_end
    cdef int[::1] capture_first
    cdef int[::1] capture_end
    cdef int[::1] step
    cdef int[::1] step_slot
    cdef int[::1] step_form
    cdef unsigned long long[::1] step_constant
    cdef int[::1] code_index
    cdef int[::1] table_first
    cdef int[::1] table_codes
    cdef int[::1] form_steps
    cdef int[::1] slot_of
    cdef int[::1] captured_step
    cdef int[::1] captured_slot
    cdef int[::1] captured_form
    cdef unsigned long long[::1] captured_constant
    cdef unsigned long long[::1] codes
    cdef Py_ssize_t abbreviation_room
    cdef Py_ssize_t step_room
    cdef Py_ssize_t captured_room
    cdef Py_ssize_t code_room
    cdef Py_ssize_t code_total
    cdef int offset_size
    cdef Py_ssize_t _count
    cdef Py_ssize_t _step_count
    cdef Py_ssize_t _code_count
    cdef Py_ssize_t _table_count
    cdef unsigned long long forms
    cdef list _asked

    cdef int _read_table(self, Py_ssize_t p) except -1
    cdef int _step_of(self, unsigned long long form) except -101
    cdef unsigned long long _bit_of(self, unsigned long long form) except? 0xFFFFFFFFFFFFFFFE
    cdef Py_ssize_t _capture(self, Py_ssize_t at, int step, int slot, int form, unsigned long long constant) except -1
    cdef int _kind(self, unsigned long long tag, long long slots, bint declared) except -1
    cdef int _add_code(self, unsigned long long code) except -1
