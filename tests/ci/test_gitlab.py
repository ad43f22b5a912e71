"""The GitLab template, its jobs run for real by gitlab-ci-local: one job that uploads, and the form with two."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import zstandard
from ruamel.yaml import YAML

from tests.ci.conftest import EXAMPLES, ROOT, Store, way_to_the_network
from uploader import __version__
from uploader.gsym.layout import MAGIC

TEMPLATE = ROOT / ".gitlab-ci-template.yml"
GITLAB_CI_LOCAL = "gitlab-ci-local@4.61.1"
NEW_REPOSITORY = ("init -q -b main", "remote add origin https://gitlab.example.com/shop/services.git")

PIPELINE = """
stages: [build, symbols, check]
include:
  - local: .gitlab-ci-template.yml
    inputs: {inputs}
build:
  stage: build
  script:
    - for service in billing search users; do sh build.sh $service; done
    - {after_build}
  artifacts:
    paths: [build]
symup:
  variables:
    SYMUP_COMPILE: "0"
told:
  stage: check
  when: always
  script:
    - echo "stored=$SYMUP_RESULT_STORED present=$SYMUP_RESULT_PRESENT bytes=$SYMUP_RESULT_BYTES_SENT failed=$SYMUP_RESULT_FAILED"
"""


@dataclass(frozen=True)
class Ran:
    """What gitlab-ci-local printed. Its exit code forgives a job with ``allow_failure:exit_codes`` everything; its closing lines don't."""

    log: str

    def became(self, job: str) -> str:
        """PASS, WARN (it failed, and was allowed to) or FAIL."""
        told = re.search(rf"^ (PASS|WARN|FAIL) +{re.escape(job)}\b", self.log, re.MULTILINE)
        assert told, self.log
        return told[1]


@dataclass(frozen=True)
class Project:
    """A repository of GitLab with three services, and a pipeline that includes the template."""

    folder: Path
    command: list[str]
    environ: dict[str, str]

    def pipeline(self, *, after_build: str = "true", **inputs: object) -> Ran:
        page = PIPELINE.format(inputs=json.dumps(inputs), after_build=json.dumps(after_build))
        (self.folder / ".gitlab-ci.yml").write_text(page)
        for command in ("add -A", "commit -q --allow-empty -m pipeline"):
            subprocess.run(["git", *command.split()], cwd=self.folder, env=self.environ, check=True)
        done = subprocess.run(
            self.command,
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=280,
            check=False,
        )
        return Ran(done.stdout)

    def artifact(self, name: str) -> str:
        return (self.folder / ".gitlab-ci-local" / "artifacts" / "symup" / "symup-report" / name).read_text()


@pytest.fixture(scope="session")
def gitlab_ci_local(peer: Callable[[str], str], npm_package: Callable[[str], Path]) -> list[str]:
    for command in ("node", "git", "rsync"):
        peer(command)
    program = npm_package(GITLAB_CI_LOCAL) / ".bin" / "gitlab-ci-local"
    return [str(program), "--force-shell-executor", "--shell-isolation", "--no-color"]


@pytest.fixture
def project(
    tmp_path: Path, peer: Callable[[str], str], gitlab_ci_local: list[str], store: Store, wheel: Path
) -> Project:
    peer("cc")
    folder = tmp_path / "services"
    shutil.copytree(EXAMPLES / "monorepo", folder, ignore=shutil.ignore_patterns("build"))
    shutil.copy(TEMPLATE, folder)
    shutil.copy(wheel, folder)
    environ = environment(tmp_path / "home")
    (folder / ".gitlab-ci-local-variables.yml").write_text(f"SYMUP_TO: {store.url}\nSYMUP_TOKEN: {store.token}\n")
    (folder / ".gitignore").write_text("build/\n.gitlab-ci-local/\n.gitlab-ci-local-variables.yml\n")
    for command in NEW_REPOSITORY:
        subprocess.run(["git", *command.split()], cwd=folder, env=environ, check=True)
    return Project(folder, gitlab_ci_local, environ)


def environment(home: Path) -> dict[str, str]:
    """The variables of a runner's machine."""
    home.mkdir()
    who = {f"GIT_{who}_{what}": "ci@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **who, **way_to_the_network()}


def test_the_job_stores_once_and_tells_later_jobs(project: Project, store: Store, wheel: Path) -> None:
    first = project.pipeline(stage="symbols", version=wheel.name)
    assert first.became("symup") == "PASS", first.log
    assert "stored=3 present=0" in first.log
    assert json.loads(project.artifact("report.json"))["counts"]["stored"] == 3
    assert ET.fromstring(project.artifact("junit.xml")).find("testsuite") is not None
    assert json.loads(project.artifact("codequality.json")) == []
    second = project.pipeline(stage="symbols", version=wheel.name)
    assert second.became("symup") == "PASS", second.log
    assert "stored=0 present=3 bytes=0" in second.log
    assert store.token not in first.log + second.log


def test_only_what_was_asked_for_fails(project: Project, wheel: Path, no_store: str) -> None:
    cut = "head -c 4096 build/bin/billing >cut && mv cut build/bin/billing"
    free = project.pipeline(stage="symbols", version=wheel.name, after_build=cut)
    assert free.became("symup") == "PASS", free.log
    assert "stored=2" in free.log
    assert "failed=1" in free.log
    assert any("billing" in issue["location"]["path"] for issue in json.loads(project.artifact("codequality.json")))
    gated = project.pipeline(stage="symbols", version=wheel.name, after_build=cut, **{"fail-on": "failed"})
    assert gated.became("symup") == "FAIL", gated.log
    assert project.pipeline(stage="symbols", version=wheel.name, to=no_store).became("symup") == "WARN"
    strict = project.pipeline(stage="symbols", version=wheel.name, to=no_store, **{"store-trouble": "fail"})
    assert strict.became("symup") == "FAIL"


def test_a_mistyped_path_fails_the_job(project: Project, wheel: Path) -> None:
    missed = project.pipeline(stage="symbols", version=wheel.name, paths="build/bin build/bim")
    assert missed.became("symup") == "FAIL", missed.log
    assert "Did you mean build/bin/?" in missed.log
    inputs: dict[str, Any] = {"version": wheel.name, "paths": "build/bin build/bim", "allow-missing": True}
    allowed = project.pipeline(stage="symbols", **inputs)
    assert allowed.became("symup") == "PASS", allowed.log
    assert "stored=3" in allowed.log


def test_symbol_files_have_the_form_that_was_asked_for(project: Project, wheel: Path) -> None:
    form = {"gsym-version": "2", "keep-aliases": "true", "max-memory": "500M"}
    stored = project.pipeline(stage="symbols", version=wheel.name, to=str(project.folder.parent / "symbols"), **form)
    assert stored.became("symup") == "PASS", stored.log
    chunks = [path.read_bytes() for path in project.folder.parent.glob("symbols/*/chunks/*/*")]
    forms = [zstandard.ZstdDecompressor().decompressobj().decompress(chunk)[:6] for chunk in chunks]
    assert forms == [struct.pack("<IH", MAGIC, 2)] * 3
    refused = project.pipeline(stage="symbols", version=wheel.name, **{"max-memory": "plenty"})
    assert refused.became("symup") == "FAIL"
    assert "SYMUP_MAX_MEMORY" in refused.log


def test_a_later_job_pushes_what_the_build_job_put_into_a_folder(
    project: Project, store: Store, symup_on_path: str, wheel: Path
) -> None:
    project.environ["PATH"] = symup_on_path
    to_folder = "symup upload build/bin --to build/symbols"
    pushed = project.pipeline(
        stage="symbols", version=wheel.name, after_build=to_folder, command="push", paths="build/symbols"
    )
    assert pushed.became("symup") == "PASS", pushed.log
    assert "stored=3" in pushed.log
    checked = subprocess.run(
        ["symup", "status", "build/bin", "--to", store.url],
        cwd=project.folder,
        env=project.environ | {"SYMUP_TOKEN": store.token},
        check=False,
    )
    assert checked.returncode == 0


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/gitlab-ci.yml")), ids=lambda path: path.parent.name)
def test_pipelines_of_the_examples_become_jobs(path: Path, tmp_path: Path, gitlab_ci_local: list[str]) -> None:
    shutil.copy(TEMPLATE, tmp_path)
    page = re.sub(
        r"remote: https://\S*/(\.gitlab-ci-template\.yml)$", r"local: \1", path.read_text(), flags=re.MULTILINE
    )
    (tmp_path / ".gitlab-ci.yml").write_text(page)
    environ = environment(tmp_path / "home")
    for command in (*NEW_REPOSITORY, "add -A", "commit -q -m pipeline"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, env=environ, check=True)
    done = subprocess.run(
        [*gitlab_ci_local, "--list-csv-all"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    jobs = [line.partition(";")[0] for line in done.stdout.splitlines()]
    assert any(name.startswith("symup") for name in jobs)
    assert any(name.startswith("build") for name in jobs)


def test_the_template_installs_the_version_that_it_belongs_to() -> None:
    spec = next(iter(YAML(typ="safe", pure=True).load_all(TEMPLATE.read_text())))
    assert spec["spec"]["inputs"]["version"]["default"] == __version__
