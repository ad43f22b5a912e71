from uploader.core.search cimport first_after
from uploader.symbols.inline_clipper cimport InlineClipper
from uploader.symbols.piece_plan cimport PlanColumns
from uploader.symbols.source_view cimport SourceView
from uploader.symbols.table_columns cimport GrowingTable
