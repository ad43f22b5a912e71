"""Large sections inflated into pages that the kernel gives in one go.

A page that is first written to costs an interruption; on virtual machines all of them together are a third of the time that a large
section takes. The package ``deflate`` has no way to say where its result should go. The libdeflate inside it has one
(``libdeflate.h``, ``libdeflate_zlib_decompress_ex``), where its build lets it be seen and the system is Linux.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
from functools import cache

POPULATE_WRITE = 23
"""``MADV_POPULATE_WRITE`` (madvise(2), Linux 5.14): older kernels refuse it, and give each page as it is written to."""

STRETCH_BYTES = 1 << 20
"""How much is asked for at a time: little enough to stop soon, much enough to be worth a call."""


class _Buffer(ctypes.Structure):
    """``Py_buffer`` (Python's stable ABI, 3.11)."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


class _Libdeflate:
    """What is called of libdeflate and of the C library, without the GIL."""

    def __init__(self) -> None:
        """Raises `AttributeError`, `ImportError` or `OSError` where something of it isn't there."""
        from deflate import _deflate

        library = ctypes.CDLL(_deflate.__file__)
        self.allocate = library.libdeflate_alloc_decompressor
        self.allocate.restype = ctypes.c_void_p
        self.free = library.libdeflate_free_decompressor
        self.free.argtypes = (ctypes.c_void_p,)
        self.inflate = library.libdeflate_zlib_decompress_ex
        self.inflate.argtypes = (
            *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t),
            *(ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)),
        )
        self.advise = ctypes.CDLL(None).madvise
        self.advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


@cache
def _library() -> _Libdeflate | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return _Libdeflate()
    except (AttributeError, ImportError, OSError):
        return None


def inflate_into_pages(data: memoryview | bytes, size_bytes: int, *, beside: bool = False) -> mmap.mmap | None:
    """The ``size_bytes`` that a zlib stream holds; None where they can't be had this way, whatever the reason.

    ``beside``: the pages are asked for on a thread of its own meanwhile, else before. Releases the GIL.
    """
    library = _library()
    if library is None or size_bytes < 1:
        return None
    try:
        pages = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError from error
    decompressor = library.allocate()
    if not decompressor:
        raise MemoryError
    source = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(data), ctypes.byref(source), 0)
    target = ctypes.c_char.from_buffer(pages)
    try:
        with _Populated(library, ctypes.addressof(target), size_bytes, beside=beside):
            written = ctypes.c_size_t()
            trouble = library.inflate(
                *(decompressor, source.buf, source.len, ctypes.addressof(target), size_bytes),
                *(None, ctypes.byref(written)),
            )
    finally:
        del target
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(source))
        library.free(decompressor)
    return pages if not trouble and written.value == size_bytes else None


class _Populated:
    """Pages being asked for while the block is run, or before it."""

    def __init__(self, library: _Libdeflate, address: int, size_bytes: int, *, beside: bool) -> None:
        self._library = library
        self._address = address
        self._size_bytes = size_bytes
        self._left = False
        self._thread = threading.Thread(target=self._run, name="symup-pages", daemon=True) if beside else None

    def __enter__(self) -> None:
        if self._thread is None:
            self._run()
        else:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._left = True
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        for begin in range(0, self._size_bytes, STRETCH_BYTES):
            size_bytes = min(STRETCH_BYTES, self._size_bytes - begin)
            if self._left or self._library.advise(self._address + begin, size_bytes, POPULATE_WRITE):
                return
