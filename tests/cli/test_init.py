"""symup init: writes what is sound, overwrites nothing, and says what comes next."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.cli.conftest import Symup
from uploader.config import load
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
    ran = symup("init", repository, "--github")
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
    ran = symup("init", repository, "--gitlab", "--to", "https://symbols.example.com/")
    assert ran.code == ExitCode.DONE
    (include,) = YAML(typ="safe").load((repository / JOB).read_text())["include"]
    assert include["inputs"] == {"to": "https://symbols.example.com", "paths": "build target/release"}
    assert include["remote"].endswith("/.gitlab-ci-template.yml")
    assert JOB in ran.err
    assert not (repository / WORKFLOW).exists()


def test_the_job_itself_names_the_store_since_a_token_goes_to_none_that_the_settings_alone_name(
    symup: Symup, repository: Path
) -> None:
    assert symup("init", repository, "--github", "--to", "https://symbols.example.com").code == ExitCode.DONE
    (step,) = [
        step
        for step in YAML(typ="safe").load((repository / WORKFLOW).read_text())["jobs"]["symbols"]["steps"]
        if step.get("id") == "symbols"
    ]
    assert step["with"]["to"] == "https://symbols.example.com"


def test_the_settings_are_ones_that_symup_reads(symup: Symup, repository: Path) -> None:
    symup("init", ".", "--to", "https://symbols.example.com/", cwd=repository)
    chosen = load({}, environ={}, folder=repository, user_file=repository / "symup.toml")
    assert chosen.to == "https://symbols.example.com"
    assert "deps/**" in chosen.exclude
    ready = re.sub(r"^# (?=\[\[|\w+ = )", "", (repository / "symup.toml").read_text(), flags=re.MULTILINE)
    (repository / "symup.toml").write_text(ready)
    assert load({}, environ={}, folder=repository, user_file=repository / "symup.toml").gate
    assert tomllib.loads(ready)["require"] == "lines"


def test_nothing_is_overwritten_unless_forced(symup: Symup, repository: Path) -> None:
    (repository / "symup.toml").write_text('to = "mine"\n')
    first = symup("init", repository)
    assert (first.code, "kept" in first.err) == (ExitCode.DONE, True)
    (repository / WORKFLOW).write_text("mine")
    again = symup("init", repository)
    assert again.code == ExitCode.USAGE
    assert (repository / "symup.toml").read_text() == 'to = "mine"\n'
    assert (repository / WORKFLOW).read_text() == "mine"
    assert symup("init", repository, "--force").code == ExitCode.DONE
    assert (repository / WORKFLOW).read_text() != "mine"


def test_the_repository_tells_which_ci_it_has(symup: Symup, repository: Path) -> None:
    (repository / ".gitlab-ci.yml").write_text("")
    symup("init", repository)
    assert (repository / JOB).exists()
    assert not (repository / WORKFLOW).exists()


def test_what_can_not_be_a_destination_is_not_written(symup: Symup, repository: Path) -> None:
    for to in ("https://user:pw@host/", 'a"b'):
        assert symup("init", repository, "--to", to).code == ExitCode.USAGE
    assert not (repository / "symup.toml").exists()
