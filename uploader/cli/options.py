"""The options that several commands share, and how they meet the configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uploader import config, places
from uploader.errors import UsageError

if TYPE_CHECKING:
    from uploader.credentials.token import Token
    from uploader.pipeline.gates import Gates
    from uploader.pipeline.pair import DebugSources
    from uploader.progress import Progress
    from uploader.protocol.words import Destination

WHERE, WHAT, FORM, GATES = "Where to", "What to take", "Form of symbol files", "Gates"
COST, REPORTS = "Time and memory", "Reports and output"

Paths = Annotated[list[str], typer.Argument(help="Files and folders.", show_default=False, metavar="PATHS...")]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="DEST",
        help="Where to: https://host/base or a folder. Without it, a folder in your data directory.",
        envvar="SYMUP_TO",
        rich_help_panel=WHERE,
    ),
]
Dest = Annotated[str, typer.Argument(help="The URL of a symbol server.", show_default=False, metavar="DEST")]
Project = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        help="The project within the destination.",
        envvar="SYMUP_PROJECT",
        rich_help_panel=WHERE,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Ask what is missing, and send nothing.", rich_help_panel=WHERE)
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace what is stored, even if as good or better.", rich_help_panel=WHERE)
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Files extracted at once; all processors by default.",
        envvar="SYMUP_JOBS",
        rich_help_panel=COST,
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Memory that the files under way may take together, like 2G; three quarters of what is free by default.",
        envvar="SYMUP_MAX_MEMORY",
        rich_help_panel=COST,
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        metavar="GLOB",
        help="Only files that match, in folders; repeatable.",
        envvar="SYMUP_INCLUDE",
        rich_help_panel=WHAT,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="GLOB",
        help="No files or folders that match; repeatable.",
        envvar="SYMUP_EXCLUDE",
        rich_help_panel=WHAT,
    ),
]
NoDwarf = Annotated[
    bool,
    typer.Option(
        "--no-dwarf",
        help="Leave debug information out: function names only (in the variable: 0).",
        envvar="SYMUP_DWARF",
        rich_help_panel=WHAT,
    ),
]
BuildInternals = Annotated[
    bool,
    typer.Option(
        "--build-internals",
        help="Take in what build systems leave for themselves in folders: CMake's, Meson's and configure's checks, Cargo's build "
        "scripts, procedural macros, Bazel's tools.",
        envvar="SYMUP_BUILD_INTERNALS",
        rich_help_panel=WHAT,
    ),
]
DebugDir = Annotated[
    list[str] | None,
    typer.Option(
        "--debug-dir",
        metavar="DIR",
        help="Look for debug files here, too, by build-id; repeatable.",
        envvar="SYMUP_DEBUG_DIR",
        rich_help_panel=WHAT,
    ),
]
DebugInfoD = Annotated[
    bool,
    typer.Option(
        "--debuginfod",
        help="Ask the servers of DEBUGINFOD_URLS for debug files that are not here.",
        envvar="SYMUP_DEBUGINFOD",
        rich_help_panel=WHAT,
    ),
]
GsymVersion = Annotated[
    int | None,
    typer.Option(
        "--gsym-version",
        metavar="1|2",
        help="1 by default, and 2 by itself where 1 can't hold a file; few tools read 2 yet.",
        envvar="SYMUP_GSYM_VERSION",
        rich_help_panel=FORM,
    ),
]
KeepAliases = Annotated[
    bool,
    typer.Option(
        "--keep-aliases",
        help="Keep all names of a function, not only the best.",
        envvar="SYMUP_KEEP_ALIASES",
        rich_help_panel=FORM,
    ),
]
Require = Annotated[
    str | None,
    typer.Option(
        "--require",
        metavar="QUALITY",
        autocompletion=lambda: ["full", "lines", "functions"],
        help="Exit with 7 if a file is poorer: full, lines or functions.",
        envvar="SYMUP_REQUIRE",
        rich_help_panel=GATES,
    ),
]
ReportJson = Annotated[
    str | None,
    typer.Option(
        "--report-json",
        metavar="FILE",
        help="Write the report as JSON, too (docs/report.schema.json).",
        rich_help_panel=REPORTS,
    ),
]
ReportHtml = Annotated[
    str | None,
    typer.Option(
        "--report-html",
        metavar="FILE",
        help="Write the report as a page of its own, to open in a browser.",
        rich_help_panel=REPORTS,
    ),
]
GitlabReport = Annotated[
    str | None,
    typer.Option(
        "--gitlab-report",
        metavar="FILE",
        help="Write what needs care as a GitLab Code Quality report.",
        rich_help_panel=REPORTS,
    ),
]
Junit = Annotated[
    str | None,
    typer.Option(
        "--junit", metavar="FILE", help="Write the report as JUnit XML: one test case a file.", rich_help_panel=REPORTS
    ),
]
Dotenv = Annotated[
    str | None,
    typer.Option(
        "--dotenv",
        metavar="FILE",
        help="Write the counts as NAME=value lines: GitLab's dotenv report.",
        rich_help_panel=REPORTS,
    ),
]
MinLineCoverage = Annotated[
    float | None,
    typer.Option(
        "--min-line-coverage",
        metavar="PERCENT",
        help="Exit with 7 if less of a file's code has lines.",
        envvar="SYMUP_MIN_LINE_COVERAGE",
        rich_help_panel=GATES,
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="KIND[,KIND...]",
        help="What else makes the exit code 1 than failed and conflict: missing-debug (function names only, or a .dwo, .dwp or "
        "dwz file was not found), declined, warnings; "
        "'none' first takes failed and conflict out.",
        envvar="SYMUP_FAIL_ON",
        rich_help_panel=GATES,
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Only the I-th of N parts of all ids, the same wherever it is run.",
        rich_help_panel=WHAT,
    ),
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="Nothing with symbols found is no failure.", rich_help_panel=GATES)
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="One JSON document on stdout; the report for people goes to stderr.", rich_help_panel=REPORTS
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only errors.", rich_help_panel=REPORTS)]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Every file, whatever became of it.", rich_help_panel=REPORTS)
]
AllowMissing = Annotated[
    bool,
    typer.Option(
        "--allow-missing",
        help="A path that does not exist is skipped, and no usage error.",
        envvar="SYMUP_ALLOW_MISSING",
        rich_help_panel=WHAT,
    ),
]


def settings(**flags: Any) -> config.Settings:
    """The settings of this run: these flags over environment and configuration files. Raises `UsageError`."""
    return config.load(flags)


def gates(chosen: config.Settings) -> Gates:
    """What the settings ask of the files."""
    from uploader.pipeline.gates import Gates

    return Gates(
        require=chosen.require,
        min_line_coverage=chosen.min_line_coverage,
        fail_on=chosen.fail_on,
        by_path=chosen.gate,
    )


def gates_without_files(**flags: Any) -> Gates:
    """What flags and environment ask of the files: where paths aren't known, a project's settings, which speak of paths, don't count."""
    return gates(config.load(flags, files=False))


def debug_sources(chosen: config.Settings, observer: Progress) -> DebugSources:
    """Where debug information may be looked for, as the settings say. Raises `UsageError`; contacts nothing yet."""
    from uploader.pipeline.pair import DebugSources

    _check_confirmed(chosen, "debug_dir", chosen.debug_dir)
    debuginfod = None
    if chosen.debuginfod:
        from uploader.inputs.debuginfod import DebugInfod, DebugInfodSettings

        debuginfod = DebugInfod(DebugInfodSettings.from_environment(os.environ), note=observer.note)
    return DebugSources(debug_dirs=chosen.debug_dir, debuginfod=debuginfod)


def open_destination(chosen: config.Settings) -> Destination:
    """Opens what the settings name. Contacts nothing yet.

    Raises `UsageError`, and `NotAllowed` where there is a token and nobody but the checkout says that it belongs to this server.
    """
    from uploader.cli.terminal import Waits
    from uploader.destinations.open import open_destination as open_it

    if chosen.to is not None and not places.is_server(chosen.to):
        _check_confirmed(chosen, "to", [chosen.to])
    destination = open_it(chosen.to, project=chosen.project, env=os.environ, token=lambda url: token_for(url, chosen))
    destination.tell_waiting(Waits())
    return destination


def token_for(url: str, chosen: config.Settings) -> Token | None:
    """The token for the server that the settings name. Raises `UsageError`, `NotAllowed`."""
    from uploader.credentials.find import find_token

    return find_token(url, env=os.environ, named_by=chosen.unconfirmed.get("to"))


def max_memory_bytes(chosen: config.Settings) -> int | None:
    """The bound that the settings set, None for the one by itself; a checkout's file sets none above that."""
    from uploader.pipeline.memory import default_bytes

    bound = chosen.max_memory
    if bound is None or not chosen.only_lowers_memory:
        return bound
    by_itself = default_bytes()
    return bound if by_itself is None else min(bound, by_itself)


def _check_confirmed(chosen: config.Settings, key: str, named: Sequence[str]) -> None:
    """Raises `UsageError` for folders beyond the checkout that only a file of the checkout names."""
    file = chosen.unconfirmed.get(key)
    if file is not None:
        flag, variable = "--" + key.replace("_", "-"), "SYMUP_" + key.upper()
        raise UsageError(
            f"{file}: {key!r} names what is not in the checkout, or holds links that may lead out of it: {', '.join(named)}",
            remedy=f"If you want it, say so: {flag}, in CI the variable {variable}, or once in {config.told_own_file()}: "
            f"trusted = [{', '.join(map(repr, named))}].",
        )
