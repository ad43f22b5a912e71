cimport cython

@cython.final
cdef class Abbrevs:
    cdef public dict _table_at
    cdef public object _data
    cdef public Py_ssize_t _budget
    cdef int[::1] kind
    cdef int[::1] children
    cdef int[::1] skip_first
    cdef int[::1] skip_end
    cdef int[::1] capture_first
    cdef int[::1] capture_end
    cdef int[::1] step
    cdef int[::1] step_slot
    cdef int[::1] step_form
    cdef long long[::1] step_constant
    cdef int[::1] code_index
    cdef int[::1] table_first
    cdef int[::1] table_codes
    cdef public Py_ssize_t _count
    cdef public Py_ssize_t _step_count
    cdef public Py_ssize_t _code_count
    cdef public Py_ssize_t _table_count
