"""Mini-debuginfo: the small ELF file that a stripped binary carries, inflated within bounds."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers import split_debug
from tests.writers.elf_writer import CODE, Section, Symbol, elf
from uploader.errors import MalformedElf
from uploader.objects.elf import mini_debuginfo
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.mini_debuginfo import open_mini_debuginfo

INNER = elf([Section(".text", b"\xc3" * 64, flags=CODE, address=0x1000)], symbols=[Symbol("inner", 0x1000, 16)])


def carrying(data: bytes) -> ElfFile:
    return ElfFile.from_bytes(elf([Section(".gnu_debugdata", data)]), "app")


def test_the_inner_file_is_opened() -> None:
    inner = open_mini_debuginfo(carrying(lzma.compress(INNER)))
    assert inner is not None
    assert inner.section(".symtab") is not None
    assert "app" in inner.path


@pytest.mark.parametrize(
    "file", [elf(), elf([Section(".gnu_debugdata", b"")]), elf([Section(".gnu_debugdata", type=8)])]
)
def test_a_file_without_it_has_none(file: bytes) -> None:
    assert open_mini_debuginfo(ElfFile.from_bytes(file)) is None


def test_what_a_packager_made_is_read(tmp_path: Path, peer: Callable[[str], str]) -> None:
    peer("xz")
    whole = split_debug.build(tmp_path / "whole")
    with ElfFile.open(split_debug.with_mini_debuginfo(whole, tmp_path / "app")) as file:
        inner = open_mini_debuginfo(file)
        assert inner is not None
        assert inner.section(".symtab") is not None
        assert file.section(".symtab") is None


def test_a_bomb_is_refused_before_it_fills_the_memory() -> None:
    bomb = lzma.compress(bytes(64 << 20))
    assert len(bomb) < 20_000
    with pytest.raises(MalformedElf, match="inflates to more than"):
        open_mini_debuginfo(carrying(bomb))


def test_the_limit_is_kept_whatever_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mini_debuginfo, "MAX_SIZE_BYTES", len(INNER) - 1)
    with pytest.raises(MalformedElf, match="inflates to more than"):
        open_mini_debuginfo(carrying(lzma.compress(INNER)))


def test_a_dictionary_beyond_all_need_is_refused() -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 29}]
    with pytest.raises(MalformedElf, match="can't be inflated"):
        open_mini_debuginfo(carrying(lzma.compress(INNER, filters=filters)))


@pytest.mark.parametrize("data", [b"no xz at all", lzma.compress(b"no ELF file"), lzma.compress(b"")])
def test_what_is_no_compressed_elf_file_is_an_error(data: bytes) -> None:
    with pytest.raises(MalformedElf):
        open_mini_debuginfo(carrying(data))


@given(st.integers(1, 4000), st.integers(0, 255))
def test_any_damage_gives_the_file_or_a_clear_error(at: int, value: int) -> None:
    data = bytearray(lzma.compress(INNER))
    data[at % len(data)] = value
    for damaged in (bytes(data), bytes(data[: at % len(data)])):
        try:
            open_mini_debuginfo(carrying(damaged))
        except MalformedElf:
            continue
