"""The numbers of DWARF are read as they were written, on either core, and never from beyond the end."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import sleb, uleb
from uploader.core import numbers
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.constants import SLOT_CALL_LINE
from uploader.sources.dwarf.die import DieReader

SOURCE = Path(__file__).resolve().parents[2] / "uploader" / "core" / "numbers.py"
TOP = (1 << 64) - 1

UNSIGNED = st.integers(0, TOP)
SIGNED = st.integers(-(1 << 63), (1 << 63) - 1)


def plain() -> ModuleType:
    """The module as plain Python, whether or not it is compiled."""
    spec = importlib.util.spec_from_file_location("plain_numbers", SOURCE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLAIN: Any = plain()
CORES = pytest.mark.parametrize("core", [PLAIN, numbers], ids=["plain", "installed"])


def captured(form: int, number: bytes, *, little_endian: bool = True) -> int:
    """A number as the installed core reads it for an attribute of this form."""
    table = bytes([1, dw.VARIABLE, 0, dw.CALL_LINE, form, 0, 0, 0])
    info = b"\1" + number
    reader = DieReader(info, abbrevs := Abbrevs(table), little_endian=little_endian)
    reader.read(0, (0, len(info), abbrevs.table(0, 8, 4, 5), 8, 4))
    found = reader.slot(SLOT_CALL_LINE)
    assert found is not None
    return found[1]


def signed(number: bytes) -> tuple[int, int]:
    reader = PLAIN.NumberReader(number)
    return reader.sleb(0), reader.position


@CORES
@given(value=UNSIGNED, before=st.binary(max_size=3), behind=st.binary(max_size=3), padding=st.integers(0, 20))
def test_an_unsigned_number_comes_back_with_the_place_behind_it(
    core: Any, value: int, before: bytes, behind: bytes, padding: int
) -> None:
    number = uleb(value, pad_to=padding)
    reader = core.NumberReader(before + number + behind)
    assert reader.read_uleb(len(before)) == (value, len(before) + len(number))


@CORES
@given(value=st.integers(0, 1 << 200))
def test_bits_beyond_the_64th_are_dropped(core: Any, value: int) -> None:
    assert core.NumberReader(uleb(value)).read_uleb(0)[0] == value & TOP


@given(value=SIGNED)
def test_a_signed_number_comes_back_modulo_2_to_the_64(value: int) -> None:
    number = sleb(value)
    assert signed(number) == (value & TOP, len(number))
    assert captured(dw.SDATA, number) == value & TOP


@given(value=st.integers(-(1 << 200), 1 << 200))
def test_bits_of_a_signed_number_beyond_the_64th_are_dropped(value: int) -> None:
    assert signed(sleb(value))[0] == captured(dw.SDATA, sleb(value)) == value & TOP


@given(value=UNSIGNED)
def test_an_attribute_holds_the_number_that_was_written(value: int) -> None:
    assert captured(dw.UDATA, uleb(value)) == value


@given(value=UNSIGNED, size=st.integers(1, 8), little=st.booleans())
def test_a_number_of_fixed_size_comes_back(value: int, size: int, little: bool) -> None:
    value &= (1 << (8 * size)) - 1
    data = value.to_bytes(size, "little" if little else "big")
    reader = PLAIN.NumberReader(b"\xff" + data + b"\xff", little_endian=little)
    assert reader.fixed(1, size) == value


@pytest.mark.parametrize(("form", "size"), [(dw.DATA1, 1), (dw.DATA2, 2), (dw.DATA4, 4), (dw.DATA8, 8)])
@given(value=UNSIGNED, little=st.booleans())
def test_an_attribute_of_fixed_size_holds_what_was_written(form: int, size: int, value: int, little: bool) -> None:
    value &= (1 << (8 * size)) - 1
    assert captured(form, value.to_bytes(size, "little" if little else "big"), little_endian=little) == value


@given(value=st.integers(0, (1 << 128) - 1), little=st.booleans())
def test_of_a_wider_number_the_low_bits_count(value: int, little: bool) -> None:
    data = value.to_bytes(16, "little" if little else "big")
    assert PLAIN.NumberReader(data, little_endian=little).fixed(0, 16) == value & TOP
    assert captured(dw.DATA16, data, little_endian=little) == value & TOP


@CORES
@given(value=st.integers(128, 1 << 80), data=st.data())
def test_a_number_that_is_cut_off_is_none(core: Any, value: int, data: st.DataObject) -> None:
    whole = uleb(value)
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(IndexError):
        core.NumberReader(cut).read_uleb(0)
    for number in (PLAIN.NumberReader(cut).sleb, PLAIN.NumberReader(cut).uleb):
        with pytest.raises(IndexError):
            number(0)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("little", [True, False], ids=["little", "big"])
def test_a_fixed_number_that_is_cut_off_is_none(size: int, little: bool) -> None:
    with pytest.raises(IndexError):
        PLAIN.NumberReader(bytes(size - 1), little_endian=little).fixed(0, size)
