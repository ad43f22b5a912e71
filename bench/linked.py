"""Links a relocatable file with every code section at the address that symup gives it, so that ordinary readers can be asked about it.

Readers count addresses of a ``.o`` or ``.ko`` within each section; a linker moves nothing but the sections' places. The relocations
are then lld's work, which shares nothing with symup's.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

from elftools.elf.elffile import ELFFile

LINKER = os.environ.get("LLD", "ld.lld-22")
OBJCOPY = os.environ.get("OBJCOPY", "objcopy")
BEHIND = 1 << 20


def is_relocatable(path: Path) -> bool:
    """Whether the file is an ELF file of type ET_REL."""
    with path.open("rb") as stream:
        return bool(ELFFile(stream)["e_type"] == "ET_REL")


def link(path: Path, layout: list[tuple[str, int]], out: Path) -> None:
    """Links ``path`` to ``out`` with the sections of ``layout`` (name, address) where it says.

    Raises `RuntimeError` where the linker fails, and where two code sections have one name, which a linker would join.
    """
    if twice := [name for name, count in Counter(name for name, _ in layout).items() if count > 1]:
        raise RuntimeError(f"{path.name} has several sections called {twice[0]}")
    path = _inflated(path, out.with_suffix(".inflated"))
    script = out.with_suffix(".ld")
    ordered = sorted(layout, key=lambda one: one[1])
    places = [f'"{name}" {address:#x} : {{ KEEP(*("{name}")) }}' for name, address in ordered]
    behind = (ordered[-1][1] if ordered else 0) + BEHIND
    with path.open("rb") as stream:
        code = {name for name, _ in layout}
        others = [
            section.name
            for section in ELFFile(stream).iter_sections()
            if section["sh_flags"] & 2 and section["sh_size"] and section.name not in code
        ]
    places += [f". = {behind + (path.stat().st_size & ~0xFFFF):#x};"]
    places += [f'"{name}" : {{ KEEP(*("{name}")) }}' for name in dict.fromkeys(others)]
    script.write_text("SECTIONS {\n" + "\n".join(places) + "\n}\n")
    command = [
        LINKER,
        "-e",
        "0",
        "--noinhibit-exec",
        "--no-relax",
        "--no-check-sections",
        "--unresolved-symbols=ignore-all",
    ]
    command += ["-z", "norelro", "-z", "notext", "-T", str(script), str(path), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if not out.exists():
        raise RuntimeError(f"{LINKER} could not link {path.name}: {done.stderr.strip()[-500:]}")


def _inflated(path: Path, out: Path) -> Path:
    """The file itself or, where it has ``.zdebug`` sections, which neither lld nor llvm-symbolizer reads any more, a copy without."""
    with path.open("rb") as stream:
        if not any(section.name.startswith(".zdebug") for section in ELFFile(stream).iter_sections()):
            return path
    done = subprocess.run(
        [OBJCOPY, "--decompress-debug-sections", str(path), str(out)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{OBJCOPY} could not inflate {path.name}: {done.stderr.strip()[-500:]}")
    return out
