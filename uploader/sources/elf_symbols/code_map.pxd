cimport cython

from uploader.core.search cimport first_after


@cython.final
cdef class CodeMap:
    cdef bint relocatable
    cdef Py_ssize_t section_count, code_count
    cdef unsigned long long[::1] section_start, section_end, code_start, code_end
    cdef unsigned char[::1] section_is_code

    cdef unsigned long long limit_of(
        self, unsigned int section, unsigned long long value, bint is_function
    ) except? 0 nogil
