"""What each command promises to scripts: exit codes, one JSON document, text for people on stderr."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import PROGRAMS, Server, Struck, Symup, compile_c
from tests.writers.gsym_writer import function_info, gsym_v1
from tests.writers.token_writer import mint
from uploader import __version__
from uploader.core import which
from uploader.objects.elf.elf_file import ElfFile
from uploader.server.tokens import Scope

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())


def test_version_tells_which_core_runs(symup: Symup) -> None:
    ran = symup("--version")
    assert ran.code == 0
    expected = "compiled)" if which.compiled() else "plain Python, up to 40 times slower. Install a C compiler"
    assert ran.out.startswith(f"symup {__version__} (core: {expected}")


def test_without_a_word_it_helps(symup: Symup) -> None:
    ran = symup()
    assert ran.code == 0
    assert ran.out.startswith("Usage: symup ")


@pytest.mark.parametrize("command", ["upload", "convert", "inspect", "lookup", "status", "serve"])
def test_help_teaches_with_an_example(symup: Symup, command: str) -> None:
    ran = symup(command, "--help")
    assert ran.code == 0
    assert f"Example: symup {command}" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["upload"], "Missing argument"),
        (["upload", "--bogus", "x"], "No such option"),
        (["nonsense"], "No such command"),
        (["completion"], "Missing argument 'SHELL'. Choose from: bash, zsh, fish\n"),
        (["upload", ".", "--to", "ftp://host/x"], "ftp://"),
        (["upload", ".", "--jobs", "0"], "--jobs"),
        (["upload", ".", "--require", "best"], "--require"),
        (["upload", ".", "--to", "x", "--project", "../up"], "--project"),
        (["lookup", "missing.gsym", "12"], "neither a file nor an id"),
        (["upload", ".", "--min-line-coverage", "100.5"], "must be a number from 0 to 100"),
        (["upload", "", "--to", "x"], "the empty path '' does not exist"),
        (["status", "missing.bin"], "neither a file nor an id"),
    ],
)
def test_usage_errors_are_2_with_a_message_and_no_traceback(symup: Symup, words: list[str], message: str) -> None:
    ran = symup(*words)
    assert ran.code == 2
    assert "\nsymup: error: " in "\n" + ran.err
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_an_error_is_a_json_document_too(symup: Symup) -> None:
    ran = symup("upload", "--json", ".", "--jobs", "0")
    assert ran.code == 2
    jsonschema.validate(ran.document, SCHEMA)
    assert ran.document["error"]["kind"] == "UsageError"


def test_upload_stores_once_and_says_so(symup: Symup, program: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = symup("upload", program, "--to", store, "--json")
    assert first.code == 0, first.err
    jsonschema.validate(first.document, SCHEMA)
    (outcome,) = first.document["outcomes"]
    assert (outcome["decision"], outcome["quality"]) == ("stored", "full")
    assert outcome["chunks_sent"] == 1
    assert first.document["destination"] == str(store)

    again = symup("upload", program, "--to", store, "--json")
    assert again.code == 0
    (outcome,) = again.document["outcomes"]
    assert outcome["decision"] == "present"
    assert "already stored" in outcome["reason"]
    assert again.document["totals"]["extracted"] == 0


def test_text_goes_to_stderr_and_stdout_stays_empty(symup: Symup, program: Path, tmp_path: Path) -> None:
    ran = symup("upload", program, "--to", tmp_path / "store")
    assert ran.out == ""
    assert "1 file: 1 stored" in ran.err
    assert "\x1b" not in ran.err
    assert "\r" not in ran.err


def test_quiet_says_nothing_when_all_is_well(symup: Symup, program: Path, tmp_path: Path) -> None:
    ran = symup("upload", program, "--to", tmp_path / "store", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_without_a_destination_a_folder_in_the_data_directory_is_used_and_told(symup: Symup, program: Path) -> None:
    ran = symup("upload", program)
    assert ran.code == 0, ran.err
    assert f"sending to {symup.home}" in ran.err


def test_in_ci_a_missing_destination_is_an_error(symup: Symup, program: Path) -> None:
    ran = symup("upload", program, CI="true")
    assert ran.code == 2
    assert "--to" in ran.err


def test_dry_run_sends_nothing(symup: Symup, program: Path, tmp_path: Path) -> None:
    ran = symup("upload", program, "--to", tmp_path / "store", "--dry-run", "--json")
    assert ran.code == 0
    assert ran.document["counts"]["planned"] == 1
    assert not (tmp_path / "store").exists()


def test_better_symbols_replace_poorer_ones_and_force_replaces_any(symup: Symup, program: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    poor = symup("upload", program, "--to", store, "--no-dwarf", "--json")
    assert poor.document["outcomes"][0]["quality"] == "functions"
    same = symup("upload", program, "--to", store, "--no-dwarf", "--json")
    assert same.document["totals"]["extracted"] == 0, "the same poor quality is not made again"
    better = symup("upload", program, "--to", store, "--json")
    assert better.document["outcomes"][0]["decision"] == "stored"
    assert "functions" in better.document["outcomes"][0]["reason"]
    worse = symup("upload", program, "--to", store, "--no-dwarf", "--json")
    assert worse.document["outcomes"][0]["decision"] == "present"
    forced = symup("upload", program, "--to", store, "--no-dwarf", "--force", "--json")
    assert forced.document["outcomes"][0]["decision"] == "stored"
    assert (
        symup("status", program, "--to", store, "--json").document["entries"][0]["manifest"]["quality"] == "functions"
    )


def test_a_quality_below_the_gate_is_7_and_still_stored(symup: Symup, program: Path, tmp_path: Path) -> None:
    ran = symup("upload", program, "--to", tmp_path / "store", "--no-dwarf", "--require", "lines", "--json")
    assert ran.code == 7
    (outcome,) = ran.document["outcomes"]
    assert outcome["decision"] == "stored"
    assert "below the lines required" in outcome["reason"]
    good = symup("upload", program, "--to", tmp_path / "store", "--require", "full")
    assert good.code == 0, good.err


def test_copies_and_companions_are_skipped_with_a_reason(symup: Symup, program: Path, tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    full, copy, stripped = build / "app", build / "app.copy", build / "app.stripped"
    shutil.copy(program, full)
    shutil.copy(program, copy)
    subprocess.run(["strip", "-o", stripped, full], check=True)

    ran = symup("upload", build, "--to", tmp_path / "store", "--json")

    assert ran.code == 0, ran.err
    reasons = {Path(one["path"]).name: one["reason"] for one in ran.document["outcomes"]}
    assert ran.document["counts"] | {"stored": 1, "skipped": 2} == ran.document["counts"]
    assert reasons["app.copy"] == f"the same bytes as {full}"
    assert reasons["app.stripped"] == f"has the id of {full}, which is read instead"


def test_nothing_found_is_3_unless_allowed(symup: Symup, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    assert symup("upload", tmp_path / "nothing", "--to", tmp_path / "store").code == 3
    assert symup("upload", tmp_path / "nothing", "--to", tmp_path / "store", "--allow-empty").code == 0


@pytest.mark.parametrize(
    "words", [("upload", "--to", "store", "--fail-on", "none"), ("convert", "-o", "out/"), ("inspect",), ("status",)]
)
def test_a_mistyped_path_is_2_before_anything_is_done_and_the_right_one_is_told(
    symup: Symup, program: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "build").mkdir()
    shutil.copy(program, tmp_path / "build" / "server")
    before = sorted(tmp_path.iterdir())
    ran = symup(*words, "build/server", "buidl/server", cwd=tmp_path)
    assert ran.code == 2
    assert "Did you mean build/server?" in ran.err
    assert ran.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_who_allows_a_path_to_be_missing_is_told_that_it_was_skipped(
    symup: Symup, program: Path, tmp_path: Path
) -> None:
    paths, store = (tmp_path / "gone", program), ("--to", tmp_path / "store")
    ran = symup("upload", *paths, *store, "--allow-missing", "--json")
    assert ran.code == 0
    assert (ran.document["counts"]["stored"], ran.document["counts"]["skipped"]) == (1, 1)
    assert [one["reason"] for one in ran.document["outcomes"] if one["decision"] == "skipped"] == [
        "does not exist, and --allow-missing is set"
    ]
    assert symup("upload", tmp_path / "gone", *store, "--allow-missing").code == 3
    assert symup("convert", *paths, "-o", tmp_path / "out", SYMUP_ALLOW_MISSING="1").code == 0
    for command in (("inspect",), ("status", *store)):
        told = symup(*command, *paths, "--allow-missing")
        assert told.code == 0
        assert f"{tmp_path / 'gone'} does not exist" in told.err
    (tmp_path / "symup.toml").write_text("allow_missing = true\n")
    assert symup("upload", *paths, *store, cwd=tmp_path).code == 0


def test_a_build_of_cmake_holds_what_it_is_asked_to_build_and_no_checks_of_the_compiler(
    symup: Symup, peer: Callable[[str], str], tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nadd_executable(server main.c)\n"
    )
    (tmp_path / "main.c").write_text("int main(int count, char **words) { return words[count - 1][0]; }\n")
    for words in (("-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug"), ("--build", "build")):
        subprocess.run([peer("cmake"), *words], cwd=tmp_path, check=True, capture_output=True)
    ran = symup("upload", "build/", "--to", "store", "--json", cwd=tmp_path)
    assert [one["path"] for one in ran.document["outcomes"] if one["decision"] == "stored"] == ["build/server"]
    (left_out,) = ran.document["left_out"]
    assert left_out["what"] == "CMake's checks of the compiler"
    assert "build/CMakeFiles/" in left_out["examples"][0]
    jsonschema.validate(ran.document, SCHEMA)
    assert left_out["remedy"] == "--build-internals takes them in"
    again = symup("upload", "build/", "--to", "store", cwd=tmp_path)
    assert (
        f"left out  {left_out['number']:>7}  CMake's checks of the compiler: --build-internals takes them in"
        in again.err
    )
    taken = symup("upload", "build/", "--to", "store", "--json", "--build-internals", cwd=tmp_path)
    assert taken.document["counts"]["stored"] == left_out["number"]
    assert taken.document["left_out"] == []


def test_archives_are_named_as_what_they_are_with_what_to_do(symup: Symup, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    with zipfile.ZipFile(tmp_path / "dist" / "x.whl", "w") as archive:
        archive.writestr("x.so", "x" * 100)
    named = symup("upload", "dist/x.whl", "--to", "store", cwd=tmp_path)
    assert named.code == 3
    assert "a zip archive, which symup does not look into: unpack it, and give the folder: unzip" in named.err
    met = symup("upload", "dist", "--to", "store", cwd=tmp_path)
    assert met.code == 3
    assert "left out        1  zip archives: unpack it, and give the folder" in met.err
    inspected = symup("inspect", "dist/x.whl", cwd=tmp_path)
    assert inspected.code == 1
    assert "dist/x.whl is a zip archive" in inspected.err


def test_include_and_exclude(symup: Symup, programs: Path, tmp_path: Path) -> None:
    ran = symup(
        "upload", programs, "--to", tmp_path / "store", "--include", "program-0*", "--exclude", "*-03", "--json"
    )
    assert ran.document["counts"]["stored"] == 9


def test_the_network_gives_out_as_6(symup: Symup, program: Path, server: Server) -> None:
    server.kill()
    ran = symup("upload", program, "--to", server.url, "--json")
    assert ran.code == 6
    assert ran.document["error"]["kind"] == "NetworkGaveOut"
    assert "resumes" in ran.err


def test_interrupted_tells_how_to_go_on(symup: Symup, programs: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    struck = Struck("uploader.store.store:SymbolStore", after=3, number=signal.SIGINT)
    client = symup.start("upload", programs, "--to", store, "--json", struck=struck)
    out, err = client.communicate(timeout=30)
    assert client.returncode == 130
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    assert document["totals"]["unreached"] >= PROGRAMS - 3
    assert "Run the same command again" in err
    assert symup("upload", programs, "--to", store).code == 0


def test_convert_writes_files_that_inspect_and_lookup_read(symup: Symup, program: Path, tmp_path: Path) -> None:
    ran = symup("convert", program, "-o", tmp_path / "out.gsym", "--json")
    assert ran.code == 0, ran.err
    jsonschema.validate(ran.document, SCHEMA)
    (page,) = symup("inspect", tmp_path / "out.gsym", "--json").document["files"]
    (binary,) = symup("inspect", program, "--json").document["files"]
    figures = ran.document["outcomes"][0]["figures"]
    assert page["uuid"] == binary["id"]
    assert page["function_bytes"] == figures["function_bytes"]
    assert page["line_bytes"] == figures["line_bytes"]
    assert page["inlines"] == figures["inlines"]
    assert page["distinct_names"] <= figures["functions"] <= page["functions"]

    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    address = next(line.split()[0] for line in symbols.splitlines() if line.endswith(" work_7_3"))
    answer = symup("lookup", tmp_path / "out.gsym", address, "--json").document["addresses"][0]
    assert answer["frames"][-1]["function"] == "work_7_3"
    assert answer["frames"][-1]["line"]


def test_inspect_describes_a_binary_and_says_why_there_is_no_more_in_it(
    symup: Symup, program: Path, tmp_path: Path
) -> None:
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", program, "-o", stripped], check=True)
    (page,) = symup("inspect", program, "--json").document["files"]
    assert page["lacks"] == []
    assert page["described"]["left_out"] == []
    assert ".debug_info" in [section["name"] for section in page["described"]["sections"]]
    (bare,) = symup("inspect", stripped, "--json").document["files"]
    assert bare["described"]["needed"] == page["described"]["needed"] == ["libc.so.6"]
    text = symup("inspect", stripped).out
    assert all(reason in text for reason in bare["lacks"]) and len(bare["lacks"]) == 2
    assert re.search(r"^  section +\.text +PROGBITS +AX ", text, re.MULTILINE)
    assert "debug sections" in symup("inspect", program).out


def test_inspect_tells_which_split_units_are_missing_and_what_to_do(symup: Symup, cc: str, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("int main(void) { return 0; }\n")
    for words in (["-g", "-gsplit-dwarf", "-c", "one.c"], ["one.o", "-Wl,--build-id", "-o", "app"]):
        subprocess.run([cc, *words], check=True, cwd=tmp_path)
    with_them = symup("inspect", tmp_path / "app", "--json").document["files"][0]["companions"]
    assert with_them["missing"] == []
    (tmp_path / "one.dwo").unlink()
    without = symup("inspect", tmp_path / "app", "--json").document["files"][0]["companions"]
    assert [told.partition(" (")[0] for told in without["missing"]] == ["1 of 1 split units were not found: one.dwo"]
    (tmp_path / "one.dwo").write_bytes((tmp_path / "one.o").read_bytes())
    other = symup("inspect", tmp_path / "app", "--json").document["files"][0]["companions"]
    assert other["missing"] == without["missing"], "a file without the id tells no more than none"
    told = symup("inspect", tmp_path / "app").out
    assert re.search(r"expected quality +lines, without what is missing; its headers promise full\n", told)
    assert (other["expected_quality"], with_them["expected_quality"]) == ("lines", "full")
    assert re.search(r"makes it less +1 of 1 split units were not found: one\.dwo ", told)
    assert "Upload where the build left its .dwo files" in told


def test_inspect_tells_the_sound_parts_of_a_damaged_binary(symup: Symup, program: Path, tmp_path: Path) -> None:
    data = bytearray(program.read_bytes())
    with ElfFile.open(program) as elf:
        dynamic = next(section for section in elf.sections if section.name == ".dynamic")
        headers_at = int.from_bytes(data[40:48], "little")
    data[headers_at + 64 * dynamic.index + 40] ^= 0x7F  # sh_link, to the table of its strings
    (tmp_path / "damaged").write_bytes(data)
    ran = symup("inspect", tmp_path / "damaged", program)
    assert ran.code == 0
    assert ran.out.count("Advanced Micro Devices") + ran.out.count("AArch64") == 2
    assert len(re.findall(r"^  can't be told +what it is linked with: ", ran.out, re.MULTILINE)) == 1


def test_inspect_tells_the_head_of_a_gsym_file_that_breaks_the_format(symup: Symup, tmp_path: Path) -> None:
    """As llvm-gsymutil writes it where a symbol has no size."""
    strings = b"\0main\0start\0"
    functions = [
        (0x1000, function_info(0, strings.index(b"start"))),
        (0x1100, function_info(16, strings.index(b"main"))),
    ]
    (tmp_path / "other.gsym").write_bytes(gsym_v1(functions, strings=strings))
    ran = symup("inspect", tmp_path / "other.gsym")
    assert ran.code == 1
    assert re.search(r"^  functions +2, as the header says$", ran.out, re.MULTILINE)
    assert "breaks the format  a function info is empty" in ran.out
    page = symup("inspect", tmp_path / "other.gsym", "--json").document["files"][0]
    assert (page["version"], page["functions"], "line_rows" in page) == (1, 2, False)
    assert "main" in symup("lookup", tmp_path / "other.gsym", "0x1104").out


def test_convert_writes_to_stdout_where_that_is_no_terminal(symup: Symup, program: Path, tmp_path: Path) -> None:
    symup("convert", program, "-o", tmp_path / "x.gsym")
    with (tmp_path / "got").open("wb") as stdout:
        done = subprocess.run(
            symup.words("convert", program, "-o", "-"),
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=symup.environ(),
            cwd=tmp_path,
            check=True,
        )
    assert (tmp_path / "got").read_bytes() == (tmp_path / "x.gsym").read_bytes()
    assert b"1 file: 1 converted" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["got", "x.gsym"]
    for words in (("--json",), (program,)):
        ran = symup("convert", program, "-o", "-", *words)
        assert ran.code == 2
        assert "stdout" in ran.err
    ours, theirs = os.openpty()
    try:
        refused = subprocess.run(
            symup.words("convert", program, "-o", "-"),
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=symup.environ(),
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert refused.returncode == 2
    assert b"not written to a terminal" in refused.stderr


def test_what_is_no_file_stays_what_it_is(symup: Symup, program: Path, tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "report").symlink_to("real.json")
    ran = symup("convert", program, "-o", tmp_path / "null", "--report-json", tmp_path / "report")
    assert ran.code == 0
    assert (tmp_path / "null").is_symlink()
    assert (tmp_path / "report").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["exit_code"] == 0


def test_convert_is_the_same_whatever_the_jobs_and_never_overwrites_its_input(
    symup: Symup, programs: Path, program: Path, tmp_path: Path
) -> None:
    for jobs in (1, 3):
        assert symup("convert", programs, "-o", tmp_path / str(jobs), "--jobs", jobs).code == 0
    names = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert len(names) == 50
    assert all((tmp_path / "1" / name).read_bytes() == (tmp_path / "3" / name).read_bytes() for name in names)

    copy = tmp_path / "copy"
    shutil.copy(program, copy)
    ran = symup("convert", copy, "-o", copy)
    assert ran.code == 2
    assert copy.read_bytes() == program.read_bytes()


def test_lookup_shows_the_inline_chain_innermost_first(symup: Symup, cc: str, tmp_path: Path) -> None:
    source = """#include <stdio.h>
static inline __attribute__((always_inline)) void greet(const char *name) { printf("hello, %s", name); puts(""); }
__attribute__((noinline)) int welcome(char **words) {
  greet(words[0]);
  return 1;
}
int main(int count, char **words) { return count + welcome(words); }
"""
    program = compile_c(cc, source, tmp_path / "app")
    assert symup("convert", program, "-o", tmp_path / "app.gsym").code == 0
    symbols = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    start, size, *_ = next(line.split() for line in symbols.splitlines() if line.endswith(" welcome"))
    addresses = "\n".join(hex(int(start, 16) + offset) for offset in range(int(size, 16)))
    answers = symup("lookup", tmp_path / "app.gsym", "--json", stdin=addresses).document["addresses"]
    inlined = next(answer["frames"] for answer in answers if len(answer["frames"]) == 2)
    assert [frame["function"] for frame in inlined] == ["greet", "welcome"]
    assert [frame["line"] for frame in inlined] == [2, 4]
    assert [frame["inlined"] for frame in inlined] == [True, False]
    text = symup("lookup", tmp_path / "app.gsym", stdin=addresses).out
    place = f"{inlined[0]['file']}:"
    assert f"  greet at {place}2  (inlined)\n{' ' * 18}  welcome at {place}4\n" in text


def test_lookup_reads_names_by_the_language_of_their_file(symup: Symup, cc: str, tmp_path: Path) -> None:
    source = """
#line 1 "geom.adb"
int geom__area(int x) { return x; }
#line 1 "main.c"
int main(void) { return geom__area(0); }
"""
    program = compile_c(cc, source, tmp_path / "app")
    assert symup("convert", program, "-o", tmp_path / "app.gsym").code == 0
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    address = next(line.split()[0] for line in symbols.splitlines() if line.endswith(" geom__area"))
    (frame,) = symup("lookup", tmp_path / "app.gsym", address, "--json").document["addresses"][0]["frames"]
    assert (frame["function"], frame["symbol"]) == ("geom.area", "geom__area")


def test_lookup_finds_the_symbols_of_a_stripped_binary_in_the_store(
    symup: Symup, program: Path, server: Server, tmp_path: Path
) -> None:
    stripped = tmp_path / "shipped"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    address = next(line.split()[0] for line in symbols.splitlines() if line.endswith(" work_7_3"))
    before = symup("lookup", stripped, address, "--from", server.url)
    assert before.code == 3
    assert "symup upload" in before.err
    assert symup("upload", program, "--to", server.url).code == 0
    after = symup("lookup", stripped, address, "--from", server.url)
    assert after.code == 0, after.err
    assert "work_7_3 at " in after.out


def test_a_reader_that_goes_away_is_no_error(symup: Symup, program: Path, tmp_path: Path) -> None:
    assert symup("convert", program, "-o", tmp_path / "out.gsym").code == 0
    addresses = " ".join(hex(0x1000 + offset) for offset in range(4000))
    words = " ".join(symup.words("lookup", tmp_path / "out.gsym"))
    ran = subprocess.run(
        ["bash", "-c", f"echo {addresses} | {words} | head -n 1; exit ${{PIPESTATUS[1]}}"],
        capture_output=True,
        text=True,
        env=symup.environ(),
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_status_is_1_if_anything_is_missing(symup: Symup, programs: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert symup("upload", programs / "program-01", "--to", store, GITHUB_SHA="c0ffee" * 6).code == 0
    good = symup("status", programs / "program-01", "--to", store)
    assert good.code == 0
    assert good.out.startswith("stored    full")
    assert "c0ffee" in good.out
    bad = symup("status", programs / "program-01", programs / "program-02", "abcd", "--to", store, "--json")
    assert bad.code == 1
    assert bad.document["counts"] == {"stored": 1, "missing": 2, "damaged": 0, "other": 0, "empty": 0, "failed": 0}


def test_status_of_a_folder_does_not_miss_what_has_no_symbols(symup: Symup, program: Path, tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    shutil.copy(program, build / "app")
    helper = compile_c("gcc", "int main(void) { return 0; }", build / "helper")
    subprocess.run(["strip", helper], check=True)
    store = tmp_path / "store"
    assert symup("upload", build, "--to", store).code == 0
    folder = symup("status", build, "--to", store, "--json")
    assert (folder.code, folder.document["counts"]["empty"]) == (0, 1)
    assert symup("status", helper, "--to", store).code == 1, "asked for by name, it is missing"


def test_settings_come_from_the_project_file(symup: Symup, program: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "sub").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / "symup.toml").write_text('to = "symbols"\nproject = "web"\n')
    ran = symup("upload", program, "--json", cwd=project / "sub")
    assert ran.code == 0, ran.err
    assert ran.document["destination"] == str(project / "symbols")
    assert (project / "symbols" / "web" / "artifacts").is_dir()


def test_a_token_is_needed_where_the_server_has_tokens_and_never_shows(
    symup: Symup, program: Path, tmp_path: Path
) -> None:
    token, lines = mint(name="ci", scopes=frozenset({Scope.UPLOAD}), project="default")
    (tmp_path / "tokens.toml").write_text(lines)
    log = (tmp_path / "serve.log").open("w")
    serving = subprocess.Popen(
        symup.words(
            "serve", "--store", tmp_path / "served", "--create", "--port", 0, "--tokens", tmp_path / "tokens.toml"
        ),
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=symup.environ(),
    )
    try:
        assert serving.stdout is not None
        url = serving.stdout.readline().strip()
        without = symup("upload", program, "--to", url, "--json")
        assert without.code == 4
        wrong = symup("upload", program, "--to", url, SYMUP_TOKEN="wrong-secret", SYMUP_DEBUG="1")
        assert wrong.code == 4
        assert "wrong-secret" not in wrong.err + wrong.out
        right = symup("upload", program, "--to", url, "--json", SYMUP_TOKEN=token.reveal(), SYMUP_DEBUG="1")
        assert right.code == 0, right.err
        assert token.reveal() not in right.err + right.out
    finally:
        serving.terminate()
        assert serving.wait(timeout=30) == 0
        log.close()


def test_memory_can_be_bounded_and_what_exceeds_the_bound_runs_alone_with_a_note(
    symup: Symup, program: Path, tmp_path: Path
) -> None:
    large = tmp_path / "large"
    section, data = f"--add-section=.debug_large={tmp_path / 'data'}", tmp_path / "data"
    data.write_bytes(bytes(16 << 20))
    subprocess.run(["objcopy", section, program, large], check=True)
    words = ("convert", large, "-o", tmp_path / "out.gsym")
    assert "of memory" not in symup(*words).err
    for bounded in (symup(*words, "--max-memory", "64M"), symup(*words, SYMUP_MAX_MEMORY="64M")):
        assert bounded.code == 0
        assert "large may take" in bounded.err
        assert "it is converted with nothing beside it" in bounded.err
    assert symup(*words, "--max-memory", "lots").code == 2


@pytest.mark.parametrize("bad", ["1_180", "+1180", "٣", "0x", "-1", "1" * 17])
def test_an_address_is_hex_and_nothing_else(symup: Symup, program: Path, tmp_path: Path, bad: str) -> None:
    assert symup("convert", program, "-o", tmp_path / "app.gsym").code == 0
    ran = symup("lookup", tmp_path / "app.gsym", stdin=f"{bad}\n")
    assert (ran.code, "is not an address" in ran.err) == (2, True)


def test_a_line_of_addresses_without_end_is_refused_in_bounded_memory(
    symup: Symup, program: Path, tmp_path: Path
) -> None:
    assert symup("convert", program, "-o", tmp_path / "app.gsym").code == 0
    ran = symup("lookup", tmp_path / "app.gsym", stdin="1" * 200_000)
    assert (ran.code, "longer than 65536 characters" in ran.err) == (2, True)
