"""What build systems leave for themselves: known by where it lies, as each of them names it, and never shipped.

Seen in real builds of CMake 3.25, Meson 1.12, Cargo and autoconf 2.71, and for Bazel in its documented output layout
(https://bazel.build/remote/output-directories).
"""

from __future__ import annotations

import re

from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile

PROCEDURAL_MACROS = "Rust's procedural macros, which run in the compiler"
_MACRO_SYMBOL = b"rustc_proc_macro_decls_"

_KINDS = (
    # All but the targets' own folders, NAME.dir, is CMake's: CompilerIdC, CMakeScratch, _CMakeLTOTest-C, FindOpenMP, ….
    ("CMake's checks of the compiler", r"CMakeFiles/(?![^/]*\.dir/)[^/]+(?:/|\.bin\Z)"),
    ("CMake's checks of the compiler", r"cmTC_[0-9a-f]{4,6}(?:\.dir/|\.exe\Z|\Z)"),
    ("Meson's checks of the compiler", r"meson-private/"),
    ("Cargo's build scripts", r"build/[^/]+[-/][0-9a-f]{16}/(?:[^/]+/)*build[-_]script[-_][^/]*\Z"),
    ("checks of a configure script", r"conftest[0-9]*(?:\.[^/]*)?\Z"),
    ("checks of a configure script", r"conftest\.dir/"),
    ("Bazel's tools for building", r"bazel-out/(?:[^/]*-exec(?:-[^/]*)?|host)/"),
    (
        "Bazel's tools for building",
        r"(?:embedded_tools/|_bin/(?:process-wrapper|linux-sandbox|daemonize|build-runfiles)\Z)",
    ),
)
_FOUND = re.compile("|".join(f"(?P<k{number}>(?:^|/){pattern})" for number, (_, pattern) in enumerate(_KINDS)))


def whose(path: str) -> str | None:
    """What a file is to the build system that left it for itself; None for all others. ``path`` is from the folder given on."""
    found = _FOUND.search(path)
    return None if found is None or found.lastgroup is None else _KINDS[int(found.lastgroup[1:])][0]


def is_procedural_macro(elf: ElfFile) -> bool:
    """Whether a library is a part of the Rust compiler while it builds: it shows the symbol by which that finds its macros."""
    names = elf.section(".dynstr")
    if elf.section(".rustc") is None or names is None:
        return False
    try:
        return _MACRO_SYMBOL in bytes(elf.contents(names))
    except InputError:
        return False
