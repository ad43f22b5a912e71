"""Finds the job of a repository's CI that builds what ships: in GitHub's workflows and in GitLab's pipeline. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from uploader.propose.build_commands import Built, commands
from uploader.propose.build_steps import JobBuild, folder_of, of_job, of_script
from uploader.values import frozen

MAX_READ_BYTES = 512 * 1024
GITLAB_FILE = ".gitlab-ci.yml"

_SHIPPING = re.compile(r"releas|publish|deploy|packag|dist\b|wheel|binar|artifact|artefact|ship|upload", re.IGNORECASE)
_TRYING = re.compile(
    r"test|lint|clippy|fmt|format|docs?\b|coverage|bench|fuzz|sanit|asan|tsan|msrv|miri|check|codeql|analy|debug|valgrind|spell",
    re.IGNORECASE,
)
_SHIPPING_ACTIONS = (
    "actions/upload-artifact",
    "softprops/action-gh-release",
    "ncipollo/release-action",
    "svenstaro/upload-release-action",
    "taiki-e/upload-rust-binary-action",
    "pypa/gh-action-pypi-publish",
    "actions/attest-build-provenance",
)
_SHIPPING_COMMANDS = ({"gh", "release"}, {"docker", "push"}, {"twine", "upload"}, {"cargo", "publish"})


@frozen
class BuildJob:
    """One job that builds binaries for Linux."""

    file: str
    """From the repository's folder."""
    name: str
    built: Built
    """All that it builds, as one; paths from the folder in which it starts."""
    wheels: tuple[str, ...] = ()
    """Those of the paths that hold wheels, which have to be unpacked to be read."""
    may_miss: bool = False
    """Some of the paths need not be there in every run."""
    line: int
    """The number of lines before the place where a following step goes (GitHub), or of the job's own line (GitLab)."""
    indent: int
    """The column of the dash of the job's steps."""
    many_systems: bool
    """Its matrix has other systems than Linux, too."""
    keeps: tuple[str, ...] = ()
    """The paths that a GitLab job keeps as artifacts."""
    worth: int
    """How likely it is the one whose binaries ship; the highest is."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The places of its binaries."""
        return self.built.paths

    @property
    def label(self) -> str:
        """The name by which people ask for it."""
        return f"{self.file}:{self.name}"


@frozen
class Found:
    """The jobs that a repository's workflows have."""

    jobs: tuple[BuildJob, ...]
    """The likeliest first."""
    sends_already: tuple[str, ...]
    """Files that use symup."""
    unread: tuple[str, ...]
    """Files that are too large or that no YAML reader takes, and jobs that can't be looked into: each with the reason."""


def find(folder: Path) -> Found:
    """The jobs in GitHub's workflows and GitLab's pipeline in ``folder``."""
    jobs: list[BuildJob] = []
    sends: list[str] = []
    unread: list[str] = []
    workflows = folder / ".github" / "workflows"
    for path in [*sorted([*workflows.glob("*.yml"), *workflows.glob("*.yaml")]), folder / GITLAB_FILE]:
        name = path.relative_to(folder).as_posix()
        text = read_text(path)
        if not text:
            if reason := _unread(path):
                unread.append(f"{name}: {reason}")
            continue
        document, reason = _parsed(text)
        if document is None:
            unread.append(f"{name}: {reason}")
            continue
        if re.search(r"symup/symup@|\bsymup (upload|push)\b|symup\.gitlab-ci|symup/symup/", text):
            sends.append(name)
        if name == GITLAB_FILE:
            jobs += _gitlab_jobs(name, document, folder)
        else:
            jobs += _github_jobs(name, document, text, unread, folder)
    jobs.sort(key=lambda job: (-job.worth, job.label))
    return Found(jobs=tuple(jobs), sends_already=tuple(sends), unread=tuple(unread))


def read_text(path: Path) -> str:
    """The text of a file of a reasonable size; empty where there is none."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_READ_BYTES:
            return ""
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def _unread(path: Path) -> str:
    """The reason why `read_text` gives nothing of a file; empty where there is none, or nothing in it."""
    try:
        size_bytes = path.stat().st_size if path.is_file() else 0
    except OSError as error:
        return f"can't be read: {error.strerror or error}"
    if size_bytes > MAX_READ_BYTES:
        return f"is larger than {MAX_READ_BYTES // 1024} KiB"
    return "can't be read" if size_bytes else ""


def _parsed(text: str) -> tuple[Any, str]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        document = YAML(typ="rt", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        return None, f"is no YAML: {str(error).partition(chr(10))[0]}"
    return (document, "") if isinstance(document, Mapping) else (None, "holds no mapping")


def _github_jobs(file: str, document: Any, text: str, unread: list[str], folder: Path) -> Iterator[BuildJob]:
    jobs = document.get("jobs")
    triggers = _triggers(document.get("on"))
    for name, job in jobs.items() if isinstance(jobs, Mapping) else ():
        if not isinstance(job, Mapping):
            continue
        if isinstance(job.get("uses"), str):
            unread.append(f"{file}: the job {name} is a workflow of its own, {job['uses']}")
            continue
        steps = job.get("steps")
        if not isinstance(steps, list) or not steps:
            continue
        systems = _systems(job)
        if systems and not any(_may_be_linux(one) for one in systems):
            continue
        build = of_job(steps, next((one for one in (_folder_of(job), _folder_of(document)) if one), ""), folder)
        if build is None:
            continue
        start, indent = _dash(steps, build.last_step, text)
        if indent < 0:
            unread.append(f"{file}: the steps of {name} aren't written one below the other")
            continue
        yield BuildJob(
            file=file,
            name=str(name),
            line=_end_of_item(text, start, indent),
            indent=indent,
            many_systems=any(not _may_be_linux(one) or "${{" in one for one in systems),
            worth=_worth(f"{Path(file).stem} {document.get('name', '')} {name} {job.get('name', '')}", build.built)
            + (6 if _ships(steps) else 0)
            + (4 if triggers & {"release", "tags"} else 0)
            - (5 if triggers and triggers <= {"pull_request", "merge_group"} else 0),
            **_of(build),
        )


def _gitlab_jobs(file: str, document: Any, folder: Path) -> Iterator[BuildJob]:
    reserved = {"default", "include", "stages", "variables", "workflow", "image", "services", "cache", "pages"}
    for name, job in document.items():
        if not isinstance(job, Mapping) or name in reserved or str(name).startswith("."):
            continue
        script = job.get("script")
        lines = [script] if isinstance(script, str) else script if isinstance(script, list) else []
        build = of_script("\n".join(line for line in lines if isinstance(line, str)), folder)
        if build is None:
            continue
        artifacts = job.get("artifacts")
        kept = artifacts.get("paths") if isinstance(artifacts, Mapping) else None
        keeps = tuple(str(one) for one in kept) if isinstance(kept, list) else ()
        yield BuildJob(
            file=file,
            name=str(name),
            line=document.lc.data[name][0],
            indent=0,
            many_systems=False,
            keeps=keeps,
            worth=_worth(f"{name} {job.get('stage', '')}", build.built) + (6 if keeps else 0),
            **_of(build),
        )


def _of(build: JobBuild) -> dict[str, Any]:
    return {"built": build.built, "wheels": build.wheels, "may_miss": build.may_miss}


def _worth(words: str, built: Built) -> int:
    return (
        10
        + (3 if _SHIPPING.search(words) else 0)
        - (8 if _TRYING.search(words) else 0)
        + (2 if built.ships else 0)
        - (4 if built.debug_build else 0)
        - (9 if not built.paths else 0)
    )


def _folder_of(scope: Mapping[str, Any]) -> str:
    defaults = scope.get("defaults")
    run = defaults.get("run") if isinstance(defaults, Mapping) else None
    return folder_of(run) if isinstance(run, Mapping) else ""


def _triggers(on: Any) -> set[str]:
    if isinstance(on, str):
        return {on}
    if isinstance(on, list):
        return {str(one) for one in on}
    if not isinstance(on, Mapping):
        return set()
    found = {str(one) for one in on}
    push = on.get("push")
    return found | ({"tags"} if isinstance(push, Mapping) and push.get("tags") else set())


def _systems(job: Mapping[str, Any]) -> list[str]:
    runs_on = job.get("runs-on")
    if isinstance(runs_on, str) and "matrix" not in runs_on:
        return [runs_on]
    if isinstance(runs_on, list):
        return [" ".join(str(one) for one in runs_on)]
    strategy = job.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, Mapping) else None
    key = re.search(r"matrix\.([\w-]+)", str(runs_on))
    if not isinstance(matrix, Mapping) or key is None:
        return [str(runs_on)] if runs_on else []
    values = matrix.get(key[1])
    listed = [str(one) for one in values] if isinstance(values, list) else []
    included = matrix.get("include")
    included = included if isinstance(included, list) else []
    listed += [str(one[key[1]]) for one in included if isinstance(one, Mapping) and key[1] in one]
    return listed or [str(runs_on)]


def _may_be_linux(system: str) -> bool:
    return not re.search(r"windows|macos|osx", system, re.IGNORECASE)


def _ships(steps: list[Any]) -> bool:
    for step in steps:
        if not isinstance(step, Mapping):
            continue
        if str(step.get("uses", "")).lower().startswith(_SHIPPING_ACTIONS):
            return True
        run = step.get("run")
        if isinstance(run, str) and any(words <= set(one) for one in commands(run) for words in _SHIPPING_COMMANDS):
            return True
    return False


def _dash(steps: Any, number: int, text: str) -> tuple[int, int]:
    """The line of a step and the column of its dash; a column of -1 where the steps are written in one line."""
    if steps.fa.flow_style():
        return 0, -1
    line, column = steps.lc.item(number)
    dash = text.splitlines()[line][:column].rfind("-")
    return line, dash


def _end_of_item(text: str, start: int, indent: int) -> int:
    """The number of lines up to the end of the item that begins in line ``start``, blank lines and comments behind it left out."""
    lines = text.splitlines()
    end = start + 1
    for number in range(start + 1, len(lines)):
        stripped = lines[number].strip()
        if not stripped:
            continue
        if len(lines[number]) - len(lines[number].lstrip()) <= indent:
            break
        end = number + 1
    return end
