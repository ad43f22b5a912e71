cimport cython
from uploader.core.numbers cimport NumberReader
from uploader.core.search cimport first_after
from uploader.sources.dwarf.tables cimport RowTable

@cython.final
cdef class FunctionRows(NumberReader):
    cdef public RowTable rows
    cdef unsigned long long quantum, unit, slots, size
    cdef public long long steps
    cdef long long values_at

    cdef int read(self, unsigned long long unit, unsigned long long file_table, unsigned long long line_table, unsigned long long most) except -1
    cdef unsigned long long length(self, long long p) except? 0xFFFFFFFFFFFFFFFE
    cdef unsigned int slot(self, long long file) except? 0xFFFFFFFE
    cdef Py_ssize_t at(self, unsigned long long pc) except -2
    cdef int _put(self, unsigned long long pc, unsigned int file, long long line) except -1


cpdef long long change_of(unsigned long long change) except? -0x7FFFFFFFFFFFFFFF
