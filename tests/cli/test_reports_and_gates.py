"""What a pipeline gets of a run: report files, GitHub's own files, gates, shards, and a store to push on."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import Symup, compile_c
from uploader.errors import ExitCode

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())
PROGRAM = "int work(int n) { return n * 3; }\nint main(int n, char **w) { (void)w; return work(n); }\n"


@pytest.fixture(scope="module")
def build(cc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good program, one without debug information, and one that ends too early."""
    folder = tmp_path_factory.mktemp("gates") / "build"
    (folder / "vendor").mkdir(parents=True)
    good = compile_c(cc, PROGRAM, folder / "good")
    compile_c(cc, "int extra;\n" + PROGRAM, folder / "vendor" / "plain", "-g0")
    (folder / "broken,\n::error::x").write_bytes(good.read_bytes()[:3000])
    return folder


def test_every_form_of_the_report_at_once(symup: Symup, build: Path, tmp_path: Path) -> None:
    names = {
        "report_json": "r/report.json",
        "html": "r/page.html",
        "quality": "q.json",
        "junit": "j.xml",
        "dotenv": "d.env",
    }
    files = {name: tmp_path / "out" / path for name, path in names.items()}
    ran = symup(
        *("upload", build, "--to", tmp_path / "store", "--json"),
        *("--report-json", files["report_json"], "--report-html", files["html"], "--gitlab-report", files["quality"]),
        *("--junit", files["junit"], "--dotenv", files["dotenv"]),
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary"),
        GITHUB_OUTPUT=str(tmp_path / "output"),
    )
    assert ran.code == ExitCode.SOME_FAILED
    jsonschema.validate(ran.document, SCHEMA)
    assert json.loads(files["report_json"].read_text()) == ran.document
    assert files["html"].read_text().count('<span class="name">') == 3
    assert [issue["severity"] for issue in json.loads(files["quality"].read_text())] == ["critical", "minor"]
    assert ET.parse(files["junit"]).getroot().attrib["failures"] == "1"
    assert "SYMUP_RESULT_STORED=2\n" in files["dotenv"].read_text()
    assert (tmp_path / "summary").read_text().startswith("### ❌ symup upload: 3 files")
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert (outputs["stored"], outputs["failed"], outputs["worst-quality"]) == ("2", "1", "functions")
    assert outputs["report-json"] == str(files["report_json"])
    commands = [line for line in ran.err.splitlines() if line.startswith(("::error", "::warning"))]
    assert [line.split("::")[1].split(" ")[0] for line in commands] == ["error", "warning"]
    before, told, _ = ran.err.split("::", 2)[0], ran.err.partition("::stop-commands::")[2], None
    assert "failed" not in before
    assert told.index("::error file=") > told.index(f"::{told.splitlines()[0]}::")


def test_a_summary_is_added_to_and_leaves_room_for_what_was_there(symup: Symup, build: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    summary.write_text("x" * (1024 * 1024 - 2000))
    symup("upload", build, "--to", tmp_path / "store", GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text().startswith("xxx")
    assert "did not fit" in summary.read_text()
    assert summary.stat().st_size <= 1024 * 1024


def test_a_report_that_can_not_be_is_told_before_anything_is_sent(symup: Symup, build: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = symup("upload", build, "--to", tmp_path / "store", "--report-html", tmp_path / "file" / "page.html")
    assert ran.code == ExitCode.USAGE
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("flag", ["--report-json", "--report-html", "--gitlab-report", "--junit", "--dotenv"])
def test_a_hyphen_is_no_file_for_a_report(symup: Symup, build: Path, tmp_path: Path, flag: str) -> None:
    ran = symup("upload", build, "--to", tmp_path / "store", flag, "-", cwd=tmp_path)
    assert ran.code == ExitCode.USAGE
    assert "--json writes the JSON report to stdout" in ran.err
    assert not (tmp_path / "-").exists()
    assert not (tmp_path / "store").exists()


def test_no_report_is_written_over_what_the_run_reads_or_writes(
    symup: Symup, program: Path, build: Path, tmp_path: Path
) -> None:
    own, store = tmp_path / "own", tmp_path / "store"
    own.write_bytes(program.read_bytes())
    gsym, page = tmp_path / "own.gsym", tmp_path / "page"
    for words in (
        ("upload", own, "--to", store, "--report-json", own),
        ("upload", own, "--to", store, "--dotenv", tmp_path / "sub" / ".." / "own"),
        ("convert", own, "-o", gsym, "--report-html", own),
        ("convert", own, "-o", gsym, "--report-json", gsym),
        ("upload", own, "--to", store, "--report-json", page, "--report-html", page),
    ):
        ran = symup(*words)
        assert ran.code == ExitCode.USAGE, words
        assert "Name a file of its own" in ran.err
    assert not any(path.exists() for path in (store, gsym, page))
    inside = next(path for path in sorted(build.iterdir()) if path.read_bytes()[:4] == b"\x7fELF")
    before = inside.read_bytes()
    ran = symup("upload", build, "--to", store, "--report-json", inside)
    assert "this run read that file" in ran.err
    assert ran.code != ExitCode.DONE
    assert inside.read_bytes() == before
    assert own.read_bytes() == program.read_bytes()


def test_a_broken_file_fails_as_the_gate_says_and_only_then(symup: Symup, build: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert symup("upload", build, "--to", store).code == ExitCode.SOME_FAILED
    assert symup("upload", build, "--to", store, "--fail-on", "none").code == ExitCode.DONE
    ran = symup("upload", build, "--to", store, SYMUP_FAIL_ON="none,missing-debug", SYMUP_QUIET="1")
    assert ran.code == ExitCode.SOME_FAILED
    assert "--fail-on missing-debug is set" in ran.err


def test_gates_by_path_in_the_project_file_hold_for_what_was_there_too(
    symup: Symup, build: Path, tmp_path: Path
) -> None:
    settings = build.parent / "symup.toml"
    words = ("upload", "build", "--to", tmp_path / "store", "--fail-on", "none")
    settings.write_text('require = "full"\n')
    first = symup(*words, cwd=build.parent)
    again = symup(*words, "--json", cwd=build.parent)
    settings.write_text('require = "full"\n[[gate]]\npaths = ["build/vendor/**"]\nrequire = "functions"\n')
    with_gate = symup(*words, cwd=build.parent)
    settings.write_text("[[gate]]\npaths = ['good']\nmin_line_coverage = 100\n")
    covered = symup(*words, cwd=build.parent)
    settings.unlink()
    assert (first.code, again.code, with_gate.code, covered.code) == (7, 7, 0, 7)
    assert "1 file is below the gate: build/vendor/plain" in first.err
    error = again.document["error"]
    assert (error["kind"], error["exit_code"]) == ("QualityTooLow", 7)
    present = next(one for one in again.document["outcomes"] if one["path"] == "build/good")
    assert (present["decision"], present["figures"]["functions"] > 0) == ("present", True)
    assert "1 file is below the gate: build/good" in covered.err


def test_shards_share_the_work_and_leave_nothing_out(symup: Symup, programs: Path, tmp_path: Path) -> None:
    stored = []
    for number in (1, 2, 3):
        ran = symup("upload", programs, "--to", tmp_path / "store", "--shard", f"{number}/3", "--json")
        assert (ran.code, ran.document["shard"]) == (ExitCode.DONE, f"{number}/3")
        stored += [one["path"] for one in ran.document["outcomes"] if one["decision"] == "stored"]
    assert len(stored) == len(set(stored)) == 50


def test_a_shard_without_work_is_no_failure(symup: Symup, build: Path, tmp_path: Path) -> None:
    codes = [symup("convert", build / "good", "-o", f"{tmp_path}/out/", "--shard", f"{n}/4").code for n in (1, 2, 3, 4)]
    assert codes == [0, 0, 0, 0]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["good.gsym"]


def test_one_job_fills_a_folder_and_a_later_one_pushes_it(symup: Symup, build: Path, tmp_path: Path) -> None:
    kept, far = tmp_path / "kept", tmp_path / "far"
    symup("upload", build, "--to", kept, "--fail-on", "none")
    first = symup("push", kept, "--to", far, "--json", "--report-html", tmp_path / "page.html")
    again = symup("push", kept, "--to", far, "--json", "--require", "lines")
    jsonschema.validate(first.document, SCHEMA)
    assert (first.code, first.document["counts"]["stored"], first.document["totals"]["chunks_sent"]) == (0, 2, 2)
    assert (again.code, again.document["counts"]["present"], again.document["totals"]["sent_size_bytes"]) == (7, 2, 0)
    assert symup("status", build / "good", "--to", far).code == ExitCode.DONE


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["push", "nowhere", "--to", "far"], "is no folder"),
        (["push", "."], "needs a destination"),
        (["push", "filled", "--to", "far", "--project", "web"], "It holds default"),
        (["push", "other", "--to", "far"], "holds nothing of the project default"),
        (["upload", ".", "--shard", "3/2"], "2/5"),
        (["upload", ".", "--fail-on", "sometimes"], "--fail-on"),
        (["upload", ".", "--min-line-coverage", "101"], "--min-line-coverage"),
        (["upload", ".", "--report-json", "."], "a file name is needed"),
    ],
)
def test_what_can_not_be_is_usage(symup: Symup, words: list[str], told: str) -> None:
    (symup.home / "filled/default/artifacts").mkdir(parents=True)
    (symup.home / "other/things").mkdir(parents=True)
    ran = symup(*words)
    assert (ran.code, told in ran.err) == (ExitCode.USAGE, True), ran.err
