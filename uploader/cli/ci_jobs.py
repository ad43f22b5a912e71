"""The proposals of `symup init`: a step or an include in the pipeline that builds, a workflow where none does, the settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from uploader import __version__
from uploader.propose.release import REPOSITORY
from uploader.propose.repository import Build, Repository
from uploader.propose.workflows import BuildJob
from uploader.values import frozen

GITHUB_FILE = ".github/workflows/symup.yml"
GITLAB_FILE = ".gitlab/symup.gitlab-ci.yml"
GITLAB_PIPELINE = ".gitlab-ci.yml"
SETTINGS_FILE = "symup.toml"
TAG = f"v{__version__}"
UNPACKED = "build/symup-wheels"

# Pinned by commit, as GitHub advises: a tag can be moved.
_CHECKOUT = "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0"
_KEEP = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2"
_BUILD_HERE = "./build.sh"


@frozen
class Pin:
    """The version of symup that a pipeline names: the commit of this release, or its tag where the commit isn't known."""

    commit: str | None

    @property
    def action(self) -> str:
        """The action, for ``uses``."""
        return f"symup/symup@{self.commit} # {TAG}" if self.commit else f"symup/symup@{TAG}"

    @property
    def template(self) -> str:
        """The URL of GitLab's template."""
        raw = REPOSITORY.replace("https://github.com/", "https://raw.githubusercontent.com/")
        return f"{raw}/{self.commit or TAG}/.gitlab-ci-template.yml"


def with_step(text: str, job: BuildJob, *, to: str | None, pin: Pin) -> str:
    """A workflow's text with a step that stores the symbols, right behind the one that builds."""
    lines = text.splitlines(keepends=True)
    before, behind = lines[: job.line], lines[job.line :]
    if before and not before[-1].endswith("\n"):
        before[-1] += "\n"
    spaced = _spaced(text, job)
    step = [*([""] if spaced else []), *_steps(job, to=to, pin=pin)]
    return "".join([*before, *(f"{' ' * job.indent}{line}".rstrip() + "\n" for line in step), *behind])


def _spaced(text: str, job: BuildJob) -> bool:
    """Whether blank lines part the steps of this workflow."""
    lines = text.splitlines()
    return job.line < len(lines) and not lines[job.line].strip()


def _steps(job: BuildJob, *, to: str | None, pin: Pin) -> Iterator[str]:
    linux = ["  if: runner.os == 'Linux'"] if job.many_systems else []
    paths = job.paths
    if job.wheels:
        wheels = " ".join(f"{path}/*.whl" for path in job.wheels)
        yield "- name: Unpack the wheels for their symbols"
        yield from linux
        yield f'  run: for wheel in {wheels}; do python3 -m zipfile -e "$wheel" {UNPACKED}; done'
        paths = (*(path for path in paths if path not in job.wheels), UNPACKED)
    yield "- name: Store the symbols"
    yield from linux
    yield f"  uses: {pin.action}"
    yield "  with:"
    yield from (f"    {line}" for line in _given(paths, to, may_miss=job.may_miss))


def _given(paths: tuple[str, ...], to: str | None, *, may_miss: bool = False) -> Iterator[str]:
    # A token goes to no store that symup.toml alone names.
    yield f'to: "{to}"' if to else "to: ${{ vars.SYMUP_TO }}"
    if len(paths) == 1:
        yield f"paths: {paths[0]}" if re.fullmatch(r"[\w./-]+", paths[0]) else f'paths: "{paths[0]}"'
    else:
        yield "paths: |"
        yield from (f"  {path}" for path in paths)
    if may_miss:
        yield 'allow-missing: "true"'
    yield "token: ${{ secrets.SYMUP_TOKEN }}"


def github(repository: Repository, *, to: str | None, pin: Pin) -> str:
    """A workflow that builds the repository and sends its symbols, where no other builds it."""
    lines = [
        "# Sends the symbols of each build to the symbol store. Written by `symup init`; it is yours to change.",
        "name: symbols",
        "on:",
        "  push:",
        "    branches: [main, master]",
        "  workflow_dispatch:",
        "permissions: {}",
        "concurrency:",
        "  group: symbols-${{ github.ref }}",
        "  cancel-in-progress: false",
        "jobs:",
        "  symbols:",
        "    runs-on: ubuntu-latest",
        "    permissions:",
        "      contents: read",
        "    timeout-minutes: 60",
        "    steps:",
        f"      - uses: {_CHECKOUT}",
        "        with:",
        "          persist-credentials: false",
        *(["          submodules: recursive"] if repository.has_submodules else []),
    ]
    for build in repository.builds:
        lines += [f"      - name: Build ({build.name})", *_environment(build, "        env:", "          ")]
        lines += ["        run: |", *(f"          {command}" for command in build.commands)]
    if not repository.builds:
        lines += ["      - name: Build", f"        run: {_BUILD_HERE}  # put the commands of your build here"]
    lines += [
        "      - name: Store the symbols",
        "        id: symbols",
        f"        uses: {pin.action}",
        "        with:",
        *(f"          {line}" for line in _given(repository.paths, to)),
        "          report-html: symbols.html",
        "      - name: Keep the report",
        "        if: always()",
        f"        uses: {_KEEP}",
        "        with:",
        "          name: symbols",
        "          path: symbols.html",
        "          if-no-files-found: ignore",
    ]
    return "\n".join(lines) + "\n"


def gitlab(paths: tuple[str, ...], *, to: str | None, pin: Pin, may_miss: bool = False) -> str:
    """A job that sends the symbols of what earlier jobs have built and kept as artifacts."""
    lines = [
        "# Sends the symbols of each build to the symbol store. Written by `symup init`; it is yours to change.",
        f"# The job that builds keeps what it built: `artifacts: {{paths: [{', '.join(paths)}]}}`.",
        "# SYMUP_TOKEN is a masked CI/CD variable of the project" + (";" if not to else "."),
        *([] if to else ["# SYMUP_TO another, with the store's URL."]),
        "include:",
        f"  - remote: {pin.template}",
        "    inputs:",
        *([f'      to: "{to}"'] if to else []),
        f"      paths: {' '.join(paths)}",
        *(["      allow-missing: true"] if may_miss else []),
    ]
    return "\n".join(lines) + "\n"


def with_include(text: str) -> str | None:
    """A pipeline's text that includes `GITLAB_FILE`, too; None where its own ``include`` is written in a way that leaves no line for it."""
    item = f"  - local: {GITLAB_FILE}\n"
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if re.match(r"include:\s*(#.*)?$", line):
            following = next(
                (one for one in lines[number + 1 :] if one.strip() and not one.lstrip().startswith("#")), ""
            )
            dash = re.match(r"( *)- ", following)
            if dash is None:
                return None
            return "".join([*lines[: number + 1], f"{dash[1]}- local: {GITLAB_FILE}\n", *lines[number + 1 :]])
        if line.startswith("include:"):
            return None
    return f"include:\n{item}\n{text}"


def settings(*, to: str | None) -> str:
    """The settings of a project: what is known is set, what is a choice stands ready behind a ``#``."""
    lines = [
        "# Settings of symup for this repository; flags and SYMUP_… variables go before them. Never a token: use SYMUP_TOKEN."
    ]
    lines.append(f'to = "{to}"' if to else '# to = "https://symbols.example.com"')
    lines.append('# project = "default"')
    lines += [
        "",
        "# Gates: exit code 7 where a file's symbols are poorer than this.",
        '# require = "lines"',
        "# min_line_coverage = 90",
        '# fail_on = ["missing-debug"]',
        "",
        "# [[gate]]",
        '# paths = ["vendor/**"]',
        '# require = "functions"',
    ]
    return "\n".join(lines) + "\n"


def _environment(build: Build, head: str, indent: str) -> Iterator[str]:
    if build.environment:
        yield head
        for name, value in build.environment:
            yield f'{indent}{name}: "{value}"'


def covered(path: str, kept: tuple[str, ...]) -> bool:
    """Whether what a GitLab job keeps as artifacts holds ``path``."""
    wanted = PurePosixPath(path)
    return any(
        wanted.is_relative_to(PurePosixPath(one.removesuffix("/**").removesuffix("/*").rstrip("/") or "."))
        for one in kept
    )
