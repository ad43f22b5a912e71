"""One walk over the DIEs of a unit that keeps what symbols need: functions with code, what is inlined into them, and scopes.

The walk fills columns and resolves nothing: names stay offsets of DIEs, ranges stay references, so that each is decoded once and only
where it is wanted. One `Walk` belongs to one thread; the columns of several are joined afterwards, in the order of the units.
"""

from __future__ import annotations

import cython

from uploader.core.columns import grown, zeros
from uploader.core.numbers import NumberReader
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.code_ranges import CodeRanges
from uploader.sources.dwarf.die import DieReader
from uploader.sources.dwarf.unit_columns import UnitColumns

MAX_DEPTH = 16384
DEPTH_LIMIT = cython.declare(cython.Py_ssize_t, MAX_DEPTH)

KIND_NAMED_ELSEWHERE = cython.declare(cython.int, constants.KIND_NAMED_ELSEWHERE)
KIND_DECLARATION = cython.declare(cython.int, constants.KIND_DECLARATION)
KIND_ABSTRACT = cython.declare(cython.int, constants.KIND_ABSTRACT)
INTERESTING = cython.declare(cython.int, constants.KIND_SUBPROGRAM)
"""DIEs of this kind and those behind it are captured."""
KIND_ENTRY_POINT = cython.declare(cython.int, constants.KIND_ENTRY_POINT)
KIND_INLINED = cython.declare(cython.int, constants.KIND_INLINED)

STEP_LEB = cython.declare(cython.int, constants.STEP_LEB)
SLOT_ABSTRACT_ORIGIN = cython.declare(cython.int, constants.SLOT_ABSTRACT_ORIGIN)
SLOT_LOW_PC = cython.declare(cython.int, constants.SLOT_LOW_PC)
SLOT_HIGH_PC = cython.declare(cython.int, constants.SLOT_HIGH_PC)
SLOT_RANGES = cython.declare(cython.int, constants.SLOT_RANGES)
SLOT_CALL_FILE = cython.declare(cython.int, constants.SLOT_CALL_FILE)
SLOT_CALL_LINE = cython.declare(cython.int, constants.SLOT_CALL_LINE)
SLOT_DECL_FILE = cython.declare(cython.int, constants.SLOT_DECL_FILE)
SLOT_DECL_LINE = cython.declare(cython.int, constants.SLOT_DECL_LINE)
FORM_ADDR = cython.declare(cython.int, constants.FORM_ADDR)
FORM_ADDRX = cython.declare(cython.int, constants.FORM_ADDRX)
FORM_ADDRX1 = cython.declare(cython.int, constants.FORM_ADDRX1)
FORM_ADDRX4 = cython.declare(cython.int, constants.FORM_ADDRX4)
FORM_GNU_ADDR_INDEX = cython.declare(cython.int, constants.FORM_GNU_ADDR_INDEX)
PC_NONE = cython.declare(cython.uint, constants.PC_NONE)
PC_BOUNDS = cython.declare(cython.uint, constants.PC_BOUNDS)
PC_RANGES = cython.declare(cython.uint, constants.PC_RANGES)

HAS_OTHER_NAME = cython.declare(
    cython.longlong,
    1 << constants.SLOT_LINKAGE_NAME | 1 << constants.SLOT_ABSTRACT_ORIGIN | 1 << constants.SLOT_SPECIFICATION,
)
HAS_RANGES = cython.declare(cython.longlong, 1 << constants.SLOT_RANGES)
HAS_BOUNDS = cython.declare(cython.longlong, 1 << constants.SLOT_LOW_PC | 1 << constants.SLOT_HIGH_PC)

MOST_SMALL = cython.declare(cython.ulonglong, 0x7FFFFFFF)
"""No file index or line is as large."""
ALL_ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)


@cython.final
@cython.cclass
class Walk:
    """The columns of the units walked so far.

    ``function_*`` has an item a subprogram with code, ``node_*`` one an inlined subroutine in it, in DIE order, ``scope_*``
    pairs of a DIE's offset and its scope's. ``*_pc`` is 1 with start and end in ``*_a`` and ``*_b``, 2 with the raw value
    and the form of DW_AT_ranges, or 0 for a node that states no code, while those in it do.
    """

    reader: DieReader
    units: UnitColumns
    addresses: NumberReader
    unit_index: cython.uint
    next_unit: cython.Py_ssize_t
    code: CodeRanges
    end_of_first: cython.ulonglong
    dropped: cython.Py_ssize_t
    reached: cython.Py_ssize_t

    function_count: cython.Py_ssize_t
    function_offset: cython.ulonglong[::1]
    function_unit: cython.uint[::1]
    function_pc: cython.uint[::1]
    function_a: cython.ulonglong[::1]
    function_b: cython.ulonglong[::1]
    function_decl_file: cython.uint[::1]
    function_decl_line: cython.uint[::1]

    node_count: cython.Py_ssize_t
    node_function: cython.uint[::1]
    node_depth: cython.uint[::1]
    node_origin: cython.ulonglong[::1]
    node_call_file: cython.uint[::1]
    node_call_line: cython.uint[::1]
    node_pc: cython.uint[::1]
    node_a: cython.ulonglong[::1]
    node_b: cython.ulonglong[::1]

    scope_count: cython.Py_ssize_t
    scope_child: cython.ulonglong[::1]
    scope_parent: cython.ulonglong[::1]

    stack_function: cython.longlong[::1]
    stack_inline: cython.uint[::1]
    stack_scopes: cython.uint[::1]
    open_scope: cython.ulonglong[::1]
    open_recorded: cython.uint[::1]
    open_is_function: cython.uint[::1]

    def __init__(
        self,
        reader: DieReader,
        addresses: bytes | memoryview,
        executable: list[tuple[int, int]],
        end_of_first: int = 0,
        size_bytes: int = 0,
    ) -> None:
        """``end_of_first`` is where the one function ends that may start at address 0; 0 where any may.

        ``size_bytes`` is about how much of `.debug_info` will be walked in one go.
        """
        self.reader = reader
        self.end_of_first = end_of_first
        self.dropped = 0
        self.reached = 0
        self.addresses = NumberReader(addresses, little_endian=reader.little_endian)
        self.unit_index = 0
        self.next_unit = 0
        self.code = CodeRanges(executable)
        self.function_count = 0
        self.node_count = 0
        self.scope_count = 0
        # Seldom more are found; room that is not used takes no memory.
        functions = scopes = 64 + size_bytes // 128
        nodes = 64 + size_bytes // 64
        self.function_offset = zeros("Q", functions)
        self.function_unit = zeros("I", functions)
        self.function_pc = zeros("I", functions)
        self.function_a = zeros("Q", functions)
        self.function_b = zeros("Q", functions)
        self.function_decl_file = zeros("I", functions)
        self.function_decl_line = zeros("I", functions)
        self.node_function = zeros("I", nodes)
        self.node_depth = zeros("I", nodes)
        self.node_origin = zeros("Q", nodes)
        self.node_call_file = zeros("I", nodes)
        self.node_call_line = zeros("I", nodes)
        self.node_pc = zeros("I", nodes)
        self.node_a = zeros("Q", nodes)
        self.node_b = zeros("Q", nodes)
        self.scope_child = zeros("Q", scopes)
        self.scope_parent = zeros("Q", scopes)
        self.stack_function = zeros("q", MAX_DEPTH + 2)
        self.stack_inline = zeros("I", MAX_DEPTH + 2)
        self.stack_scopes = zeros("I", MAX_DEPTH + 2)
        self.open_scope = zeros("Q", MAX_DEPTH + 2)
        self.open_recorded = zeros("I", MAX_DEPTH + 2)
        self.open_is_function = zeros("I", MAX_DEPTH + 2)

    def begin(self) -> None:
        """Empties the columns, whose memory is used again: what was read from them before is no longer there."""
        self.function_count = 0
        self.node_count = 0
        self.scope_count = 0
        self.dropped = 0

    def dropped_count(self) -> int:
        """How many functions and inlined calls have bounds that are malformed or, for functions, not in code."""
        return self.dropped

    def walk(self, units: UnitColumns, first: int, last: int) -> list[str]:
        """Walks the units ``first:last``; gives what was wrong with them. What came before damage stays in the columns."""
        warnings: list[str] = []
        stop: cython.Py_ssize_t = last
        self.units = units
        self.next_unit = first
        while self.next_unit < stop:
            try:
                with cython.nogil:
                    self._walk_units(stop)
            except (MalformedDwarf, IndexError) as error:
                offset, end = units.span(self.next_unit)
                reason = (
                    error.message
                    if isinstance(error, MalformedDwarf)
                    else f"a DIE of the unit at 0x{offset:x} is cut off"
                )
                warnings.append(
                    f"unit at 0x{offset:x}: {reason}; what follows 0x{self.reached:x} in it is lost, "
                    f"up to {end - self.reached} of its {end - offset} bytes"
                )
                self.next_unit += 1
        return warnings

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _walk_units(self, stop: cython.Py_ssize_t) -> cython.int:
        index: cython.Py_ssize_t
        while self.next_unit < stop:
            index = self.next_unit
            if self.units.walked[index]:
                self.reached = self.units.first_die[index]
                self.unit_index = index
                self.reader.enter_unit(self.units, index)
                self._walk(self.units.first_die[index], self.units.end[index])
            self.next_unit = index + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _walk(self, p: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        data: cython.const[cython.uchar][::1] = self.reader.data
        code_index: cython.int[::1] = self.reader.abbrevs.code_index
        kinds: cython.int[::1] = self.reader.abbrevs.kind
        children: cython.int[::1] = self.reader.abbrevs.children
        skip_first: cython.int[::1] = self.reader.abbrevs.skip_first
        steps: cython.int[::1] = self.reader.abbrevs.skip_step
        code_first: cython.Py_ssize_t = self.reader.code_first
        code_count: cython.Py_ssize_t = self.reader.code_count
        stack_function: cython.longlong[::1] = self.stack_function
        stack_inline: cython.uint[::1] = self.stack_inline
        stack_scopes: cython.uint[::1] = self.stack_scopes
        depth: cython.int = 0
        die: cython.Py_ssize_t
        code: cython.Py_ssize_t
        abbrev: cython.int
        kind: cython.int
        step: cython.int
        i: cython.int
        last: cython.int
        function: cython.longlong = -1
        inline_depth: cython.uint = 0
        scopes: cython.uint = 0
        child_function: cython.longlong
        child_inline: cython.uint
        child_scopes: cython.uint
        stack_function[0] = -1
        stack_inline[0] = 0
        stack_scopes[0] = 0
        while p < end:
            die = p
            code = data[p]
            p += 1
            if code >= 0x80:
                abbrev = self.reader.abbrev_at(die)
                p = self.reader.position
                if abbrev < 0:
                    code = 0
            elif code:
                abbrev = code_index[code_first + code] if code < code_count else -1
                if abbrev < 0:
                    self.reader.abbrev_at(die)
            else:
                abbrev = -1
            if code == 0:
                if depth <= 1:
                    break
                depth -= 1
                function = stack_function[depth]
                inline_depth = stack_inline[depth]
                scopes = stack_scopes[depth]
                continue
            kind = kinds[abbrev]
            child_function = function
            child_inline = inline_depth
            child_scopes = scopes
            if kind >= INTERESTING:
                p = self.reader.capture(p, abbrev)
                self.reached = p
                if kind != KIND_INLINED:
                    child_function = self._function(die)
                    child_inline = 0
                    if self.reader.present & HAS_OTHER_NAME == 0 and scopes:
                        beside: cython.bint = kind == KIND_ENTRY_POINT and self.open_is_function[scopes - 1] != 0
                        self._scope(die, scopes - 1 if beside else scopes)
                    if children[abbrev] and scopes < DEPTH_LIMIT:
                        child_scopes = self._open(die, scopes, kind)
                elif function >= 0:
                    child_inline = self._node(function, inline_depth)
            else:
                i = skip_first[abbrev]
                last = skip_first[abbrev + 1]
                while i < last:
                    step = steps[i]
                    if step >= 0:
                        p += step
                    elif step == STEP_LEB:
                        while data[p] >= 0x80:
                            p += 1
                        p += 1
                    else:
                        p = self.reader.skip_form(p, step)
                    i += 1
                if kind:
                    # What a function merely declares (`extern` in a block) stands elsewhere.
                    if (kind == KIND_DECLARATION and scopes and not self.open_is_function[scopes - 1]) or (
                        kind == KIND_ABSTRACT and scopes
                    ):
                        self._scope(die, scopes)
                    if kind != KIND_DECLARATION and children[abbrev] and scopes < DEPTH_LIMIT:
                        child_scopes = self._open(die, scopes, kind)
            if children[abbrev]:
                depth += 1
                if depth >= DEPTH_LIMIT:
                    with cython.gil:
                        raise MalformedDwarf(f"the DIE at 0x{die:x} is nested too deep")
                stack_function[depth] = child_function
                stack_inline[depth] = child_inline
                stack_scopes[depth] = child_scopes
                function = child_function
                inline_depth = child_inline
                scopes = child_scopes
            elif depth == 0:
                break
        if p > end:
            with cython.gil:
                raise MalformedDwarf(f"a DIE runs past the end of its unit at 0x{end:x}")
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFE, check=True)
    def _open(self, die: cython.Py_ssize_t, scopes: cython.uint, kind: cython.int) -> cython.uint:
        """Makes a DIE the innermost scope of those below it; gives how many are open then."""
        self.open_scope[scopes] = die
        self.open_recorded[scopes] = 0
        self.open_is_function[scopes] = kind >= KIND_NAMED_ELSEWHERE
        return scopes + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-2)
    def _function(self, die: cython.Py_ssize_t) -> cython.longlong:
        """Keeps a subprogram; gives its index, or -1 where it is plainly dead."""
        pc: cython.uint
        a: cython.ulonglong = 0
        b: cython.ulonglong = 0
        if self.reader.present & HAS_RANGES:
            pc = PC_RANGES
            a = self.reader.value[SLOT_RANGES]
            b = self.reader.form[SLOT_RANGES]
        elif self.reader.present & HAS_BOUNDS == HAS_BOUNDS:
            pc = PC_BOUNDS
            a = self._address(self.reader.form[SLOT_LOW_PC], self.reader.value[SLOT_LOW_PC])
            b = self._high(a)
            if b <= a or b > self.code.end_at(a):
                if b != a and not self._dead(a):
                    self.dropped += 1
                return -1
            if a == 0 and self.end_of_first != 0 and b != self.end_of_first:
                return -1
        else:
            return -1
        n: cython.Py_ssize_t = self.function_count
        if n >= self.function_offset.shape[0] if cython.compiled else n >= len(self.function_offset):
            with cython.gil:
                self._grow_functions()
        self.function_offset[n] = die
        self.function_unit[n] = self.unit_index
        self.function_pc[n] = pc
        self.function_a[n] = a
        self.function_b[n] = b
        self.function_decl_file[n] = self._small(SLOT_DECL_FILE)
        self.function_decl_line[n] = self._small(SLOT_DECL_LINE)
        self.function_count = n + 1
        return n

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFE, check=True)
    def _node(self, function: cython.longlong, depth: cython.uint) -> cython.uint:
        """Keeps an inlined subroutine; gives its depth. One that states no code is kept until nothing was found in it, either."""
        pc: cython.uint = PC_NONE
        a: cython.ulonglong = 0
        b: cython.ulonglong = 0
        if self.reader.present & HAS_RANGES:
            pc = PC_RANGES
            a = self.reader.value[SLOT_RANGES]
            b = self.reader.form[SLOT_RANGES]
        elif self.reader.present & HAS_BOUNDS == HAS_BOUNDS:
            pc = PC_BOUNDS
            a = self._address(self.reader.form[SLOT_LOW_PC], self.reader.value[SLOT_LOW_PC])
            b = self._high(a)
            if b <= a:
                pc = PC_NONE
                if b < a and not self._dead(a):
                    self.dropped += 1
        self._forget_empty_nodes(function, depth)
        n: cython.Py_ssize_t = self.node_count
        if n >= self.node_origin.shape[0] if cython.compiled else n >= len(self.node_origin):
            with cython.gil:
                self._grow_nodes()
        self.node_function[n] = function
        self.node_depth[n] = depth + 1
        self.node_origin[n] = self.reader.reference(SLOT_ABSTRACT_ORIGIN)
        self.node_call_file[n] = self._small(SLOT_CALL_FILE)
        self.node_call_line[n] = self._small(SLOT_CALL_LINE)
        self.node_pc[n] = pc
        self.node_a[n] = a
        self.node_b[n] = b
        self.node_count = n + 1
        return depth + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _forget_empty_nodes(self, function: cython.longlong, depth: cython.uint) -> cython.int:
        """Drops the nodes kept last that state no code and are closed, where a node of that function comes next, ``depth`` deep."""
        last: cython.Py_ssize_t = self.node_count - 1
        while last >= 0 and self.node_pc[last] == PC_NONE:
            if self.node_function[last] < function or (
                self.node_function[last] == function and self.node_depth[last] <= depth
            ):
                break
            last -= 1
        self.node_count = last + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _scope(self, die: cython.Py_ssize_t, scopes: cython.uint) -> cython.int:
        """Keeps the scopes that a DIE without a linkage name stands in, each scope once while it is open."""
        child: cython.ulonglong = die
        level: cython.uint = scopes
        while level > 0:
            n: cython.Py_ssize_t = self.scope_count
            if n >= self.scope_child.shape[0] if cython.compiled else n >= len(self.scope_child):
                with cython.gil:
                    self.scope_child = grown(self.scope_child, n + 1)
                    self.scope_parent = grown(self.scope_parent, n + 1)
            self.scope_child[n] = child
            self.scope_parent[n] = self.open_scope[level - 1]
            self.scope_count = n + 1
            child = self.open_scope[level - 1]
            level -= 1
            if self.open_recorded[level]:
                break
            self.open_recorded[level] = 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFE, check=True)
    def _small(self, slot: cython.int) -> cython.uint:
        """A file index or a line number: 0 where it is absent or wild."""
        if not self.reader.present >> slot & 1:
            return 0
        raw: cython.ulonglong = self.reader.value[slot]
        if raw >= MOST_SMALL:
            return 0
        return cython.cast(cython.uint, raw)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _address(self, form: cython.int, raw: cython.ulonglong) -> cython.ulonglong:
        """The address that an address-class value means (DWARF 5 §7.5.5); 0 where .debug_addr does not hold it."""
        if form == FORM_ADDR:
            return raw
        if _is_index(form):
            at: cython.longlong = self.units.address_place(self.unit_index, raw, self.addresses.data_size)
            return self.addresses.fixed(at, self.reader.address_size) if at >= 0 else 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _high(self, low: cython.ulonglong) -> cython.ulonglong:
        """DW_AT_high_pc as an address: a constant counts from the low pc (DWARF 4 §2.17.2)."""
        form: cython.int = self.reader.form[SLOT_HIGH_PC]
        raw: cython.ulonglong = self.reader.value[SLOT_HIGH_PC]
        if form == FORM_ADDR or _is_index(form):
            return self._address(form, raw)
        if raw > ALL_ONES - low:
            return 0
        return low + raw

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _dead(self, start: cython.ulonglong) -> cython.bint:
        """Whether an address is one that linkers give to code that they drop: below all code, or the last but one or two there are."""
        top: cython.ulonglong = ALL_ONES >> (64 - 8 * self.reader.address_size)
        return start >= top - 1 or start < self.code.start[0]

    def _grow_functions(self) -> None:
        wanted = self.function_count + 1
        self.function_offset = grown(self.function_offset, wanted)
        self.function_unit = grown(self.function_unit, wanted)
        self.function_pc = grown(self.function_pc, wanted)
        self.function_a = grown(self.function_a, wanted)
        self.function_b = grown(self.function_b, wanted)
        self.function_decl_file = grown(self.function_decl_file, wanted)
        self.function_decl_line = grown(self.function_decl_line, wanted)

    def _grow_nodes(self) -> None:
        wanted = self.node_count + 1
        self.node_function = grown(self.node_function, wanted)
        self.node_depth = grown(self.node_depth, wanted)
        self.node_origin = grown(self.node_origin, wanted)
        self.node_call_file = grown(self.node_call_file, wanted)
        self.node_call_line = grown(self.node_call_line, wanted)
        self.node_pc = grown(self.node_pc, wanted)
        self.node_a = grown(self.node_a, wanted)
        self.node_b = grown(self.node_b, wanted)

    def functions(self) -> dict[str, memoryview]:
        """The function columns by name, cut to their length."""
        n = self.function_count
        return {
            "offset": memoryview(self.function_offset)[:n],
            "unit": memoryview(self.function_unit)[:n],
            "pc": memoryview(self.function_pc)[:n],
            "a": memoryview(self.function_a)[:n],
            "b": memoryview(self.function_b)[:n],
            "decl_file": memoryview(self.function_decl_file)[:n],
            "decl_line": memoryview(self.function_decl_line)[:n],
        }

    def nodes(self) -> dict[str, memoryview]:
        """The node columns by name, cut to their length."""
        self._forget_empty_nodes(-1, 0)
        n = self.node_count
        return {
            "function": memoryview(self.node_function)[:n],
            "depth": memoryview(self.node_depth)[:n],
            "origin": memoryview(self.node_origin)[:n],
            "call_file": memoryview(self.node_call_file)[:n],
            "call_line": memoryview(self.node_call_line)[:n],
            "pc": memoryview(self.node_pc)[:n],
            "a": memoryview(self.node_a)[:n],
            "b": memoryview(self.node_b)[:n],
        }

    def scopes(self) -> dict[str, memoryview]:
        """The scope columns by name, cut to their length."""
        n = self.scope_count
        return {"child": memoryview(self.scope_child)[:n], "parent": memoryview(self.scope_parent)[:n]}


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_index(form: cython.int) -> cython.bint:
    """Whether a form gives an address by its index in `.debug_addr`."""
    return form == FORM_ADDRX or FORM_ADDRX1 <= form <= FORM_ADDRX4 or form == FORM_GNU_ADDR_INDEX
