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
    ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
    ("_RNvNtCs1234_7mycrate3foo3bar.llvm.123", "mycrate::foo::bar.llvm.123"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="the C++ demangler is a dependency where it has a wheel")
@pytest.mark.parametrize(("mangled", "readable"), READABLE)
def test_cpp_and_rust_names_are_read(mangled: str, readable: str) -> None:
    assert demangle(mangled) == readable


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


@given(st.sampled_from(["_Z", "_ZN", "_R", "_RNv", "__Z"]), st.text("NSPKRIEJLXZCabcdefvi0123456789_.", max_size=300))
def test_any_name_gives_a_name(start: str, rest: str) -> None:
    assert isinstance(demangle(start + rest), str)
