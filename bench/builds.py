"""Builds real binaries from the sources in ``bench/programs``, the way users' compilers and packagers do.

A recipe is a compiler, its flags, and what packaging does afterwards. Built files stay in a folder named by a digest of the
recipe, its sources and the tools' versions, so that a new compiler builds anew.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"

C_SOURCES = ("accounts.c", "ledger.c")
CXX_SOURCES = ("shapes.cc",)
RUST_SOURCES = ("words.rs",)
FREESTANDING_SOURCES = ("freestanding.c",)
HEADERS = ("ledger.h",)

CLANG = "clang-22"
CLANGXX = "clang++-22"
OBJCOPY = "objcopy"
LLD = "ld.lld-22"
LLVM_OBJCOPY = "llvm-objcopy-22"


class BuildUnavailable(Exception):
    """A compiler or a tool is missing here, or it fails; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one binary is made. ``after`` are packaging commands; ``{built}`` is the last file made, ``{out}`` the next."""

    name: str
    compiler: str
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    after: tuple[tuple[str, ...], ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """The commands that the recipe runs."""
        return (self.compiler, *dict.fromkeys(command[0] for command in self.after))


def _c(name: str, compiler: str, *flags: str, after: tuple[tuple[str, ...], ...] = ()) -> Recipe:
    return Recipe(name=name, compiler=compiler, sources=C_SOURCES, flags=flags, after=after)


def _cxx(name: str, compiler: str, *flags: str, after: tuple[tuple[str, ...], ...] = ()) -> Recipe:
    return Recipe(name=name, compiler=compiler, sources=CXX_SOURCES, flags=("-std=c++17", *flags), after=after)


def _rust(name: str, *flags: str) -> Recipe:
    return Recipe(name=name, compiler="rustc", sources=RUST_SOURCES, flags=("--edition=2021", *flags))


def _m32(name: str, compiler: str, *flags: str) -> Recipe:
    freestanding = ("-m32", "-ffreestanding", "-nostdlib", "-static", "-Wl,--build-id=sha1")
    return Recipe(name=name, compiler=compiler, sources=FREESTANDING_SOURCES, flags=(*freestanding, *flags))


def _objcopy(*options: str, tool: str = OBJCOPY) -> tuple[tuple[str, ...], ...]:
    return ((tool, *options, "{built}", "{out}"),)


_GCC_BUILD_ID = "-Wl,--build-id=sha1"

RECIPES = {
    recipe.name: recipe
    for recipe in (
        _c("gcc-dwarf4", "gcc", "-g", "-O2", "-gdwarf-4"),
        _c("gcc-dwarf5", "gcc", "-g", "-O2", "-gdwarf-5"),
        _c("gcc-dwarf5-O0", "gcc", "-g", "-O0", "-gdwarf-5"),
        _c("gcc-lto", "gcc", "-g", "-O2", "-flto"),
        _c("gcc-sections", "gcc", "-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections"),
        _c("gcc-g1", "gcc", "-g1", "-O2"),
        _c("gcc-stripped", "gcc", "-O2", "-rdynamic", after=(("strip", "-o", "{out}", "{built}"),)),
        _c("gcc-debug-file", "gcc", "-g", "-O2", after=_objcopy("--only-keep-debug")),
        _c("clang-dwarf4", CLANG, "-g", "-O2", "-gdwarf-4", _GCC_BUILD_ID),
        _c("clang-dwarf5", CLANG, "-g", "-O2", "-gdwarf-5", _GCC_BUILD_ID),
        _c(
            "clang-lld-sections",
            CLANG,
            *("-g", "-O2", "-ffunction-sections", "-fuse-ld=lld", "-Wl,--gc-sections", _GCC_BUILD_ID),
        ),
        _cxx("g++-dwarf4", "g++", "-g", "-O2", "-gdwarf-4"),
        _cxx("g++-dwarf5", "g++", "-g", "-O2", "-gdwarf-5"),
        _cxx("g++-dwarf5-O0", "g++", "-g", "-O0", "-gdwarf-5"),
        _cxx("g++-zlib", "g++", "-g", "-O2", after=_objcopy("--compress-debug-sections=zlib")),
        _cxx("g++-zstd", "g++", "-g", "-O2", after=_objcopy("--compress-debug-sections=zstd", tool=LLVM_OBJCOPY)),
        _cxx("g++-debug-file", "g++", "-g", "-O2", after=_objcopy("--only-keep-debug", "--compress-debug-sections")),
        _cxx("clang++-dwarf4", CLANGXX, "-g", "-O2", "-gdwarf-4", _GCC_BUILD_ID),
        _cxx("clang++-dwarf5", CLANGXX, "-g", "-O2", "-gdwarf-5", _GCC_BUILD_ID),
        _cxx("clang++-lld", CLANGXX, "-g", "-O3", "-fuse-ld=lld", _GCC_BUILD_ID),
        _rust("rustc", "-g", "-O"),
        _rust("rustc-debug", "-g"),
        _m32("gcc-m32-dwarf4", "gcc", "-g", "-O2", "-gdwarf-4"),
        _m32("gcc-m32-dwarf5", "gcc", "-g", "-O2", "-gdwarf-5"),
        _m32("gcc-mx32-dwarf5", "gcc", "-g", "-O2", "-gdwarf-5", "-mx32"),
    )
}
"""Every recipe by its name."""

_GROWING_UNIT = _cxx("growing-unit.o", "g++", "-c", "-g", "-O2", "-fPIC")
_LINKING_UNITS = (
    *("--noinhibit-exec", "--no-gc-sections", "--entry=0"),
    *("--compress-debug-sections=zlib", "--build-id=sha1"),
)


def build(recipe: Recipe, folder: Path) -> Path:
    """The binary of ``recipe`` below ``folder``, built where it isn't there yet; safe for several processes at once.

    Raises `BuildUnavailable` where a tool is missing or fails.
    """
    target = folder / f"{recipe.name}-{_digest(recipe)}" / recipe.name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building.", dir=folder) as fresh:
        built = Path(fresh) / "0"
        _run((recipe.compiler, *recipe.flags, *recipe.sources, "-o", str(built)))
        for step, command in enumerate(recipe.after, 1):
            out = Path(fresh) / str(step)
            _run(tuple(part.format(built=built, out=out) for part in command))
            built = out
        built.replace(target)
    return target


def grown(units: int, folder: Path) -> Path:
    """A shared object of so many units, each about 1 MB of ``.debug_info`` (inflated), with symbols of its own; built once.

    The units are copies of one: what grows is the amount, not the kind. Raises `BuildUnavailable` where a tool is missing or fails.
    """
    unit = build(_GROWING_UNIT, folder)
    target = unit.parent / f"grown-{units}"
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(prefix="growing.", dir=folder) as fresh:
        copies = [str(Path(fresh) / f"{number}.o") for number in range(units)]
        for number, copy in enumerate(copies):
            _run((OBJCOPY, f"--prefix-symbols=u{number}_", str(unit), copy))
        linked = Path(fresh) / "linked"
        names = Path(fresh) / "names"
        names.write_text("\n".join(copies))
        _run((LLD, *_LINKING_UNITS, f"@{names}", "-o", str(linked)))
        linked.replace(target)
    return target


def _digest(recipe: Recipe) -> str:
    digest = hashlib.sha256(repr(recipe).encode())
    for name in (*recipe.sources, *HEADERS):
        digest.update((PROGRAMS / name).read_bytes())
    for tool in recipe.tools:
        digest.update(_version(tool).encode())
    return digest.hexdigest()[:16]


@functools.cache
def _version(tool: str) -> str:
    return _run((tool, "--version"))


def _run(command: tuple[str, ...]) -> str:
    if shutil.which(command[0]) is None:
        raise BuildUnavailable(f"{command[0]} is not installed here")
    done = subprocess.run(
        command,
        cwd=PROGRAMS,
        env={**os.environ, "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise BuildUnavailable(f"{' '.join(command)} failed: {done.stderr.strip()[-2000:]}")
    return done.stdout
