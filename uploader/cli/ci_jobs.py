"""The files that `symup init` writes: a GitHub workflow, a GitLab job, the settings."""

from __future__ import annotations

from collections.abc import Iterator

from uploader import __version__
from uploader.discover.repository import Build, Repository

GITHUB_FILE = ".github/workflows/symup.yml"
GITLAB_FILE = ".gitlab/symup.gitlab-ci.yml"
SETTINGS_FILE = "symup.toml"

# Pinned by commit, as GitHub advises: a tag can be moved.
_CHECKOUT = "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0"
_KEEP = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2"
_ACTION = f"symup/symup@v{__version__}"
_TEMPLATE = f"https://raw.githubusercontent.com/symup/symup/v{__version__}/.gitlab-ci-template.yml"
_BUILD_HERE = "./build.sh"


def github(repository: Repository, *, to: str | None) -> str:
    """A workflow that builds the repository and sends its symbols."""
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
    ]
    for build in repository.builds:
        lines += [f"      - name: Build ({build.name})", *_environment(build, "        env:", "          ")]
        lines += ["        run: |", *(f"          {command}" for command in build.commands)]
    if not repository.builds:
        lines += ["      - name: Build", f"        run: {_BUILD_HERE}  # put the commands of your build here"]
    lines += [
        "      - name: Store the symbols",
        "        id: symbols",
        f"        uses: {_ACTION}",
        "        with:",
        # A token goes to no store that symup.toml alone names.
        f'          to: "{to}"' if to else "          to: ${{ vars.SYMUP_TO }}",
        "          paths: |",
        *(f"            {path}" for path in repository.paths),
        "          token: ${{ secrets.SYMUP_TOKEN }}",
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


def gitlab(repository: Repository, *, to: str | None) -> str:
    """A job that sends the symbols of what earlier jobs have built and kept as artifacts."""
    lines = [
        "# Sends the symbols of each build to the symbol store. Written by `symup init`; it is yours to change.",
        "# Your .gitlab-ci.yml includes it:",
        "#",
        "#   include:",
        f"#     - local: {GITLAB_FILE}",
        "#",
        f"# The job that builds keeps what it built: `artifacts: {{paths: [{', '.join(repository.paths)}]}}`.",
        "# SYMUP_TOKEN is a masked CI/CD variable of the project" + (";" if not to else "."),
        *([] if to else ["# SYMUP_TO another, with the store's URL."]),
        "include:",
        f"  - remote: {_TEMPLATE}",
        "    inputs:",
        *([f'      to: "{to}"'] if to else []),
        f"      paths: {' '.join(repository.paths)}",
    ]
    return "\n".join(lines) + "\n"


def settings(repository: Repository, *, to: str | None) -> str:
    """The settings of the project: what is known is set, what is a choice stands ready behind a ``#``."""
    lines = [
        "# Settings of symup for this repository; flags and SYMUP_… variables go before them. Never a token: use SYMUP_TOKEN."
    ]
    lines.append(f'to = "{to}"' if to else '# to = "https://symbols.example.com"')
    lines.append('# project = "default"')
    exclude = list(dict.fromkeys(glob for build in repository.builds for glob in build.exclude))
    if exclude:
        quoted = ", ".join(f'"{glob}"' for glob in exclude)
        lines.append(f"exclude = [{quoted}]")
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
