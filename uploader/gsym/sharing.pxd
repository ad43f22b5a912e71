cimport cython

cdef int MAX_LOOKS, FOLD_SHIFT
cdef unsigned long long SHARED_SLACK_BYTES, KEY_BYTES, LENGTH_BITS, FNV_PRIME, MAX_UINT32


@cython.final
cdef class _Shelf:
    cdef unsigned char[::1] out
    cdef Py_ssize_t at, count
    cdef unsigned long long saved, mask
    cdef unsigned int[::1] heads, chain
    cdef unsigned long long[::1] begin, length

    cdef unsigned long long _put(
        self, const unsigned char[::1] data, unsigned long long begin, unsigned long long end
    ) except? 0xFFFFFFFFFFFFFFFE nogil
    cdef unsigned long long _key(
        self, const unsigned char[::1] data, unsigned long long begin, unsigned long long length
    ) except? 0xFFFFFFFFFFFFFFFE nogil
    cdef bint _equal(
        self, const unsigned char[::1] data, unsigned long long begin, unsigned long long kept, unsigned long long length
    ) except -1 nogil
