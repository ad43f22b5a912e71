"""Relocatable files say of each function what they say once they are linked, on every machine that a compiler is here for."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.sources.dwarf.reading import Inline, Read, unfolded
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.read import read_dwarf
from uploader.symbols.columns import NameTable

SOURCE = """
static inline int square(int x) { int sum = 0; for (int i = 0; i < x; i++) sum += i * x; return sum; }
__attribute__((noinline)) static int helper(int a) { return a > 3 ? square(a) : square(a + 1); }
__attribute__((section(".init.text"))) int first(int a) { return square(a) * 3 + helper(a); }
__attribute__((section(".text.apart"))) int apart(int a) { return helper(a) + square(a * 2); }
int last(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += helper(i) + square(i); return sum; }
void _start(void) { first(1); apart(2); last(3); }
"""

# What a linker shortens on RISC-V would make the linked file differ.
CROSS = {
    "x86-64": (("gcc",), ()),
    "386": (("gcc", "-m32"), ()),
    "x32": (("gcc", "-mx32"), ()),
    "arm64": (("aarch64-linux-gnu-gcc",), ()),
    "arm": (("arm-linux-gnueabihf-gcc", "-mthumb"), ()),
    "riscv64": (("riscv64-linux-gnu-gcc",), ("-mno-relax", "-Wl,--no-relax")),
    "ppc64": (("powerpc64-linux-gnu-gcc",), ()),
    "ppc64le": (("powerpc64le-linux-gnu-gcc",), ()),
    "s390x": (("s390x-linux-gnu-gcc",), ()),
    "mips": (("mips-linux-gnu-gcc",), ()),
}


@pytest.fixture
def compiled(peer: Callable[[str], str], missing: Callable[[str], None], tmp_path: Path) -> Callable[..., Path]:
    (tmp_path / "a.c").write_text(SOURCE)

    def run(machine: str, *flags: str, out: str) -> Path:
        command, own = CROSS[machine]
        every = [
            peer(command[0]),
            *command[1:],
            "-O2",
            "-g",
            "-ffreestanding",
            "-fno-pic",
            "-no-pie",
            "-nostdlib",
            *own,
        ]
        done = subprocess.run(
            [*every, *flags, "a.c", "-o", out], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60
        )
        if done.returncode:
            missing(f"{' '.join(command)} can't build for {machine} here: {done.stderr[-300:]}")
        return tmp_path / out

    return run


def read(path: Path) -> Read:
    with ElfFile.open(path) as elf:
        result = read_dwarf(elf, elf.executable_ranges(), NameTable())
    assert result is not None
    return unfolded(result)


def from_their_starts(found: Read) -> dict[str, object]:
    """For each function its size, inlines and rows, all counted from where the function starts."""

    def inlines(nodes: Iterable[Inline], start: int) -> list[object]:
        return [
            (
                each.name,
                [(low - start, high - start) for low, high in each.ranges],
                each.call,
                inlines(each.children, start),
            )
            for each in nodes
        ]

    told: dict[str, object] = {}
    for function in found.functions:
        if not function.ranges:
            continue
        ((start, end),) = function.ranges
        rows = [(address - start, place) for address, place in found.rows[function.table] if start <= address < end]
        told[function.name] = (end - start, function.decl, inlines(function.inlines, start), rows)
    return told


@pytest.mark.parametrize("machine", CROSS)
@pytest.mark.parametrize("flags", [("-gdwarf-2",), ("-gdwarf-4",), ("-gdwarf-5",)], ids=["dwarf2", "dwarf4", "dwarf5"])
def test_an_object_file_says_what_the_linked_file_says(
    compiled: Callable[..., Path], machine: str, flags: tuple[str, ...]
) -> None:
    found = read(compiled(machine, *flags, "-c", out="a.o"))
    expected = from_their_starts(read(compiled(machine, *flags, "-static", "-Wl,-e,_start", out="a")))
    assert from_their_starts(found) == expected
    assert {"helper", "first", "apart", "last"} <= expected.keys()
    assert found.warnings == ()


@pytest.mark.parametrize("machine", ["x86-64", "s390x"])
def test_compressed_debug_sections_are_inflated_before(compiled: Callable[..., Path], machine: str) -> None:
    plain = read(compiled(machine, "-c", out="plain.o"))
    packed = read(compiled(machine, "-c", "-gz=zlib", out="packed.o"))
    assert from_their_starts(packed) == from_their_starts(plain)


def test_functions_lie_apart_however_many_sections_start_at_0(compiled: Callable[..., Path]) -> None:
    found = read(compiled("x86-64", "-c", "-ffunction-sections", out="a.o"))
    spans = sorted(span for function in found.functions for span in function.ranges)
    assert len(spans) == 5
    assert all(end <= start for (_, end), (start, _) in zip(spans, spans[1:], strict=False))


def test_object_files_joined_into_one_say_the_same(
    compiled: Callable[..., Path], peer: Callable[[str], str], tmp_path: Path
) -> None:
    """As the kernel's build joins the objects of a module."""
    alone = compiled("x86-64", "-c", out="a.o")
    subprocess.run([peer("ld"), "-r", "-o", "joined.ko", "a.o"], cwd=tmp_path, check=True, capture_output=True)
    assert from_their_starts(read(tmp_path / "joined.ko")) == from_their_starts(read(alone))


def test_compact_relocations_say_what_plain_ones_say(peer: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    command = [peer("clang-22"), "-c", "-g", "-O2", "-ffunction-sections", "a.c"]
    for flags in (["-o", "plain.o"], ["-Wa,--crel,--allow-experimental-crel", "-o", "compact.o"]):
        subprocess.run([*command, *flags], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    with ElfFile.open(tmp_path / "compact.o") as elf:
        assert elf.section(".crel.debug_info") is not None
    found = read(tmp_path / "compact.o")
    assert from_their_starts(found) == from_their_starts(read(tmp_path / "plain.o"))
    assert {"helper", "first", "apart", "last"} <= set(found.names)
    assert found.warnings == ()
