cimport cython

@cython.final
cdef class UnitColumns:
    cdef Py_ssize_t count
    cdef long long[::1] offset
    cdef long long[::1] end
    cdef long long[::1] first_die
    cdef int[::1] version
    cdef int[::1] table
    cdef int[::1] address_size
    cdef int[::1] offset_size
    cdef int[::1] walked
    cdef unsigned long long[::1] low_pc
    cdef long long[::1] addr_base
    cdef int[::1] address_stride
    cdef long long[::1] rnglists_base
    cdef long long[::1] ranges_start

    cdef long long address_place(self, Py_ssize_t unit, unsigned long long index, long long available_bytes) except? 0x7FFFFFFFFFFFFFFF nogil
    cdef Py_ssize_t containing(self, long long offset) except -2 nogil
