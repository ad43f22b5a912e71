"""Where files come from, as GitHub and GitLab tell their jobs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from uploader.model import Provenance
from uploader.pipeline.provenance import MAX_CHARACTERS, provenance

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/rocket",
    "GITHUB_REF_NAME": "42/merge",
    "GITHUB_HEAD_REF": "fix-nozzle",
    "GITHUB_SHA": "0123abc",
    "GITHUB_RUN_ID": "77",
    "GITHUB_RUN_ATTEMPT": "2",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_PROJECT_URL": "https://gitlab.example/acme/rocket",
    "CI_COMMIT_REF_NAME": "main",
    "CI_COMMIT_SHA": "4567def",
    "CI_JOB_URL": "https://gitlab.example/acme/rocket/-/jobs/9",
    "CI_REPOSITORY_URL": "https://gitlab-ci-token:secret@gitlab.example/acme/rocket.git",
    "CI_JOB_TOKEN": "secret",
}


def test_a_github_job_names_its_repository_branch_commit_and_run() -> None:
    assert provenance(GITHUB) == Provenance(
        repository="https://github.com/acme/rocket",
        branch="fix-nozzle",
        revision="0123abc",
        run_url="https://github.com/acme/rocket/actions/runs/77/attempts/2",
    )
    assert provenance({"GITHUB_SHA": "abc"}).revision == "abc"


def test_a_gitlab_job_names_them_too_and_no_token() -> None:
    found = provenance(GITLAB)
    assert found == Provenance(
        repository="https://gitlab.example/acme/rocket",
        branch="main",
        revision="4567def",
        run_url="https://gitlab.example/acme/rocket/-/jobs/9",
    )
    assert "secret" not in repr(found)


def test_nothing_is_told_outside_of_ci() -> None:
    assert provenance({"HOME": "/home/me"}) == Provenance()


def test_credentials_queries_and_what_is_no_web_page_are_left_out() -> None:
    told = {"CI_PROJECT_URL": "https://me:secret@gitlab.example:8443/a?private_token=secret#secret"}
    assert provenance(told).repository == "https://gitlab.example:8443/a"
    assert provenance({"CI_PROJECT_URL": "javascript:alert(1)"}).repository == ""
    assert provenance({"CI_PROJECT_URL": "https://[broken"}).repository == ""


def test_what_is_told_is_one_bounded_line() -> None:
    found = provenance({"CI_COMMIT_REF_NAME": "a\x1b[31m\nb" + "x" * 10_000})
    assert found.branch.startswith("a[31mbx")
    assert len(found.branch) == MAX_CHARACTERS


def test_the_store_the_report_and_status_tell_where_a_file_came_from(tmp_path: Path) -> None:
    app = tmp_path / "app"
    command = ["cc", "-g", "-Wl,--build-id", "-x", "c", "-", "-o", str(app)]
    subprocess.run(command, input="int main(void) { return 0; }", text=True, check=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI_"))} | GITLAB

    def told(*words: str) -> str:
        run = [sys.executable, "-m", "uploader", *words, str(app), "--to", str(tmp_path / "store")]
        return subprocess.run(run, capture_output=True, text=True, check=True, env=environ, timeout=60).stdout

    origin = {
        "repository": "https://gitlab.example/acme/rocket",
        "branch": "main",
        "source_revision": "4567def",
        "run_url": "https://gitlab.example/acme/rocket/-/jobs/9",
    }
    assert json.loads(told("upload", "--json"))["provenance"] == origin
    manifest = json.loads(told("status", "--json"))["entries"][0]["manifest"]
    assert origin.items() <= manifest.items()
    assert "from 4567def of main, https://gitlab.example/acme/rocket/-/jobs/9" in told("status")
    assert "secret" not in "".join(
        path.read_text("latin-1") for path in (tmp_path / "store").rglob("*") if path.is_file()
    )
