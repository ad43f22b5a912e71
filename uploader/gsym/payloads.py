"""What function infos hold for each function of a table: its lines and its inlined calls."""

from __future__ import annotations

from array import array

from uploader.gsym.function_info_decoder import FunctionInfos
from uploader.gsym.inline_tree_decoder import decode_inline_trees
from uploader.gsym.layout import Data, Header
from uploader.gsym.line_table_decoder import decode_line_tables
from uploader.symbols.columns import SymbolTable


def decode_payloads(
    data: Data, header: Header, table: SymbolTable, infos: FunctionInfos, *, strict: bool
) -> array[int]:
    """Fills the columns of rows, nodes and ranges of a table that has its pieces; gives the nodes' names as string offsets.

    See `decode_line_tables` and `decode_inline_trees`.
    """
    decode_line_tables(data, header, table, infos.lines, strict=strict)
    return decode_inline_trees(data, header, table, infos.inlines, strict=strict)
