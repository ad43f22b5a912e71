"""Coverage-guided fuzzing of what reads bytes from outside: any bytes give an answer or an `InputError`, in bounded time and memory.

    pip install atheris
    python bench/fuzz.py elf CORPUS -max_total_time=3600       # ELF, DWARF, symbol tables, merge, encode
    python bench/fuzz.py gsym CORPUS -max_total_time=3600      # GSYM decode and lookup
    PYTHONPATH=. python bench/fuzz.py go CORPUS                # Go's pc-line table, from seeds that the tests' writers build

CORPUS is a folder that seeds are written to and findings are added to; what follows it goes to libFuzzer. Keep what crashes as a test.
Fuzz the uncompiled core: coverage is what Python reports.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["uploader"]):
    import uploader

    for module in pkgutil.walk_packages(uploader.__path__, "uploader."):
        # What is first imported while it fuzzes would not be watched.
        if module.name.split(".")[1] in ("core", "objects", "sources", "symbols", "gsym"):
            importlib.import_module(module.name)
    from uploader.errors import InputError
    from uploader.gsym.decode import decode
    from uploader.gsym.encode import encode
    from uploader.gsym.lookup import Gsym
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.sources.extract import build
    from uploader.sources.go.find import find_table
    from uploader.sources.go.read import read_go
    from uploader.sources.go.source import GoTable
    from uploader.sources.identify import identify
    from uploader.sources.port import Reading
    from uploader.symbols.columns import NameTable

SOURCE = """
static inline int twice(int a) { return a + a; }
__attribute__((noinline)) int add(int a, int b) { if (a > b) return twice(a) - b; return twice(b) + a; }
int main(int argc, char **argv) { (void)argv; return add(argc, 2) ? twice(argc) : 0; }
"""
FLAGS = (
    ["-g", "-O2"],
    ["-gdwarf-4", "-O2"],
    ["-gdwarf-2", "-O1"],
    ["-gdwarf-5", "-O2", "-gz=zlib"],
    ["-g", "-O2", "-c"],
    ["-g1", "-O2", "-ffunction-sections"],
    ["-gsplit-dwarf", "-O2"],
)


def read_elf(data: bytes) -> None:
    """The street from bytes to bytes; what comes out must be readable."""
    try:
        elf = ElfFile.from_bytes(data)
        identify(elf)
        extracted = build(elf)
        if len(extracted.table):
            decode(encode(extracted.table, base_address=elf.base_address, uuid=b""))
    except InputError:
        pass


def read_go_table(data: bytes) -> None:
    """The table wherever it is found; where the file says that it has one, the street from there on, too."""
    try:
        elf = ElfFile.from_bytes(data)
        if GoTable().present_in(elf):
            extracted = build(elf)
            if len(extracted.table):
                decode(encode(extracted.table, base_address=elf.base_address, uuid=b""))
        elif (table := find_table(elf)) is not None:
            found = read_go(table, Reading(executable=elf.executable_ranges(), names=NameTable()))
            for slot in found.columns.row_file[:256]:
                found.columns.file_at(slot)
    except InputError:
        pass


def read_gsym(data: bytes) -> None:
    """A full decode and a look-up."""
    with contextlib.suppress(InputError):
        decode(data)
    try:
        gsym = Gsym(data)
        gsym.lookup(gsym.header.base_address)
        gsym.lookup(gsym.header.base_address + 0x20)
    except InputError:
        pass


def seed(kind: str, corpus: Path) -> None:
    """Writes small real files to begin with."""
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, flags in enumerate(FLAGS):
            out = Path(folder) / f"seed{number}"
            link = [] if "-c" in flags else ["-nostdlib", "-Wl,-e,main", "-Wl,--build-id"]
            command = ["cc", *flags, *link, "-x", "c", "-", "-o", str(out)]
            if subprocess.run(command, input=SOURCE, text=True, check=False).returncode:
                continue
            if kind == "elf":
                shutil.copy(out, corpus)
            else:
                with ElfFile.open(str(out)) as elf:
                    table = build(elf).table
                    for version in (1, 2):
                        data = encode(table, base_address=elf.base_address, uuid=b"12345678", version=version)
                        (corpus / f"{out.name}.v{version}").write_bytes(data)


def seed_go(corpus: Path) -> None:
    """Writes small programs with each layout of Go's table, wherever it may lie and however it is found."""
    from tests.writers.pclntab_writer import Call, GoFunction, Row, Run, program

    rows = [Row(0, "/src/main.go", 7), Row(8, "/src/main.go", 8), Row(0x10, "/src/lib/l.go", 90), Row(0x20, "d.go", 3)]
    inlined = GoFunction(
        "main.main", 0, 0x40, rows,
        calls=[Call("lib.helper", 8, -1, "/src/main.go", 8), Call("lib.deep", 0x10, 0, "/src/lib/l.go", 90)],
        runs=[Run(0x10, -1), Run(0x20, 0), Run(0x30, 1), Run(0x40, -1)],
    )  # fmt: skip
    functions = [inlined, GoFunction("main.other[...]", 0x40, 0x80, [Row(0, "<autogenerated>", 1)])]
    machines = {"amd64": (64, True, 1), "386": (32, True, 1), "ppc64": (64, False, 4), "mips": (32, False, 4)}
    places: dict[str, dict[str, Any]] = {
        "section": {}, "pie": {"section": ".data.rel.ro.gopclntab"}, "relocated": {"relocated": True}, "renamed": {"section": ".r"},
        "bare": {"section_headers": False}, "noted": {"section_headers": False, "noted": True}, "alone": {"module": False},
    }  # fmt: skip
    corpus.mkdir(parents=True, exist_ok=True)
    for machine, (bits, little_endian, quantum) in machines.items():
        for version, moved in (("1.2", 0), ("1.16", 0), ("1.18", 0), ("1.20", 0), ("1.20", 1), ("1.20", 4)):
            for place, told in places.items():
                if bits == 32 and "relocated" in told:
                    continue  # those have no addends of their own
                data = program(
                    functions,
                    version=version,
                    moved=moved,
                    bits=bits,
                    little_endian=little_endian,
                    quantum=quantum,
                    **told,
                )
                (corpus / f"{machine}-{version}-{moved}-{place}").write_bytes(data)


READERS = {"elf": read_elf, "gsym": read_gsym, "go": read_go_table}


def main() -> None:
    """Fuzzes what the command line names."""
    kind, corpus, *rest = sys.argv[1:]
    if not any(Path(corpus).glob("*")):
        if kind == "go":
            seed_go(Path(corpus))
        else:
            seed(kind, Path(corpus))
    limits = ["-timeout=30", "-rss_limit_mb=2048", "-max_len=65536"]
    atheris.Setup([sys.argv[0], corpus, *limits, *rest], READERS[kind])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
