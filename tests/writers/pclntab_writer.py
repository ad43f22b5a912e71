"""Builds Go's pc-line tables for tests, in each of their layouts, and programs that carry one.

::

    program([GoFunction("main.main", 0x0, 0x40, rows=[Row(0, "/src/m.go", 7)])], version="1.20")
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tests.writers.elf_writer import (
    ALLOC,
    CODE,
    LOAD,
    NOTE_SEGMENT,
    NT_GO_BUILD_ID,
    SHARED,
    WRITE,
    X86_64,
    Note,
    Section,
    Segment,
    Symbol,
    elf,
)

MAGICS = {"1.2": 0xFFFFFFFB, "1.16": 0xFFFFFFFA, "1.18": 0xFFFFFFF0, "1.20": 0xFFFFFFF1}
EXECUTABLE_SEGMENT, READABLE_SEGMENT = 5, 4
TEXT, RODATA, TABLE, DATA = 0x401000, 0x480000, 0x500000, 0x600000


class Row(NamedTuple):
    """From ``offset`` on, the code is of that line."""

    offset: int
    file: str
    line: int


class Call(NamedTuple):
    """An entry of a function's inline tree: what was inlined, and the pc of its call; before Go 1.20 who called it, and where."""

    name: str
    parent_pc: int = 0
    parent: int = -1
    file: str = ""
    line: int = 0


class Run(NamedTuple):
    """Up to ``end`` the code belongs to that call; -1 is the function itself."""

    end: int
    call: int


class GoFunction(NamedTuple):
    """Offsets count from where Go's code begins, those of rows and runs from the function's start."""

    name: str
    start: int
    end: int
    rows: Sequence[Row] = ()
    calls: Sequence[Call] = ()
    runs: Sequence[Run] = ()
    start_line: int = 1


class Table(NamedTuple):
    """A table, where its parts begin, and the inline trees that it refers to."""

    data: bytes
    parts: dict[str, int]
    trees: bytes


def pairs(values: Sequence[tuple[int, int]], quantum: int) -> bytes:
    """A table of pcs and values: ``values`` are (end, value). As Go's linker writes it, neighbours of one value are one."""
    out = bytearray()
    value, pc = -1, 0
    merged = [one for one, following in zip(values, [*values[1:], (0, None)], strict=True) if one[1] != following[1]]
    for end, new in merged:
        change = new - value
        out += uvarint((change << 1) if change >= 0 else (((-change - 1) << 1) | 1))
        out += uvarint((end - pc) // quantum)
        value, pc = new, end
    return bytes(out) + b"\0"


def uvarint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


class _Strings:
    def __init__(self, first: bytes = b"") -> None:
        self.data = bytearray(first)
        self.places: dict[str, int] = {}

    def place(self, text: str) -> int:
        if text not in self.places:
            self.places[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self.places[text]


def table(  # four layouts side by side
    functions: Sequence[GoFunction],
    *,
    version: str = "1.20",
    little_endian: bool = True,
    pointer_bytes: int = 8,
    quantum: int = 1,
    text_start: int = TEXT,
    header_text_start: int | None = None,
    trees_address: int = 0,
) -> Table:
    """``trees_address`` is where the trees will lie: before Go 1.18 functions refer to them by address."""
    order = "<" if little_endian else ">"
    word = order + ("Q" if pointer_bytes == 8 else "I")
    u32: Callable[[int], bytes] = lambda number: struct.pack(order + "I", number & 0xFFFFFFFF)  # noqa: E731
    relative, by_unit = version in ("1.18", "1.20"), version != "1.2"
    names, files, values = _Strings(), _Strings(), bytearray(b"\0")
    file_numbers: dict[str, int] = {}

    def file_number(path: str) -> int:
        return file_numbers.setdefault(path, len(file_numbers) + (0 if by_unit else 1))

    def kept(encoded: bytes) -> int:
        at = len(values)
        values.extend(encoded)
        return at

    records, trees = [], bytearray(b"\0" * 16)
    for function in functions:
        size = function.end - function.start
        ends = [row.offset for row in function.rows[1:]] + [size]
        file_table = (
            kept(pairs([(end, file_number(row.file)) for row, end in zip(function.rows, ends, strict=True)], quantum))
            if function.rows
            else 0
        )
        line_table = (
            kept(pairs([(end, row.line) for row, end in zip(function.rows, ends, strict=True)], quantum))
            if function.rows
            else 0
        )
        run_table = kept(pairs([(run.end, run.call) for run in function.runs], quantum)) if function.runs else 0
        tree_at = len(trees)
        for call in function.calls:
            if version == "1.20":
                trees += struct.pack(order + "B3xiii", 0, names.place(call.name), call.parent_pc, 1)
            else:
                trees += struct.pack(
                    order + "hBxiiii",
                    call.parent,
                    0,
                    file_number(call.file),
                    call.line,
                    names.place(call.name),
                    call.parent_pc,
                )
        records.append((function, names.place(function.name), file_table, line_table, run_table, tree_at))

    header_words = {"1.2": 1, "1.16": 7, "1.18": 8, "1.20": 8}[version]
    header_bytes = 8 + header_words * pointer_bytes
    entry = u32 if relative else (lambda number: struct.pack(word, text_start + number))
    entry_bytes = 4 if relative else pointer_bytes
    unit_files = b"".join(u32(files.place(path)) for path in file_numbers) if by_unit else b""
    ftab_bytes = (2 * len(functions) + 1) * entry_bytes

    def body(start: int, base: int) -> tuple[bytes, bytes]:
        """``ftab`` and the records behind it, which begin at ``start``; records are counted from ``base``."""
        ftab, out = bytearray(), bytearray()
        for function, name, file_table, line_table, run_table, tree_at in records:
            out += bytes(-(start + len(out)) % pointer_bytes)
            ftab += entry(function.start) + (
                u32(start + len(out) - base) if relative else struct.pack(word, start + len(out) - base)
            )
            npcdata, nfuncdata = (3, 4) if function.runs else (0, 0)
            out += entry(function.start) + b"".join(
                map(u32, (name + names_base, 0, 0, 0, place(file_table), place(line_table), npcdata))
            )
            if by_unit:
                out += u32(0)
            if version == "1.20":
                out += u32(function.start_line)
            out += bytes([0, 0, 0, nfuncdata])
            if function.runs:
                out += u32(0) + u32(0) + u32(place(run_table))
                if relative:
                    out += u32(-1) * 3 + u32(tree_at)
                else:
                    out += (
                        bytes(-(start + len(out)) % pointer_bytes)
                        + bytes(3 * pointer_bytes)
                        + struct.pack(word, trees_address + tree_at)
                    )
        last = functions[-1].end if functions else 0
        return bytes(ftab + entry(last)), bytes(out)

    head = struct.pack(order + "IBBBB", MAGICS[version], 0, 0, quantum, pointer_bytes)
    if not by_unit:
        # One space of offsets for all: header, ftab, the place of the files, records, names, values, files.
        start = header_bytes + ftab_bytes + 4
        names_base = values_base = 0
        place: Callable[[int], int] = lambda at: at  # noqa: E731
        _, sized = body(start, 0)
        names_base = start + len(sized)
        values_base = names_base + len(names.data)
        place = lambda at: at + values_base if at else 0  # noqa: E731
        ftab, out = body(start, 0)
        files_at = values_base + len(values)
        files_at += -files_at % 4
        texts_at = files_at + 4 * (len(file_numbers) + 1)
        listed = u32(len(file_numbers) + 1) + b"".join(u32(texts_at + files.place(path)) for path in file_numbers)
        data = head + struct.pack(word, len(functions)) + ftab + u32(files_at) + out + bytes(names.data) + bytes(values)
        data += bytes(files_at - len(data)) + listed + bytes(files.data)
        # Trees name their calls from the table's start, too.
        moved = bytearray(trees)
        at = 16
        for function in functions:
            for _ in function.calls:
                (name,) = struct.unpack_from(order + "i", moved, at + 12)
                struct.pack_into(order + "i", moved, at + 12, name + names_base)
                at += 20
        return Table(data, {"names": 0, "values": 0, "functions": header_bytes, "files": files_at}, bytes(moved))
    names_base = 0
    place = lambda at: at  # noqa: E731
    parts: dict[str, int] = {}
    middle = bytearray()
    for key, content in (("names", names.data), ("units", unit_files), ("files", files.data), ("values", values)):
        middle += bytes(-(header_bytes + len(middle)) % pointer_bytes)
        parts[key] = header_bytes + len(middle)
        middle += content
    middle += bytes(-(header_bytes + len(middle)) % pointer_bytes)
    parts["functions"] = header_bytes + len(middle)
    ftab, out = body(parts["functions"] + ftab_bytes, parts["functions"])
    words = [len(functions), len(file_numbers)]
    if relative:
        words.append(text_start if header_text_start is None else header_text_start)
    words += [parts[key] for key in ("names", "units", "files", "values", "functions")]
    data = head + b"".join(struct.pack(word, number) for number in words) + bytes(middle) + ftab + out
    return Table(data, parts, bytes(trees))


def program(
    functions: Sequence[GoFunction],
    *,
    version: str = "1.20",
    little_endian: bool = True,
    bits: int = 64,
    quantum: int = 1,
    machine: int = X86_64,
    moved: int = 0,
    relocated: bool = False,
    section: str = ".gopclntab",
    section_headers: bool = True,
    module: bool = True,
    module_section: str = ".data",
    named: bool = False,
    text_start: int = TEXT,
    noted: bool = False,
    code: Sequence[tuple[int, int]] = (),
) -> bytes:
    """A program with code, the table, the inline trees and the module's data.

    ``moved`` is how many words Go 1.26 and later put before the word that leads to the trees; they then leave the header's start of the
    code empty. A ``named`` program has a symbol for the table, a ``noted`` one the note with Go's build id; a ``relocated`` one leaves
    the module's pointers to the loader. The parts of its ``code`` are (entry, address): from that entry on, functions lie at that
    address and behind it.
    """
    pointer_bytes = bits // 8
    order = "<" if little_endian else ">"
    word = order + ("Q" if bits == 64 else "I")
    late = moved > 0

    def made_with(trees_address: int) -> Table:
        return table(
            functions, version=version, little_endian=little_endian, pointer_bytes=pointer_bytes, quantum=quantum,
            text_start=text_start, header_text_start=0 if late or relocated else None, trees_address=trees_address,
        )  # fmt: skip

    # From Go 1.26 on the trees lie at the end of the table itself; before 1.18 they are told by address, and lie in its segment.
    behind = late or version in ("1.2", "1.16")
    made = made_with(0)
    padding = bytes(-len(made.data) % 16)
    trees_address = TABLE + len(made.data + padding) if behind else RODATA
    made = made_with(trees_address)
    data = made.data + padding + made.trees if behind else made.data
    words = [0] * 48
    words[0] = TABLE
    if version != "1.2":
        parts = [made.parts[key] for key in ("names", "units", "files", "values", "functions", "functions")]
        for at, part in zip((1, 4, 7, 10, 13, 16), parts, strict=True):
            words[at] = TABLE + part
    last = text_start + (functions[-1].end if functions else 0)
    words[20:24] = [text_start, last, text_start, last]
    func_word = {"1.18": 38, "1.20": 40}.get(version, 38) + (moved - 1 if late else 0)
    words[func_word] = trees_address
    if late:
        words[func_word + 1] = TABLE + len(data)
    text_map = b"".join(struct.pack(word, each) for entry, start in code for each in (entry, 0, start))
    if code:
        last = max(last, *(start + 0x1000 for _, start in code))
        after = func_word + 2 if late else func_word + 1
        words[after : after + 3] = [RODATA + 0x1000, len(code), len(code)]
    module_data = b"".join(struct.pack(word, 0 if relocated else each) for each in words)
    sections = [
        Section(".text", b"\x90" * max(16, last - text_start), flags=CODE, address=text_start),
        Section(
            ".rodata",
            (bytes(16) if behind else made.trees).ljust(0x1000 * bool(code), b"\0") + text_map,
            flags=ALLOC,
            address=RODATA,
            alignment=16,
        ),
        Section(section, data, flags=ALLOC, address=TABLE, alignment=32),
        Section(module_section, module_data if module else bytes(64), flags=ALLOC | WRITE, address=DATA, alignment=32),
    ]
    segments = [
        Segment(LOAD, EXECUTABLE_SEGMENT, section=".text"),
        Segment(LOAD, READABLE_SEGMENT, section=".rodata"),
        Segment(LOAD, READABLE_SEGMENT, section=section),
        Segment(LOAD, 6, section=module_section),
    ]
    if noted:
        segments.append(Segment(NOTE_SEGMENT, READABLE_SEGMENT, section=".note"))
    if relocated:
        entries = b"".join(
            struct.pack(word, DATA + index * pointer_bytes) + struct.pack(word, 8) + struct.pack(word, each)
            for index, each in enumerate(words)
            if each
        )
        sections.append(Section(".rela.dyn", entries, flags=ALLOC, address=0x700000, alignment=8))
        dynamic = b"".join(struct.pack(word, each) for each in (7, 0x700000, 8, len(entries), 0, 0))
        sections.append(Section(".dynamic", dynamic, type=6, flags=ALLOC | WRITE, address=0x710000, alignment=8))
        segments += [
            Segment(LOAD, READABLE_SEGMENT, section=".rela.dyn"),
            Segment(LOAD, 6, section=".dynamic"),
            Segment(2, 6, section=".dynamic"),
        ]
    return elf(
        sections, segments=segments, bits=bits, little_endian=little_endian, machine=machine,
        kind=SHARED if relocated else 2, section_headers=section_headers,
        symbols=[Symbol("runtime.pclntab", TABLE, type=0, section=section)] if named else None,
        notes=[Note("Go", NT_GO_BUILD_ID, b"a/b/c/d")] if noted else [],
    )  # fmt: skip
