"""symup turns what a build leaves behind into compact, verified symbol files, and gets them into a symbol store."""

__version__ = "0.1.0"
