"""The measuring stick is checked itself: each reader's own words, as they really print them, and the rules of agreement."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agreement
from agreement import Answer, Frame, Verdict, compare, parse_location

CHAIN = """\
0x000000000047f123: _odict_keys_equal + 57 @ /build/x/../Objects/odictobject.c:818 [inlined]
                    odict_richcompare + 249 @ /build/x/../Objects/odictobject.c:1495

0x000000000041f025: _init + 37

0x0000000000420f10: PyFile_SetOpenCodeHook @ /build/x/../Objects/fileobject.c:471

0x00000000006d2000: error: address 0x6d2000 is not in GSYM

0x0000000000000007: error: failed to read the line table at 0x7

"""


def test_a_gsym_chain_is_read_innermost_first_with_the_start_of_its_outermost_function() -> None:
    answers = dict(agreement.parse_gsymutil(CHAIN.splitlines(keepends=True)))
    assert answers[0x47F123] == Answer(
        frames=(Frame("_odict_keys_equal", "odictobject.c", 818), Frame("odict_richcompare", "odictobject.c", 1495)),
        start=0x47F123 - 249,
    )


def test_a_function_without_lines_is_read_from_gsym() -> None:
    answers = dict(agreement.parse_gsymutil(CHAIN.splitlines()))
    assert answers[0x41F025] == Answer(frames=(Frame("_init"),), start=0x41F000)


def test_an_address_outside_the_gsym_is_no_error_but_any_other_complaint_is() -> None:
    answers = dict(agreement.parse_gsymutil(CHAIN.splitlines()))
    assert answers[0x6D2000] == Answer()
    assert answers[0x7].error == "failed to read the line table at ADDRESS"


@pytest.mark.parametrize(
    ("printed", "frame", "offset"),
    [
        ("main @ /src/a.c:3", Frame("main", "a.c", 3), 0),
        ("main + 12 @ a.c:3", Frame("main", "a.c", 3), 12),
        ("operator+ + 5 @ ./b.h:1", Frame("operator+", "b.h", 1), 5),
        ("a name @ with parts + 7 @ /d @ e/f.c:9", Frame("a name @ with parts", "f.c", 9), 7),
        ("a name @ with parts @ /d @ e/f.c:9", Frame("a name @ with parts", "f.c", 9), 0),
        ("f<int, char> @ dir/x.cc:4", Frame("f<int, char>", "x.cc", 4), 0),
        (r"f @ C:\src\x.cc:4", Frame("f", "x.cc", 4), 0),
        ("f @ <invalid-file>:4", Frame("f"), 0),
        ("f + 3 @ /src/a.c:0", Frame("f"), 3),
        ("_dl_catch@@GLIBC_2.34", Frame("_dl_catch@@GLIBC_2.34"), 0),
    ],
)
def test_a_location_splits_into_name_offset_and_place(printed: str, frame: Frame, offset: int) -> None:
    assert parse_location(printed) == (frame, offset)


_names = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1)


@given(
    name=_names,
    offset=st.integers(1, 2**40),
    base=_names.filter(lambda name: not set(name) & set("/\\")),
    line=st.integers(1, 2**32 - 1),
)
def test_a_location_with_an_offset_is_read_back_whatever_the_names_hold(
    name: str, offset: int, base: str, line: int
) -> None:
    frame, read_offset = parse_location(f"{name} + {offset} @ /dir/{base}:{line}")
    assert (frame.function, read_offset) == (name, offset)
    assert frame == agreement.frame(name, base, line)


def test_the_symbolizers_documents_are_read_with_its_marks_of_ignorance() -> None:
    def document(address: str, *symbols: dict[str, object]) -> str:
        return json.dumps({"Address": address, "ModuleName": "x", "Symbol": list(symbols)})

    inner = {"FunctionName": "inner", "FileName": "/s/a.c", "Line": 3, "StartAddress": ""}
    outer = {"FunctionName": "outer@@V_1", "FileName": "/s/b.c", "Line": 0, "StartAddress": "0x10"}
    nothing = {"FunctionName": "", "FileName": "", "Line": 0, "StartAddress": ""}
    padding = {"FunctionName": "", "FileName": "/s/a.c", "Line": 9, "StartAddress": ""}
    printed = [document("0x14", inner, outer), document("0x20", nothing), document("0x30", padding)]
    assert dict(agreement.parse_symbolizer(printed)) == {
        0x14: Answer(frames=(Frame("inner", "a.c", 3), Frame("outer")), start=0x10),
        0x20: Answer(),
        0x30: Answer(frames=(Frame("", "a.c", 9),)),
    }


def test_the_third_voice_is_read() -> None:
    printed = "0x0000000000000010\ninner inlined at /s/b.c:7:1 in outer\n/s/a.c:3:9\nouter\n/s/b.c:7:1\n0x0000000000000020\n??\n??:0\n"
    assert dict(agreement.parse_eu_addr2line(printed.splitlines())) == {
        0x10: Answer(frames=(Frame("inner", "a.c", 3), Frame("outer", "b.c", 7))),
        0x20: Answer(frames=(Frame(""),)),
    }


ALIASES = {0x10: frozenset({"memcpy", "__memcpy"}), 0x20: frozenset({"memmove"})}


def answer(*frames: Frame, start: int | None = 0x10) -> Answer:
    return Answer(frames=frames, start=start)


@pytest.mark.parametrize(
    ("ours", "reference", "verdict"),
    [
        (answer(Frame("f", "a.c", 1)), answer(Frame("f", "a.c", 1)), Verdict.AGREE),
        (answer(Frame("memcpy")), answer(Frame("__memcpy")), Verdict.AGREE),
        (answer(Frame("memcpy"), start=0x20), answer(Frame("__memcpy"), start=None), Verdict.NAME),
        (answer(Frame("memcpy")), answer(Frame("memmove")), Verdict.NAME),
        (answer(Frame("f@V_1")), answer(Frame("f")), Verdict.AGREE),
        (answer(Frame("ns::C::f")), answer(Frame("f")), Verdict.AGREE),
        (answer(Frame("f")), answer(Frame("ns::f")), Verdict.NAME),
        (answer(Frame("f")), answer(Frame("f.__part.12")), Verdict.AGREE),
        (answer(Frame("f.__part.12")), answer(Frame("f")), Verdict.NAME),
        (answer(Frame("f")), answer(Frame("f.__part.x")), Verdict.NAME),
        (answer(Frame("my_f")), answer(Frame("f")), Verdict.NAME),
        (answer(Frame("f.cold")), answer(Frame("f")), Verdict.NAME),
        (answer(Frame("i", "a.c", 1), Frame("f", "a.c", 2)), answer(Frame("f", "a.c", 2)), Verdict.DEPTH),
        (answer(Frame("f", "a.c", 1)), answer(Frame("f", "a.c", 2)), Verdict.LINE),
        (answer(Frame("f", "a.c", 1)), answer(Frame("f", "b.c", 1)), Verdict.FILE),
        (answer(Frame("f", "a.c", 1)), answer(Frame("f")), Verdict.FILE),
        (answer(Frame("f")), answer(), Verdict.REFERENCE_LACKS),
        (answer(), answer(Frame("f")), Verdict.OURS_LACKS),
        (answer(), answer(Frame("", "a.c", 3)), Verdict.NO_FUNCTION),
        (Answer(error="broken"), answer(Frame("f")), Verdict.OURS_LACKS),
    ],
)
def test_two_answers_agree_only_where_the_whole_chain_does(ours: Answer, reference: Answer, verdict: Verdict) -> None:
    assert compare(ours, reference, ALIASES).verdict is verdict


def test_the_innermost_line_is_judged_apart_from_names_and_depth() -> None:
    result = compare(answer(Frame("x", "a.c", 1), Frame("f", "a.c", 2)), answer(Frame("f", "a.c", 1)), {})
    assert result.verdict is Verdict.DEPTH
    assert result.leaf_line
    assert not result.lines


@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=8), count=st.integers(1, 500), seed=st.integers())
def test_addresses_are_drawn_from_executable_ranges_only_and_the_same_for_the_same_seed(
    sizes: list[int], count: int, seed: int
) -> None:
    ranges = tuple((1000 * i, 1000 * i + size) for i, size in enumerate(sizes))
    code = agreement.Code(ranges=ranges, aliases={})
    drawn = code.draw(count, seed)
    assert drawn == sorted(set(drawn)) == code.draw(count, seed)
    assert len(drawn) == min(count, sum(sizes))
    assert all(any(start <= address < end for start, end in ranges) for address in drawn)


@pytest.mark.parametrize(
    ("told", "stretched"),
    [
        (answer(Frame("_init"), start=0x100), True),
        (answer(Frame("_init"), start=0x200), False),
        (answer(Frame("_init", "crti.S", 1), start=0x100), False),
        (answer(Frame("inner"), Frame("outer"), start=0x100), False),
        (answer(Frame("f"), start=None), False),
        (Answer(), False),
    ],
)
def test_a_bare_name_from_another_section_is_a_stretched_symbol(told: Answer, stretched: bool) -> None:
    code = agreement.Code(ranges=((0x100, 0x110), (0x200, 0x300)), aliases={})
    assert code.stretched(0x210, told) is stretched


@pytest.mark.parametrize(
    ("address", "told", "stub"),
    [
        (0x210, answer(Frame("puts@plt"), start=0x210), True),
        (0x110, answer(Frame("puts@plt"), start=0x110), False),
        (0x210, answer(Frame("puts"), start=0x210), False),
        (0x210, answer(Frame("puts@plt", "a.c", 1), start=0x210), False),
        (0x210, Answer(), False),
    ],
)
def test_only_a_bare_plt_name_within_a_plt_is_a_stub(address: int, told: Answer, stub: bool) -> None:
    code = agreement.Code(ranges=((0x100, 0x300),), aliases={}, stubs=((0x200, 0x300),))
    assert code.names_stub(address, told) is stub


def test_the_plt_of_a_real_binary_is_found(built_binary: Callable[[str], Path]) -> None:
    assert agreement.read_code(built_binary("gcc-dwarf5")).stubs


def test_symbols_and_executable_sections_are_read_from_a_real_binary(built_binary: Callable[[str], Path]) -> None:
    code = agreement.read_code(built_binary("gcc-dwarf5"))
    named = {name: address for address, names in code.aliases.items() for name in names}
    assert {"main", "ledger_add", "ledger_open"} <= named.keys()
    assert all(any(start <= named[name] < end for start, end in code.ranges) for name in ("main", "ledger_add"))


def test_llvms_own_file_of_a_clang_binary_agrees_with_llvm(
    built_binary: Callable[[str], Path], peer: Callable[[str], str]
) -> None:
    """The stick is straight: where both sides are LLVM and the compiler makes no clones, every chain agrees."""
    peer(agreement.GSYMUTIL)
    peer(agreement.SYMBOLIZER)
    report = agreement.measure(
        "clang-dwarf5", built_binary("clang-dwarf5"), None, addresses=5000, seed=1, converter="llvm", third=False
    )
    assert report.counted > 2000
    assert report.chains_percent == 100.0
    assert not report.reader_errors


def test_a_wrong_name_in_a_gsym_is_found(
    built_binary: Callable[[str], Path], peer: Callable[[str], str], tmp_path: Path
) -> None:
    peer(agreement.GSYMUTIL)
    peer(agreement.SYMBOLIZER)
    binary = built_binary("clang-dwarf5")
    honest, forged = tmp_path / "honest.gsym", tmp_path / "forged.gsym"
    agreement.convert(binary, honest, converter="llvm")
    forged.write_bytes(honest.read_bytes().replace(b"\0ledger_add\0", b"\0ledger_odd\0"))
    report = agreement.measure("forged", binary, forged, addresses=5000, seed=1, converter="llvm", third=False)
    assert report.verdicts[Verdict.NAME] > 100
    assert report.chains_percent < 100.0
    assert all("ledger_odd" in example for example in report.examples[Verdict.NAME])


@pytest.mark.parametrize(
    ("voice", "ours", "told"),
    [("f", "f.constprop.0", "f.constprop.0"), ("f", "f.L3", "f"), ("f", "g.cold", "f"), ("", "f.cold", "")],
)
def test_the_third_voice_knows_a_clone_by_the_name_of_its_origin(voice: str, ours: str, told: str) -> None:
    heard = agreement.as_cloned(answer(Frame(voice, "a.c", 1)), answer(Frame(ours, "a.c", 2)))
    assert heard.frames == (Frame(told, "a.c", 1),)


def test_only_a_bare_name_of_data_names_an_object() -> None:
    code = agreement.Code(ranges=((0, 0x100),), aliases={}, objects=frozenset({(0x10, "table")}))
    assert code.names_object(answer(Frame("table")))
    assert not code.names_object(answer(Frame("table", "a.c", 1)))
    assert not code.names_object(answer(Frame("table"), start=0x20))
    assert not code.names_object(answer(Frame("function")))


def test_names_that_one_reader_lacks_come_from_another_that_sees_as_many_frames() -> None:
    nameless = {0x1: answer(Frame("", "a.c", 1), Frame("f", "a.c", 2)), 0x2: answer(Frame("", "a.c", 3))}
    named = agreement.named_by({0x1: ("inner", "other"), 0x2: ("inner", "outer")}, nameless)
    assert named[0x1].frames == (Frame("inner", "a.c", 1), Frame("f", "a.c", 2))
    assert named[0x2] == nameless[0x2]


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("a::b<int, c<d> >::f", "f"),
        ("(anonymous namespace)::g(int, char)", "g"),
        ("f.constprop.0.cold", "f"),
        ("ns::f[abi:cxx11](int) [clone .cold]", "f"),
        ("A<int>::operator()", "operator()"),
        ("main", "main"),
    ],
)
def test_a_bare_name_has_no_scope_no_arguments_and_no_clone(name: str, bare: str) -> None:
    assert agreement.last_component(name) == bare


def test_operators_that_compare_stay_apart() -> None:
    assert agreement.last_component("A::operator<") != agreement.last_component("A::operator<<")
    assert agreement.last_component("A::operator<") != agreement.last_component("A::operator>")


def test_gdb_tells_the_chain_of_a_real_binary(
    built_binary: Callable[[str], Path], missing: Callable[[str], None]
) -> None:
    if not shutil.which(agreement.GDB):
        missing("gdb is not installed here")
    binary = built_binary("gcc-dwarf5-O0")
    named = {name: address for address, names in agreement.read_code(binary).aliases.items() for name in names}
    assert agreement.ask_gdb(binary, [named["main"]]) == {named["main"]: ("main",)}
