"""Groups of files in a report, the worst first, and advice on them."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence

from uploader.errors import ExitCode
from uploader.judgement import advice, function_coverage, line_coverage
from uploader.model import Decision, Figures, Outcome, Quality
from uploader.values import frozen
from uploader.words import share


class Group(enum.Enum):
    """The groups of a report, the one that needs a person most first."""

    FAILED = "Failed"
    BELOW_GATE = "Below the gate"
    POOR = "Function names only"
    EMPTY = "Without symbols"
    WARNED = "With warnings"
    LINES = "Functions and lines"
    FULL = "Functions, lines and inlined calls"
    SETTLED = "Left as it is"
    SKIPPED = "Skipped"

    @property
    def needs_care(self) -> bool:
        """Whether a person should look at its files."""
        return self in (Group.FAILED, Group.BELOW_GATE, Group.POOR, Group.EMPTY, Group.WARNED)


def group_of(outcome: Outcome) -> Group:
    """The one group that a file is told in."""
    if outcome.exit_code == ExitCode.QUALITY:
        return Group.BELOW_GATE
    if outcome.decision is Decision.FAILED or outcome.exit_code:
        return Group.FAILED
    if outcome.quality is Quality.FUNCTIONS:
        return Group.POOR
    if outcome.quality is Quality.NONE and outcome.warnings:
        return Group.EMPTY
    if outcome.warnings:
        return Group.WARNED
    if outcome.decision is Decision.SKIPPED:
        return Group.SKIPPED
    return {Quality.FULL: Group.FULL, Quality.LINES: Group.LINES}.get(outcome.quality or Quality.NONE, Group.SETTLED)


def grouped(outcomes: Iterable[Outcome]) -> list[tuple[Group, list[Outcome]]]:
    """The groups that hold anything, in the order of `Group`; in each, the files that know least of their code first."""
    members: dict[Group, list[Outcome]] = {}
    for outcome in outcomes:
        members.setdefault(group_of(outcome), []).append(outcome)
    return [(group, sorted(members[group], key=_worth)) for group in Group if group in members]


def worst_first(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """All files, by group and within the group."""
    return [outcome for _, members in grouped(outcomes) for outcome in members]


def measured(figures: Figures) -> str:
    """The shares of a file's code that have a name and a line, in words."""
    told = f"{share(figures.function_bytes, figures.executable_bytes)} of the code named"
    if figures.line_rows:
        told += f", {share(figures.line_bytes, figures.executable_bytes)} with lines"
    return told


def sentences(outcome: Outcome, *, warnings: int) -> list[str]:
    """The reason, the first so many warnings, and advice."""
    return [text for text in (outcome.reason, *outcome.warnings[:warnings], advice(outcome)) if text]


def remedy_of(outcome: Outcome) -> str | None:
    """The remedy for a file that needs care, or that has one of its own."""
    return advice(outcome) if group_of(outcome).needs_care else outcome.remedy


@frozen
class Advice:
    """One thing to do, and for how many files."""

    text: str
    files: int
    examples: tuple[str, ...]


def advices(outcomes: Sequence[Outcome], *, limit: int) -> list[Advice]:
    """Advice on the files that need care, what helps most files first; at most ``limit`` different things."""
    paths: dict[str, list[str]] = {}
    for outcome in outcomes:
        text = remedy_of(outcome)
        if text and group_of(outcome).needs_care:
            paths.setdefault(text, []).append(outcome.path)
    order = Counter({text: len(files) for text, files in paths.items()}).most_common(limit)
    return [Advice(text=text, files=files, examples=tuple(paths[text][:3])) for text, files in order]


def _worth(outcome: Outcome) -> tuple[int, float, float, str]:
    quality = -1 if outcome.quality is None else int(outcome.quality)
    lines, functions = line_coverage(outcome), function_coverage(outcome)
    return quality, -1.0 if lines is None else lines, -1.0 if functions is None else functions, outcome.path
