cdef class FunctionNames:
    cdef object names
    cdef dict numbers
    cdef bytes texts
    cdef long long left_bytes

    cdef unsigned int number(self, unsigned long long offset) except? 0xFFFFFFFF
