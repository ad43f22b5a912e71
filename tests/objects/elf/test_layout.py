"""Where the sections of relocatable files go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.writers import elf_writer
from tests.writers.elf_writer import ALLOC, CODE, NOBITS, Section, Symbol, elf
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.elf_symbols.read import read_symbols


def laid_out(*sections: Section, kind: int = elf_writer.RELOCATABLE, bits: int = 64) -> list[tuple[str, int]]:
    with ElfFile.from_bytes(elf(sections, kind=kind, bits=bits)) as file:
        return file.layout


def test_code_lies_one_section_after_another_each_aligned_as_it_asks() -> None:
    assert laid_out(
        Section(".text", b"x" * 33, flags=CODE, alignment=16),
        Section(".data", b"x" * 64, flags=ALLOC, alignment=16),
        Section(".empty", flags=CODE),
        Section(".init.text", b"x" * 5, flags=CODE, alignment=16),
        Section(".exit.text", b"x", flags=CODE, alignment=1),
    ) == [(".text", 0), (".init.text", 48), (".exit.text", 53)]


def test_a_debug_file_has_the_layout_of_its_module() -> None:
    module = [Section(name, b"x" * 40, flags=CODE, alignment=32) for name in (".text", ".init.text")]
    stripped = [section._replace(data=b"", type=NOBITS, size_bytes=40) for section in module]
    assert laid_out(*module) == laid_out(*stripped) == [(".text", 0), (".init.text", 64)]


def test_addresses_that_are_distinct_already_stay() -> None:
    sections = [
        Section(".a", b"x" * 16, flags=CODE, address=0x4000),
        Section(".b", b"x" * 16, flags=CODE, address=0x3000),
    ]
    assert laid_out(*sections) == [(".a", 0x4000), (".b", 0x3000)]


def test_linked_files_have_no_layout_of_ours() -> None:
    assert laid_out(Section(".text", b"x", flags=CODE), kind=elf_writer.EXECUTABLE) == []


def test_ranges_and_symbols_follow_the_layout() -> None:
    sections = [Section(".text", b"x" * 32, flags=CODE), Section(".cold", b"x" * 32, flags=CODE, alignment=64)]
    symbols = [Symbol("hot", 8, 8), Symbol("cold", 8, 8, section=".cold")]
    with ElfFile.from_bytes(elf(sections, symbols=symbols, kind=elf_writer.RELOCATABLE)) as file:
        found = read_symbols(file)
        assert file.executable_ranges() == [(0, 32), (64, 96)]
        assert [(found.name(i), found.start[i]) for i in range(len(found))] == [(b"hot", 8), (b"cold", 72)]


@given(
    st.lists(st.tuples(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1)), min_size=1, max_size=6),
    st.sampled_from([32, 64]),
)
def test_any_sizes_and_alignments_give_addresses_that_fit(claims: list[tuple[int, int]], bits: int) -> None:
    top = (1 << bits) - 1
    sections = [
        Section(f".s{i}", type=NOBITS, flags=CODE, size_bytes=size & top, alignment=alignment & top)
        for i, (size, alignment) in enumerate(claims)
    ]
    with ElfFile.from_bytes(elf(sections, kind=elf_writer.RELOCATABLE, symbols=[], bits=bits)) as file:
        assert all(0 <= address <= top for _, address in file.layout)
        assert all(start < end <= top + 1 for start, end in file.executable_ranges())
        assert len(read_symbols(file)) == 0
