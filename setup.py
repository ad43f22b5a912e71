"""Builds symup's core: the plain Python modules that Cython compiles in pure mode.

A module belongs to the core when it says ``import cython``. ``SYMUP_COMPILE=1`` fails where the core
can't be compiled (CI and wheels), ``0`` never compiles, unset tries and says what happened.

What Cython would otherwise copy into every module (memoryviews, mostly) is one module of its own: a third of the build time.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.editable_wheel import editable_wheel

ROOT = Path(__file__).parent
SHARED = "uploader._cython"
C_FLAGS = ["-O3", "-g0"] if os.name == "posix" else []
MODE = os.environ.get("SYMUP_COMPILE", "")
NOT_COMPILED = (
    "symup: the core was not compiled ({reason}); symup will run as plain Python, up to 40 times slower. "
    "Install a C compiler and the Python headers, then reinstall."
)


def core_modules() -> list[str]:
    """The sources of the core, relative to the root, sorted."""
    marks_core = re.compile(r"^import cython$", re.MULTILINE)
    return sorted(
        str(source.relative_to(ROOT))
        for source in (ROOT / "uploader").rglob("*.py")
        if marks_core.search(source.read_text(encoding="utf-8"))
    )


class BuildCore(build_ext):
    """Compiles the core; without a working compiler, leaves all of it as plain Python unless told to fail.

    A core compiled in part would mix the two, so whatever was finished before the failure goes.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            if MODE == "1":
                raise
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []
            print(NOT_COMPILED.format(reason=error), file=sys.stderr)


class EditableWheel(editable_wheel):
    """Clears the compiled modules of an earlier build out of the tree: they would hide the sources beside them."""

    def run(self) -> None:
        for source in [*core_modules(), SHARED.replace(".", os.sep) + ".py"]:
            for compiled in (ROOT / source).parent.glob(Path(source).stem + ".*.so"):
                compiled.unlink()
        super().run()


def extensions() -> list[Extension]:
    """One extension module for each core module, or none where compiling is switched off or Cython can't."""
    if MODE == "0":
        return []
    try:
        from Cython.Build import cythonize

        return list(
            cythonize(
                [
                    Extension(
                        source.removesuffix(".py").replace(os.sep, "."),
                        [source],
                        extra_compile_args=C_FLAGS,
                    )
                    for source in core_modules()
                ]
                + [Extension(SHARED, [SHARED.replace(".", os.sep) + ".c"], extra_compile_args=C_FLAGS)],
                shared_utility_qualified_name=SHARED,
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
        )
    except Exception as error:
        if MODE == "1":
            raise
        print(NOT_COMPILED.format(reason=error), file=sys.stderr)
        return []


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildCore, "editable_wheel": EditableWheel})
