"""A map from 64-bit keys to 32-bit values in two flat columns: what is looked up a million times must not be objects."""

from __future__ import annotations

from array import array

import cython

MAX_LATEST = cython.declare(cython.ulonglong, 1 << 16)
"""How many slots a memo of latest items has at most: as many as the caches next to a processor hold."""


class Memo:
    """Open addressing with linear probing, at most half full. The key 0 is not allowed.

    One of ``latest`` items has bounded room, and forgets all it knows when that is full.
    """

    def __init__(self, *, latest: bool = False) -> None:
        self.latest = latest
        self.keys = array("Q", [0]) * 4096
        self.values = array("I", [0]) * 4096
        self.mask = 4095
        self.count = 0
        self.limit = 2048

    def get(self, key: cython.ulonglong) -> cython.Py_ssize_t:
        """The value of a key, -1 where there is none."""
        scatter: cython.ulonglong = 0x9E3779B1
        at: cython.ulonglong = (((key ^ (key >> 29)) * scatter) >> 7) & self.mask
        while self.keys[at] != 0:
            if self.keys[at] == key:
                return self.values[at]
            at = (at + 1) & self.mask
        return -1

    def put(self, key: cython.ulonglong, value: cython.uint) -> cython.int:
        """Sets the value of a key that ``get`` does not know."""
        at: cython.ulonglong
        scatter: cython.ulonglong = 0x9E3779B1
        if self.count >= self.limit:
            if self.latest and self.mask + 1 >= MAX_LATEST:
                self._forget()
            else:
                with cython.gil:
                    self._grow()
        at = (((key ^ (key >> 29)) * scatter) >> 7) & self.mask
        while self.keys[at] != 0:
            at = (at + 1) & self.mask
        self.keys[at] = key
        self.values[at] = value
        self.count += 1
        return 0

    def _forget(self) -> cython.int:
        i: cython.Py_ssize_t
        size: cython.Py_ssize_t = self.mask + 1
        for i in range(size):
            self.keys[i] = 0
        self.count = 0
        return 0

    def _grow(self) -> None:
        keys, values = self.keys, self.values
        size: cython.Py_ssize_t = 4 * (self.mask + 1)
        self.keys = array("Q", [0]) * size
        self.values = array("I", [0]) * size
        self.mask = size - 1
        self.count = 0
        self.limit = size >> 1
        i: cython.Py_ssize_t
        for i in range(len(keys)):
            if keys[i] != 0:
                self.put(keys[i], values[i])
