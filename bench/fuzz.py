"""Coverage-guided fuzzing of what reads bytes from outside: any bytes give an answer or an `InputError`, in bounded time and memory.

    pip install atheris
    python bench/fuzz.py elf CORPUS -max_total_time=3600       # ELF, DWARF, symbol tables, merge, encode
    python bench/fuzz.py gsym CORPUS -max_total_time=3600      # GSYM decode and lookup

CORPUS is a folder that seeds are written to and findings are added to; what follows it goes to libFuzzer. Keep what crashes as a test.
Fuzz the uncompiled core: coverage is what Python reports.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["uploader"]):
    from uploader.errors import InputError
    from uploader.gsym.decode import decode
    from uploader.gsym.encode import encode
    from uploader.gsym.lookup import Gsym
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.sources.extract import build
    from uploader.sources.identify import identify

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


def main() -> None:
    """Fuzzes what the command line names."""
    kind, corpus, *rest = sys.argv[1:]
    if not any(Path(corpus).glob("*")):
        seed(kind, Path(corpus))
    limits = ["-timeout=30", "-rss_limit_mb=2048", "-max_len=65536"]
    atheris.Setup([sys.argv[0], corpus, *limits, *rest], read_elf if kind == "elf" else read_gsym)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
