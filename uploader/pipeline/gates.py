"""Gates: demands on the files of a run, which change their outcomes and the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from uploader.config.settings import FAILS_BY_ITSELF, PathGate
from uploader.errors import ExitCode, QualityTooLow, SymupError
from uploader.inputs.globs import matches_any
from uploader.judgement import advice, concerns, exit_code, has_symbols, line_advice, line_coverage
from uploader.model import Concern, Decision, Figures, Outcome, Quality
from uploader.pipeline.outcomes import Finished
from uploader.report.groups import measured
from uploader.values import frozen, replace
from uploader.words import count, percent, share

if TYPE_CHECKING:
    from uploader.protocol.words import Destination

NAMED_IN_ERROR = 3
UNTOLD_REMEDY = (
    "Run again with --force, so that the file is sent and checked anew, or see what answers at that address."
)
LESS_REMEDY = "Or ask less with a [[gate]] in symup.toml."
GATE_REMEDY = f"Build these with -g (or -g1), or give their debug files. {LESS_REMEDY}"

_FAILING = {
    Concern.CONFLICT: "an id with two contents",
    Concern.MISSING_DEBUG: "debug information is missing",
    Concern.DECLINED: "the destination kept something else",
    Concern.WARNINGS: "there are warnings",
    Concern.FAILED: "it failed",
}

Stored = Callable[[Outcome], Figures | None]
"""Asks the destination for the figures of a file that was there already."""


@frozen
class Gates:
    """The demands on every file, and on some by their path."""

    require: Quality | None = None
    min_line_coverage: float | None = None
    fail_on: frozenset[Concern] = FAILS_BY_ITSELF
    by_path: tuple[PathGate, ...] = ()

    def for_path(self, path: str) -> tuple[Quality | None, float | None]:
        """The quality and the line coverage asked of the file: the first gate that matches its path goes before all others."""
        for gate in self.by_path:
            if any(matches_any(form, gate.paths) for form in _forms(path, gate.root)):
                require = self.require if gate.require is None else gate.require
                least = self.min_line_coverage if gate.min_line_coverage is None else gate.min_line_coverage
                return require, least
        return self.require, self.min_line_coverage


def judged(finished: Finished, gates: Gates, *, stored: Stored | None = None) -> Finished:
    """The run as ``gates`` see it: outcomes that don't pass say why and what to do, and the exit code follows.

    What failed for login, network or destination, or by a wrong use, keeps its exit code whatever is asked. ``stored`` is asked
    where line coverage matters and a file that was there already has no figures.
    """
    outcomes = tuple(_judged(outcome, gates, stored) for outcome in finished.outcomes)
    error = finished.error
    below = [outcome for outcome in outcomes if outcome.exit_code == ExitCode.QUALITY]
    if error is None and below:
        paths = ", ".join(outcome.path for outcome in below[:NAMED_IN_ERROR])
        more = f" and {len(below) - NAMED_IN_ERROR:,} more" if len(below) > NAMED_IN_ERROR else ""
        error = QualityTooLow(
            f"{count(len(below), 'file is', 'files are')} below the gate: {paths}{more}", remedy=_common_remedy(below)
        )
    code = exit_code(outcomes, *([error.exit_code] if error else []))
    return replace(finished, outcomes=outcomes, exit_code=code, error=error)


def stored_figures(outcome: Outcome, destination: Destination) -> Figures | None:
    """The figures that the destination tells of a file that was there already; None where it tells none."""
    if outcome.identity is None:
        return None
    try:
        manifest = destination.manifest(outcome.identity.primary)
    except SymupError:
        return None
    return None if manifest is None else manifest.figures


def _judged(outcome: Outcome, gates: Gates, stored: Stored | None) -> Outcome:
    outcome = _for_concerns(outcome, gates.fail_on)
    require, least = gates.for_path(outcome.path)
    quality = outcome.quality
    if require is not None and quality is None and outcome.decision is Decision.PRESENT:
        return _below(
            outcome, f"the destination does not tell its quality, and {require.label} is required", remedy=UNTOLD_REMEDY
        )
    if outcome.exit_code or quality is None:
        return outcome
    if require is not None and quality < require:
        return _below(
            outcome,
            f"quality {quality.label} is below the {require.label} required{_figures_of(outcome)}",
            remedy=advice(outcome),
        )
    if not least or not has_symbols(outcome):
        return outcome
    if outcome.figures is None and stored is not None and outcome.decision is Decision.PRESENT:
        outcome = replace(outcome, figures=stored(outcome))
    covered = line_coverage(outcome)
    if covered is None and quality is Quality.FUNCTIONS:
        covered = 0.0
    if covered is None or covered >= least:
        return outcome
    why = f"{percent(covered)} of the code has lines, below the {least:g} % required"
    return _below(outcome, why, remedy=line_advice(outcome))


def _common_remedy(below: Sequence[Outcome]) -> str:
    remedies = {outcome.remedy for outcome in below}
    remedy = remedies.pop()
    return GATE_REMEDY if remedies or remedy is None else f"{remedy} {LESS_REMEDY}"


def _for_concerns(outcome: Outcome, fail_on: frozenset[Concern]) -> Outcome:
    found = concerns(outcome)
    if outcome.exit_code == ExitCode.SOME_FAILED:
        return outcome if found & fail_on else replace(outcome, exit_code=ExitCode.DONE)
    if outcome.exit_code or not found & fail_on:
        return outcome
    failing = next(concern for concern in _FAILING if concern in found & fail_on)
    return replace(
        outcome,
        reason=f"{outcome.reason}; {_FAILING[failing]}, and --fail-on {failing.value} is set{_figures_of(outcome)}",
        remedy=advice(outcome),
        exit_code=ExitCode.SOME_FAILED,
    )


def _figures_of(outcome: Outcome) -> str:
    figures = outcome.figures
    if figures is None or not figures.executable_bytes:
        return ""
    told = measured(figures)
    if figures.line_bytes:
        told += f", {share(figures.inline_bytes, figures.line_bytes)} of these with what is inlined"
    return f" ({told})"


def _below(outcome: Outcome, why: str, *, remedy: str | None) -> Outcome:
    return replace(
        outcome,
        reason=f"{outcome.reason}; {why}",
        remedy=outcome.remedy or remedy,
        exit_code=ExitCode.QUALITY,
    )


def _forms(path: str, root: str) -> set[str]:
    """The path as it was given, and seen from the working directory and from ``root``."""
    absolute = os.path.abspath(path)
    forms = {os.path.normpath(path), os.path.relpath(absolute)}
    if root:
        forms.add(os.path.relpath(absolute, root))
    return forms
