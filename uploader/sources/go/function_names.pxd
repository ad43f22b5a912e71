cdef class FunctionNames:
    cdef object names
    cdef dict numbers
    cdef bytes texts

    cdef unsigned int number(self, unsigned long long offset) except? 0xFFFFFFFF
