from uploader.core.search cimport first_after
from uploader.symbols.nesting cimport PieceColumns
from uploader.symbols.piece_plan cimport PlanColumns
from uploader.symbols.source_view cimport SourceView
