"""Where a CI job's files come from: what GitHub and GitLab say of a job in its environment. Secrets stand in other variables."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from uploader.model import Provenance
from uploader.words import one_line

MAX_CHARACTERS = 256
"""Of each text: names of branches and addresses of pages are shorter."""


def provenance(environ: Mapping[str, str]) -> Provenance:
    """Repository, branch or tag, commit and run, as far as they are told; all empty outside of CI."""
    if environ.get("GITHUB_ACTIONS") == "true" or environ.get("GITHUB_SHA"):
        server, name = environ.get("GITHUB_SERVER_URL", ""), environ.get("GITHUB_REPOSITORY", "")
        repository = _url(f"{server}/{name}") if server and name else ""
        run, attempt = environ.get("GITHUB_RUN_ID", ""), environ.get("GITHUB_RUN_ATTEMPT", "")
        run_url = f"{repository}/actions/runs/{run}" if repository and run.isdecimal() else ""
        if run_url and attempt.isdecimal():
            run_url += f"/attempts/{attempt}"
        return Provenance(
            repository=repository,
            branch=one_line(environ.get("GITHUB_HEAD_REF") or environ.get("GITHUB_REF_NAME", ""), MAX_CHARACTERS),
            revision=one_line(environ.get("GITHUB_SHA", ""), MAX_CHARACTERS),
            run_url=_url(run_url),
        )
    return Provenance(
        repository=_url(environ.get("CI_PROJECT_URL", "")),
        branch=one_line(environ.get("CI_COMMIT_REF_NAME", ""), MAX_CHARACTERS),
        revision=one_line(environ.get("CI_COMMIT_SHA", ""), MAX_CHARACTERS),
        run_url=_url(environ.get("CI_JOB_URL") or environ.get("CI_PIPELINE_URL", "")),
    )


def _url(value: str) -> str:
    """The address of a page as its path; none where it is no web page, or where credentials stand in it."""
    cleaned = one_line(value, MAX_CHARACTERS)
    try:
        parts = urlsplit(cleaned)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}{parts.path}"
