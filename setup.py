"""Builds symup's core: the plain Python modules that Cython compiles in pure mode.

A module belongs to the core when it says ``import cython``. ``SYMUP_COMPILE=1`` fails where the core
can't be compiled (CI and wheels), ``0`` never compiles, unset tries and says what happened.

Compiled, symup needs nothing of Cython; plain, it needs the types that Cython's pure mode names. So what is installed
beside it depends on whether this machine can compile, which is tried on a line of C before anything else.

What Cython would otherwise copy into every module (memoryviews, mostly) is one module of its own: a third of the build time.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.editable_wheel import editable_wheel
from setuptools.errors import BaseError, CCompilerError

ROOT = Path(__file__).parent
SHARED = "uploader.core._cython"
C_FLAGS = ["-O3", "-g0"] if os.name == "posix" else []
MODE = os.environ.get("SYMUP_COMPILE", "")
NOT_COMPILED = (
    "symup: the core was not compiled ({reason}); symup will run as plain Python, up to 40 times slower. "
    "Install a C compiler and the Python headers, then reinstall."
)
DEPENDENCIES = [
    "cpp-demangle>=0.1.3; sys_platform == 'linux' and platform_machine == 'x86_64'",
    "httpcore>=1.0",
    "httpx>=0.27",
    "deflate>=0.9; platform_machine in 'x86_64 AMD64 aarch64 arm64 ARM64'",
    "keyring>=25",
    "platformdirs>=4",
    "pyelftools>=0.31",
    "ruamel.yaml>=0.18",
    "rust-demangler>=1.0",
    "tqdm>=4.66",
    "typer>=0.26,<0.29",  # from 0.29 on it imports pydantic at every start: 0.1 s
    "zstandard>=0.22",
]
PLAIN_DEPENDENCIES = ["cython>=3.2"]


def core_modules() -> list[str]:
    """The sources of the core, relative to the root, sorted."""
    marks_core = re.compile(r"^import cython$", re.MULTILINE)
    return sorted(
        str(source.relative_to(ROOT))
        for source in (ROOT / "uploader").rglob("*.py")
        if marks_core.search(source.read_text(encoding="utf-8"))
    )


class BuildCore(build_ext):
    """Compiles the core side by side. A failure ends the installation: Cython isn't among what is installed with it."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()


def why_not() -> str:
    """Why this machine can't compile the core: what its compiler says of a line of C, or an empty text where it can."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text("#include <Python.h>\nPyMODINIT_FUNC PyInit_probe(void) { return 0; }\n", encoding="utf-8")
        command = build_ext(Distribution({"ext_modules": [Extension("probe", [str(source)])]}))
        command.build_lib = command.build_temp = folder
        try:
            command.ensure_finalized()
            command.run()
        except (BaseError, CCompilerError, OSError) as error:
            return str(error) or type(error).__name__
    return ""


class EditableWheel(editable_wheel):
    """Clears the compiled modules of an earlier build out of the tree: they would hide the sources beside them."""

    def run(self) -> None:
        for source in [*core_modules(), SHARED.replace(".", os.sep) + ".py"]:
            for compiled in (ROOT / source).parent.glob(Path(source).stem + ".*.so"):
                compiled.unlink()
        super().run()


def extensions() -> list[Extension]:
    """One extension module for each core module. Raises what Cython raises."""
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


reason = "SYMUP_COMPILE=0" if MODE == "0" else "" if MODE == "1" else why_not()
if reason and MODE != "0":
    print(NOT_COMPILED.format(reason=reason), file=sys.stderr)

setup(
    ext_modules=[] if reason else extensions(),
    install_requires=DEPENDENCIES + (PLAIN_DEPENDENCIES if reason else []),
    cmdclass={"build_ext": BuildCore, "editable_wheel": EditableWheel},
)
