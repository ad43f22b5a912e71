"""Large sections come out of libdeflate's C interface as they do of zlib, or not at all."""

from __future__ import annotations

import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.errors import MalformedElf
from uploader.objects.elf import compression, libdeflate
from uploader.objects.elf.compression import Compression, inflate
from uploader.objects.elf.libdeflate import inflate_into_pages

TEXT = b"".join(i.to_bytes(4, "little") + b" walks behind its plough" for i in range(200_000))

here = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
ways = pytest.mark.parametrize("beside", [False, True])


@here
def test_the_package_that_pip_installs_lets_its_libdeflate_be_seen() -> None:
    assert libdeflate._library() is not None, "large sections are inflated a fifth slower"


@here
@ways
def test_what_was_compressed_comes_back(beside: bool) -> None:
    pages = inflate_into_pages(memoryview(zlib.compress(TEXT)), len(TEXT), beside=beside)
    assert pages is not None
    assert pages[:] == TEXT


@here
@given(st.binary(min_size=1, max_size=3000), st.booleans())
def test_any_size_will_do(data: bytes, beside: bool) -> None:
    pages = inflate_into_pages(zlib.compress(data), len(data), beside=beside)
    assert pages is not None
    assert pages[:] == data


@ways
@pytest.mark.parametrize("change", [-1, 1, 5_000_000])
def test_another_size_than_the_streams_is_refused(change: int, beside: bool) -> None:
    assert inflate_into_pages(zlib.compress(TEXT), len(TEXT) + change, beside=beside) is None


@given(st.integers(0, 200), st.integers(1, 255))
def test_a_damaged_stream_is_refused_or_gives_as_many_bytes(at: int, flip: int) -> None:
    data = TEXT[:5000]
    packed = bytearray(zlib.compress(data))
    packed[at] ^= flip
    pages = inflate_into_pages(bytes(packed), len(data))
    assert pages is None or pages[:] == data


def test_a_large_section_takes_this_way_and_has_the_same_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = zlib.compress(TEXT)
    assert len(TEXT) >= compression.LARGE_BYTES
    assert bytes(inflate(Compression.ZLIB, packed, len(TEXT), beside=True)) == TEXT
    with pytest.raises(MalformedElf, match="more than"):
        inflate(Compression.ZLIB, packed, len(TEXT) - 1)
    with pytest.raises(MalformedElf, match="cut short"):
        inflate(Compression.ZLIB, packed[:-10], len(TEXT))
    monkeypatch.setattr(libdeflate, "_library", lambda: None)
    assert bytes(inflate(Compression.ZLIB, packed, len(TEXT), beside=True)) == TEXT, "and without it another"
