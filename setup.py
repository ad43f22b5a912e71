"""Builds symup's core: the plain Python modules that Cython compiles in pure mode.

A module belongs to the core when it says ``import cython``. ``SYMUP_COMPILE=1`` fails where the core
can't be compiled (CI and wheels), ``0`` never compiles, unset tries and says what happened.
"""

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
MODE = os.environ.get("SYMUP_COMPILE", "")


def core_modules() -> list[str]:
    """The sources of the core, relative to the root, sorted."""
    marks_core = re.compile(r"^import cython$", re.MULTILINE)
    return sorted(
        str(source.relative_to(ROOT))
        for source in (ROOT / "uploader").rglob("*.py")
        if marks_core.search(source.read_text(encoding="utf-8"))
    )


class BuildCore(build_ext):
    """Compiles the core; without a working compiler, leaves it as plain Python unless told to fail."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            if MODE == "1":
                raise
            self.extensions = []
            print(
                f"symup: the core was not compiled ({error}); symup will run as plain Python, about 20 times slower. "
                "Install a C compiler and the Python headers, then reinstall.",
                file=sys.stderr,
            )


def extensions() -> list[Extension]:
    """One extension module for each core module, or none where compiling is switched off."""
    if MODE == "0":
        return []
    from Cython.Build import cythonize

    return cythonize(
        [
            Extension(
                source.removesuffix(".py").replace(os.sep, "."),
                [source],
                extra_compile_args=["-O3"] if os.name == "posix" else [],
            )
            for source in core_modules()
        ],
        compiler_directives={
            "language_level": 3,
            "boundscheck": True,
            "wraparound": False,
            "initializedcheck": False,
            "cdivision": False,
            "annotation_typing": True,
            "freethreading_compatible": True,
        },
        build_dir="build/cython",
        quiet=True,
    )


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildCore})
