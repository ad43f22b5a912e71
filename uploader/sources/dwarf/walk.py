"""One walk over the DIEs of a unit that keeps what symbols need: functions with code, what is inlined into them, and scopes.

The walk fills columns and resolves nothing: names stay offsets of DIEs, ranges stay references, so that each is decoded once and only
where it is wanted. One `Walk` belongs to one thread; the columns of several are joined afterwards, in the order of the units.
"""

from __future__ import annotations

import cython

from uploader.core.columns import zeros
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.code_found import CodeFound
from uploader.sources.dwarf.die import DieReader
from uploader.sources.dwarf.open_scopes import OpenScopes
from uploader.sources.dwarf.tables import FunctionTable, NodeTable, ScopeTable
from uploader.sources.dwarf.unit_columns import UnitColumns

MAX_DEPTH = 16384
DEPTH_LIMIT = cython.declare(cython.Py_ssize_t, MAX_DEPTH)

"""DIEs of this kind and those behind it are captured."""
HAS_OTHER_NAME = cython.declare(
    cython.longlong,
    1 << constants.SLOT_LINKAGE_NAME | 1 << constants.SLOT_ABSTRACT_ORIGIN | 1 << constants.SLOT_SPECIFICATION,
)


@cython.final
@cython.cclass
class Walk:
    """The tables of what the units walked so far hold."""

    reader: DieReader
    found: CodeFound
    scopes: OpenScopes
    units: UnitColumns
    next_unit: cython.Py_ssize_t
    reached: cython.Py_ssize_t
    stack_function: cython.longlong[::1]
    stack_inline: cython.uint[::1]
    stack_scopes: cython.uint[::1]

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
        self.found = CodeFound(reader, addresses, executable, end_of_first, size_bytes)
        self.scopes = OpenScopes(MAX_DEPTH, 64 + size_bytes // 128)
        self.next_unit = 0
        self.reached = 0
        self.stack_function = zeros("q", MAX_DEPTH + 1)
        self.stack_inline = zeros("I", MAX_DEPTH + 1)
        self.stack_scopes = zeros("I", MAX_DEPTH + 1)

    def begin(self) -> None:
        """Empties the tables, whose memory is used again: what was read from them before is no longer there."""
        self.found.functions.count = 0
        self.found.nodes.count = 0
        self.scopes.table.count = 0
        self.found.dropped = 0

    def dropped_count(self) -> int:
        """How many functions and inlined calls have bounds that are malformed or, for functions, not in code."""
        return self.found.dropped

    def functions(self) -> FunctionTable:
        """The functions found."""
        return self.found.functions.cut()

    def nodes(self) -> NodeTable:
        """What is inlined into them."""
        self.found.forget_last_nodes()
        return self.found.nodes.cut()

    def scope_pairs(self) -> ScopeTable:
        """The scopes that their names need."""
        return self.scopes.table.cut()

    def walk(self, units: UnitColumns, first: int, last: int) -> list[str]:
        """Walks the units ``first:last``; gives what was wrong with them. What came before damage stays in the columns."""
        warnings: list[str] = []
        stop: cython.Py_ssize_t = last
        self.units = units
        self.found.units = units
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
                self.found.unit = index
                self.reader.enter_unit(self.units, index)
                self._walk(self.units.first_die[index], self.units.end[index])
            self.next_unit = index + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _walk(self, p: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Walks one unit. What DIEs cost that nobody asks about is in this one loop, and its state in variables."""
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
            if kind >= constants.KIND_SUBPROGRAM:
                p = self.reader.capture(p, abbrev)
                self.reached = p
                if kind != constants.KIND_INLINED:
                    child_function = self.found.function(die)
                    child_inline = 0
                    child_scopes = self.scopes.enter(
                        die, kind, scopes, self.reader.present & HAS_OTHER_NAME == 0, children[abbrev]
                    )
                elif function >= 0:
                    child_inline = self.found.node(function, inline_depth)
            else:
                i = skip_first[abbrev]
                last = skip_first[abbrev + 1]
                while i < last:
                    step = steps[i]
                    if step >= 0:
                        p += step
                    elif step == constants.STEP_LEB:
                        while data[p] >= 0x80:
                            p += 1
                        p += 1
                    else:
                        p = self.reader.skip_form(p, step)
                    i += 1
                if kind != constants.KIND_OTHER:
                    child_scopes = self.scopes.enter(die, kind, scopes, True, children[abbrev])
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
