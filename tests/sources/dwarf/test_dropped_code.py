"""Code that a linker dropped is nowhere, however it marks what still speaks of it: 0, 1, -1, -2, or gold's 0 with the addend added."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sources.dwarf.reading import read_file, unfolded
from uploader.inputs.linked import FilesBeside
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.read import read_dwarf
from uploader.symbols.columns import NameTable

SOURCE = """
static inline int folded(int x) { int sum = 0; for (int i = 0; i < x; i++) sum += i * x; return sum; }
#define DEAD __attribute__((section(".text.dead"), noinline))
DEAD int dead_first(int x) { return folded(x) * 3; }
DEAD int dead_second(int x) { return dead_first(x) + folded(x + 1); }
DEAD int dead_third(int x) { return dead_second(x) - folded(x + 2); }
__attribute__((cold, noinline)) void fail(void);
int live(int x) { if (x > 1000) fail(); return folded(x) + 1; }
void fail(void) { for (;;) ; }
void _start(void) { live(2); }
"""


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
@pytest.mark.parametrize("version", [3, 4, 5])
@pytest.mark.parametrize("kind", ["-static", "-shared"])
def test_only_what_was_kept_is_there(
    peer: Callable[[str], str], tmp_path: Path, linker: str, compiler: str, version: int, kind: str
) -> None:
    path = {"bfd": "ld.bfd", "gold": "ld.gold", "lld": "ld.lld-22"}[linker]
    (tmp_path / "a.c").write_text(SOURCE)
    flags = [f"-gdwarf-{version}", "-O2", "-ffunction-sections", "-ffreestanding", "-fPIC", "-fvisibility=hidden"]
    subprocess.run([peer(compiler), *flags, "-c", "a.c"], cwd=tmp_path, check=True, timeout=60)
    subprocess.run(
        [peer(path), kind, "--gc-sections", "-u", "live", "-e", "_start", "-o", "a", "a.o"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=60,
    )
    with ElfFile.open(tmp_path / "a") as elf:
        code = elf.executable_ranges()
        found = read_file(elf)
    kept = {function.name for function in found.functions if function.ranges}
    assert kept == {"live", "fail", "_start"}
    assert found.warnings == ()
    for start, end, _ in found.sequences:
        assert any(low <= start and end <= high for low, high in code)
    for function in found.functions:
        for inline in function.inlines:
            assert all(any(low <= start < high for low, high in function.ranges) for start, _ in inline.ranges)


@pytest.mark.parametrize("linker", ["bfd", "gold", "lld"])
@pytest.mark.parametrize("split", [(), ("-gsplit-dwarf",)], ids=["whole", "split"])
def test_a_dropped_file_larger_than_what_lies_before_the_code_is_not_taken_for_it(
    peer: Callable[[str], str], tmp_path: Path, linker: str, split: tuple[str, ...]
) -> None:
    """Gold leaves its functions at 0 plus their offsets, and those far behind are addresses of code that was kept."""
    path = {"bfd": "ld.bfd", "gold": "ld.gold", "lld": "ld.lld-22"}[linker]
    for name in ("dead", "live"):
        shown = '__attribute__((visibility("default"))) ' if name == "live" else ""
        body = "{ int sum = 0; for (int i = 0; i < a; i++) sum += i * a; return sum; }"
        functions = "".join(f"{shown}int {name}{index}(int a) {body}\n" for index in range(20))
        (tmp_path / f"{name}.c").write_text(functions)
        command = [
            peer("gcc"),
            "-g",
            *split,
            "-O1",
            "-falign-functions=2048",
            "-fPIC",
            "-fvisibility=hidden",
            "-c",
            f"{name}.c",
        ]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    link = [peer(path), "-shared", "--gc-sections", "-o", "a.so", "live.o", "dead.o"]
    subprocess.run(link, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    with ElfFile.open(tmp_path / "a.so") as elf:
        result = read_dwarf(elf, elf.executable_ranges(), NameTable(), files=FilesBeside(tmp_path / "a.so"))
    assert result is not None
    found = unfolded(result)
    assert {function.name for function in found.functions if function.ranges} == {f"live{n}" for n in range(20)}
    assert found.warnings == ()
