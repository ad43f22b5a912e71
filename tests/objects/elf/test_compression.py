"""Compressed sections: what was declared is what comes out, or an error says why not; nothing is believed unchecked."""

from __future__ import annotations

import contextlib
import sys
import threading
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from uploader.errors import MalformedElf
from uploader.objects.elf import compression
from uploader.objects.elf.compression import Compression, inflate, read_gnu_header, read_header

PACKERS: dict[Compression, Callable[[bytes], bytes]] = {
    Compression.ZLIB: zlib.compress,
    Compression.ZLIB_GNU: zlib.compress,
    Compression.ZSTD: zstandard.ZstdCompressor().compress,
}
kinds = pytest.mark.parametrize("kind", list(Compression))
TEXT = b"the quick brown fox jumps over the lazy dog, " * 400


@given(data=st.binary(max_size=5000), kind=st.sampled_from(list(Compression)))
def test_what_was_compressed_comes_back(data: bytes, kind: Compression) -> None:
    assert bytes(inflate(kind, PACKERS[kind](data), len(data))) == data


@kinds
def test_a_section_longer_than_one_slice_comes_back(kind: Compression) -> None:
    noise = b"".join(i.to_bytes(4, "little") + bytes([i * 2654435761 % 251]) * 3 for i in range(200_000))
    packed = PACKERS[kind](noise)
    assert bytes(inflate(kind, memoryview(packed), len(noise))) == noise


def test_zlib_serves_where_libdeflate_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deflate", None)
    assert bytes(inflate(Compression.ZLIB, zlib.compress(TEXT), len(TEXT))) == TEXT
    with pytest.raises(MalformedElf, match="damaged"):
        inflate(Compression.ZLIB, b"not zlib at all", 10)


@given(
    data=st.binary(max_size=3000),
    difference=st.integers(-2, 2),
    flipped=st.none() | st.tuples(st.integers(0, 3000), st.integers(1, 255)),
)
def test_libdeflate_and_zlib_accept_the_same_streams_and_refuse_the_same(
    data: bytes, difference: int, flipped: tuple[int, int] | None
) -> None:
    packed = bytearray(zlib.compress(data))
    if flipped is not None:
        packed[flipped[0] % len(packed)] ^= flipped[1]
    size_bytes = max(1, len(data) + difference)
    outcomes: list[bytes | None] = []
    for read in (compression.inflate_whole, compression.inflate_in_slices):
        try:
            inflated = read(bytes(packed), size_bytes)
        except MalformedElf:
            inflated = None
        outcomes.append(bytes(inflated) if inflated is not None and len(inflated) == size_bytes else None)
    assert outcomes[0] == outcomes[1]


def test_several_zstd_frames_make_one_section() -> None:
    packer = zstandard.ZstdCompressor()
    packed = packer.compress(TEXT[:1000]) + packer.compress(TEXT[1000:])
    assert bytes(inflate(Compression.ZSTD, packed, len(TEXT))) == TEXT


@kinds
@pytest.mark.parametrize("difference", [-1, 1, -1000, 1000])
def test_a_wrong_declared_size_is_an_error(kind: Compression, difference: int) -> None:
    with pytest.raises(MalformedElf, match=r"inflates to|cut short"):
        inflate(kind, PACKERS[kind](TEXT), len(TEXT) + difference)


@kinds
def test_a_cut_stream_is_an_error(kind: Compression) -> None:
    packed = PACKERS[kind](TEXT)
    for length in range(0, len(packed) - 1, 7):
        with pytest.raises(MalformedElf):
            inflate(kind, packed[:length], len(TEXT))


@given(data=st.binary(max_size=300), kind=st.sampled_from(list(Compression)), size=st.integers(0, 1 << 70))
def test_any_bytes_give_the_declared_size_or_a_clear_error(data: bytes, kind: Compression, size: int) -> None:
    with contextlib.suppress(MalformedElf):
        assert len(inflate(kind, data, size)) == size


@kinds
def test_a_declared_size_beyond_what_the_bytes_could_hold_is_refused_before_any_memory_is_taken(
    kind: Compression,
) -> None:
    with pytest.raises(MalformedElf, match="claims to inflate"):
        inflate(kind, PACKERS[kind](TEXT), 1 << 40)


def test_a_bomb_stops_at_the_declared_size() -> None:
    bomb = zlib.compress(bytes(200 << 20), 9)
    with pytest.raises(MalformedElf, match="more than"):
        inflate(Compression.ZLIB, bomb, 1000)


def test_sections_are_inflated_side_by_side() -> None:
    data = TEXT * 200
    packed = zlib.compress(data)
    results: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: results.append(bytes(inflate(Compression.ZLIB, packed, len(data)))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [data] * 4


@pytest.mark.parametrize("bits", [32, 64])
def test_the_header_of_a_compressed_section_is_read_in_both_byte_orders(bits: int) -> None:
    layout = [(1, 4)] + ([(0, 4), (77, 8), (1, 8)] if bits == 64 else [(77, 4), (1, 4)])
    for little_endian in (True, False):
        data = b"".join(value.to_bytes(size, "little" if little_endian else "big") for value, size in layout)
        header = read_header(memoryview(data), bits=bits, little_endian=little_endian)
        assert (header.compression, header.inflated_size_bytes) == (Compression.ZLIB, 77)
        assert header.payload_offset == len(data)
        with pytest.raises(MalformedElf, match="too short"):
            read_header(memoryview(data[:-1]), bits=bits, little_endian=little_endian)


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(MalformedElf, match=r"unknown method \(9\)"):
        read_header(memoryview(bytes([9]) + bytes(23)), bits=64, little_endian=True)


def test_the_legacy_header_is_told_from_its_absence() -> None:
    header = read_gnu_header(memoryview(b"ZLIB" + (5).to_bytes(8, "big") + b"x"))
    assert header is not None
    assert (header.inflated_size_bytes, header.payload_offset) == (5, 12)
    assert read_gnu_header(memoryview(b"ZLIB")) is None
    assert read_gnu_header(memoryview(b"not compressed")) is None
