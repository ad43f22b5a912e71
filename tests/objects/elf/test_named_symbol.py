"""One symbol by its name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.elf_writer import CODE, Section, Symbol, elf
from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.named_symbol import address_of_symbol

TEXT = Section(".text", bytes(64), flags=CODE, address=0x1000)


def address(data: bytes, name: bytes = b"here") -> int | None:
    with ElfFile.from_bytes(data) as file:
        return address_of_symbol(file, name)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("little_endian", [True, False])
def test_its_address_is_told_and_no_others(bits: int, little_endian: bool) -> None:
    symbols = [Symbol(name, 0x1000 + index) for index, name in enumerate(("nowhere", "her", "heres", "here", "x"))]
    data = elf([TEXT], symbols=symbols, bits=bits, little_endian=little_endian)
    assert address(data) == 0x1003
    assert address(data, b"hers") is None
    assert address(elf([TEXT], bits=bits, little_endian=little_endian)) is None


def test_a_value_that_looks_like_the_names_place_is_no_entry() -> None:
    # The name stands at offset 1, which the first symbol has as its value and its size.
    symbols = [Symbol("here", 0x1005), Symbol("other", 1, size_bytes=1)]
    assert address(elf([TEXT], symbols=symbols)) == 0x1005
    assert address(elf([TEXT], symbols=symbols[::-1])) == 0x1005


@given(at=st.integers(0, 1 << 16), value=st.integers(0, 255))
def test_any_byte_changed_is_an_answer_or_an_error(at: int, value: int) -> None:
    data = bytearray(elf([TEXT], symbols=[Symbol("here", 0x1005), Symbol("other", 1)]))
    data[at % len(data)] = value
    try:
        found = address(bytes(data))
    except InputError:
        return
    assert found is None or found >= 0
