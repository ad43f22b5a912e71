"""What is written is what is read, whatever the table, the version and the byte order."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.gsym.tables import assert_sound, content, tables
from uploader.errors import InputError, UsageError
from uploader.gsym import encode as encode_module
from uploader.gsym.decode import decode
from uploader.gsym.encode import encode
from uploader.gsym.layout import MAX_INLINE_DEPTH
from uploader.symbols.columns import SymbolTable

byte_orders = st.booleans()
versions = st.sampled_from((1, 2))


@given(tables(), byte_orders, versions, st.binary(max_size=20), st.integers(0, 2**64 - 1))
def test_decoding_gives_back_the_table(
    table: SymbolTable, little_endian: bool, version: int, uuid: bytes, base_address: int
) -> None:
    assert_sound(table)
    data = encode(table, base_address=base_address, uuid=uuid, little_endian=little_endian, version=version)
    header, again = decode(data)
    assert content(again) == content(table)
    assert_sound(again)
    assert (header.version, header.little_endian, header.uuid) == (version, little_endian, uuid)
    assert header.base_address == min([base_address, *table.start[:1]])
    assert header.function_count == len(table)


@given(tables(), byte_orders, versions)
def test_the_decoded_table_gives_the_same_bytes(table: SymbolTable, little_endian: bool, version: int) -> None:
    """Bytes depend on what a table says, not on how its names and files happen to be numbered."""
    data = encode(table, base_address=0, uuid=b"id", little_endian=little_endian, version=version)
    assert encode(decode(data)[1], base_address=0, uuid=b"id", little_endian=little_endian, version=version) == data


@given(table=tables(), version=versions)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_number_of_slices_does_not_change_a_byte(
    monkeypatch: pytest.MonkeyPatch, table: SymbolTable, version: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(encode_module, "PIECES_A_SLICE", 2)
        sliced = encode(table, base_address=0, uuid=b"", version=version)
    assert sliced == encode(table, base_address=0, uuid=b"", version=version)


def one_function(*, end: int = 0x1010) -> SymbolTable:
    table = SymbolTable(names=[b"", b"main"])
    table.start.append(0x1000)
    table.end.append(end)
    table.name.append(1)
    table.row_first.append(0)
    table.node_first.append(0)
    return table


def test_a_long_uuid_makes_it_version_2() -> None:
    data = encode(one_function(), base_address=0, uuid=bytes(range(32)))
    assert decode(data)[0].version == 2
    assert decode(data)[0].uuid == bytes(range(32))


def test_version_1_is_refused_where_it_cannot_hold_the_uuid() -> None:
    with pytest.raises(UsageError, match="UUID"):
        encode(one_function(), base_address=0, uuid=bytes(21), version=1)


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(UsageError, match="version 3"):
        encode(one_function(), base_address=0, uuid=b"", version=3)


def test_a_function_over_4_gib_is_refused() -> None:
    with pytest.raises(InputError, match="4 GiB"):
        encode(one_function(end=0x1000 + 2**32), base_address=0, uuid=b"")
    longest = encode(one_function(end=0x1000 + 2**32 - 1), base_address=0, uuid=b"")
    assert decode(longest)[1].end[0] == 0x1000 + 2**32 - 1


def nested(depth: int) -> SymbolTable:
    table = one_function()
    for level in range(1, depth + 1):
        table.node_depth.append(level)
        table.node_name.append(1)
        table.node_call_file.append(0)
        table.node_call_line.append(0)
        table.range_start.append(0x1000)
        table.range_end.append(0x1010)
        table.range_first.append(level)
    table.node_first[1] = depth
    return table


def test_inlines_nest_as_deep_as_readers_can_follow_and_no_deeper() -> None:
    deepest = encode(nested(MAX_INLINE_DEPTH), base_address=0, uuid=b"")
    assert content(decode(deepest)[1]) == content(nested(MAX_INLINE_DEPTH))
    with pytest.raises(InputError, match="nest"):
        encode(nested(MAX_INLINE_DEPTH + 1), base_address=0, uuid=b"")


def test_an_inlined_call_without_a_range_is_refused() -> None:
    table = nested(1)
    table.range_first[1] = 0
    with pytest.raises(InputError, match="without a range"):
        encode(table, base_address=0, uuid=b"")


def test_only_what_is_used_is_written() -> None:
    table = one_function()
    table.names = [b"", b"main", b"never_used"]
    table.files = [(b"", b""), (b"/unused", b"unused.c")]
    data = encode(table, base_address=0, uuid=b"")
    assert b"main" in data and b"never_used" not in data and b"unused.c" not in data
    assert decode(data)[1].files == [(b"", b"")]
