"""Where files come from, as GitHub and GitLab tell their jobs."""

from __future__ import annotations

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
