"""Names for people: readable where they can be read, unchanged where not, and never an error."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.cli.demangle import MAX_NAME_LENGTH, demangle

READABLE = [
    ("_ZN4ceph6buffer4listD1Ev", "ceph::buffer::list::~list()"),
    ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"),
    ("_ZN3foo3barEv.isra.0", "foo::bar() [clone .isra.0]"),
    ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
    (
        "_ZN4core6result19Result$LT$T$C$E$GT$6unwrap17h0123456789abcdefE",
        "core::result::Result<T,E>::unwrap",
    ),
    (
        "_ZN4core6result19Result$LT$T$C$E$GT$6unwrap17h0123456789abcdefE.llvm.123",
        "core::result::Result<T,E>::unwrap.llvm.123",
    ),
    (
        (
            "_ZN103_$LT$std..sys..thread_local..abort_on_dtor_unwind..DtorUnwindGuard$u20$as$u20$core..ops..drop..Drop$GT$4drop"
            "17h89b1b288af29ce99E"
        ),
        "<std::sys::thread_local::abort_on_dtor_unwind::DtorUnwindGuard as core::ops::drop::Drop>::drop",
    ),
    ("_ZN4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "main::{{closure}}"),
    ("_ZN3foo17h0123456789abcdefEv", "foo::h0123456789abcdef()"),
    ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
    ("_RNCNCNvCsdyIzzQ9zpVj_1r4mains_00B5_", "r::main::{closure#1}::{closure#0}"),
    ("_RNSNvCs1234_7mycrate3foo6vtable", "mycrate::foo::{shim:vtable#0}"),
    ("_RNvNtCs1234_7mycrate3foo3bar.llvm.123", "mycrate::foo::bar.llvm.123"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="the C++ demangler is a dependency where it has a wheel")
@pytest.mark.parametrize(("mangled", "readable"), READABLE)
def test_cpp_and_rust_names_are_read(mangled: str, readable: str) -> None:
    assert demangle(mangled) == readable


D = [
    ("_Dmain", "D main"),
    ("_D4geom4areaFiZi", "geom.area(int)"),
    ("_D4geom4areaFiZ6helperMFNbNiiZi", "geom.area(int).helper(int)"),
    ("_D4geom4areaFiZ6helperMFNbNiiZi.constprop.0", "geom.area(int).helper(int).constprop.0"),
    (
        "_D3std9exception__T7bailOutHTC9ExceptionZQwFNaNfAyamMAxaZNn",
        "std.exception.bailOut!(Exception).bailOut(immutable(char)[], ulong, scope const(char)[])",
    ),
    (
        "_D3std3uni__T13PackedPtrImplTSQBcQBb__T9BitPackedTbVmi1ZQrVmi1ZQBy11simpleIndexMNgFNaNbNimZQCk",
        "std.uni.PackedPtrImpl!(std.uni.BitPacked!(bool, 1uL).BitPacked, 1uL).PackedPtrImpl.simpleIndex(ulong) inout",
    ),
    (
        "_D3std3uni__T13PackedPtrImplTSQBcQBb__T9BitPackedTbVmi1ZQrVmi1ZQBy6__ctorMNgFNaNbNcNiNfPNgmZNgSQDpQDo__TQDnTQDbVmi1ZQDz",
        "std.uni.PackedPtrImpl!(std.uni.BitPacked!(bool, 1uL).BitPacked, 1uL).PackedPtrImpl.this(inout(ulong)*) inout",
    ),
    (
        "_D3std6digest3crc__T3CRCVki64VmN3932672073523589310ZQBg4peekMxFNaNbNiNfZG8h",
        "std.digest.crc.CRC!(64u, -3932672073523589310uL).CRC.peek() const",
    ),
    (
        (
            "_D3std3utf__T10decodeImplVbi1VEQBd8typecons__T4FlagVAyaa19_7573655265706c6163656d656e744463686172ZQCai0TAxaZQDrFKQjKmZ10invalidUTF"
            "MFNaNbZCQFgQFf12UTFException"
        ),
        "std.utf.decodeImpl!(true, 0, const(char)[]).decodeImpl(ref const(char)[], ref ulong).invalidUTF()",
    ),
]
"""Recorded from gdc 12 and ldc 1.30, and read by binutils' c++filt in the same way."""

BY_RULES = [
    ("geom__shape_area", "geom.adb", "geom.shape_area"),
    ("geom__shape_area__helper.1", "geom.adb", "geom.shape_area.helper"),
    ("geom__shape_area.constprop.0", "geom.adb", "geom.shape_area [clone .constprop.0]"),
    ("geom__inner__Oadd", "/src/Geom.ADB", 'geom.inner."+"'),
    ("geom__inner__Oadd__2", "geom.adb", 'geom.inner."+"'),
    ("geom__inner__tTB", "geom.adb", "geom.inner.t"),
    ("ada__text_io__put_line__2", "a-textio.adb", "ada.text_io.put_line"),
    ("main___finalizer.1", "main.adb", "main___finalizer.1"),
    ("geom___elabb", "", "geom'Elab_Body"),
    ("_ada_main", "", "main"),
    ("__geom_MOD_shape_area", "", "geom::shape_area"),
    ("base_GHCziBase_map_info", "", "base:GHC.Base.map"),
    ("base_GHCziList_znzn_info", "", "base:GHC.List.!!"),
    ("ghczmprim_GHCziTypes_ZC_con_info", "", "ghc-prim:GHC.Types.:_con_info"),
    ("ghczmprim_GHCziTuple_Z2T_con_info", "", "ghc-prim:GHC.Tuple.(,)_con_info"),
    ("containerszm0zi6zi5zi1_DataziMapziInternal_insert_info", "", "containers-0.6.5.1:Data.Map.Internal.insert"),
    ("Main_main1_info", "Main.hs", "Main.main1"),
    ("area__nimt_5", "nimt.nim", "nimt.area"),
    ("add__system_2308.part.0", "@msystem.nim.c", "system.add [clone .part.0]"),
    ("dollar___systemZdollars_3", "dollars.nim", "system/dollars.$"),
    ("X5BX5Deq___nimt_92", "nimt.nim", "nimt.[]="),
    ("eqdestroy___stdZtables_u12", "tables.nim", "std/tables.=destroy"),
]
"""Composed as gnat 12, gfortran 12, GHC 9 and Nim 1.6 form names, not recorded from them; with the file that the function stands in."""

PLAIN_C = [
    *("machine__init", "evlist__open", "geom__shape_area", "area__nimt_5", "vector__add_u32", "Main_main_info"),
    *("module_Foo_info", "horizziBar_Foo_info", "_Dynamic_x", "_DYNAMIC", "D4geom", "__module_init", "__x_MOD", "main"),
    *("foo.part.0", "bar.cold", "__a_mod_b", "a__Oadd", "17h0123456789abcdefE", "zero", "_ada"),
]


@pytest.mark.parametrize(("mangled", "readable"), D)
def test_names_of_d_are_read(mangled: str, readable: str) -> None:
    assert demangle(mangled) == readable


@pytest.mark.parametrize(("mangled", "file", "readable"), BY_RULES)
def test_names_by_short_rules_are_read(mangled: str, file: str, readable: str) -> None:
    assert demangle(mangled, file) == readable


@pytest.mark.parametrize("name", PLAIN_C)
@pytest.mark.parametrize("file", ["", "main.c", "nim.c", "adb"])
def test_names_of_c_stay(name: str, file: str) -> None:
    assert demangle(name, file) == name


@pytest.mark.parametrize("file", ["a.adb", "a.nim", "a.hs"])
@pytest.mark.parametrize("name", ["main", "_init", "memcpy"])
def test_c_names_in_files_of_other_languages_stay(name: str, file: str) -> None:
    assert demangle(name, file) == name


def test_a_d_name_that_refers_back_without_end_is_given_up() -> None:
    growing = "_D1a__T1bTS1c" + "".join(f"__T1dTQ{'B' * 3}aTQ{'B' * 3}bZ" for _ in range(200)) + "Zi"
    started = time.monotonic()
    assert demangle(growing) == growing
    assert demangle("_D" + "8000" + "x" * 8000 + "Qa" * 40 + "FZv")
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "name",
    ["main", "", "_Z", "_R", "_ZN", "_R" + "N" * 5000, "_Z" + "P" * 8000, "_Z" + "1a" * MAX_NAME_LENGTH, "_start"],
)
def test_what_can_not_be_read_stays(name: str) -> None:
    assert demangle(name) == name


def doubling(levels: int) -> str:
    """A C++ name in which each template argument names the one before twice: two to the power of ``levels`` times as long."""

    def reference(number: int) -> str:
        digits = ""
        number -= 1
        while number >= 0 and (digits == "" or number):
            number, digit = divmod(number, 36)
            digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit] + digits
        return f"S{digits}_"

    return "_Z1f1AIiiE" + "".join(f"S_I{2 * reference(i + 1)}E" for i in range(levels))


def test_a_name_that_grows_without_end_is_given_up_in_time() -> None:
    assert demangle(doubling(3)).count("A<") == 1 + 3 + 7 + 15
    started = time.monotonic()
    assert demangle(doubling(35)) == doubling(35)
    assert time.monotonic() - started < 10
    assert demangle("_ZN3foo3barEv") == "foo::bar()", "the next name is read as ever"


@given(
    st.sampled_from(["_Z", "_ZN", "_R", "_RNv", "__Z", "_D", "_D1a", "_D1aF", "_D1a__T1b", "", "a__"]),
    st.text("NSPKRIEJLXZCQTVAHGabcdefvi0123456789_.", max_size=300),
    st.sampled_from(["", "a.adb", "a.nim", "a.hs"]),
)
def test_any_name_gives_a_name(start: str, rest: str, file: str) -> None:
    assert demangle(start + rest, file) or not start + rest
