"""DWARF that lies in other files says the same as DWARF in the file itself: split units (.dwo, .dwp) and what dwz moves out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sources.dwarf.reading import Function, Inline, Read, unfolded
from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import As, assemble, compile_unit
from tests.writers.elf_writer import Section, elf
from uploader.inputs.linked import FilesBeside
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.linked import LinkedFiles, NoLinkedFiles
from uploader.sources.dwarf.read import MAX_WARNINGS, read_dwarf
from uploader.sources.dwarf.split import TOLD
from uploader.symbols.columns import NameTable

SHAPES = """
namespace geometry {
struct Shape { virtual ~Shape() {} virtual int area() const = 0; };
struct Box : Shape { int a, b; Box(int a, int b) : a(a), b(b) {} int area() const override; };
template <typename T> inline T twice(T value) { return value + value; }
namespace { inline int clipped(int value) { return value > 100 ? 100 : twice(value); } }
int Box::area() const { return clipped(a) * twice(b); }
}
extern "C" int other(int), unlikely(int);
__attribute__((noinline)) int area_of(geometry::Shape &shape) { return shape.area() + geometry::clipped(other(2)); }
int main(int argc, char **) {
    geometry::Box box(argc, 3);
    int sum = argc > 9 ? unlikely(argc) : 0;
    for (int i = 0; i < argc; i++) sum += area_of(box) + other(i);
    return sum;
}
"""
OTHER = """
static inline int half(int value) { return value / 2; }
int other(int value) { int sum = 0; for (int i = 0; i < value; i++) sum += half(i) * value; return sum; }
__attribute__((cold)) int unlikely(int value) { return half(value) + other(value); }
"""

COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang-22", "clang++-22")}

ENTRY_PC, GNU_DWO_NAME, GNU_DWO_ID, GNU_RANGES_BASE, GNU_ADDR_BASE = 0x52, 0x2130, 0x2131, 0x2132, 0x2133

Run = Callable[..., None]


@pytest.fixture
def run(peer: Callable[[str], str], tmp_path: Path) -> Run:
    (tmp_path / "shapes.cc").write_text(SHAPES)
    (tmp_path / "other.c").write_text(OTHER)

    def command(name: str, *arguments: str, within: Path = tmp_path) -> None:
        subprocess.run([peer(name), *arguments], cwd=within, check=True, capture_output=True, timeout=60)

    return command


def compiled(run: Run, compiler: str, version: int, *flags: str, out: str) -> None:
    c, cxx = COMPILERS[compiler]
    common = ["-O2", "-g", f"-gdwarf-{version}", "-ffunction-sections", *flags]
    run(c, *common, "-c", "other.c", "-o", f"{out}-other.o")
    run(cxx, *common, "-c", "shapes.cc", "-o", f"{out}-shapes.o")
    run(cxx, "-Wl,--gc-sections", "-o", out, f"{out}-other.o", f"{out}-shapes.o")


def read(path: Path, files: LinkedFiles | None = None) -> Read:
    with ElfFile.open(path) as elf:
        result = read_dwarf(elf, elf.executable_ranges(), NameTable(), files=files or FilesBeside(path))
    assert result is not None
    return unfolded(result)


def told(read: Read) -> list[object]:
    """All that counts of the functions, whatever their order."""

    def inlines(nodes: Sequence[Inline]) -> list[object]:
        return [(node.name, node.ranges, node.call, inlines(node.children)) for node in nodes]

    def function(one: Function) -> tuple[object, ...]:
        return one.ranges, one.name, one.decl, inlines(one.inlines)

    return sorted((function(one) for one in read.functions if one.ranges), key=repr)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize(
    "flags", [("-gsplit-dwarf",), ("-gsplit-dwarf", "-fdebug-types-section")], ids=["plain", "type-units"]
)
def test_split_units_say_what_whole_ones_say(
    run: Run, tmp_path: Path, compiler: str, version: int, flags: tuple[str, ...]
) -> None:
    compiled(run, compiler, version, out="whole")
    compiled(run, compiler, version, *flags, out="parted")
    expected = told(read(tmp_path / "whole"))
    found = read(tmp_path / "parted")
    assert told(found) == expected
    assert len(expected) >= 4
    assert found.warnings == ()


def test_split_units_may_lie_in_the_object_files(run: Run, tmp_path: Path) -> None:
    compiled(run, "clang", 5, out="whole")
    compiled(run, "clang", 5, "-gsplit-dwarf=single", out="parted")
    assert told(read(tmp_path / "parted")) == told(read(tmp_path / "whole"))


def test_a_skeleton_with_inlines_of_its_own_counts_once(run: Run, tmp_path: Path) -> None:
    compiled(run, "clang", 5, "-gsplit-dwarf", "-fsplit-dwarf-inlining", out="parted")
    names = [function.name for function in read(tmp_path / "parted").functions if function.ranges]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("compiler", "version", "packer"),
    [
        ("gcc", 4, "llvm-dwp-22"),
        ("gcc", 4, "dwp"),
        ("gcc", 5, "llvm-dwp-22"),
        ("clang", 4, "llvm-dwp-22"),
        ("clang", 4, "dwp"),
        ("clang", 5, "llvm-dwp-22"),
    ],
)
def test_packed_units_say_what_whole_ones_say(
    run: Run, tmp_path: Path, compiler: str, version: int, packer: str
) -> None:
    compiled(run, compiler, version, out="whole")
    compiled(run, compiler, version, "-gsplit-dwarf", out="parted")
    run(packer, "-e", "parted", "-o", "parted.dwp")
    for part in tmp_path.glob("*.dwo"):
        part.unlink()
    assert told(read(tmp_path / "parted")) == told(read(tmp_path / "whole"))


@dataclass
class OneSplitFile:
    """A ``.dwo`` file that every skeleton finds."""

    path: Path

    def packages(self) -> Sequence[str]:
        return ()

    def split(self, directory: bytes, name: bytes) -> Sequence[str]:
        return (str(self.path),)

    def supplementary(self, name: bytes, build_id: bytes) -> Sequence[str]:
        return ()

    def may_tell_of(self, path: str) -> bool:
        return path == str(self.path)


@pytest.mark.parametrize("attribute", [dw.LOW_PC, ENTRY_PC], ids=["low pc", "entry pc"])
@pytest.mark.parametrize("form", [dw.ADDR, dw.GNU_ADDR_INDEX], ids=["addr", "index"])
def test_ranges_of_a_split_unit_of_version_4_count_from_its_skeletons_low_or_entry_pc(
    tmp_path: Path, attribute: int, form: int
) -> None:
    identity = As(dw.DATA8, 0x1234)
    base = As(form, 0x1100 if form == dw.ADDR else dw.Address(0x1100))
    skeleton = compile_unit(
        attributes={
            GNU_DWO_NAME: As(dw.STRING, "f.dwo"),
            GNU_DWO_ID: identity,
            GNU_RANGES_BASE: As(dw.SEC_OFFSET, 16),
            GNU_ADDR_BASE: As(dw.SEC_OFFSET, 0),
            attribute: base,
        }
    )
    function = dw.Die(dw.SUBPROGRAM, {dw.NAME: "f", dw.RANGES: As(dw.SEC_OFFSET, 0)})
    split = assemble(dw.Unit(compile_unit(function, attributes={GNU_DWO_ID: identity})))
    main = assemble(dw.Unit(skeleton), ranges=bytes(16) + dw.range_pairs((0, 8), (0x20, 0x28)))
    (tmp_path / "f.dwo").write_bytes(
        elf([Section(".debug_info.dwo", bytes(split.info)), Section(".debug_abbrev.dwo", bytes(split.abbrev))])
    )
    with ElfFile.from_bytes(dw.elf_with(main)) as binary:
        result = read_dwarf(binary, binary.executable_ranges(), NameTable(), files=OneSplitFile(tmp_path / "f.dwo"))
    assert result is not None
    assert unfolded(result).function("f").ranges == [(0x1100, 0x1108), (0x1120, 0x1128)]
    assert result.warnings == ()


def test_parts_are_found_beside_the_binary_after_a_move(run: Run, tmp_path: Path) -> None:
    compiled(run, "gcc", 5, "-gsplit-dwarf", out="parted")
    expected = told(read(tmp_path / "parted"))
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in [tmp_path / "parted", *tmp_path.glob("*.dwo")]:
        shutil.move(path, moved / path.name)
    assert told(read(moved / "parted")) == expected


def test_a_part_that_is_missing_is_named_and_the_others_count(run: Run, tmp_path: Path) -> None:
    compiled(run, "gcc", 5, "-gsplit-dwarf", out="parted")
    (tmp_path / "parted-other.dwo").unlink()
    found = read(tmp_path / "parted")
    (warning,) = found.warnings
    assert "parted-other.dwo" in warning
    assert "main" in found.names and "other" not in found.names
    assert any(rows for rows in found.rows)


def test_a_part_of_another_build_is_not_taken(run: Run, tmp_path: Path) -> None:
    compiled(run, "gcc", 5, "-gsplit-dwarf", out="parted")
    shutil.copy(tmp_path / "parted-shapes.dwo", tmp_path / "parted-other.dwo")
    found = read(tmp_path / "parted")
    assert [warning for warning in found.warnings if "parted-other.dwo" in warning]
    assert "other" not in found.names


def test_a_damaged_part_costs_that_part(run: Run, tmp_path: Path) -> None:
    compiled(run, "gcc", 5, "-gsplit-dwarf", out="parted")
    part = tmp_path / "parted-other.dwo"
    whole = part.read_bytes()
    for cut in range(0, len(whole), 211):
        part.write_bytes(whole[:cut])
        assert "main" in read(tmp_path / "parted").names


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("standard", [False, True], ids=["altlink", "debug_sup"])
def test_what_dwz_moved_out_says_the_same(run: Run, tmp_path: Path, version: int, standard: bool) -> None:
    for name in ("one", "two"):
        compiled(run, "gcc", version, "-DTWO" if name == "two" else "-DONE", "-Wl,--build-id", out=name)
    expected = {name: told(read(tmp_path / name)) for name in ("one", "two")}
    run("dwz", *(["--dwarf-5"] if standard else []), "-m", "common.debug", "one", "two")
    with ElfFile.open(tmp_path / "one") as elf:
        assert elf.section(".debug_sup" if standard else ".gnu_debugaltlink") is not None
    for name in ("one", "two"):
        found = read(tmp_path / name)
        assert told(found) == expected[name]
        assert found.warnings == ()


def test_dwz_within_one_file_says_the_same(run: Run, tmp_path: Path) -> None:
    compiled(run, "gcc", 5, out="one")
    expected = told(read(tmp_path / "one"))
    run("dwz", "one")
    assert told(read(tmp_path / "one")) == expected


def test_a_supplementary_file_that_is_missing_or_another_is_told(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        compiled(run, "gcc", 5, "-DTWO" if name == "two" else "-DONE", "-Wl,--build-id", out=name)
    run("dwz", "-m", "common.debug", "one", "two")
    shutil.copy(tmp_path / "two", tmp_path / "common.debug")
    assert any("common.debug" in warning and "another id" in warning for warning in read(tmp_path / "one").warnings)
    (tmp_path / "common.debug").unlink()
    found = read(tmp_path / "one")
    assert any("common.debug" in warning and "not found" in warning for warning in found.warnings)
    assert any(rows for rows in found.rows)


def test_bytes_from_nowhere_look_for_no_files(run: Run, tmp_path: Path) -> None:
    compiled(run, "gcc", 5, "-gsplit-dwarf", out="parted")
    found = read(tmp_path / "parted", NoLinkedFiles())
    assert found.names == []
    assert len(found.warnings) == 1
    assert "2 of 2 split units" in found.warnings[0]


def test_many_missing_parts_are_told_as_one_piece_of_news(run: Run, tmp_path: Path) -> None:
    objects = []
    for index in range(MAX_WARNINGS + 5):
        (tmp_path / f"f{index}.c").write_text(f"int f{index}(int a) {{ return a + {index}; }}\n")
        run("gcc", "-g", "-gsplit-dwarf", "-c", f"f{index}.c")
        (tmp_path / f"f{index}.dwo").unlink()
        objects.append(f"f{index}.o")
    run("gcc", "-shared", "-o", "many", *objects)
    warnings = read(tmp_path / "many").warnings
    assert len(warnings) == 1
    assert f"{MAX_WARNINGS + 5} of {MAX_WARNINGS + 5} split units were not found: f0.dwo" in warnings[0]
    assert f"and {MAX_WARNINGS + 5 - TOLD} more" in warnings[0]
