"""Assembles small DWARF for tests: DIEs with forms, unit headers of versions 2 to 5, line programs, range lists.

::

    sections = assemble(
        Unit(compile_unit(subprogram("main", 0x1000, 0x1010)), version=5),
        lines=[Lines([set_address(0x1000), row(line=3), advance_pc(16), end_sequence()], files=["a.c"])],
    )

Nothing is checked: a test may ask for what no compiler would write.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.writers.elf_writer import CODE, NOBITS, Section, Symbol, elf
from uploader.sources.dwarf.sections import DwarfSections

COMPILE_UNIT, PARTIAL_UNIT, SUBPROGRAM, INLINED, LEXICAL_BLOCK = 0x11, 0x3C, 0x2E, 0x1D, 0x0B
NAMESPACE, STRUCTURE_TYPE, CLASS_TYPE, VARIABLE, BASE_TYPE = 0x39, 0x13, 0x02, 0x34, 0x24

NAME, STMT_LIST, LOW_PC, HIGH_PC, LANGUAGE, COMP_DIR = 0x03, 0x10, 0x11, 0x12, 0x13, 0x1B
INLINE, ABSTRACT_ORIGIN, DECL_FILE, DECL_LINE, DECLARATION = 0x20, 0x31, 0x3A, 0x3B, 0x3C
SPECIFICATION, RANGES, CALL_FILE, CALL_LINE, LINKAGE_NAME = 0x47, 0x55, 0x58, 0x59, 0x6E
STR_OFFSETS_BASE, ADDR_BASE, RNGLISTS_BASE, MIPS_LINKAGE_NAME = 0x72, 0x73, 0x74, 0x2007
CONST_VALUE, LOCATION, TYPE = 0x1C, 0x02, 0x49

ADDR, BLOCK2, BLOCK4, DATA2, DATA4, DATA8, STRING, BLOCK, BLOCK1, DATA1, FLAG = 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
SDATA, STRP, UDATA, REF_ADDR, REF1, REF2, REF4, REF8, REF_UDATA, INDIRECT = 13, 14, 15, 16, 17, 18, 19, 20, 21, 22
SEC_OFFSET, EXPRLOC, FLAG_PRESENT, STRX, ADDRX, REF_SUP4, STRP_SUP, DATA16 = 23, 24, 25, 26, 27, 28, 29, 30
LINE_STRP, REF_SIG8, IMPLICIT_CONST, LOCLISTX, RNGLISTX, REF_SUP8 = 31, 32, 33, 34, 35, 36
STRX1, STRX2, STRX3, STRX4, ADDRX1, ADDRX2, ADDRX3, ADDRX4 = 37, 38, 39, 40, 41, 42, 43, 44
GNU_ADDR_INDEX, GNU_STR_INDEX, GNU_REF_ALT, GNU_STRP_ALT = 0x1F01, 0x1F02, 0x1F20, 0x1F21

FIXED_SIZES = {
    DATA1: 1,
    DATA2: 2,
    DATA4: 4,
    DATA8: 8,
    DATA16: 16,
    FLAG: 1,
    REF1: 1,
    REF2: 2,
    REF4: 4,
    REF8: 8,
    REF_SUP4: 4,
    REF_SUP8: 8,
    REF_SIG8: 8,
    STRX1: 1,
    STRX2: 2,
    STRX3: 3,
    STRX4: 4,
    ADDRX1: 1,
    ADDRX2: 2,
    ADDRX3: 3,
    ADDRX4: 4,
}
OFFSET_FORMS = {SEC_OFFSET, STRP_SUP, GNU_REF_ALT, GNU_STRP_ALT}
STRING_INDEX_FORMS = {STRX, STRX1, STRX2, STRX3, STRX4, GNU_STR_INDEX}
ADDRESS_INDEX_FORMS = {ADDRX, ADDRX1, ADDRX2, ADDRX3, ADDRX4, GNU_ADDR_INDEX}
REFERENCE_FORMS = {REF1, REF2, REF4, REF8, REF_UDATA}


class As(NamedTuple):
    """An attribute's value in a form of one's own choice."""

    form: int
    value: Any


DEFAULT_FORMS = {
    **dict.fromkeys((NAME, LINKAGE_NAME, MIPS_LINKAGE_NAME, COMP_DIR), STRING),
    **dict.fromkeys((ABSTRACT_ORIGIN, SPECIFICATION), REF4),
    **dict.fromkeys((DECL_FILE, DECL_LINE, CALL_FILE, CALL_LINE, LANGUAGE), UDATA),
    **dict.fromkeys((STMT_LIST, RANGES, STR_OFFSETS_BASE, ADDR_BASE, RNGLISTS_BASE), DATA4),
    LOW_PC: ADDR,
    HIGH_PC: ADDR,
    INLINE: DATA1,
    DECLARATION: FLAG,
}


@dataclass(eq=False)
class Die:
    """One entry. A value is plain (`DEFAULT_FORMS`) or an `As`; a reference's value is the `Die` itself."""

    tag: int
    attributes: dict[int, Any] = field(default_factory=dict)
    children: Sequence[Die] | None = None

    def typed(self) -> list[tuple[int, int, Any]]:
        return [
            (attribute, *(value if isinstance(value, As) else As(DEFAULT_FORMS[attribute], value)))
            for attribute, value in self.attributes.items()
        ]


def compile_unit(*children: Die, attributes: dict[int, Any] | None = None) -> Die:
    return Die(COMPILE_UNIT, dict(attributes or {}), children)


def subprogram(name: str | As | None, start: int, end: int, *children: Die, **more: Any) -> Die:
    """A function with code; ``more`` are attributes by the names of this module's constants, in lower case."""
    own = {} if name is None else {NAME: name}
    return Die(SUBPROGRAM, {**own, LOW_PC: start, HIGH_PC: end, **_named(more)}, children or None)


def inlined(origin: Die | None, start: int, end: int, *children: Die, **more: Any) -> Die:
    own = {} if origin is None else {ABSTRACT_ORIGIN: origin}
    return Die(INLINED, {**own, LOW_PC: start, HIGH_PC: end, **_named(more)}, children or None)


def abstract(name: str, **more: Any) -> Die:
    """A function that is only inlined."""
    return Die(SUBPROGRAM, {NAME: name, INLINE: 1, **_named(more)})


def _named(attributes: dict[str, Any]) -> dict[int, Any]:
    return {globals()[name.upper()]: value for name, value in attributes.items()}


@dataclass(kw_only=True)
class Encoding:
    """How numbers are written in one unit."""

    little_endian: bool = True
    address_size: int = 8
    dwarf64: bool = False

    def number(self, value: int, size: int) -> bytes:
        return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little" if self.little_endian else "big")

    def address(self, value: int) -> bytes:
        return self.number(value, self.address_size)

    @property
    def offset_size(self) -> int:
        return 8 if self.dwarf64 else 4

    def offset(self, value: int) -> bytes:
        return self.number(value, self.offset_size)

    def with_length(self, body: bytes) -> bytes:
        return (b"\xff" * 4 if self.dwarf64 else b"") + self.offset(len(body)) + body


def uleb(value: int, *, pad_to: int = 0) -> bytes:
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        if not value and len(out) + 1 >= pad_to:
            return bytes([*out, byte])
        out.append(byte | 0x80)


def sleb(value: int) -> bytes:
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        if value == (-1 if byte & 0x40 else 0):
            return bytes([*out, byte])
        out.append(byte | 0x80)


@dataclass
class Unit:
    """One unit of ``.debug_info`` with an abbreviation table of its own."""

    root: Die
    version: int = 4
    unit_type: int = 1
    address_size: int = 8
    dwarf64: bool = False
    after: bytes = b""
    """Bytes behind the last DIE, still in the unit."""


class Pool:
    """NUL-terminated strings, each once."""

    def __init__(self) -> None:
        self.data = bytearray(b"\0")
        self._at: dict[bytes, int] = {}

    def place(self, text: str | bytes) -> int:
        raw = text.encode() if isinstance(text, str) else text
        if raw not in self._at:
            self._at[raw] = len(self.data)
            self.data += raw + b"\0"
        return self._at[raw]


class _Assembler:
    def __init__(self, little_endian: bool) -> None:
        self.little_endian = little_endian
        self.info = bytearray()
        self.abbrev = bytearray()
        self.strings = Pool()
        self.line_strings = Pool()
        self.addresses = bytearray()
        self.string_offsets = bytearray()
        self.place: dict[Die, int] = {}
        self.fixes: list[tuple[int, int, Die, int, Encoding]] = []

    def unit(self, unit: Unit) -> None:
        encoding = Encoding(little_endian=self.little_endian, address_size=unit.address_size, dwarf64=unit.dwarf64)
        start = len(self.info)
        abbrev_offset = len(self.abbrev)
        head = encoding.number(unit.version, 2)
        if unit.version >= 5:
            head += bytes([unit.unit_type, unit.address_size]) + encoding.offset(abbrev_offset)
            if unit.unit_type in {4, 5}:
                head += bytes(8)
            elif unit.unit_type in {2, 6}:
                head += bytes(8) + encoding.offset(0)
        else:
            head += encoding.offset(abbrev_offset) + bytes([unit.address_size])
        self.info += bytes(12 if unit.dwarf64 else 4) + head
        codes: dict[tuple[Any, ...], int] = {}
        self.die(unit.root, start, codes, encoding, unit.version)
        self.abbrev += b"\0"
        self.info += unit.after
        length_size = 12 if unit.dwarf64 else 4
        body = bytes(self.info[start + length_size :])
        self.info[start : start + length_size] = encoding.with_length(body)[:length_size]

    def die(
        self, die: Die, unit_start: int, codes: dict[tuple[Any, ...], int], encoding: Encoding, version: int
    ) -> None:
        self.place[die] = len(self.info)
        typed = die.typed()
        shape = [(attribute, form, value if form == IMPLICIT_CONST else None) for attribute, form, value in typed]
        key = (die.tag, die.children is not None, *shape)
        if key not in codes:
            codes[key] = len(codes) + 1
            self.abbrev += uleb(codes[key]) + uleb(die.tag) + bytes([die.children is not None])
            for attribute, form, constant in shape:
                self.abbrev += uleb(attribute) + uleb(form) + (b"" if constant is None else sleb(constant))
            self.abbrev += b"\0\0"
        self.info += uleb(codes[key])
        for _, form, value in typed:
            self.value(form, value, unit_start, encoding, version)
        if die.children is not None:
            for child in die.children:
                self.die(child, unit_start, codes, encoding, version)
            self.info += b"\0"

    def value(self, form: int, value: Any, unit_start: int, encoding: Encoding, version: int) -> None:
        reference_size = encoding.address_size if version <= 2 else encoding.offset_size
        if form == INDIRECT:
            self.info += uleb(value.form)
            self.value(value.form, value.value, unit_start, encoding, version)
        elif isinstance(value, Die):
            base = 0 if form == REF_ADDR else unit_start
            size = -5 if form == REF_UDATA else reference_size if form == REF_ADDR else FIXED_SIZES[form]
            self.fixes.append((len(self.info), size, value, base, encoding))
            self.info += bytes(abs(size))
        else:
            self.info += self.plain(form, value, encoding, reference_size)

    def plain(self, form: int, value: Any, encoding: Encoding, reference_size: int) -> bytes:
        if form in STRING_INDEX_FORMS and not isinstance(value, int):
            offset = self.strings.place(value)
            value = len(self.string_offsets) // encoding.offset_size
            self.string_offsets += encoding.offset(offset)
        if form in ADDRESS_INDEX_FORMS and isinstance(value, Address):
            index = len(self.addresses) // encoding.address_size
            self.addresses += encoding.address(value.value)
            value = index
        if form in FIXED_SIZES:
            return encoding.number(int(value), FIXED_SIZES[form])
        if form in OFFSET_FORMS:
            return encoding.offset(value)
        if form == ADDR:
            return encoding.address(value)
        if form == REF_ADDR:
            return encoding.number(value, reference_size)
        if form == STRING:
            return (value.encode() if isinstance(value, str) else bytes(value)) + b"\0"
        if form in {STRP, LINE_STRP}:
            pool = self.strings if form == STRP else self.line_strings
            return encoding.offset(value if isinstance(value, int) else pool.place(value))
        if form in {BLOCK1, BLOCK2, BLOCK4}:
            return encoding.number(len(value), {BLOCK1: 1, BLOCK2: 2, BLOCK4: 4}[form]) + bytes(value)
        if form in {BLOCK, EXPRLOC}:
            return uleb(len(value)) + bytes(value)
        if form == SDATA:
            return sleb(value)
        if form in {FLAG_PRESENT, IMPLICIT_CONST}:
            return b""
        return uleb(value)

    def link(self) -> None:
        for at, size, die, base, encoding in self.fixes:
            value = self.place[die] - base
            raw = uleb(value, pad_to=5) if size < 0 else encoding.number(value, size)
            self.info[at : at + abs(size)] = raw


class Address(NamedTuple):
    """An address that goes to ``.debug_addr``: the value of an index form."""

    value: int


Op = Callable[[Encoding], bytes]


def raw(*parts: bytes) -> Op:
    """Opcodes as they are."""
    return lambda encoding: b"".join(parts)


def extended(code: int, operand: bytes = b"") -> Op:
    return raw(b"\0", uleb(1 + len(operand)), bytes([code]), operand)


def set_address(address: int) -> Op:
    return lambda encoding: b"\0" + uleb(1 + encoding.address_size) + b"\2" + encoding.address(address)


def end_sequence() -> Op:
    return extended(1)


def copy() -> Op:
    return raw(b"\1")


def advance_pc(operations: int) -> Op:
    return raw(b"\2", uleb(operations))


def advance_line(delta: int) -> Op:
    return raw(b"\3", sleb(delta))


def set_file(number: int) -> Op:
    return raw(b"\4", uleb(number))


def const_add_pc() -> Op:
    return raw(b"\x08")


def fixed_advance_pc(size_bytes: int) -> Op:
    return lambda encoding: b"\x09" + encoding.number(size_bytes, 2)


def rows(*places: tuple[int, int] | tuple[int, int, int], end: int | None = None) -> list[Op]:
    """A sequence that puts (address, line) or (address, line, file) rows and ends at ``end``."""
    ops: list[Op] = [set_address(places[0][0])]
    address, line = places[0][0], 1
    for place in places:
        if place[0] != address:
            ops.append(advance_pc(place[0] - address))
        ops.append(advance_line(place[1] - line))
        if len(place) > 2:
            ops.append(set_file(place[2]))
        ops.append(copy())
        address, line = place[0], place[1]
    if end is not None:
        ops += [advance_pc(end - address), end_sequence()]
    return ops


@dataclass
class Lines:
    """One line table. Up to version 4 ``files`` are (name, directory number); in 5 the same, from directory 0 on."""

    program: Sequence[Op]
    files: Sequence[str | tuple[str, int]] = ("a.c",)
    directories: Sequence[str] = ()
    version: int = 4
    address_size: int = 8
    dwarf64: bool = False
    minimum_instruction_length: int = 1
    maximum_operations: int = 1
    line_base: int = -5
    line_range: int = 14
    opcode_base: int = 13
    opcode_lengths: bytes = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    path_form: int = STRING
    with_md5: bool = False

    def special(self, advance: int, line: int) -> Op:
        """The special opcode that advances address and line so and puts a row."""
        return raw(bytes([(line - self.line_base) + self.line_range * advance + self.opcode_base]))

    def assemble(
        self, little_endian: bool, strings: Pool, line_strings: Pool, string_offsets: bytearray | None = None
    ) -> bytes:
        """The table; what its forms refer to goes into the other sections."""
        pools = strings, line_strings, bytearray() if string_offsets is None else string_offsets
        encoding = Encoding(little_endian=little_endian, address_size=self.address_size, dwarf64=self.dwarf64)
        fields = bytes([self.minimum_instruction_length])
        if self.version >= 4:
            fields += bytes([self.maximum_operations])
        fields += (
            b"\1" + struct.pack("b", self.line_base) + bytes([self.line_range, self.opcode_base]) + self.opcode_lengths
        )
        named = [file if isinstance(file, tuple) else (file, 0) for file in self.files]
        if self.version >= 5:
            fields += self._entries(encoding, *pools, [(name, None) for name in self.directories])
            fields += self._entries(encoding, *pools, named)
        else:
            for directory in self.directories:
                fields += directory.encode() + b"\0"
            fields += b"\0"
            for name, directory_number in named:
                fields += name.encode() + b"\0" + uleb(directory_number) + b"\0\0"
            fields += b"\0"
        body = encoding.number(self.version, 2)
        if self.version >= 5:
            body += bytes([self.address_size, 0])
        body += encoding.offset(len(fields)) + fields + b"".join(op(encoding) for op in self.program)
        return encoding.with_length(body)

    def _entries(
        self,
        encoding: Encoding,
        strings: Pool,
        line_strings: Pool,
        string_offsets: bytearray,
        entries: Iterable[tuple[str, int | None]],
    ) -> bytes:
        listed = list(entries)
        with_directory = any(directory is not None for _, directory in listed)
        md5 = self.with_md5 and with_directory
        formats = [(1, self.path_form)] + ([(2, UDATA)] if with_directory else []) + ([(5, DATA16)] if md5 else [])
        out = bytes([len(formats)]) + b"".join(uleb(content) + uleb(form) for content, form in formats)
        out += uleb(len(listed))
        for name, directory in listed:
            if self.path_form == STRING:
                out += name.encode() + b"\0"
            elif self.path_form in STRING_INDEX_FORMS:
                index = len(string_offsets) // encoding.offset_size
                string_offsets += encoding.offset(strings.place(name))
                size = FIXED_SIZES.get(self.path_form)
                out += uleb(index) if size is None else encoding.number(index, size)
            else:
                pool = strings if self.path_form == STRP else line_strings
                out += encoding.offset(pool.place(name))
            out += (uleb(directory or 0) if with_directory else b"") + (bytes(range(16)) if md5 else b"")
        return out


def range_pairs(*pairs: tuple[int, int], encoding: Encoding | None = None, end: bool = True) -> bytes:
    """A list of ``.debug_ranges``; a base selection is ``(-1, base)``."""
    encoding = encoding or Encoding()
    listed = [*pairs, (0, 0)] if end else list(pairs)
    return b"".join(encoding.address(low) + encoding.address(high) for low, high in listed)


def rnglists(*lists: bytes, encoding: Encoding | None = None, offsets: bool = True) -> bytes:
    """One contribution to ``.debug_rnglists``: header, offsets for DW_FORM_rnglistx, lists."""
    encoding = encoding or Encoding()
    table = b""
    at = len(lists) * encoding.offset_size
    for one in lists:
        table += encoding.offset(at)
        at += len(one)
    head = encoding.number(5, 2) + bytes([encoding.address_size, 0])
    head += encoding.number(len(lists) if offsets else 0, 4)
    return encoding.with_length(head + (table if offsets else b"") + b"".join(lists))


RNGLISTS_HEADER_SIZE = 12
"""The size of a 32-bit header: where DW_AT_rnglists_base points and, without offsets, the first list stands."""


def assemble(
    *units: Unit,
    lines: Sequence[Lines] = (),
    ranges: bytes = b"",
    rnglists: bytes = b"",
    addresses: bytes | None = None,
    little_endian: bool = True,
) -> DwarfSections:
    """The sections of some units. The addresses and strings of index forms stand from offset 0 of their sections on."""
    assembler = _Assembler(little_endian)
    for unit in units:
        assembler.unit(unit)
    assembler.link()
    line = b"".join(
        table.assemble(little_endian, assembler.strings, assembler.line_strings, assembler.string_offsets)
        for table in lines
    )
    return DwarfSections(
        info=bytes(assembler.info),
        abbrev=bytes(assembler.abbrev),
        line=line,
        strings=bytes(assembler.strings.data),
        line_strings=bytes(assembler.line_strings.data),
        ranges=ranges,
        rnglists=rnglists,
        addresses=bytes(assembler.addresses) if addresses is None else addresses,
        string_offsets=bytes(assembler.string_offsets),
        little_endian=little_endian,
    )


SECTION_NAMES = {
    "info": ".debug_info",
    "abbrev": ".debug_abbrev",
    "line": ".debug_line",
    "strings": ".debug_str",
    "line_strings": ".debug_line_str",
    "ranges": ".debug_ranges",
    "rnglists": ".debug_rnglists",
    "addresses": ".debug_addr",
    "string_offsets": ".debug_str_offsets",
}


def elf_with(
    sections: DwarfSections,
    *,
    text: tuple[int, int] = (0x1000, 0x1000),
    symbols: Sequence[Symbol] | None = None,
    compress: str = "",
    bits: int = 64,
) -> bytes:
    """An ELF file with code at ``text`` (address, size), these sections and symbols."""
    made = [Section(".text", type=NOBITS, flags=CODE, address=text[0], size_bytes=text[1])]
    for key, name in SECTION_NAMES.items():
        data = bytes(getattr(sections, key))
        if data:
            made.append(Section(name, data, compress=compress))
    return elf(made, symbols=symbols, little_endian=sections.little_endian, bits=bits)
