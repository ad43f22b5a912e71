"""symup init: writes what is sound, overwrites nothing, and says what comes next."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.cli.conftest import Symup
from uploader import __version__
from uploader.config.load import load
from uploader.errors import ExitCode

WORKFLOW = ".github/workflows/symup.yml"
JOB = ".gitlab/symup.gitlab-ci.yml"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text("")
    (folder / "Cargo.toml").write_text("")
    return folder


def test_a_workflow_builds_and_stores_what_was_found(symup: Symup, repository: Path) -> None:
    ran = symup("init", repository, "--github", "--write")
    assert ran.code == ExitCode.DONE
    steps = YAML(typ="safe").load((repository / WORKFLOW).read_text())["jobs"]["symbols"]["steps"]
    assert [step.get("name") for step in steps[1:4]] == ["Build (CMake)", "Build (Cargo)", "Store the symbols"]
    assert steps[2]["env"]["CARGO_PROFILE_RELEASE_DEBUG"] == "1"
    assert steps[3]["with"]["paths"].split() == ["build", "target/release"]
    assert steps[3]["with"]["to"] == "${{ vars.SYMUP_TO }}"
    action = YAML(typ="safe").load((Path(__file__).parents[2] / "action.yml").read_text())
    assert set(steps[3]["with"]) <= set(action["inputs"])
    for told in ("SYMUP_TOKEN", "SYMUP_TO", "symup upload build target/release --dry-run"):
        assert told in ran.err


def test_a_gitlab_job_includes_the_template(symup: Symup, repository: Path) -> None:
    ran = symup("init", repository, "--gitlab", "--write", "--to", "https://symbols.example.com/")
    assert ran.code == ExitCode.DONE
    (include,) = YAML(typ="safe").load((repository / JOB).read_text())["include"]
    assert include["inputs"] == {"to": "https://symbols.example.com", "paths": "build target/release"}
    assert include["remote"].endswith("/.gitlab-ci-template.yml")
    assert JOB in ran.err
    assert not (repository / WORKFLOW).exists()


def test_the_job_itself_names_the_store_since_a_token_goes_to_none_that_the_settings_alone_name(
    symup: Symup, repository: Path
) -> None:
    assert symup("init", repository, "--github", "--write", "--to", "https://symbols.example.com").code == ExitCode.DONE
    (step,) = [
        step
        for step in YAML(typ="safe").load((repository / WORKFLOW).read_text())["jobs"]["symbols"]["steps"]
        if step.get("id") == "symbols"
    ]
    assert step["with"]["to"] == "https://symbols.example.com"


def test_the_settings_are_ones_that_symup_reads(symup: Symup, repository: Path) -> None:
    symup("init", ".", "--write", "--to", "https://symbols.example.com/", cwd=repository)
    chosen = load({}, environ={}, folder=repository, user_file=repository / "symup.toml")
    assert chosen.to == "https://symbols.example.com"
    ready = re.sub(r"^# (?=\[\[|\w+ = )", "", (repository / "symup.toml").read_text(), flags=re.MULTILINE)
    (repository / "symup.toml").write_text(ready)
    assert load({}, environ={}, folder=repository, user_file=repository / "symup.toml").gate
    assert tomllib.loads(ready)["require"] == "lines"


def test_nothing_is_overwritten_unless_forced(symup: Symup, repository: Path) -> None:
    (repository / "symup.toml").write_text('to = "mine"\n')
    first = symup("init", repository, "--write")
    assert (first.code, "kept" in first.err) == (ExitCode.DONE, True)
    (repository / WORKFLOW).write_text("mine")
    again = symup("init", repository, "--write")
    assert again.code == ExitCode.DONE
    assert "nothing to propose" in again.err
    assert (repository / "symup.toml").read_text() == 'to = "mine"\n'
    assert (repository / WORKFLOW).read_text() == "mine"
    assert symup("init", repository, "--write", "--force").code == ExitCode.DONE
    assert (repository / WORKFLOW).read_text() != "mine"


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("link", ["symup.toml", WORKFLOW, ".github"])
def test_no_link_leads_what_is_written_elsewhere(
    symup: Symup, repository: Path, tmp_path: Path, link: str, within: bool
) -> None:
    elsewhere = (repository if within else tmp_path) / "elsewhere"
    (repository / link).parent.mkdir(parents=True, exist_ok=True)
    if link == ".github":
        elsewhere.mkdir()
    (repository / link).symlink_to(elsewhere)
    ran = symup("init", repository, "--github", "--write", "--force")
    assert ran.code == ExitCode.USAGE
    assert "is a link, or lies behind one; nothing was written" in ran.err
    assert elsewhere.is_dir() == (link == ".github")
    assert not [*elsewhere.rglob("*")]
    assert not (repository / "symup.toml").is_file()


def test_the_repository_tells_which_ci_it_has(symup: Symup, repository: Path) -> None:
    (repository / ".gitlab-ci.yml").write_text("")
    symup("init", repository, "--write")
    assert (repository / JOB).exists()
    assert not (repository / WORKFLOW).exists()


def test_what_can_not_be_a_destination_is_not_written(symup: Symup, repository: Path) -> None:
    for to in ("https://user:pw@host/", 'a"b'):
        assert symup("init", repository, "--write", "--to", to).code == ExitCode.USAGE
    assert not (repository / "symup.toml").exists()


RELEASE = """\
name: Release
on:
  push:
    tags: ["v*"]
jobs:
  build:
    strategy:
      matrix:
        os: [ubuntu-24.04, macos-15]
    runs-on: ${{ matrix.os }}
    steps:
      - uses: actions/checkout@v5

      # What ships.
      - name: Build
        run: |
          cmake -B out -DCMAKE_BUILD_TYPE=RelWithDebInfo
          cmake --build out

      - uses: actions/upload-artifact@v4
        with: {name: tool, path: out/tool}
"""
TESTS = """\
on: [pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: make && make check
"""


@pytest.fixture
def released(repository: Path) -> Path:
    (repository / WORKFLOW).parent.mkdir(parents=True)
    (repository / ".github/workflows/release.yml").write_text(RELEASE)
    (repository / ".github/workflows/tests.yml").write_text(TESTS)
    return repository


def test_the_step_goes_behind_the_build_of_what_ships_and_nothing_is_written_unasked(
    symup: Symup, released: Path
) -> None:
    ran = symup("init", released)
    assert ran.code == ExitCode.DONE
    assert (released / ".github/workflows/release.yml").read_text() == RELEASE
    assert not (released / "symup.toml").exists()
    assert "release.yml:build builds what ships, by CMake, into out" in ran.err
    assert "tests.yml:test" in ran.err
    applied = subprocess.run(
        ["git", "apply", "-"], input=ran.out, text=True, cwd=released, capture_output=True, check=False
    )
    assert applied.returncode == 0, applied.stderr
    steps = YAML(typ="safe").load((released / ".github/workflows/release.yml").read_text())["jobs"]["build"]["steps"]
    assert [step.get("name") for step in steps] == [None, "Build", "Store the symbols", None]
    assert steps[2]["if"] == "runner.os == 'Linux'"
    assert steps[2]["with"]["paths"] == "out"
    assert "# What ships." in (released / ".github/workflows/release.yml").read_text()
    assert not (released / WORKFLOW).exists()
    by_hand = (released / ".github/workflows/release.yml").read_text()
    (released / ".github/workflows/release.yml").write_text(RELEASE)
    (released / "symup.toml").unlink()
    assert symup("init", released, "--write").code == ExitCode.DONE
    assert (released / ".github/workflows/release.yml").read_text() == by_hand
    again = symup("init", released)
    assert (again.code, again.out) == (ExitCode.DONE, "")
    assert "sends symbols already" in again.err or "nothing to propose" in again.err


def test_another_job_can_be_asked_for(symup: Symup, released: Path) -> None:
    ran = symup("init", released, "--job", "test", "--write")
    assert ran.code == ExitCode.DONE
    assert "symup/symup@" in (released / ".github/workflows/tests.yml").read_text()
    assert (released / ".github/workflows/release.yml").read_text() == RELEASE
    unknown = symup("init", released, "--job", "deploy")
    assert unknown.code == ExitCode.USAGE
    assert "release.yml:build" in unknown.err


def test_the_action_is_pinned_by_the_commit_of_its_release(symup: Symup, released: Path, tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    git = ["git", "-C", str(upstream), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", "init", "-q", str(upstream)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "release"], check=True)
    subprocess.run([*git, "tag", "-a", f"v{__version__}", "-m", "release"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    there = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{upstream}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/symup/symup",
    }
    ran = symup("init", released, cwd=None, **there)
    assert f"uses: symup/symup@{commit} # v{__version__}" in ran.out
    assert "git ls-remote" not in ran.err
    nowhere = there | {"GIT_CONFIG_KEY_0": f"url.file://{tmp_path}/nowhere.insteadOf"}
    unpinned = symup("init", released, cwd=None, **nowhere)
    assert f"uses: symup/symup@v{__version__}" in unpinned.out
    assert "git ls-remote" in unpinned.err


PIPELINE = """\
stages: [build]
compile:
  stage: build
  script:
    - cargo build --release
"""


def test_a_gitlab_pipeline_gets_the_include_and_is_told_what_its_job_has_to_keep(
    symup: Symup, repository: Path
) -> None:
    (repository / ".gitlab-ci.yml").write_text(PIPELINE)
    ran = symup("init", repository, "--write")
    assert ran.code == ExitCode.DONE
    assert "compile has to keep what it builds: artifacts: {paths: [target/release]}" in ran.err
    pipeline = YAML(typ="safe").load((repository / ".gitlab-ci.yml").read_text())
    assert pipeline["include"] == [{"local": JOB}]
    assert (repository / ".gitlab-ci.yml").read_text().endswith(PIPELINE)
    (include,) = YAML(typ="safe").load((repository / JOB).read_text())["include"]
    assert include["inputs"] == {"paths": "target/release"}


def test_an_include_that_is_there_gets_one_more_line(symup: Symup, repository: Path) -> None:
    kept = PIPELINE.replace("script:", "artifacts: {paths: [target/]}\n  script:")
    (repository / ".gitlab-ci.yml").write_text("include:\n  # ours\n  - local: other.yml\n" + kept)
    ran = symup("init", repository, "--write")
    assert "has to keep" not in ran.err
    pipeline = YAML(typ="safe").load((repository / ".gitlab-ci.yml").read_text())
    assert pipeline["include"] == [{"local": JOB}, {"local": "other.yml"}]


def test_where_no_pipeline_is_that_includes_the_job_next_says_the_line(symup: Symup, repository: Path) -> None:
    ran = symup("init", repository, "--gitlab")
    (step,) = [line for line in ran.err.partition("Next:")[2].splitlines() if "include:" in line]
    assert "Write .gitlab-ci.yml" in step
    line = step[step.index("include:") :]
    assert YAML(typ="safe").load(line) == {"include": [{"local": JOB}]}


def test_an_include_without_room_for_a_line_is_a_step_of_next(symup: Symup, repository: Path) -> None:
    (repository / ".gitlab-ci.yml").write_text("include: other.yml\n" + PIPELINE)
    ran = symup("init", repository, "--gitlab")
    assert f"In .gitlab-ci.yml, add to include: - local: {JOB}" in ran.err.partition("Next:")[2]


def test_a_preset_says_where_the_binaries_lie_and_the_usual_folders_are_a_guess(symup: Symup, repository: Path) -> None:
    workflow = repository / ".github/workflows/build.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(TESTS.replace("make && make check", "cmake --preset r && cmake --build --preset r"))
    ran = symup("init", repository, "--write", "--job", "test")
    steps = YAML(typ="safe").load(workflow.read_text())["jobs"]["test"]["steps"]
    assert steps[-1]["with"]["paths"].split() == ["build", "out"]
    assert steps[-1]["with"]["allow-missing"] == "true"
    assert "into build, out" in ran.err
    assert "The preset says where the binaries lie" in ran.err
    assert "symup upload build out --allow-missing --dry-run" in ran.err


def test_wheels_are_unpacked_beside_what_else_a_job_builds(symup: Symup, repository: Path) -> None:
    workflow = repository / ".github/workflows/build.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(TESTS.replace("make && make check", "make -C lib && maturin build --release -o dist"))
    assert symup("init", repository, "--write", "--job", "test").code == ExitCode.DONE
    *_, unpack, store = YAML(typ="safe").load(workflow.read_text())["jobs"]["test"]["steps"]
    assert "dist/*.whl" in unpack["run"]
    assert store["with"]["paths"].split() == ["lib", "build/symup-wheels"]


def test_a_workflow_too_large_to_be_read_is_told(symup: Symup, repository: Path) -> None:
    workflow = repository / ".github/workflows/build.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text(TESTS + "#" * 512 * 1024)
    ran = symup("init", repository, "--github")
    assert "Not looked into: .github/workflows/build.yml: is larger than 512 KiB" in ran.err
