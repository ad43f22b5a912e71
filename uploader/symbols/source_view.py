"""The columns of a source as the core's loops read them: typed, and declared once (``source_view.pxd``)."""

from __future__ import annotations

import cython

from uploader.symbols.columns import SourceColumns


@cython.final
@cython.cclass
class SourceView:
    """Views of a source's columns, named alike; they are only read."""

    def __init__(self, source: SourceColumns) -> None:
        self.function_name, self.function_table = source.function_name, source.function_table
        self.function_decl_file, self.function_decl_line = source.function_decl_file, source.function_decl_line
        self.function_node, self.function_node_end = source.function_node, source.function_node_end
        self.function_range = source.function_range
        self.range_start, self.range_end = source.range_start, source.range_end
        self.node_depth, self.node_name = source.node_depth, source.node_name
        self.node_call_file, self.node_call_line = source.node_call_file, source.node_call_line
        self.node_range = source.node_range
        self.node_range_start, self.node_range_end = source.node_range_start, source.node_range_end
        self.table_first, self.row_address = source.table_first, source.row_address
        self.row_file, self.row_line = source.row_file, source.row_line
