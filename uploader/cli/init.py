"""``symup init``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import typer

from uploader import places
from uploader.cli import ci_jobs, terminal
from uploader.errors import UsageError
from uploader.propose import release
from uploader.propose.repository import Repository, look
from uploader.propose.workflows import BuildJob, Found, find, read_text
from uploader.values import frozen
from uploader.words import printable

_OWN_FILES = (ci_jobs.SETTINGS_FILE, ci_jobs.GITHUB_FILE, ci_jobs.GITLAB_FILE)


@frozen
class _Case:
    """A repository, and what was asked for it."""

    path: Path
    repository: Repository
    found: Found
    job: str | None
    """The name of the job to take."""
    store: str | None
    pin: ci_jobs.Pin


@frozen
class Proposal:
    """The files as they shall be, by their path from the repository's folder, and what a person should know of them."""

    files: dict[str, str]
    job: BuildJob | None = None
    advice: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    """Steps that a person has to take besides, for the files to have any effect."""


def command(
    path: Annotated[Path, typer.Argument(help="The repository's folder.", metavar="PATH")] = Path(),
    github: Annotated[bool, typer.Option("--github", help="Propose for GitHub's workflows.")] = False,
    gitlab: Annotated[bool, typer.Option("--gitlab", help="Propose for GitLab's pipeline.")] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="DEST", help="The symbol store, written into the step and symup.toml.")
    ] = None,
    job: Annotated[
        str | None,
        typer.Option("--job", metavar="NAME", help="The job that builds what ships, where symup chose another."),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write it. Without this it is only shown.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files of symup's that are there already.")] = False,
) -> int:
    """Propose the CI step that sends a repository's symbols, as a diff; --write writes it.

    It looks for the job that builds what ships, and puts the step behind its build, so that the symbols stored are those of
    the binaries shipped. Only where no job builds anything it proposes a workflow of its own. Without --github or --gitlab
    the repository tells which.

    Example: symup init --to https://symbols.example.com
    """
    if not path.is_dir():
        raise UsageError(f"{path} is no folder", remedy="Name the folder of a repository.")
    store = None if to is None else _checked(to)
    repository = look(path)
    if not (github or gitlab):
        gitlab = repository.has_gitlab and not repository.has_github
        github = not gitlab
    case = _Case(
        path=path,
        repository=repository,
        found=find(path),
        job=job,
        store=store,
        pin=ci_jobs.Pin(commit=release.commit_of(ci_jobs.TAG)),
    )
    proposals = [*([_for_github(case)] if github else ()), *([_for_gitlab(case)] if gitlab else ())]
    files = {name: text for proposal in proposals for name, text in proposal.files.items()}
    files[ci_jobs.SETTINGS_FILE] = ci_jobs.settings(to=store)
    kept = [] if force else [name for name in files if name in _OWN_FILES and (path / name).exists()]
    changed = {name: text for name, text in files.items() if name not in kept}
    if not changed:
        there = sorted({*kept, *case.found.sends_already})
        told, verb = " and ".join(there), "is" if len(there) == 1 else "are"
        terminal.say(
            f"symup: nothing to propose: {printable(told)} {verb} there already; --force replaces what symup wrote"
        )
        return 0
    _show_or_write(path, changed, write=write)
    for name in kept:
        terminal.say(f"symup: kept {printable(str(path / name))}, which is there already; --force replaces it")
    advice = [line for proposal in proposals for line in proposal.advice]
    for line in (*advice, *_next_steps(case, proposals, github=github, gitlab=gitlab, write=write)):
        terminal.say(line)
    return 0


def _show_or_write(path: Path, files: Mapping[str, str], *, write: bool) -> None:
    if write:
        _check_within(path, files)
    for name, text in files.items():
        if write:
            _write(path / name, text)
            terminal.result(f"wrote {printable(str(path / name))}")
        else:
            _show(name, read_text(path / name), text)


def _for_github(case: _Case) -> Proposal:
    found = case.found
    sending = [one for one in found.sends_already if one.startswith(".github/") and one != ci_jobs.GITHUB_FILE]
    if sending and case.job is None:
        return Proposal(files={}, advice=(f"symup: {printable(sending[0])} sends symbols already",))
    jobs = [job for job in found.jobs if job.file.startswith(".github/") and job.file != ci_jobs.GITHUB_FILE]
    chosen = _chosen(jobs, case.job)
    advice = _about_jobs(jobs, chosen, found)
    if chosen is None:
        text = ci_jobs.github(case.repository, to=case.store, pin=case.pin)
        return Proposal(files={ci_jobs.GITHUB_FILE: text}, advice=advice)
    text = ci_jobs.with_step(read_text(case.path / chosen.file), chosen, to=case.store, pin=case.pin)
    return Proposal(files={chosen.file: text}, job=chosen, advice=advice)


def _for_gitlab(case: _Case) -> Proposal:
    path, found = case.path, case.found
    jobs = [job for job in found.jobs if job.file == ci_jobs.GITLAB_PIPELINE]
    chosen = _chosen(jobs, case.job)
    paths = case.repository.paths if chosen is None else chosen.paths
    may_miss = chosen is not None and chosen.may_miss
    files = {ci_jobs.GITLAB_FILE: ci_jobs.gitlab(paths, to=case.store, pin=case.pin, may_miss=may_miss)}
    advice = list(_about_jobs(jobs, chosen, found))
    by_hand: tuple[str, ...] = ()
    if ci_jobs.GITLAB_PIPELINE not in found.sends_already:
        pipeline = read_text(path / ci_jobs.GITLAB_PIPELINE)
        included = ci_jobs.with_include(pipeline) if pipeline else None
        if included is not None:
            files[ci_jobs.GITLAB_PIPELINE] = included
        elif (path / ci_jobs.GITLAB_PIPELINE).exists():
            by_hand = (f"In {ci_jobs.GITLAB_PIPELINE}, add to include: - local: {ci_jobs.GITLAB_FILE}",)
        else:
            line = f"include: [{{local: {ci_jobs.GITLAB_FILE}}}]"
            by_hand = (f"Write {ci_jobs.GITLAB_PIPELINE}, which GitLab reads: your build's job, and the line {line}",)
    if chosen is not None and not all(ci_jobs.covered(one, chosen.keeps) for one in paths):
        listed = printable(", ".join(paths))
        advice.append(
            f"  The job {printable(chosen.name)} has to keep what it builds: artifacts: {{paths: [{listed}]}}"
        )
    return Proposal(files=files, job=chosen, advice=tuple(advice), by_hand=by_hand)


def _chosen(jobs: list[BuildJob], name: str | None) -> BuildJob | None:
    """The job asked for, or the likeliest one that leaves its binaries where a later step sees them."""
    if name is not None:
        for job in jobs:
            if name in (job.name, job.label):
                return job
        known = ", ".join(job.label for job in jobs) or "none"
        raise UsageError(f"no job {name!r} that builds for Linux was found", remedy=f"Those that build: {known}.")
    return next((job for job in jobs if job.paths and job.worth > 0), None)


def _about_jobs(jobs: list[BuildJob], chosen: BuildJob | None, found: Found) -> tuple[str, ...]:
    lines = []
    if chosen is not None:
        where = ", ".join(chosen.paths)
        lines.append(
            f"symup: {printable(chosen.label)} builds what ships, by {chosen.built.name}, into {printable(where)}"
        )
        lines += [f"  {printable(hint)}" for hint in chosen.built.hint.splitlines()]
    others = [job for job in jobs if job is not chosen]
    if others:
        lines.append(
            f"  Other jobs that build: {printable(', '.join(job.label for job in others[:8]))}. --job NAME takes another."
        )
        out_of_sight = [job for job in others if not job.paths and job.built.hint]
        lines += [f"  {printable(job.label)}: {printable(job.built.hint.splitlines()[0])}" for job in out_of_sight]
    lines += [f"  Not looked into: {printable(one)}" for one in found.unread[:8]]
    return tuple(lines)


def _show(name: str, before: str, after: str) -> None:
    shown = unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{name}" if before else "/dev/null",
        f"b/{name}",
    )
    for line in shown:
        terminal.result(printable(line.rstrip("\n")))
        if not line.endswith("\n"):
            terminal.result("\\ No newline at end of file")


def _next_steps(
    case: _Case, proposals: Sequence[Proposal], *, github: bool, gitlab: bool, write: bool
) -> Iterator[str]:
    yield ""
    jobs = [proposal.job for proposal in proposals if proposal.job]
    if not jobs:
        yield from _about_own_job(case.repository)
    if case.pin.commit is None:
        yield f"The commit of {ci_jobs.TAG} could not be asked for, so the tag stands there, which can be moved. To pin it:"
        yield f"  git ls-remote {release.REPOSITORY} {ci_jobs.TAG}"
    yield "Next:"
    steps = [] if write else ["Read the diff. symup init --write writes it (symup init | git apply does as well)"]
    steps += [step for proposal in proposals for step in proposal.by_hand]
    paths = jobs[0].paths if jobs else case.repository.paths
    missing = " --allow-missing" if any(job.may_miss for job in jobs) else ""
    if not any(job.wheels for job in jobs) and not any("$" in one for one in paths):
        steps.append("Try it here, without sending: symup upload " + " ".join(paths) + missing + " --dry-run")
    if github:
        variable = "" if case.store else ", the variable SYMUP_TO (the store's URL)"
        steps.append("GitHub: Settings > Secrets and variables > Actions: the secret SYMUP_TOKEN" + variable)
    if gitlab:
        variable = "" if case.store else ", and SYMUP_TO (the store's URL)"
        steps.append("GitLab: Settings > CI/CD > Variables: SYMUP_TOKEN, masked" + variable)
    changed = ", ".join(dict.fromkeys(name for one in proposals for name in one.files))
    steps.append(f"Commit {changed} and {ci_jobs.SETTINGS_FILE}")
    for number, step in enumerate(steps, 1):
        yield f"  {number}. {printable(step)}"


def _about_own_job(repository: Repository) -> Iterator[str]:
    """Says what to think of when no job builds what ships, so that symup's own one builds."""
    yield "No job that builds binaries for Linux was found. The proposed one builds anew, and its symbols fit only what it builds:"
    where = f"where {repository.releaser} is run" if repository.releaser else "where you build what ships"
    yield f"  if you ship from elsewhere, run symup upload {where}, before anything strips."
    if not repository.builds:
        yield "How this repository builds can't be told. Put your build's commands and the paths of its binaries in."
        return
    yield f"Found: {', '.join(build.name for build in repository.builds)}. Symbols are looked for in"
    yield f"  {', '.join(repository.paths)}; change that where your binaries lie elsewhere."
    yield from (f"  {build.name}: {build.hint}" for build in repository.builds if build.hint)


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


def _check_within(folder: Path, names: Iterable[str]) -> None:
    """Raises `UsageError` where a link in the repository would lead what is written elsewhere."""
    root = Path(os.path.realpath(folder))
    for name in names:
        if Path(os.path.realpath(folder / name)) != root / name:
            raise UsageError(
                f"{folder / name} is a link, or lies behind one; nothing was written",
                remedy="Put a file or folder in the link's place, then run the same command again.",
            )


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
