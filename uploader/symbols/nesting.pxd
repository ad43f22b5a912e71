from uploader.symbols.ordering cimport order_by
