from uploader.sources.dwarf cimport constants
cpdef int kind_of(unsigned long long tag, long long slots, bint declared) except -1
