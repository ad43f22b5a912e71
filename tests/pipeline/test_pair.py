"""A binary and the files that hold what it was stripped of, through the whole street: one artifact, the best of each."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.writers import split_debug
from tests.writers.debuginfod_server import debuginfod, scripted
from tests.writers.elf_writer import CODE, NOBITS, NT_GNU_BUILD_ID, Note, Section, Symbol, elf, upx_packed
from uploader.destinations.folder import FolderDestination
from uploader.errors import InputError, UsageError
from uploader.gsym.decode import decode
from uploader.inputs.debuginfod import DebugInfod, DebugInfodSettings
from uploader.model import Concern, Decision, Identity, IdScheme, Outcome, Quality, Source, SymbolId
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline.convert import convert
from uploader.pipeline.gather import Gathered, gather
from uploader.pipeline.make import make
from uploader.pipeline.missing import missing_build_id, missing_debug_info
from uploader.pipeline.outcomes import Finished
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.sources.extract import build
from uploader.values import replace

NOWHERE = DebugSources(system_dirs=())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return split_debug.build(tmp_path_factory.mktemp("whole") / "whole")


@pytest.fixture(scope="module")
def whole_without_id(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return split_debug.build(tmp_path_factory.mktemp("whole") / "whole", build_id="none")


def gathered(*paths: Path, debug: DebugSources = NOWHERE, dwarf: bool = True) -> Gathered:
    return gather(Plan(paths=paths, conversion=Conversion(debug=debug, dwarf=dwarf)), progress=Silent())


def converted(
    folder: Path, target: Path, *, debug: DebugSources = NOWHERE, dwarf: bool = True, exclude: tuple[str, ...] = ()
) -> Finished:
    return convert(
        Plan(paths=[folder], jobs=2, exclude=exclude, conversion=Conversion(debug=debug, dwarf=dwarf)),
        target,
        progress=Silent(),
    )


def only(finished: Finished, decision: Decision) -> Outcome:
    (outcome,) = (each for each in finished.outcomes if each.decision is decision)
    return outcome


def names_in(gsym: Path) -> set[str]:
    _, table = decode(memoryview(gsym.read_bytes()))
    return {table.names[index].decode() for index in table.name}


def test_of_a_stripped_binary_and_its_debug_file_each_gives_what_it_has(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dist"
    debug = split_debug.debug_file(whole, folder / "app.debug")
    app = split_debug.stripped(whole, folder / "app", link=debug)
    finished = converted(folder, tmp_path / "out")
    stored, part = only(finished, Decision.CONVERTED), only(finished, Decision.SKIPPED)
    assert (stored.path, stored.quality) == (str(app), Quality.FULL)
    assert (part.path, part.reason) == (str(debug), f"part of {app}, which it is read with")
    assert stored.input_size_bytes + part.input_size_bytes == app.stat().st_size + debug.stat().st_size
    assert stored.figures is not None
    assert stored.figures.by_source[Source.DWARF] >= 3
    assert stored.figures.by_source[Source.PLT] >= 2, "only the binary has the bytes of the stubs"
    assert stored.figures.by_source[Source.SYMTAB] >= 1
    assert {"main", "exported", "hidden", "puts@plt", "_start"} <= names_in(tmp_path / "out" / "app.gsym")
    assert stored.warnings == ()


@pytest.mark.parametrize("tool", ["objcopy", "eu-strip", "llvm-objcopy-22"])
@pytest.mark.parametrize("pie", [True, False])
def test_the_two_together_give_what_the_whole_file_gives(
    tmp_path: Path, peer: Callable[[str], str], tool: str, pie: bool
) -> None:
    whole = split_debug.build(tmp_path / "whole", "-pie" if pie else "-no-pie", *([] if pie else ["-fno-pie"]))
    folder = tmp_path / "dist"
    folder.mkdir()
    shutil.copy(whole, folder / "app")
    if tool == "eu-strip":
        split_debug.run(peer(tool), "-f", "app.debug", "app", cwd=folder)
    else:
        split_debug.run(peer(tool), "--only-keep-debug", "app", "app.debug", cwd=folder)
        split_debug.run(peer(tool), "--strip-all", "--add-gnu-debuglink=app.debug", "app", cwd=folder)
    converted(folder, tmp_path / "parts")
    converted(whole.parent / "whole", tmp_path / "whole.gsym")
    assert (tmp_path / "parts" / "app.gsym").read_bytes() == (tmp_path / "whole.gsym").read_bytes()


def test_llvm_reads_from_the_merged_file_what_the_whole_binary_says(
    whole: Path, tmp_path: Path, peer: Callable[[str], str]
) -> None:
    folder = tmp_path / "dist"
    split_debug.debug_file(whole, folder / "app.debug")
    split_debug.stripped(whole, folder / "app")
    converted(folder, tmp_path / "out")
    gsym = tmp_path / "out" / "app.gsym"
    verified = subprocess.run([peer("llvm-gsymutil-22"), "--verify", gsym], capture_output=True, text=True, check=True)
    assert "error" not in (verified.stdout + verified.stderr).lower()
    symbols = split_debug.run("nm", "--format=posix", "--defined-only", whole).splitlines()
    depths = set()
    for function in ("main", "exported", "hidden"):
        start, size = (
            int(next(line for line in symbols if line.split()[0] == function).split()[at], 16) for at in (2, 3)
        )
        for address in range(start, start + size):
            theirs = symbolized(peer("llvm-symbolizer-22"), whole, address)
            assert symbolized_gsym(peer("llvm-gsymutil-22"), gsym, address) == theirs
            depths.add(len(theirs))
    assert depths == {1, 2}, "inlined calls are among them"


def symbolized(command: str, binary: Path, address: int) -> list[tuple[str, str, str]]:
    text = split_debug.run(command, f"--obj={binary}", "--output-style=JSON", "--relativenames", hex(address))
    frames = json.loads(text)[0]["Symbol"] if text.lstrip().startswith("[") else json.loads(text)["Symbol"]
    return [(each["FunctionName"], os.path.basename(each["FileName"]), str(each["Line"])) for each in frames]


def symbolized_gsym(command: str, gsym: Path, address: int) -> list[tuple[str, str, str]]:
    text = split_debug.run(command, f"--address={address:#x}", gsym)
    return [
        (name, os.path.basename(path), line)
        for name, path, line in re.findall(r"(?:0x\w+: |^ +)(\w+)(?: \+ \d+)? @ (\S+):(\d+)", text, re.MULTILINE)
    ]


def test_without_build_ids_name_and_crc_pair_two_files_of_one_walk(whole_without_id: Path, tmp_path: Path) -> None:
    debug = split_debug.debug_file(whole_without_id, tmp_path / "symbols" / "app.debug")
    app = split_debug.stripped(whole_without_id, tmp_path / "bin" / "app", link=debug)
    (artifact,) = gathered(tmp_path).artifacts
    assert [file.path for file in artifact.inputs] == [str(app), str(debug)]
    (part,) = gathered(tmp_path).outcomes
    assert (part.path, part.decision) == (str(debug), Decision.SKIPPED)
    assert part.reason == f"part of {app}, which it is read with"
    assert artifact.expected_quality is Quality.FULL
    assert {str(file.identity.primary) for file in artifact.inputs} <= {
        str(artifact.identity.primary), *map(str, artifact.identity.aliases)
    }  # fmt: skip

    other = split_debug.build(tmp_path / "other" / "whole", variant=2, build_id="none")
    split_debug.debug_file(other, debug)
    other.unlink()
    apart = gathered(tmp_path)
    assert [each.path for each in apart.artifacts] == [str(app), str(debug)], (
        "another build's debug file is no companion"
    )
    search = apart.artifacts[0].search
    assert search is not None
    assert "its CRC is" in search.rejected[0].reason


def test_a_debug_file_that_globs_leave_out_is_found_all_the_same(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dist"
    split_debug.debug_file(whole, folder / "app.debug")
    split_debug.stripped(whole, folder / "app")
    finished = converted(folder, tmp_path / "out", exclude=("*.debug",))
    (outcome,) = finished.outcomes
    assert outcome.quality is Quality.FULL
    assert outcome.input_size_bytes == sum(path.stat().st_size for path in folder.iterdir())


def test_a_debug_folder_is_searched_by_build_id(whole: Path, tmp_path: Path) -> None:
    split_debug.stripped(whole, tmp_path / "dist" / "app")
    split_debug.debug_file(split_debug.build(tmp_path / "other", variant=2), tmp_path / "symbols" / "app.debug")
    debug = split_debug.debug_file(whole, tmp_path / "symbols" / "2026" / "ab12")
    (artifact,) = gathered(tmp_path / "dist", debug=replace(NOWHERE, debug_dirs=(str(tmp_path / "symbols"),))).artifacts
    assert [file.path for file in artifact.inputs[1:]] == [str(debug)]
    with pytest.raises(UsageError, match="is not a folder"):
        gathered(tmp_path / "dist", debug=replace(NOWHERE, debug_dirs=(str(tmp_path / "nothing"),)))


def test_what_has_its_debug_information_is_not_searched_for(whole: Path, tmp_path: Path) -> None:
    shutil.copy(whole, tmp_path / "app")
    split_debug.debug_file(whole, tmp_path / "symbols" / "app.debug")
    (artifact,) = gathered(tmp_path / "app", debug=replace(NOWHERE, debug_dirs=(str(tmp_path / "symbols"),))).artifacts
    assert (len(artifact.inputs), artifact.search) == (1, None)


@pytest.fixture(scope="module")
def with_little(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A binary that kept the DWARF of an assembler file alone, and its debug file with that of all its code."""
    folder = tmp_path_factory.mktemp("little")
    (folder / "helper.S").write_text(".globl helper\n.type helper, @function\nhelper: ret\n.size helper, .-helper\n")
    split_debug.run("gcc", "-c", "-g", "helper.S", "-o", "with.o", cwd=folder)
    (folder / "app").mkdir()
    whole = split_debug.build(folder / "app" / "whole", str(folder / "with.o"))
    app = split_debug.build(folder / "app" / "app", "-g0", str(folder / "with.o"))
    debug = split_debug.debug_file(whole, folder / "symbols" / "app.debug")
    # Both are links of the same code; only the second was told to leave the debug information of C out.
    split_debug.run("objcopy", f"--update-section=.note.gnu.build-id={_note_of(whole)}", app)
    split_debug.run("objcopy", f"--add-gnu-debuglink={debug}", app)
    whole.unlink()
    return app, debug


def _note_of(path: Path) -> Path:
    note = path.with_name("note")
    split_debug.run("objcopy", "-O", "binary", "--only-section=.note.gnu.build-id", path, note)
    return note


def test_a_debug_file_with_more_dwarf_than_the_binary_is_read_for_it(
    with_little: tuple[Path, Path], tmp_path: Path
) -> None:
    app, debug = with_little
    with ElfFile.open(app) as elf:
        section = elf.section(".debug_info")
        assert section is not None and section.size_bytes < 200
    for order in ([app, debug], [debug, app]):
        (artifact,) = gathered(*order).artifacts
        assert [file.path for file in artifact.inputs] == [str(app), str(debug)]
        _, table = decode(memoryview(make(artifact, threads=1).gsym))
        assert b"folded" in {table.names[name] for name in table.node_name}
    shutil.copy(debug, app.with_name("app.debug"))
    (found,) = gathered(app).artifacts
    assert [Path(file.path).name for file in found.inputs] == ["app", "app.debug"]


def test_without_dwarf_a_debug_file_still_gives_its_symbols(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dist"
    split_debug.debug_file(whole, folder / "app.debug")
    split_debug.stripped(whole, folder / "app")
    stored = only(converted(folder, tmp_path / "out", dwarf=False), Decision.CONVERTED)
    assert stored.quality is Quality.FUNCTIONS
    assert stored.warnings == ()
    assert "hidden" in names_in(tmp_path / "out" / "app.gsym")


def test_of_several_binaries_with_one_id_the_richest_counts_and_the_rest_is_told(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dist"
    split_debug.stripped(whole, folder / "a-stripped")
    split_debug.debug_file(whole, folder / "b.debug")
    shutil.copy(whole, folder / "c-whole")
    found = gathered(folder)
    (artifact,) = found.artifacts
    assert [file.path for file in artifact.inputs] == [str(folder / "c-whole")]
    reasons = {each.reason for each in found.outcomes}
    assert reasons == {f"has the id of {folder / 'c-whole'}, which is read instead"}


def test_one_id_with_two_contents_is_a_failure_of_both(tmp_path: Path) -> None:
    for variant in (1, 2):
        split_debug.build(tmp_path / f"app{variant}", variant=variant, build_id="0xc0ffee00c0ffee00")
    found = gathered(tmp_path)
    assert found.artifacts == ()
    for outcome, other in zip(sorted(found.outcomes, key=lambda each: each.path), ("app2", "app1"), strict=True):
        assert outcome.decision is Decision.FAILED
        assert outcome.reason == f"has the id c0ffee00c0ffee00 of {tmp_path / other}, but different code"
        assert outcome.remedy is not None


def test_files_of_one_id_that_prelink_moved_are_told_as_such(tmp_path: Path) -> None:
    for name, address in (("app", 0x1000), ("app.debug", 0x3000)):
        text = Section(".text", b"\xc3" * 64, flags=CODE, address=address)
        (tmp_path / name).write_bytes(elf([text], notes=[Note("GNU", NT_GNU_BUILD_ID, bytes(range(20)))]))
    found = gathered(tmp_path)
    assert found.artifacts == ()
    for outcome in found.outcomes:
        assert "moved by prelink" in outcome.reason
        assert "prelink -u" in (outcome.remedy or "")


def test_debug_files_that_a_file_id_cannot_tell_apart_are_a_failure_of_both(tmp_path: Path) -> None:
    """Without a build-id the file id counts, which is made of a file's length and its first and last 4 KiB."""
    first, second = tmp_path / "first.debug", tmp_path / "second.debug"
    for path, units in ((first, b"one"), (second, b"two")):
        code = Section(".text", type=NOBITS, flags=CODE, address=0x1000, size_bytes=64)
        debug = Section(".debug_info", bytes(8192) + units + bytes(8192))
        path.write_bytes(elf([code, debug], symbols=[Symbol("main", 0x1000, 64)]))
    found = gathered(tmp_path)
    assert found.artifacts == ()
    assert {outcome.path: outcome.concern for outcome in found.outcomes} == dict.fromkeys(
        (str(first), str(second)), Concern.CONFLICT
    )
    for outcome, other in zip(found.outcomes, (second, first), strict=True):
        assert outcome.reason == f"has the id {outcome.identity} of {other}, but different contents"
        assert str(outcome.identity).startswith("file:")


def test_the_same_debug_file_twice_is_no_conflict(tmp_path: Path) -> None:
    data = elf(
        [Section(".text", type=NOBITS, flags=CODE, address=0x1000, size_bytes=64)], symbols=[Symbol("f", 0x1000)]
    )
    for name in ("one.debug", "two.debug"):
        (tmp_path / name).write_bytes(data)
    found = gathered(tmp_path)
    assert len(found.artifacts) == 1
    assert [outcome.decision for outcome in found.outcomes] == [Decision.SKIPPED]


def test_a_debug_file_of_another_build_under_the_same_id_is_no_companion(tmp_path: Path) -> None:
    one = split_debug.build(tmp_path / "one", build_id="0xc0ffee00c0ffee00")
    app = split_debug.stripped(one, tmp_path / "bin" / "app")
    other = split_debug.build(tmp_path / "two", "-O0", variant=2, build_id="0xc0ffee00c0ffee00")
    split_debug.debug_file(other, tmp_path / "bin" / "app.debug")
    (artifact,) = gathered(app).artifacts
    assert len(artifact.inputs) == 1
    assert artifact.search is not None
    assert artifact.search.rejected[0].reason == "it has the id of the binary, but different code"


@settings(max_examples=60, deadline=None)
@given(at=st.floats(0, 1, exclude_max=True), value=st.integers(0, 255), cut=st.booleans())
def test_any_damage_of_a_companion_leaves_what_the_binary_says(
    app_and_debug: tuple[bytes, bytes], at: float, value: int, cut: bool
) -> None:
    app, debug = app_and_debug
    damaged = bytearray(debug)
    place = int(at * len(damaged))
    damaged[place] = value
    try:
        companion = ElfFile.from_bytes(bytes(damaged[:place] if cut else damaged))
    except InputError:
        return
    with ElfFile.from_bytes(app) as file:
        extracted = build(file, companions=(companion,))
    # A name may change with the byte that was changed in it; the code that the binary alone covers stays covered.
    assert extracted.figures.function_bytes > 0
    assert {b"exported", b"main"} & set(extracted.table.names)


@pytest.fixture(scope="module")
def app_and_debug(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    folder = tmp_path_factory.mktemp("pair")
    return (
        split_debug.stripped(whole, folder / "app").read_bytes(),
        split_debug.debug_file(whole, folder / "app.debug").read_bytes(),
    )


def test_mini_debuginfo_names_what_the_dynamic_table_lacks(
    whole: Path, tmp_path: Path, peer: Callable[[str], str]
) -> None:
    peer("xz")
    split_debug.with_mini_debuginfo(whole, tmp_path / "app")
    finished = convert(
        Plan(paths=[tmp_path / "app"], jobs=1, conversion=Conversion(debug=NOWHERE)),
        tmp_path / "app.gsym",
        progress=Silent(),
    )
    (outcome,) = finished.outcomes
    assert outcome.figures is not None
    assert set(outcome.figures.by_source) == {Source.MINI_DEBUGINFO, Source.DYNSYM, Source.PLT}
    assert {"hidden", "exported", "main"} <= names_in(tmp_path / "app.gsym")


def test_damaged_mini_debuginfo_costs_only_itself(whole: Path, tmp_path: Path, peer: Callable[[str], str]) -> None:
    peer("xz")
    app = split_debug.with_mini_debuginfo(whole, tmp_path / "app")
    data = bytearray(app.read_bytes())
    at = data.index(b"\xfd7zXZ\0")
    data[at + 40 : at + 60] = bytes(20)
    app.write_bytes(data)
    with ElfFile.open(app) as file:
        extracted = build(file)
    (warning,) = extracted.warnings
    assert warning.startswith("mini-debuginfo could not be read: ")
    assert b"exported" in extracted.table.names


def test_descriptors_that_a_debug_file_lacks_are_read_from_the_binary(
    tmp_path: Path, peer: Callable[[str], str]
) -> None:
    compiler = peer("powerpc64-linux-gnu-gcc")
    source = "int alpha(int x) { return x + 1; }\nint beta(int x) { return alpha(x) * 2; }\n"
    flags = ["-shared", "-fPIC", "-nostdlib", "-mabi=elfv1", "-Wl,--build-id"]
    subprocess.run([compiler, *flags, "-x", "c", "-", "-o", tmp_path / "lib.so"], input=source, text=True, check=True)
    objcopy = peer("powerpc64-linux-gnu-objcopy")
    split_debug.run(objcopy, "--only-keep-debug", tmp_path / "lib.so", tmp_path / "lib.debug")
    split_debug.run(objcopy, "-S", "--remove-section=.dynsym", tmp_path / "lib.so", tmp_path / "stripped.so")
    with ElfFile.open(tmp_path / "stripped.so") as binary, ElfFile.open(tmp_path / "lib.debug") as debug:
        assert {b"alpha", b"beta"} <= set(build(binary, companions=(debug,)).table.names)


def test_what_is_missing_is_told_in_a_line_with_what_to_do(whole: Path, tmp_path: Path) -> None:
    app = split_debug.stripped(
        whole, tmp_path / "app", link=split_debug.debug_file(whole, tmp_path / "away" / "app.dbg")
    )
    shutil.rmtree(tmp_path / "away")
    split_debug.debug_file(split_debug.build(tmp_path / "other", variant=2), tmp_path / "app.dbg")
    finished = convert(
        Plan(paths=[app], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "app.gsym", progress=Silent()
    )
    (outcome,) = finished.outcomes
    build_id = split_debug.build_id(whole)
    assert (outcome.decision, outcome.quality) == (Decision.CONVERTED, Quality.FUNCTIONS)
    first, second = outcome.warnings
    assert first == (
        f"no DWARF: stripped, its debug file is called app.dbg; no debug file of build-id {build_id} was found"
    )
    assert second.startswith(f"{tmp_path}/app.dbg was not taken: its build-id is ")
    assert outcome.remedy is not None
    assert "--debug-dir" in outcome.remedy
    assert "symup inspect" in outcome.remedy, "where it was looked for is told there"


def test_a_program_without_a_build_id_is_warned_of(tmp_path: Path) -> None:
    app = split_debug.build(tmp_path / "app", "-Wl,--build-id=none")
    (outcome,) = convert(
        Plan(paths=[app], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "app.gsym", progress=Silent()
    ).outcomes
    assert outcome.quality is Quality.FULL
    assert [warning.partition(":")[0] for warning in outcome.warnings] == ["no build-id"]
    assert "-Wl,--build-id" in (outcome.remedy or "")


@pytest.mark.parametrize(
    ("flag", "decision"),
    [("-Wl,--export-dynamic", Decision.CONVERTED), ("-Wl,--no-export-dynamic", Decision.SKIPPED)],
)
def test_a_program_that_nothing_ties_to_a_debug_file_is_told_how_to_tie_them_and_that_works(
    tmp_path: Path, flag: str, decision: Decision
) -> None:
    whole = split_debug.build(tmp_path / "whole", "-Wl,--build-id=none", flag)
    app = split_debug.stripped(whole, tmp_path / "app")
    debug = split_debug.debug_file(whole, tmp_path / "app.debug")
    alone = convert(
        Plan(paths=[app, debug], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "out", progress=Silent()
    ).outcomes[0]
    assert (alone.path, alone.decision) == (str(app), decision)
    assert alone.remedy is not None
    assert "objcopy --add-gnu-debuglink" in alone.remedy and "beside it" not in alone.remedy
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", app], check=True)
    (tied,) = convert(
        Plan(paths=[app], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "app.gsym", progress=Silent()
    ).outcomes
    assert (tied.decision, tied.quality) == (Decision.CONVERTED, Quality.FULL)


@pytest.mark.parametrize(
    ("sources", "cause", "remedy"),
    [
        ((Source.DYNSYM,), "the linker's -s", "the unstripped file"),
        ((Source.SYMTAB,), "`strip -g`", "-g"),
    ],
)
def test_what_takes_debug_information_away_is_named(
    whole: Path, sources: tuple[Source, ...], cause: str, remedy: str
) -> None:
    (artifact,) = gathered(whole).artifacts
    file = replace(artifact.main, sources=sources)
    warnings, told = missing_debug_info(replace(artifact, inputs=(file,)))
    assert cause in warnings[0]
    assert remedy in (told or "")


@pytest.mark.parametrize("more", [Source.DYNSYM, Source.SYMTAB])
def test_a_go_program_without_debug_information_lacks_nothing(whole: Path, more: Source) -> None:
    (artifact,) = gathered(whole).artifacts
    file = replace(artifact.main, sources=(Source.GO, more))
    assert missing_debug_info(replace(artifact, inputs=(file,))) == ((), None)


def test_a_go_program_without_a_build_id_is_told_the_flag_of_its_own_linker(whole: Path) -> None:
    (artifact,) = gathered(whole).artifacts
    by_bytes = SymbolId(scheme=IdScheme.FILE, value="0" * 32)
    file = replace(artifact.main, sources=(Source.GO, Source.DWARF))
    anonymous = replace(artifact, identity=Identity(primary=by_bytes), inputs=(file,))
    warnings, remedy = missing_build_id(anonymous)
    assert len(warnings) == 1
    assert "-B gobuildid" in (remedy or "")
    assert "without -buildid=" in (remedy or "")


def test_a_go_program_whose_id_is_a_word_is_not_told_to_make_an_id_of_that(whole: Path) -> None:
    (artifact,) = gathered(whole).artifacts
    by_bytes = SymbolId(scheme=IdScheme.FILE, value="0" * 32)
    file = replace(artifact.main, sources=(Source.GO,), has_redacted_id=True)
    (warning,), remedy = missing_build_id(replace(artifact, identity=Identity(primary=by_bytes), inputs=(file,)))
    assert "'redacted'" in warning
    assert "GNU" not in warning
    assert "gobuildid" not in (remedy or "")
    assert "-extldflags=-Wl,--build-id" in (remedy or "")
    assert "needs cgo and a C compiler" in (remedy or "")
    assert "-B 0x" in (remedy or "")
    made_of_it = replace(file, has_id_of_redacted=True)
    (warning,), _ = missing_build_id(replace(artifact, identity=Identity(primary=by_bytes), inputs=(made_of_it,)))
    assert "a GNU build-id that Go's linker made of that word" in warning


def test_a_build_without_debug_information_is_told_to_use_it(tmp_path: Path) -> None:
    app = split_debug.build(tmp_path / "app", "-g0")
    (artifact,) = gathered(app).artifacts
    made = make(artifact, threads=1)
    assert made.warnings[0].startswith(
        "no DWARF: built without -g, or stripped of debug information by `strip -g`; no debug"
    )
    assert made.remedy is not None
    assert "-g" in made.remedy
    assert make(artifact, conversion=Conversion(dwarf=False), threads=1).warnings == ()


def test_stubs_alone_are_no_symbols(tmp_path: Path) -> None:
    source = tmp_path / "app.c"
    source.write_text('#include <stdio.h>\nint main(void) { return puts("x"); }\n')
    subprocess.run(["gcc", "-s", "-Wl,--build-id", source, "-o", tmp_path / "app"], check=True)
    finished = convert(
        Plan(paths=[tmp_path / "app"], jobs=1, allow_empty=True, conversion=Conversion(debug=NOWHERE)),
        tmp_path / "o",
        progress=Silent(),
    )
    (outcome,) = finished.outcomes
    assert (outcome.decision, outcome.reason) == (Decision.SKIPPED, "no function symbols in it")
    assert outcome.warnings[0].startswith("no DWARF: stripped, by `strip` or the linker's -s; no debug file")


def test_of_a_packed_program_only_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "app").write_bytes(upx_packed())
    plan = Plan(paths=[tmp_path / "app"], jobs=1, allow_empty=True, conversion=Conversion(debug=NOWHERE))
    (outcome,) = convert(plan, tmp_path / "o", progress=Silent()).outcomes
    assert outcome.decision is Decision.SKIPPED
    assert outcome.warnings == ("packed by UPX: its code and all that speaks of it lie compressed in the file",)
    assert outcome.remedy == "Give the file as it was before it was packed, or unpack a copy of it: upx -d FILE."


def test_a_companion_that_breaks_meanwhile_is_left_out_with_a_warning(whole: Path, tmp_path: Path) -> None:
    split_debug.stripped(whole, tmp_path / "app")
    debug = split_debug.debug_file(whole, tmp_path / "app.debug")
    (artifact,) = gathered(tmp_path).artifacts
    debug.write_bytes(b"gone")
    made = make(artifact, threads=1)
    assert made.figures.quality is Quality.FUNCTIONS
    assert any("companion was left out" in warning for warning in made.warnings)


def test_split_units_are_read_where_the_compiler_put_them_or_beside_the_binary(tmp_path: Path) -> None:
    app = split_debug.build(tmp_path / "build" / "app", "-gsplit-dwarf")
    (outcome,) = convert(
        Plan(paths=[app], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "a.gsym", progress=Silent()
    ).outcomes
    assert outcome.figures is not None
    assert (outcome.quality, outcome.figures.inlines, outcome.warnings) == (Quality.FULL, 1, ())
    shutil.move(tmp_path / "build", tmp_path / "moved")
    (outcome,) = convert(
        Plan(paths=[tmp_path / "moved" / "app"], jobs=1, conversion=Conversion(debug=NOWHERE)),
        tmp_path / "b.gsym",
        progress=Silent(),
    ).outcomes
    assert outcome.warnings == ()
    assert (tmp_path / "a.gsym").read_bytes() == (tmp_path / "b.gsym").read_bytes()


def dwz_pair(folder: Path, dwz: str) -> tuple[Path, Path]:
    """Two programs whose common debug information dwz moved to a third file, which is given second."""
    for variant in (1, 2):
        split_debug.build(
            folder / f"app{variant}", "-gdwarf-4", "-O0", "-include", "stdlib.h", "-include", "wchar.h", variant=variant
        )
    split_debug.run(dwz, "-m", "common.debug", "app1", "app2", cwd=folder)
    return folder / "app1", folder / "common.debug"


def test_what_dwz_moved_to_a_file_of_its_own_is_read(tmp_path: Path, peer: Callable[[str], str]) -> None:
    app, common = dwz_pair(tmp_path / "build", peer("dwz"))
    (outcome,) = convert(
        Plan(paths=[app], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "a.gsym", progress=Silent()
    ).outcomes
    assert (outcome.quality, outcome.warnings) == (Quality.FULL, ())
    common.unlink()
    (outcome,) = convert(
        Plan(paths=[app], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "b.gsym", progress=Silent()
    ).outcomes
    assert any("common.debug" in warning for warning in outcome.warnings)


def test_what_dwz_moved_away_comes_from_debuginfod_where_told(tmp_path: Path, peer: Callable[[str], str]) -> None:
    app, common = dwz_pair(tmp_path / "build", peer("dwz"))
    (outcome,) = convert(
        Plan(paths=[app], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "a.gsym", progress=Silent()
    ).outcomes
    (tmp_path / "served").mkdir()
    shutil.move(common, tmp_path / "served" / "common.debug")
    ready = split_debug.build_id(tmp_path / "served" / "common.debug")
    with debuginfod(peer("debuginfod"), tmp_path / "served", tmp_path / "log", ready=ready) as url:
        debug = client(tmp_path, url)
        (outcome,) = convert(
            Plan(paths=[app], jobs=1, conversion=Conversion(debug=debug)), tmp_path / "b.gsym", progress=Silent()
        ).outcomes
    assert outcome.warnings == ()
    assert (tmp_path / "a.gsym").read_bytes() == (tmp_path / "b.gsym").read_bytes()


def client(tmp_path: Path, url: str) -> DebugSources:
    environ = {"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}
    debuginfod = DebugInfod(DebugInfodSettings.from_environment(environ), sleep=lambda _: None)
    return replace(NOWHERE, debuginfod=debuginfod)


def test_debuginfod_is_asked_once_the_destination_wants_the_file(
    whole: Path, tmp_path: Path, peer: Callable[[str], str]
) -> None:
    split_debug.stripped(whole, tmp_path / "dist" / "app")
    split_debug.debug_file(whole, tmp_path / "served" / "app.debug")
    with debuginfod(
        peer("debuginfod"), tmp_path / "served", tmp_path / "log", ready=split_debug.build_id(whole)
    ) as url:
        asked_before = (tmp_path / "log").read_text().count("GET /buildid/")

        def run(*, dry_run: bool = False) -> Outcome:
            destination = FolderDestination(tmp_path / "store", "p")
            done = upload(
                Plan(paths=[tmp_path / "dist"], jobs=1, conversion=Conversion(debug=client(tmp_path, url))),
                destination,
                progress=Silent(),
                environ={},
                dry_run=dry_run,
            )
            (outcome,) = done.outcomes
            return outcome

        planned = run(dry_run=True)
        assert (planned.decision, planned.quality) == (Decision.PLANNED, Quality.FULL)
        assert planned.warnings[-1] == "debuginfod servers are yet to be asked for it"
        assert (tmp_path / "log").read_text().count("GET /buildid/") == asked_before, (
            "a dry run asks no server for files"
        )
        first = run()
        assert (first.decision, first.quality) == (Decision.STORED, Quality.FULL)
        assert run().decision is Decision.PRESENT
        assert (tmp_path / "log").read_text().count("GET /buildid/") == asked_before + 1


def test_where_debuginfod_is_of_no_help_the_file_is_stored_with_a_warning(whole: Path, tmp_path: Path) -> None:
    split_debug.stripped(whole, tmp_path / "dist" / "app")
    with scripted(lambda request: request.answer(500)) as server:
        finished = converted(tmp_path / "dist", tmp_path / "out", debug=client(tmp_path, server.url))
    (outcome,) = finished.outcomes
    assert (outcome.decision, outcome.quality, outcome.exit_code) == (Decision.CONVERTED, Quality.FUNCTIONS, 0)
    assert outcome.warnings[-1] == f"debuginfod: {server.url}: answered 500"


def test_no_server_is_asked_by_itself(whole: Path, tmp_path: Path) -> None:
    split_debug.stripped(whole, tmp_path / "app")
    with scripted(lambda request: request.answer(404)) as server:
        ran = symup("convert", tmp_path / "app", "-o", tmp_path / "a.gsym", env={"DEBUGINFOD_URLS": server.url})
        assert (ran.returncode, server.requests) == (0, [])
        environ = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}
        ran = symup("convert", tmp_path / "app", "-o", tmp_path / "a.gsym", "--debuginfod", env=environ)
        assert (ran.returncode, len(server.requests)) == (0, 1)
        assert "have no debug file for it" in ran.stderr


def test_debuginfod_without_a_server_is_an_error_of_usage(whole: Path, tmp_path: Path) -> None:
    ran = symup("convert", whole, "-o", tmp_path / "a.gsym", "--debuginfod", env={"DEBUGINFOD_URLS": ""})
    assert ran.returncode == 2
    assert "DEBUGINFOD_URLS" in ran.stderr


def symup(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uploader", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | (env or {}))


def inspected(*arguments: str | Path, env: dict[str, str] | None = None) -> dict[str, Any]:
    ran = symup("inspect", "--json", *arguments, env=env)
    assert ran.returncode == 0, ran.stderr
    (page,) = json.loads(ran.stdout)["files"]
    companions: dict[str, Any] = page["companions"]
    return companions


def test_inspect_tells_the_companions_found_and_why_not(whole: Path, tmp_path: Path) -> None:
    app = split_debug.stripped(whole, tmp_path / "bin" / "app")
    wrong = split_debug.debug_file(split_debug.build(tmp_path / "other", variant=2), tmp_path / "bin" / "app.debug")
    told = inspected(app)
    assert told["found"] == []
    assert told["not_taken"][0]["path"] == str(wrong)
    assert told["not_taken"][0]["reason"].startswith("its build-id is ")
    assert str(tmp_path / "bin" / ".debug") in told["looked_in"]
    text = symup("inspect", app).stdout
    assert re.search(r"debug file +none in .*/\.debug", text)
    assert re.search(r"not taken +.*app\.debug: its build-id is", text)

    debug = split_debug.debug_file(whole, tmp_path / "symbols" / "any")
    told = inspected(app, "--debug-dir", tmp_path / "symbols")
    assert [(each["path"], each["sources"]) for each in told["found"]] == [(str(debug), ["dwarf", "symtab"])]
    assert told["expected_quality"] == "full"
    assert inspected(app, env={"SYMUP_DEBUG_DIR": str(tmp_path / "symbols")}) == told
    text = symup("inspect", app, "--debug-dir", tmp_path / "symbols").stdout
    assert re.search(r"debug file +.*symbols/any, with dwarf, symtab", text)
    assert re.search(r"quality with it +full", text)


def test_inspect_asks_debuginfod_where_told(whole: Path, tmp_path: Path) -> None:
    app = split_debug.stripped(whole, tmp_path / "app")
    debug = split_debug.debug_file(whole, tmp_path / "served" / "app.debug").read_bytes()
    with scripted(lambda request: request.answer(200, debug)) as server:
        environ = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}
        told = inspected(app, "--debuginfod", env=environ)
    assert [each["path"] for each in told["found"]] == [
        str(tmp_path / "cache" / split_debug.build_id(whole) / "debuginfo")
    ]
    assert (told["expected_quality"], told["debuginfod"]) == ("full", None)


def test_a_debug_folder_may_be_set_in_the_projects_file(whole: Path, tmp_path: Path) -> None:
    split_debug.stripped(whole, tmp_path / "bin" / "app")
    split_debug.debug_file(whole, tmp_path / "symbols" / "any")
    (tmp_path / "symup.toml").write_text('debug_dir = ["symbols"]\n')
    command = [sys.executable, "-m", "uploader", "convert", "bin/app", "-o", "app.gsym", "--require", "full"]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])}
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environ)
    assert ran.returncode == 0, ran.stderr
