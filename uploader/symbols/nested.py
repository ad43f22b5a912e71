"""Functions that stand in other functions, and have one name in every frame.

Compilers of C and Fortran call the symbol of such a function by its plain name and a number (``helper.0``), which says not where it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from uploader.symbols.columns import NameTable, SourceColumns
from uploader.symbols.merge import SymbolPieces


def name_with_scopes(source: SourceColumns, symbols: SymbolPieces, names: NameTable) -> None:
    """Gives the symbols of nested functions the names that their inlined copies bear; a ``.cold`` or ``.isra.0`` stays."""
    for function, number in enumerate(source.function_name):
        plain = names.nested.get(number)
        if plain is None:
            continue
        for start in source.range_start[source.function_range[function] : source.function_range[function + 1]]:
            at = bisect_left(symbols.start, start)
            if at == len(symbols.start) or symbols.start[at] != start:
                continue
            numbered = re.fullmatch(re.escape(plain) + rb"\.[0-9]+(\..+)?", names.names[symbols.name[at]])
            if numbered:
                symbols.name[at] = names.intern(names.names[number] + (numbered[1] or b""))
