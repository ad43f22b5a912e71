"""Any change of a whole file gives an answer or a clear error, in time and memory that its size bounds."""

from __future__ import annotations

import subprocess
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uploader.errors import InputError
from uploader.gsym.decode import decode
from uploader.gsym.encode import encode
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.extract import build

RECIPES = ["gcc-dwarf4", "gcc-dwarf5", "gcc-stripped", "clang-dwarf5"]
MEMORY_BYTES = 256 * 1024 * 1024


def street(data: bytes) -> int:
    """From bytes to bytes and back; gives the number of pieces."""
    try:
        elf = ElfFile.from_bytes(data)
        table = build(elf).table
        if not len(table):
            return 0
        _, read = decode(encode(table, base_address=elf.base_address, uuid=b""))
    except InputError:
        return 0
    return len(read)


@pytest.fixture(scope="module", params=RECIPES)
def sound(request: pytest.FixtureRequest, built_binary: Callable[[str], Path]) -> tuple[bytes, float]:
    """A real binary, and how long it takes as it is."""
    data = built_binary(request.param).read_bytes()
    assert street(data)
    began = time.process_time()
    street(data)
    return data, time.process_time() - began


def bounded(data: bytes, normal_seconds: float, sound_size_bytes: int) -> None:
    tracemalloc.start()
    began = time.process_time()
    try:
        street(data)
        spent = time.process_time() - began
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Tracing costs several times the work itself; the floor is for a machine that does something else at that moment.
    assert spent < max(10 * 5 * normal_seconds, 5)
    assert peak_bytes < 2 * 8 * sound_size_bytes + MEMORY_BYTES


@settings(max_examples=60)
@given(draw=st.data())
def test_any_truncation(sound: tuple[bytes, float], draw: st.DataObject) -> None:
    data, normal_seconds = sound
    bounded(data[: draw.draw(st.integers(0, len(data)))], normal_seconds, len(data))


@settings(max_examples=120)
@given(draw=st.data())
def test_any_single_byte_changed(sound: tuple[bytes, float], draw: st.DataObject) -> None:
    data, normal_seconds = sound
    at = draw.draw(st.integers(0, len(data) - 1))
    changed = bytearray(data)
    changed[at] = draw.draw(st.integers(0, 255))
    bounded(bytes(changed), normal_seconds, len(data))


@pytest.fixture(scope="module")
def relocatable(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An object file: its debug sections are relocated as they are read."""
    folder = tmp_path_factory.mktemp("object")
    source = "static inline int twice(int a) { return a + a; }\nint f(int a, int b) { return a > b ? twice(a) : twice(b) - a; }\n"
    command = ["gcc", "-g", "-O2", "-c", "-ffunction-sections", "-x", "c", "-", "-o", "f.o"]
    subprocess.run(command, input=source, text=True, check=True, cwd=folder)
    return (folder / "f.o").read_bytes()


@settings(max_examples=200)
@given(draw=st.data())
def test_damage_is_told_the_same_on_any_number_of_threads(relocatable: bytes, draw: st.DataObject) -> None:
    changed = bytearray(relocatable)
    for _ in range(draw.draw(st.integers(1, 8))):
        changed[draw.draw(st.integers(0, len(changed) - 1))] = draw.draw(st.integers(0, 255))
    assert told(bytes(changed), threads=1) == told(bytes(changed), threads=3)


def told(data: bytes, *, threads: int) -> tuple[bytes, tuple[str, ...]] | str:
    """The file that comes of some bytes and the warnings, or the error."""
    try:
        elf = ElfFile.from_bytes(data)
        extracted = build(elf, threads=threads)
        gsym = encode(extracted.table, base_address=0, uuid=b"", threads=threads) if len(extracted.table) else b""
    except InputError as error:
        return error.message
    return gsym, extracted.warnings


@given(st.binary(max_size=4096))
def test_any_bytes(data: bytes) -> None:
    street(data)
    street(b"\x7fELF\x02\x01\x01" + data)
