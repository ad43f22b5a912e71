"""Names of symbols as people know them. Part of the core: compiled or not, the same results."""

from __future__ import annotations

import cython

MAX_NAME_BYTES_PER_SYMBOL = 1024
"""Names may share bytes, so a crafted table could make reading them cost the square of its size; this bounds their average."""

AT = ord("@")
DOT = ord(".")
DOLLAR = ord("$")
ZERO = ord("0")
NINE = ord("9")
UPPER_L = ord("L")

LOWER_A = ord("a")
LOWER_D = ord("d")
LOWER_T = ord("t")
LOWER_X = ord("x")

PART = b".__part."
PLT = b"@plt"
PART_BYTES = len(PART)
PLT_BYTES = len(PLT)


@cython.final
@cython.cclass
class SymbolNames:
    """The strings of symbol tables, one table after the other, and the name among them that was found last."""

    def __init__(self, text: bytes, symbols: int, *, is_riscv: bool) -> None:
        self.raw = text
        self.text = text
        self.part = PART
        self.plt = PLT
        self.is_riscv = is_riscv
        self.budget_bytes = len(text) + symbols * MAX_NAME_BYTES_PER_SYMBOL
        self.begin = self.end = 0

    def find(self, begin: cython.Py_ssize_t, limit: cython.Py_ssize_t) -> cython.int:
        """Sets ``begin`` and ``end``, the latter before an ``@VERSION``, and before a ``.__part.N``."""
        end: cython.Py_ssize_t = begin
        version: cython.Py_ssize_t = limit
        if cython.compiled:
            letter: cython.uchar = 0
            while end < limit:
                letter = self.text[end]
                if letter == 0:
                    break
                if letter == AT and version == limit and end > begin:
                    version = end
                end += 1
        else:
            end = self.raw.find(b"\0", begin, limit)
            if end < 0:
                end = limit
            version = self.raw.find(b"@", begin + 1, end)
            if version < 0:
                version = limit
        self.budget_bytes -= end - begin
        self.begin = begin
        # A stub's name ends with what looks like a version.
        if version < end and not (end - version == PLT_BYTES and self.stands_at(version, self.plt, PLT_BYTES)):
            end = version
        self.end = self.before_part(begin, end)
        return 0

    def before_part(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where the name of the function ends of which ``.__part.N`` says that a section holds one basic block; else ``end``."""
        at: cython.Py_ssize_t = end
        while at > begin and ZERO <= self.text[at - 1] <= NINE:
            at -= 1
        at -= PART_BYTES
        if at > begin and at + PART_BYTES < end and self.stands_at(at, self.part, PART_BYTES):
            return at
        return end

    def stands_at(
        self, at: cython.Py_ssize_t, word: cython.const[cython.uchar][::1], length: cython.Py_ssize_t
    ) -> cython.bint:
        """Whether a word of that length stands there, where there is room for it."""
        same: cython.Py_ssize_t = 0
        while same < length and self.text[at + same] == word[same]:
            same += 1
        return same == length

    def counts(self, is_function: cython.bint, is_local: cython.bint) -> cython.bint:
        """Whether the name is one that people gave: not empty, no ``.L`` label, no mapping symbol."""
        length: cython.Py_ssize_t = self.end - self.begin
        if length == 0:
            return False
        first: cython.uchar = self.text[self.begin]
        second: cython.uchar = self.text[self.begin + 1] if length > 1 else 0
        if first == DOT and second == UPPER_L and is_local:
            return False
        # $a $d $t $x of ARM, AArch64, C-SKY and RISC-V, alone or before a dot; RISC-V appends the instruction set at once.
        return not (
            first == DOLLAR
            and not is_function
            and (second == LOWER_A or second == LOWER_D or second == LOWER_T or second == LOWER_X)
            and (length == 2 or self.is_riscv or self.text[self.begin + 2] == DOT)
        )
