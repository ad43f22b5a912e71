"""The worth of outcomes to the person who asked for them: exit codes, concerns that gates know, coverage, advice."""

from __future__ import annotations

from collections.abc import Iterable

from uploader.errors import ExitCode
from uploader.model import Concern, Decision, Outcome, Quality, Source

NO_DEBUG_ADVICE = "Built without -g: function names only. Add -g1 for lines, or -g for inlined calls too."
PARTLY_ADVICE = (
    "Part of its code was built without -g: static libraries, generated code, assembly. Build that with -g1 at least."
)
PADDING_ADVICE = "Every named function has its lines. The rest lies between functions, or nothing names it: ask for a lower percentage."
CGO_ADVICE = (
    "Its Go code has its lines from Go's table. The padding between functions has none (on amd64 some 4 % of the code), and C that cgo "
    "links in only if it is built with -g and linked without -s and -w: do that, or ask for a lower percentage."
)
NO_INLINES_ADVICE = "Functions and lines, no inlined calls. Build with -g for those."
GO_TABLE_ADVICE = (
    "Give the file as Go's linker wrote it (-s and -w are fine): .gopclntab, which holds its functions, lines and inlined calls, is "
    "missing or damaged in this one."
)
UNSTRIPPED_ADVICE = "Give the unstripped file, or its debug file beside it."

PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.USAGE,
    ExitCode.NOT_ALLOWED,
    ExitCode.NETWORK,
    ExitCode.REFUSED,
    ExitCode.SOME_FAILED,
    ExitCode.QUALITY,
    ExitCode.NOTHING_FOUND,
    ExitCode.DONE,
)
"""The most pressing exit code first: of what stops the whole run, then of what stopped one file, then of what is only poor."""


def exit_code(outcomes: Iterable[Outcome], *more: ExitCode) -> ExitCode:
    """The exit code of a run: of those that its outcomes would give alone, and of ``more``, the first in `PRECEDENCE`."""
    codes = {ExitCode(outcome.exit_code) for outcome in outcomes} | set(more)
    return next((code for code in PRECEDENCE if code in codes), ExitCode.DONE)


def has_symbols(outcome: Outcome) -> bool:
    """Whether a symbol file stands behind the outcome, here or at the destination."""
    return outcome.decision not in (Decision.SKIPPED, Decision.FAILED)


def concerns(outcome: Outcome) -> frozenset[Concern]:
    """Everything that a gate could stop this file for."""
    found = set()
    if outcome.concern is not None:
        found.add(outcome.concern)
    elif outcome.decision is Decision.FAILED:
        found.add(Concern.FAILED)
    without_symbols = outcome.quality is Quality.NONE and outcome.warnings
    if outcome.quality is Quality.FUNCTIONS or without_symbols or outcome.lacks_files:
        found.add(Concern.MISSING_DEBUG)
    if outcome.warnings:
        found.add(Concern.WARNINGS)
    return frozenset(found)


def coverage(part_bytes: int, executable_bytes: int) -> float | None:
    """A share of the executable bytes, 0 to 100; None where there are none."""
    return min(100.0, 100.0 * part_bytes / executable_bytes) if executable_bytes else None


def line_coverage(outcome: Outcome) -> float | None:
    """The share of the file's code with a line, in percent; None where it is not known."""
    figures = outcome.figures
    return None if figures is None else coverage(figures.line_bytes, figures.executable_bytes)


def function_coverage(outcome: Outcome) -> float | None:
    """The share of the file's code with a function, in percent; None where it is not known."""
    figures = outcome.figures
    return None if figures is None else coverage(figures.function_bytes, figures.executable_bytes)


def lost_go_table(outcome: Outcome) -> bool:
    """Whether it is the poorer for what could not be read of Go's table: warnings come back from a store, remedies don't."""
    poorer = outcome.quality is not None and outcome.quality < Quality.FULL
    return poorer and any("Go's table" in each and "could not be read" in each for each in outcome.warnings)


def without_debug(outcome: Outcome) -> bool:
    """Whether there are function names alone, so that most likely it was built without debug information, or stripped of it."""
    lines = outcome.figures is not None and outcome.figures.line_bytes
    return outcome.quality is Quality.FUNCTIONS and not lines and not lost_go_table(outcome)


def line_advice(outcome: Outcome) -> str | None:
    """Advice on how to get more lines into this file."""
    figures = outcome.figures
    if outcome.quality is None or outcome.quality <= Quality.FUNCTIONS:
        return advice(outcome)
    if figures is None:
        return PARTLY_ADVICE
    sources = set(figures.by_source)
    if Source.GO in sources and Source.DWARF not in sources:
        return CGO_ADVICE if sources - {Source.GO} else PADDING_ADVICE
    return PADDING_ADVICE if figures.line_bytes >= figures.function_bytes else PARTLY_ADVICE


def advice(outcome: Outcome) -> str | None:
    """Advice on how to get more out of this file; None where nothing is missing or nothing can be said."""
    if outcome.remedy:
        return outcome.remedy
    if lost_go_table(outcome):
        return GO_TABLE_ADVICE
    if outcome.quality is Quality.FUNCTIONS:
        return PARTLY_ADVICE if outcome.figures is not None and outcome.figures.line_bytes else NO_DEBUG_ADVICE
    if outcome.quality is Quality.NONE and outcome.warnings:
        return UNSTRIPPED_ADVICE
    return NO_INLINES_ADVICE if outcome.quality is Quality.LINES else None
