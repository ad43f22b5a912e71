"""What real compilers write, decoded by `read_dwarf`'s parts and by pyelftools, comes out the same.

pyelftools' own gaps, kept out of the comparison (0.33):

- it does not resolve scopes, so names are compared by their last component;
- up to DWARF 4 it gives no name for a file whose index is 0 or too large; such rows are gaps here;
- it knows no tombstones: what lies outside of executable code is dropped on its side by the test;
- it is slow: of Rust's binaries, which hold all of the standard library, only the program's own units are compared;
- an inlined subroutine holds what is inlined into it, whatever code it states itself (DWARF 2 has no ranges for it); that is put right
  here, and one in which no code is at all is left out;
- it fails on what GNU as writes for `-gdwarf64`, which is not compared;
- it reads no line table that no unit refers to, none of split DWARF, no zstd sections, no strx names in version 5 line tables.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

from tests.sources.dwarf.reading import Function, Inline, Read, read_file
from uploader.objects.elf.elf_file import ElfFile

import builds

C = builds.C_SOURCES
RECIPES = {
    recipe.name: recipe
    for recipe in (
        *(
            builds.Recipe(
                name=f"{compiler}{kind}-gdwarf-{version}{level}",
                compiler=compiler,
                sources=sources,
                flags=("-g", f"-gdwarf-{version}", level, *more),
            )
            for compiler, kind, sources, more in (
                ("gcc", "", C, ("-gno-strict-dwarf",)),
                ("gcc", "-strict-sections", C, ("-gstrict-dwarf", "-ffunction-sections", "-Wl,--gc-sections")),
                (builds.CLANG, "-lld-sections", C, ("-ffunction-sections", "-fuse-ld=lld", "-Wl,--gc-sections")),
            )
            for version in (2, 3, 4, 5)
            for level in ("-O0", "-O2")
            if not (version in {2, 3} and level == "-O0")
        ),
        builds.Recipe(name="gcc-lto-5", compiler="gcc", sources=C, flags=("-g", "-gdwarf-5", "-O2", "-flto")),
        builds.Recipe(
            name="gcc-m32",
            compiler="gcc",
            sources=builds.FREESTANDING_SOURCES,
            flags=builds.RECIPES["gcc-m32-dwarf5"].flags,
        ),
    )
}
CXX_RECIPES = ("g++-dwarf5", "clang++-dwarf4")
RUST_RECIPES = ("rustc",)

Tree = tuple[int, str, tuple[tuple[int, int], ...]]
"""One inlined subroutine: its depth, the last component of its name, its ranges."""
Told = tuple[str, tuple[tuple[int, int], ...], tuple[Tree, ...]]


@pytest.fixture(scope="module")
def built(
    missing: Callable[[str], None],
    built_binary: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("built")

    def build(name: str) -> Path:
        if name not in RECIPES:
            return built_binary(name)
        try:
            return builds.build(RECIPES[name], folder)
        except builds.BuildUnavailable as error:
            missing(str(error))
            raise AssertionError("unreachable") from error

    return build


def ours(path: Path) -> tuple[Read, list[tuple[int, int]]]:
    with ElfFile.open(path) as elf:
        return read_file(elf), elf.executable_ranges()


def told(function: Function) -> Told:
    return last_component(function.name), tuple(function.ranges), tuple(_flat(function.inlines, 1))


def _flat(inlines: list[Inline], depth: int) -> Iterator[Tree]:
    for inline in inlines:
        if inline.ranges:
            yield depth, last_component(inline.name), tuple(inline.ranges)
            yield from _flat(inline.children, depth + 1)


def last_component(name: str) -> str:
    return name.rsplit("::", 1)[-1]


def _joined(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return tuple(joined)


class Reference:
    """pyelftools' reading of the same file."""

    def __init__(self, elf: ELFFile, executable: list[tuple[int, int]], unit_name: str = "") -> None:
        """Of the units, those whose name holds ``unit_name`` count."""
        self.dwarf: Any = elf.get_dwarf_info()
        self.unit_name = unit_name
        self.executable = executable
        self.lists: Any = self.dwarf.range_lists()

    def is_code(self, address: int) -> bool:
        return any(start <= address < end for start, end in self.executable)

    def functions(self) -> Iterator[Told]:
        for unit in self.units():
            yield from self._walk(unit.get_top_DIE())

    def units(self) -> Iterator[Any]:
        for unit in self.dwarf.iter_CUs():
            name = unit.get_top_DIE().attributes.get("DW_AT_name")
            if self.unit_name in (name.value.decode() if name else ""):
                yield unit

    def _walk(self, die: Any) -> Iterator[Told]:
        if die.tag == "DW_TAG_subprogram" and (spans := self.ranges(die)) and (live := self._live(spans)):
            yield last_component(self.name(die)), live, tuple(self._inlines(die, 1))
        for child in die.iter_children():
            yield from self._walk(child)

    def _live(self, spans: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        return tuple(span for span in spans if self.is_code(span[0]))

    def _inlines(self, die: Any, depth: int) -> Iterator[Tree]:
        for child in die.iter_children():
            if child.tag == "DW_TAG_subprogram":
                continue
            if child.tag == "DW_TAG_inlined_subroutine":
                spans = self.ranges(child)
                below = list(self._inlines(child, depth + 1))
                loose = [
                    span
                    for level, _, inner in below
                    for span in inner
                    if level == depth + 1 and not any(low <= span[0] and span[1] <= high for low, high in spans)
                ]
                if loose:
                    spans = _joined([*spans, *loose])
                if spans:
                    yield depth, last_component(self.name(child)), spans
                    yield from below
            else:
                yield from self._inlines(child, depth)

    def ranges(self, die: Any) -> tuple[tuple[int, int], ...]:
        attributes = die.attributes
        if "DW_AT_ranges" in attributes:
            return self._listed(die)
        if "DW_AT_low_pc" not in attributes or "DW_AT_high_pc" not in attributes:
            return ()
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        end = high.value if high.form == "DW_FORM_addr" else low + high.value
        return ((low, end),) if low < end else ()

    def _listed(self, die: Any) -> tuple[tuple[int, int], ...]:
        top = die.cu.get_top_DIE().attributes
        base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
        spans = []
        for entry in self.lists.get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, cu=die.cu):
            if isinstance(entry, BaseAddressEntry):
                base = entry.base_address
                continue
            offset = 0 if getattr(entry, "is_absolute", False) else base
            if entry.begin_offset < entry.end_offset:
                spans.append((entry.begin_offset + offset, entry.end_offset + offset))
        return _joined(spans)

    def name(self, die: Any) -> str:
        plain = ""
        for _ in range(16):
            for attribute in ("DW_AT_linkage_name", "DW_AT_MIPS_linkage_name"):
                if attribute in die.attributes:
                    return str(die.attributes[attribute].value.decode())
            if "DW_AT_name" in die.attributes:
                plain = die.attributes["DW_AT_name"].value.decode()
            link = next((at for at in ("DW_AT_abstract_origin", "DW_AT_specification") if at in die.attributes), None)
            if link is None:
                break
            die = die.get_DIE_from_attribute(link)
        return plain

    def rows(self) -> dict[int, tuple[str, int] | None]:
        """Address to (base name, line), None for what follows a sequence: where tables meet, the later one's row stays."""
        sequences = []
        seen = set()
        for unit in self.units():
            attribute = unit.get_top_DIE().attributes.get("DW_AT_stmt_list")
            if attribute is None or attribute.value in seen:
                continue
            seen.add(attribute.value)
            program = self.dwarf.line_program_for_CU(unit)
            first = 0 if program["version"] >= 5 else 1
            files = program["file_entry"]
            current: dict[int, tuple[str, int] | None] = {}
            for entry in program.get_entries():
                state = entry.state
                if state is None:
                    continue
                if state.end_sequence:
                    if current and self.is_code(min(current)) and min(current) < state.address:
                        sequences.append(
                            ({at: place for at, place in current.items() if at < state.address}, state.address)
                        )
                    current = {}
                elif first <= state.file < len(files) + first:
                    name = files[state.file - first].name.decode()
                    current[state.address] = name.rsplit("/", 1)[-1], state.line
                else:
                    current[state.address] = None
        rows: dict[int, tuple[str, int] | None] = {}
        for _, end in sequences:
            rows[end] = None
        for current, _ in sequences:
            rows.update(current)
        return rows


def steps(rows: dict[int, tuple[str, int] | None]) -> list[tuple[int, tuple[str, int] | None]]:
    """The rows ascending, without those that say what the one before said."""
    found: list[tuple[int, tuple[str, int] | None]] = []
    for address, place in sorted(rows.items()):
        if not found or found[-1][1] != place:
            found.append((address, place))
    return found


def rows_of(result: Read) -> dict[int, tuple[str, int] | None]:
    rows: dict[int, tuple[str, int] | None] = {}
    for table in result.rows:
        for address, place in table:
            if place is not None:
                rows[address] = place[0].rsplit("|", 1)[-1], place[1]
            else:
                rows.setdefault(address, None)
    return rows


@pytest.mark.parametrize("recipe", [*RECIPES, *CXX_RECIPES])
def test_both_find_the_same_functions_inlines_and_rows(recipe: str, built: Callable[[str], Path]) -> None:
    path = built(recipe)
    result, executable = ours(path)
    with path.open("rb") as file:
        reference = Reference(ELFFile(file), executable)
        expected = Counter(reference.functions())
        expected_rows = reference.rows()
    assert result.warnings == ()
    assert expected
    found = Counter(told(function) for function in result.functions if function.ranges)
    assert sorted(found - expected)[:3] == []
    assert sorted(expected - found)[:3] == []
    assert sorted(set(steps(rows_of(result))) ^ set(steps(expected_rows)), key=str)[:6] == []


@pytest.mark.parametrize("recipe", RUST_RECIPES)
def test_of_a_rust_program_both_find_the_same(recipe: str, built: Callable[[str], Path]) -> None:
    path = built(recipe)
    result, executable = ours(path)
    with path.open("rb") as file:
        reference = Reference(ELFFile(file), executable, unit_name="words.rs")
        expected = Counter(reference.functions())
        expected_rows = {address: place for address, place in reference.rows().items() if place is not None}
    assert result.warnings == ()
    assert expected
    assert sorted(expected - Counter(told(function) for function in result.functions))[:3] == []
    found = rows_of(result)
    at = sorted(found)
    assert [
        (address, place)
        for address, place in expected_rows.items()
        if found[at[bisect_right(at, address) - 1]] != place
    ][:3] == []
