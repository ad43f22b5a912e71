"""Options that go together: a command that takes a group as one parameter has all of its options, each declared in `options` alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from uploader.cli import options
from uploader.config.settings import Settings
from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.cli.reports import Reports
    from uploader.pipeline.plan import Plan
    from uploader.progress import Progress


@frozen
class Addressed:
    """The destination of a run, and the things that it replaces there."""

    to: options.To = None
    project: options.Project = None
    dry_run: options.DryRun = False
    force: options.Force = False


@frozen
class Selected:
    """The files that a run takes, the way it converts them, and the cost that this may have."""

    no_dwarf: options.NoDwarf = False
    include: options.Include = None
    exclude: options.Exclude = None
    build_internals: options.BuildInternals = False
    debug_dir: options.DebugDir = None
    debuginfod: options.DebugInfoD = False
    allow_missing: options.AllowMissing = False
    shard: options.Shard = None
    gsym_version: options.GsymVersion = None
    keep_aliases: options.KeepAliases = False
    jobs: options.Jobs = None
    max_memory: options.MaxMemory = None

    def flags(self) -> dict[str, Any]:
        """The settings that were given as flags; None for those that weren't."""
        given = _given(self, "include", "exclude", "build_internals", "debug_dir", "debuginfod", "allow_missing")
        more = _given(self, "gsym_version", "keep_aliases", "jobs", "max_memory")
        return given | more | {"dwarf": False if self.no_dwarf else None}


@frozen
class Gated:
    """The demands on the files."""

    require: options.Require = None
    min_line_coverage: options.MinLineCoverage = None
    fail_on: options.FailOn = None
    allow_empty: options.AllowEmpty = False

    def flags(self) -> dict[str, Any]:
        """The settings that were given as flags; None for those that weren't."""
        return _given(self, "require", "min_line_coverage", "fail_on")


@frozen
class Output:
    """In which forms the run is told."""

    report_json: options.ReportJson = None
    report_html: options.ReportHtml = None
    gitlab_report: options.GitlabReport = None
    junit: options.Junit = None
    dotenv: options.Dotenv = None
    as_json: options.Json = False
    quiet: options.Quiet = False
    verbose: options.Verbose = False

    def reports(self, *others: str | Path) -> Reports:
        """The report files to write, their folders made; ``others`` are the files that the run reads or writes. Raises `UsageError`."""
        from uploader.cli.reports import Reports as Files

        return Files(
            json=self.report_json,
            html=self.report_html,
            code_quality=self.gitlab_report,
            junit=self.junit,
            dotenv=self.dotenv,
        ).prepare(others)


GROUPS = (Addressed, Selected, Gated, Output)


def grouped(command: Callable[..., int]) -> Callable[..., int]:
    """The command as typer is to see it: each parameter that is a group replaced by the group's options, in its place."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if hint in GROUPS}
    shown: dict[str, inspect.Parameter] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            declared = get_type_hints(groups[name], include_extras=True)
            for option in groups[name].__slots__:
                shown[option] = inspect.Parameter(
                    option,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=groups[name]._defaults[option],
                    annotation=declared[option],
                )
        else:
            shown[name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])

    @wraps(command)
    def called(**given: Any) -> int:
        made = {
            name: group(**{option: given.pop(option) for option in group.__slots__}) for name, group in groups.items()
        }
        return command(**given, **made)

    called.__annotations__ = {name: parameter.annotation for name, parameter in shown.items()} | {"return": int}
    called.__signature__ = inspect.Signature(list(shown.values()))  # type: ignore[attr-defined]  # any function may have one
    return called


def plan(paths: Sequence[str], chosen: Settings, *, observer: Progress, selected: Selected, allow_empty: bool) -> Plan:
    """The plan of a run over files. Raises `UsageError`."""
    from uploader.pipeline.plan import Conversion, GsymForm, Plan
    from uploader.pipeline.shard import Shard

    return Plan(
        paths=paths,
        include=chosen.include,
        exclude=chosen.exclude,
        build_internals=chosen.build_internals,
        allow_missing=chosen.allow_missing,
        allow_empty=allow_empty,
        shard=None if selected.shard is None else Shard.parse(selected.shard),
        conversion=Conversion(
            dwarf=chosen.dwarf,
            debug=options.debug_sources(chosen, observer),
            form=GsymForm(version=chosen.gsym_version, keep_aliases=chosen.keep_aliases),
        ),
        jobs=chosen.jobs,
        max_memory_bytes=options.max_memory_bytes(chosen),
    )


def _given(group: Selected | Gated, *names: str) -> dict[str, Any]:
    """Options by name. One that switches something on says nothing where it isn't there."""
    values = {name: getattr(group, name) for name in names}
    return {name: None if value is False else value for name, value in values.items()}
