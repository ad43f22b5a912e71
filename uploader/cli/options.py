"""The options that several commands share, and how they meet the configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uploader import places
from uploader.config.files import told_own_file
from uploader.config.load import load
from uploader.config.settings import Settings
from uploader.errors import UsageError

if TYPE_CHECKING:
    from uploader.credentials.token import Token
    from uploader.pipeline.gates import Gates
    from uploader.pipeline.pair import DebugSources
    from uploader.progress import Progress
    from uploader.protocol.words import Destination

WHERE, WHAT, FORM, GATES = "Where to", "What to take", "Form of symbol files", "Gates"
COST, REPORTS = "Time and memory", "Reports and output"


def _option(
    panel: str,
    *flags: str,
    help: str,  # noqa: A002  # typer's own word
    metavar: str | None = None,
    env: str | None = None,
    completed: Callable[[], list[str]] | None = None,
) -> Any:
    return typer.Option(*flags, help=help, metavar=metavar, envvar=env, autocompletion=completed, rich_help_panel=panel)


Paths = Annotated[list[str], typer.Argument(help="Files and folders.", show_default=False, metavar="PATHS...")]
To = Annotated[
    str | None,
    _option(
        WHERE,
        "--to",
        help="Where to: https://host/base, s3://bucket/prefix or a folder. Without it, a folder in your data directory.",
        metavar="DEST",
        env="SYMUP_TO",
    ),
]
Dest = Annotated[str, typer.Argument(help="The URL of a symbol server.", show_default=False, metavar="DEST")]
Project = Annotated[
    str | None,
    _option(WHERE, "--project", help="The project within the destination.", metavar="NAME", env="SYMUP_PROJECT"),
]
DryRun = Annotated[bool, _option(WHERE, "--dry-run", help="Ask what is missing, and send nothing.")]
Force = Annotated[bool, _option(WHERE, "--force", help="Replace what is stored, even if as good or better.")]
Jobs = Annotated[
    int | None,
    _option(
        COST, "--jobs", "-j", help="Files extracted at once; all processors by default.", metavar="N", env="SYMUP_JOBS"
    ),
]
MaxMemory = Annotated[
    str | None,
    _option(
        COST,
        "--max-memory",
        help="Memory that the files under way may take together, like 2G; three quarters of what is free by default.",
        metavar="SIZE",
        env="SYMUP_MAX_MEMORY",
    ),
]
Include = Annotated[
    list[str] | None,
    _option(
        WHAT, "--include", help="Only files that match, in folders; repeatable.", metavar="GLOB", env="SYMUP_INCLUDE"
    ),
]
Exclude = Annotated[
    list[str] | None,
    _option(WHAT, "--exclude", help="No files or folders that match; repeatable.", metavar="GLOB", env="SYMUP_EXCLUDE"),
]
NoDwarf = Annotated[
    bool,
    _option(
        WHAT,
        "--no-dwarf",
        help="Leave DWARF out: function names only, but for Go's own tables (in the variable: 0).",
        env="SYMUP_DWARF",
    ),
]
BuildInternals = Annotated[
    bool,
    _option(
        WHAT,
        "--build-internals",
        help="Take in what build systems leave for themselves in folders: CMake's, Meson's and configure's checks, Cargo's build "
        "scripts, procedural macros, Bazel's tools.",
        env="SYMUP_BUILD_INTERNALS",
    ),
]
DebugDir = Annotated[
    list[str] | None,
    _option(
        WHAT,
        "--debug-dir",
        help="Look for debug files here, too, by build-id; repeatable.",
        metavar="DIR",
        env="SYMUP_DEBUG_DIR",
    ),
]
DebugInfoD = Annotated[
    bool,
    _option(
        WHAT,
        "--debuginfod",
        help="Ask the servers of DEBUGINFOD_URLS for debug files that are not here.",
        env="SYMUP_DEBUGINFOD",
    ),
]
GsymVersion = Annotated[
    int | None,
    _option(
        FORM,
        "--gsym-version",
        help="1 by default, and 2 by itself where 1 can't hold a file; few tools read 2 yet.",
        metavar="1|2",
        env="SYMUP_GSYM_VERSION",
    ),
]
KeepAliases = Annotated[
    bool,
    _option(FORM, "--keep-aliases", help="Keep all names of a function, not only the best.", env="SYMUP_KEEP_ALIASES"),
]
Require = Annotated[
    str | None,
    _option(
        GATES,
        "--require",
        help="Exit with 7 if a file is poorer: full, lines or functions.",
        metavar="QUALITY",
        completed=lambda: ["full", "lines", "functions"],
        env="SYMUP_REQUIRE",
    ),
]
ReportJson = Annotated[
    str | None,
    _option(REPORTS, "--report-json", help="Write the report as JSON, too (docs/report.schema.json).", metavar="FILE"),
]
ReportHtml = Annotated[
    str | None,
    _option(
        REPORTS, "--report-html", help="Write the report as a page of its own, to open in a browser.", metavar="FILE"
    ),
]
GitlabReport = Annotated[
    str | None,
    _option(REPORTS, "--gitlab-report", help="Write what needs care as a GitLab Code Quality report.", metavar="FILE"),
]
Junit = Annotated[
    str | None, _option(REPORTS, "--junit", help="Write the report as JUnit XML: one test case a file.", metavar="FILE")
]
Dotenv = Annotated[
    str | None,
    _option(REPORTS, "--dotenv", help="Write the counts as NAME=value lines: GitLab's dotenv report.", metavar="FILE"),
]
MinLineCoverage = Annotated[
    float | None,
    _option(
        GATES,
        "--min-line-coverage",
        help="Exit with 7 if less of a file's code has lines.",
        metavar="PERCENT",
        env="SYMUP_MIN_LINE_COVERAGE",
    ),
]
FailOn = Annotated[
    list[str] | None,
    _option(
        GATES,
        "--fail-on",
        help="What else makes the exit code 1 than failed and conflict: missing-debug (function names only, or a .dwo, .dwp or "
        "dwz file was not found), declined, warnings; "
        "'none' first takes failed and conflict out.",
        metavar="KIND[,KIND...]",
        env="SYMUP_FAIL_ON",
    ),
]
Shard = Annotated[
    str | None,
    _option(WHAT, "--shard", help="Only the I-th of N parts of all ids, the same wherever it is run.", metavar="I/N"),
]
AllowEmpty = Annotated[bool, _option(GATES, "--allow-empty", help="Nothing with symbols found is no failure.")]
Json = Annotated[
    bool, _option(REPORTS, "--json", help="One JSON document on stdout; the report for people goes to stderr.")
]
Quiet = Annotated[bool, _option(REPORTS, "--quiet", "-q", help="Only errors.")]
Verbose = Annotated[bool, _option(REPORTS, "--verbose", "-v", help="Every file, whatever became of it.")]
AllowMissing = Annotated[
    bool,
    _option(
        WHAT,
        "--allow-missing",
        help="A path that does not exist is skipped, and no usage error.",
        env="SYMUP_ALLOW_MISSING",
    ),
]


def settings(**flags: Any) -> Settings:
    """The settings of this run: these flags over environment and configuration files. Raises `UsageError`."""
    return load(flags)


def gates(chosen: Settings) -> Gates:
    """The gates that the settings set."""
    from uploader.pipeline.gates import Gates

    return Gates(
        require=chosen.require,
        min_line_coverage=chosen.min_line_coverage,
        fail_on=chosen.fail_on,
        by_path=chosen.gate,
    )


def gates_without_files(**flags: Any) -> Gates:
    """The gates of flags and environment: where paths aren't known, a project's settings, which speak of paths, don't count."""
    return gates(load(flags, files=False))


def debug_sources(chosen: Settings, observer: Progress) -> DebugSources:
    """The places where debug information may be looked for, as the settings say. Raises `UsageError`; contacts nothing yet."""
    from uploader.pipeline.pair import DebugSources

    _check_confirmed(chosen, "debug_dir", chosen.debug_dir)
    debuginfod = None
    if chosen.debuginfod:
        from uploader.inputs.debuginfod import DebugInfod, DebugInfodSettings

        debuginfod = DebugInfod(DebugInfodSettings.from_environment(os.environ), note=observer.note)
    return DebugSources(debug_dirs=chosen.debug_dir, debuginfod=debuginfod)


def open_destination(chosen: Settings) -> Destination:
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


def token_for(url: str, chosen: Settings) -> Token | None:
    """The token for the server that the settings name. Raises `UsageError`, `NotAllowed`."""
    from uploader.credentials.find import find_token

    return find_token(url, env=os.environ, named_by=chosen.unconfirmed.get("to"))


def max_memory_bytes(chosen: Settings) -> int | None:
    """The bound that the settings set, None for the one by itself; a checkout's file sets none above that."""
    from uploader.pipeline.memory import default_bytes

    bound = chosen.max_memory
    if bound is None or not chosen.only_lowers_memory:
        return bound
    by_itself = default_bytes()
    return bound if by_itself is None else min(bound, by_itself)


def _check_confirmed(chosen: Settings, key: str, named: Sequence[str]) -> None:
    """Raises `UsageError` for folders beyond the checkout that only a file of the checkout names."""
    file = chosen.unconfirmed.get(key)
    if file is not None:
        flag, variable = "--" + key.replace("_", "-"), "SYMUP_" + key.upper()
        raise UsageError(
            f"{file}: {key!r} names what is not in the checkout, or holds links that may lead out of it: {', '.join(named)}",
            remedy=f"If you want it, say so: {flag}, in CI the variable {variable}, or once in {told_own_file()}: "
            f"trusted = [{', '.join(map(repr, named))}].",
        )
