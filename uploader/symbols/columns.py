"""The columns that extractors fill, merge reduces, and formats write and read.

Bulk data is held in flat columns, not objects: ``array('Q')`` for addresses, ``array('I')`` for ids, files, lines and
indexes. A column is any writable buffer of that item type, so that the compiled core reads it as a typed memoryview.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from uploader.core.columns import TYPE_INDEX, addresses, indexes
from uploader.symbols.range_counts import RangeCounts


@dataclass(slots=True, kw_only=True, repr=False)
class SymbolTable:
    """One table of disjoint code ranges ("pieces") with all that is known of each: what a GSYM file holds.

    Invariants (merge guarantees them, encoders rely on them, decoders check them):

    - pieces ascend by ``start``, are not empty and don't overlap; several pieces may belong to one function;
    - ``name`` indexes ``names``; ``names[0]`` is ``b""`` and is no piece's and no inline's name;
    - rows of piece ``i`` are ``row_first[i]:row_first[i + 1]`` of the row columns: addresses strictly ascend, lie in the
      piece, and the first row, where there is one, stands at ``start[i]``; no two neighbouring rows have both the same file
      and the same line;
    - ``row_file`` and ``call_file`` index ``files``; entry 0 is ``(b"", b"")`` and no row uses it; a ``call_file`` of 0 means
      that the call site is unknown; a ``row_line`` of 0 is code that belongs to no line;
    - inline nodes of piece ``i`` are ``node_first[i]:node_first[i + 1]`` of the node columns, in preorder; ``node_depth`` is 1 for
      one inlined straight into the function; the depth grows by at most one from a node to the next;
    - ranges of node ``j`` are ``range_first[j]:range_first[j + 1]`` of the range columns: ascending, disjoint, not empty, inside
      ranges of its parent; those of siblings don't overlap;
    - other names of piece ``i`` are ``alias_name[alias_first[i]:alias_first[i + 1]]``, none of them empty; where no piece has
      one, both columns are empty.
    """

    start: array[int] = field(default_factory=addresses)
    end: array[int] = field(default_factory=addresses)
    name: array[int] = field(default_factory=indexes)

    row_first: array[int] = field(default_factory=lambda: array(TYPE_INDEX, [0]))
    row_address: array[int] = field(default_factory=addresses)
    row_file: array[int] = field(default_factory=indexes)
    row_line: array[int] = field(default_factory=indexes)

    node_first: array[int] = field(default_factory=lambda: array(TYPE_INDEX, [0]))
    node_depth: array[int] = field(default_factory=indexes)
    node_name: array[int] = field(default_factory=indexes)
    node_call_file: array[int] = field(default_factory=indexes)
    node_call_line: array[int] = field(default_factory=indexes)
    range_first: array[int] = field(default_factory=lambda: array(TYPE_INDEX, [0]))
    range_start: array[int] = field(default_factory=addresses)
    range_end: array[int] = field(default_factory=addresses)

    alias_first: array[int] = field(default_factory=indexes)
    alias_name: array[int] = field(default_factory=indexes)

    names: Sequence[bytes] = (b"",)
    names_ascend: bool = False
    """Whether the names are known to be in their order, each once: nobody need sort them then."""
    files: Sequence[tuple[bytes, bytes]] = ((b"", b""),)
    """(directory, base name) pairs."""

    def __len__(self) -> int:
        return len(self.start)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class SourceColumns:
    """What one source says of a binary, before anything is decided: functions with ranges, inline trees, line tables.

    - The ranges of function ``i`` are ``function_range[i]:function_range[i + 1]`` of ``range_start`` and ``range_end``: ascending,
      disjoint. Its inline nodes are ``function_node[i]:function_node_end[i]`` of the node columns, in preorder.
    - ``function_table`` is the line table that speaks for it, or ``NONE``; the rows of table ``t`` are
      ``table_first[t]:table_first[t + 1]``, ascending by address; a row holds until the next, and one whose file is ``NONE`` says
      that nothing is known from there on.
    - Names index ``names`` (0: unknown). Files are slots: `file_at` turns one into (directory, base name).
    - Nothing is clipped: inlines may leave their functions, siblings may overlap, functions may overlap.
    """

    names: NameTable
    file_at: Callable[[int], tuple[bytes, bytes]]
    file_slots: int

    function_name: array[int] = field(default_factory=indexes)
    function_table: array[int] = field(default_factory=indexes)
    function_decl_file: array[int] = field(default_factory=indexes)
    function_decl_line: array[int] = field(default_factory=indexes)
    function_node: array[int] = field(default_factory=indexes)
    function_node_end: array[int] = field(default_factory=indexes)
    function_range: array[int] = field(default_factory=lambda: array(TYPE_INDEX, [0]))
    range_start: array[int] = field(default_factory=addresses)
    range_end: array[int] = field(default_factory=addresses)

    node_depth: array[int] = field(default_factory=indexes)
    node_name: array[int] = field(default_factory=indexes)
    node_call_file: array[int] = field(default_factory=indexes)
    node_call_line: array[int] = field(default_factory=indexes)
    node_range: array[int] = field(default_factory=lambda: array(TYPE_INDEX, [0]))
    node_range_start: array[int] = field(default_factory=addresses)
    node_range_end: array[int] = field(default_factory=addresses)

    table_first: array[int] = field(default_factory=lambda: array(TYPE_INDEX, [0]))
    row_address: array[int] = field(default_factory=addresses)
    row_file: array[int] = field(default_factory=indexes)
    row_line: array[int] = field(default_factory=indexes)
    sequence_start: array[int] = field(default_factory=addresses)
    """Every stretch of code that some line table speaks for, in any order."""
    sequence_end: array[int] = field(default_factory=addresses)
    sequence_table: array[int] = field(default_factory=indexes)
    range_counts: RangeCounts = field(default_factory=RangeCounts)
    """What became of ranges on their way into the columns."""


class NameTable:
    """Names by number, each once; number 0 is the empty name."""

    def __init__(self) -> None:
        self.names: list[bytes] = [b""]
        self.number_of: dict[bytes, int] = {b"": 0}
        self.nested: dict[int, bytes] = {}
        """The plain names of functions that stand in others, by the number of their name with its scopes."""

    def sorted_order(self) -> list[int]:
        """The numbers of all names, in the order of the names."""
        return sorted(range(len(self.names)), key=self.names.__getitem__)

    def renumber(self, order: Sequence[int]) -> None:
        """Numbers the names anew: the one that was ``order[i]`` is ``i``. The empty name has to stay the first."""
        self.names = [self.names[number] for number in order]
        # Hardly anybody names more from here on: those who do pay for finding names again.
        self.number_of = {}

    def intern_all(self, names: Iterable[bytes]) -> array[int]:
        """The numbers of names."""
        self.intern(b"")
        known, listed = self.number_of, self.names
        numbers = array(TYPE_INDEX)
        for name in names:
            number = known.get(name)
            if number is None:
                number = known[name] = len(listed)
                listed.append(name)
            numbers.append(number)
        return numbers

    def intern(self, name: bytes) -> int:
        """The number of a name, a new one where it is new."""
        if not self.number_of:
            self.number_of = {name: number for number, name in enumerate(self.names)}
        number = self.number_of.get(name)
        if number is None:
            number = self.number_of[name] = len(self.names)
            self.names.append(name)
        return number
