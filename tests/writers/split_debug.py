"""Real programs in the forms that packagers leave them in: whole, stripped, debug file apart, with mini-debuginfo."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = """
#include <stdio.h>
static __attribute__((noinline)) int hidden(int x) { return x * 3; }
static inline __attribute__((always_inline)) int folded(int x) { return hidden(x) + 1; }
__attribute__((visibility("default"))) int exported(int x) { puts("x"); return folded(x) + VARIANT; }
int main(int argc, char **argv) { (void)argv; return exported(argc); }
"""


def run(*command: str | Path, cwd: Path | None = None) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def build(target: Path, *flags: str, variant: int = 1, compiler: str = "gcc", build_id: str = "sha1") -> Path:
    """A program with everything in it. ``exported`` is in ``.dynsym``, ``hidden`` in ``.symtab`` only, ``folded`` is inlined."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = target.with_name(f".{target.name}.c")
    source.write_text(SOURCE)
    options = ("-g", "-O1", "-rdynamic", f"-Wl,--build-id={build_id}", f"-DVARIANT={variant}", *flags)
    run(compiler, *options, source.name, "-o", target.name, cwd=target.parent)
    source.unlink()
    return target


def debug_file(whole: Path, target: Path) -> Path:
    """What ``objcopy --only-keep-debug`` leaves of a program."""
    target.parent.mkdir(parents=True, exist_ok=True)
    run("objcopy", "--only-keep-debug", whole, target)
    return target


def stripped(whole: Path, target: Path, *, link: Path | None = None) -> Path:
    """The program as it is shipped; with ``.gnu_debuglink`` to a debug file where one is given."""
    target.parent.mkdir(parents=True, exist_ok=True)
    run("strip", "-o", target, whole)
    if link is not None:
        run("objcopy", f"--add-gnu-debuglink={link}", target)
    return target


def with_mini_debuginfo(whole: Path, target: Path) -> Path:
    """As Fedora's rpmbuild does it: the functions of ``.symtab`` that ``.dynsym`` lacks, in an xz-compressed ELF file."""
    folder = target.parent / f".{target.name}.mini"
    folder.mkdir(parents=True)
    debug = debug_file(whole, folder / "debug")
    dynamic = {line.split()[0] for line in run("nm", "-D", "--format=posix", "--defined-only", whole).splitlines()}
    functions = [
        line.split()[0]
        for line in run("nm", "--format=posix", "--defined-only", whole).splitlines()
        if line.split()[1] in "Tt"
    ]
    (folder / "keep").write_text("".join(name + "\n" for name in functions if name not in dynamic))
    run("objcopy", "-S", f"--keep-symbols={folder / 'keep'}", debug, folder / "mini")
    run("xz", "--keep", folder / "mini")
    stripped(whole, target)
    run("objcopy", "--add-section", f".gnu_debugdata={folder / 'mini.xz'}", target)
    return target


def build_id(path: Path) -> str:
    """The build-id in hex, as readelf tells it."""
    for line in run("readelf", "-nW", path).splitlines():
        if "Build ID:" in line:
            return line.rpartition(" ")[2]
    return ""
