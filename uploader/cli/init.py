"""``symup init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from uploader import places
from uploader.cli import ci_jobs, terminal
from uploader.discover.repository import Repository, look
from uploader.errors import UsageError
from uploader.report.words import printable


def command(
    path: Annotated[Path, typer.Argument(help="The repository's folder.", metavar="PATH")] = Path(),
    github: Annotated[bool, typer.Option("--github", help="Write a GitHub workflow.")] = False,
    gitlab: Annotated[bool, typer.Option("--gitlab", help="Write a GitLab job.")] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="DEST", help="The symbol store, written into symup.toml.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
) -> int:
    """Write the CI job that sends a repository's symbols, and symup.toml, after a look at how it builds.

    Without --github or --gitlab the repository tells which. Files that are there already stay, unless --force is given.

    Example: symup init --to https://symbols.example.com
    """
    if not path.is_dir():
        raise UsageError(f"{path} is no folder", remedy="Name the folder of a repository.")
    store = None if to is None else _checked(to)
    repository = look(path)
    if not (github or gitlab):
        gitlab = repository.has_gitlab and not repository.has_github
        github = not gitlab
    kept = [] if force else [name for name in _wanted(github, gitlab) if (path / name).exists()]
    if ci_jobs.SETTINGS_FILE in kept:
        # What the job needs comes from a variable then: the settings may not name the store.
        store = None
    files = {ci_jobs.SETTINGS_FILE: ci_jobs.settings(repository, to=store)}
    if github:
        files[ci_jobs.GITHUB_FILE] = ci_jobs.github(repository, to=store)
    if gitlab:
        files[ci_jobs.GITLAB_FILE] = ci_jobs.gitlab(repository, to=store)
    if len(kept) == len(files):
        raise UsageError(
            f"{' and '.join(kept)} are there already; nothing was written",
            remedy="Look at what is there; --force replaces it.",
        )
    for name, text in files.items():
        if name not in kept:
            _write(path / name, text)
            terminal.result(f"wrote {printable(str(path / name))}")
    for name in kept:
        terminal.say(f"symup: kept {printable(str(path / name))}, which is there already; --force replaces it")
    for line in _next_steps(repository, github=github, gitlab=gitlab, store=store):
        terminal.say(line)
    return 0


def _wanted(github: bool, gitlab: bool) -> list[str]:
    chosen = ((True, ci_jobs.SETTINGS_FILE), (github, ci_jobs.GITHUB_FILE), (gitlab, ci_jobs.GITLAB_FILE))
    return [name for wanted, name in chosen if wanted]


def _next_steps(repository: Repository, *, github: bool, gitlab: bool, store: str | None) -> list[str]:
    lines = [""]
    if repository.builds:
        lines.append(f"Found: {', '.join(build.name for build in repository.builds)}. Symbols are looked for in")
        lines.append(f"  {', '.join(repository.paths)}; change that where your binaries lie elsewhere.")
        lines += [f"  {build.name}: {build.hint}" for build in repository.builds if build.hint]
    else:
        lines.append(
            "How this repository builds can't be told. Put your build's commands and the paths of its binaries in."
        )
    lines.append("Next:")
    steps = ["Try it here, without sending: symup upload " + " ".join(repository.paths) + " --dry-run"]
    if github:
        steps.append("GitHub: Settings > Secrets and variables > Actions: the secret SYMUP_TOKEN")
        if store is None:
            steps[-1] += ", the variable SYMUP_TO (the store's URL)"
        steps.append(f"Commit {ci_jobs.GITHUB_FILE} and {ci_jobs.SETTINGS_FILE}")
    if gitlab:
        steps.append("GitLab: Settings > CI/CD > Variables: SYMUP_TOKEN, masked")
        if store is None:
            steps[-1] += ", and SYMUP_TO (the store's URL)"
        steps.append(
            f"In .gitlab-ci.yml: include: [{{local: {ci_jobs.GITLAB_FILE}}}], and artifacts in the job that builds"
        )
        steps.append(f"Commit {ci_jobs.GITLAB_FILE} and {ci_jobs.SETTINGS_FILE}")
    return [*lines, *(f"  {number}. {step}" for number, step in enumerate(steps, 1))]


def _checked(to: str) -> str:
    """The destination as it can stand in a settings file. Raises `UsageError`."""
    if places.is_server(to):
        return places.server_url(to)
    if not to or not to.isprintable() or '"' in to or "\\" in to:
        raise UsageError(f"{to!r} can't be written as a destination", remedy="Name a URL or a folder.")
    try:
        places.check_spelling(to)
    except ValueError as error:
        raise UsageError(f"--to: {error}") from None
    return to


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
