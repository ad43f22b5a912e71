"""PLT stubs: named as objdump names them, whichever linker made them, and never in the way of a better name."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.writers.elf_writer import CODE, Section, Symbol, elf
from uploader.errors import MalformedElf, NotElf
from uploader.model import Source
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.elf_symbols.read import choose, stubs_as_symbols
from uploader.sources.extract import build
from uploader.sources.plt.read import read_plt

SOURCE = """
extern int foo(int), bar(int), baz(int);
int (*pointer)(int) = baz;
int f(int x) { return foo(x) + bar(x) + baz(x); }
int g(int x) { return bar(x); }
int (*address(void))(int) { return foo; }
"""

LIBRARY = ("-shared", "-fPIC", "-nostdlib")
GNU = {
    "x86-64": ("gcc", "objdump"),
    "386": ("gcc", "objdump"),
    "x32": ("gcc", "objdump"),
    "arm64": ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump"),
}
MACHINE_FLAGS = {"386": ("-m32",), "x32": ("-mx32",)}
LLD = {"x86-64": "x86_64-linux-gnu", "386": "i386-linux-gnu", "arm64": "aarch64-linux-gnu"}


def labels(objdump: str, path: Path) -> dict[int, str]:
    """Addresses of the stubs that a disassembler names."""
    with ElfFile.open(path) as file:
        sections = [each.name for each in file.sections if each.is_code and "plt" in each.name]
    command = [objdump, "-d", *(f"--section={name}" for name in sections), str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {int(at, 16): name for at, name in re.findall(r"^([0-9a-f]+) <(.*@plt)>:", text, re.MULTILINE)}


def ours(path: Path) -> dict[int, str]:
    with ElfFile.open(path) as file:
        stubs = read_plt(file)
    return dict(zip(stubs.start, (name.decode() for name in stubs.names), strict=True))


def compile_to(path: Path, *command: str) -> Path:
    subprocess.run(
        [*command, "-x", "c", "-", "-o", str(path)], input=SOURCE, text=True, check=True, capture_output=True
    )
    return path


@pytest.mark.parametrize(
    ("machine", "flags"),
    [
        ("x86-64", ()),
        ("x86-64", ("-Wl,-z,now",)),
        ("x86-64", ("-fcf-protection=full", "-Wl,-z,ibtplt")),
        ("x86-64", ("-fcf-protection=full", "-Wl,-z,ibtplt", "-Wl,-z,now")),
        ("x86-64", ("-Wl,-z,bndplt",)),
        ("x32", ()),
        ("386", ()),
        ("386", ("-Wl,-z,now",)),
        ("386", ("-fcf-protection=full", "-Wl,-z,ibtplt")),
        ("arm64", ()),
        ("arm64", ("-Wl,-z,now",)),
        ("arm64", ("-mbranch-protection=standard", "-Wl,-z,force-bti")),
        ("arm64", ("-mbranch-protection=standard", "-Wl,-z,pac-plt")),
        ("arm64", ("-mbranch-protection=standard", "-Wl,-z,force-bti", "-Wl,-z,pac-plt")),
    ],
)
def test_stubs_of_gnu_ld_have_the_names_that_objdump_gives(
    tmp_path: Path, peer: Callable[[str], str], machine: str, flags: tuple[str, ...]
) -> None:
    compiler, objdump = GNU[machine]
    library = compile_to(tmp_path / "lib.so", peer(compiler), *MACHINE_FLAGS.get(machine, ()), *LIBRARY, *flags)
    theirs, mine = labels(peer(objdump), library), ours(library)
    assert set(theirs.values()) == {"foo@plt", "bar@plt", "baz@plt"}
    assert {at: mine.get(at) for at in theirs} == theirs
    assert set(mine.values()) == set(theirs.values()), "stubs for the lazy resolver have the same names"


@pytest.mark.parametrize("machine", LLD)
@pytest.mark.parametrize("flags", [(), ("-Wl,-z,now",)])
def test_stubs_of_lld_have_the_names_that_objdump_gives(
    tmp_path: Path, peer: Callable[[str], str], machine: str, flags: tuple[str, ...]
) -> None:
    peer("ld.lld-22")
    clang = (peer("clang-22"), f"--target={LLD[machine]}", "-fuse-ld=lld")
    library = compile_to(tmp_path / "lib.so", *clang, *LIBRARY, *flags)
    theirs = labels(peer("llvm-objdump-22"), library)
    assert set(theirs.values()) == {"foo@plt", "bar@plt", "baz@plt"}
    assert ours(library) == theirs


def test_non_pic_386_stubs_jump_by_address(tmp_path: Path, peer: Callable[[str], str]) -> None:
    (tmp_path / "dep.c").write_text("".join(f"int {name}(int x) {{ return x; }}\n" for name in ("foo", "bar", "baz")))
    (tmp_path / "app.c").write_text(SOURCE)
    fixed = ("-m32", "-no-pie", "-fno-pic", "-nostdlib", "-Wl,-e,f")
    for command in ([*LIBRARY, "-m32", "dep.c", "-o", "dep.so"], [*fixed, "app.c", "./dep.so", "-o", "app"]):
        subprocess.run([peer("gcc"), *command], check=True, cwd=tmp_path)
    theirs = labels(peer("objdump"), tmp_path / "app")
    assert set(theirs.values()) == {"foo@plt", "bar@plt", "baz@plt"}
    assert ours(tmp_path / "app") == theirs


@pytest.mark.parametrize("binary", ["/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/objdump", "/usr/bin/gcc"])
def test_stubs_of_programs_that_others_built_are_those_of_objdump(
    binary: str, peer: Callable[[str], str], missing: Callable[[str], None]
) -> None:
    if not Path(binary).exists():
        missing(f"{binary} is not here")
    theirs = labels(peer("objdump"), Path(binary))
    assert len(theirs) > 5
    assert ours(Path(binary)) == theirs


def test_stubs_of_a_static_program_name_their_resolvers(tmp_path: Path, peer: Callable[[str], str]) -> None:
    source = '#include <string.h>\nint main(int n, char **w) { return (int)strlen(w[0]) + memcmp(w[0], "x", n); }\n'
    subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", str(tmp_path / "app")], input=source, text=True, check=True)
    relocations = subprocess.run(
        [peer("readelf"), "-rW", str(tmp_path / "app")], check=True, capture_output=True, text=True
    ).stdout
    resolvers = re.findall(r"R_X86_64_IRELATIV\S* +([0-9a-f]+)", relocations)
    mine = ours(tmp_path / "app")
    assert len(mine) > 5
    assert sorted(mine.values()) == sorted(f"*ABS*+0x{address}@plt" for address in resolvers)


PLT = bytes.fromhex("f30f1efa68000000 00e9e0ffffff6690".replace(" ", ""))
JUMP = b"\xff\x25" + (0x3000 - 0x1006).to_bytes(4, "little") + b"\x66\x90"


def library(
    *,
    symbols: list[Symbol] | None = None,
    names: bytes | None = None,
    info: int = 1 << 32 | 7,
    text: bytes = JUMP + bytes(8),
    addend: int = 0,
) -> bytes:
    """A stub at 0x1000 that jumps by the slot 0x3000, which a relocation ties to the first dynamic symbol."""
    relocation = b"".join(number.to_bytes(8, "little") for number in (0x3000, info, addend))
    return elf(
        [
            Section(".plt", text, flags=CODE, address=0x1000, alignment=16),
            Section(".rela.plt", relocation, type=4, flags=2, entry_size=24),
        ],
        dynamic_symbols=[Symbol("outside", 0, section=0)],
        symbols=symbols,
    )


def test_a_stub_is_named_by_the_relocation_of_its_slot() -> None:
    stubs = read_plt(ElfFile.from_bytes(library()))
    assert (list(stubs.start), list(stubs.end), stubs.names) == ([0x1000], [0x1010], [b"outside@plt"])


def test_a_linker_that_marks_stubs_keeps_their_address_where_others_have_an_addend() -> None:
    """`ld -z mark-plt`, as Debian 13 and Fedora link; of data (R_X86_64_GLOB_DAT) an addend is one."""
    assert read_plt(ElfFile.from_bytes(library(addend=0x1000))).names == [b"outside@plt"]
    assert read_plt(ElfFile.from_bytes(library(addend=0x10, info=1 << 32 | 6))).names == [b"outside+0x10@plt"]


def test_a_stub_for_the_lazy_resolver_is_named_by_the_number_that_it_pushes() -> None:
    assert read_plt(ElfFile.from_bytes(library(text=PLT))).names == [b"outside@plt"]


@pytest.mark.parametrize("info", [5 << 32 | 7, 0xFFFFFFFF << 32 | 7, 7, 6])
def test_a_relocation_that_names_nothing_leaves_the_stub_out(info: int) -> None:
    assert read_plt(ElfFile.from_bytes(library(info=info))).names == []


def test_a_symbol_of_the_same_address_is_the_better_name() -> None:
    extracted = build(ElfFile.from_bytes(library(symbols=[Symbol("known", 0x1000, 0, section=".plt")])))
    assert extracted.table.names == [b"", b"known"]
    assert dict(extracted.figures.by_source) == {Source.SYMTAB: 1}


def test_without_a_better_name_the_stub_counts_as_one() -> None:
    extracted = build(ElfFile.from_bytes(library()))
    assert extracted.table.names == [b"", b"outside@plt"]
    assert dict(extracted.figures.by_source) == {Source.PLT: 1}


def test_many_stubs_keep_their_names_when_they_become_symbols() -> None:
    stubs = read_plt(ElfFile.from_bytes(library()))
    stubs.start.append(0x2000)
    stubs.end.append(0x2010)
    stubs.names.append(b"second@plt")
    symbols = choose([None, stubs_as_symbols(stubs)])
    assert [symbols.name(index) for index in range(len(symbols))] == [b"outside@plt", b"second@plt"]
    assert [symbols.set_of(index) for index in range(len(symbols))] == [1, 1]


@settings(max_examples=300)
@given(st.binary(max_size=200), st.sampled_from([62, 3, 183]))
def test_any_code_in_a_plt_is_stubs_or_nothing(code: bytes, machine: int) -> None:
    file = bytearray(library(text=code))
    file[18:20] = machine.to_bytes(2, "little")
    stubs = read_plt(ElfFile.from_bytes(bytes(file)))
    assert all(0x1000 <= start < end <= 0x1000 + len(code) for start, end in zip(stubs.start, stubs.end, strict=True))


@given(st.integers(64, 2000), st.integers(0, 255))
def test_any_change_of_a_byte_gives_stubs_or_a_clear_error(at: int, value: int) -> None:
    file = bytearray(library())
    file[at % len(file)] = value
    with contextlib.suppress(MalformedElf, NotElf):
        read_plt(ElfFile.from_bytes(bytes(file)))
