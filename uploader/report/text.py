"""A run as text: what went wrong first, every file while they are few, groups of them once they are many."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence

from uploader.judgement import has_symbols, without_debug
from uploader.model import NEW_IN_STORE, Decision, Figures, LeftOut, Outcome, Quality
from uploader.report.groups import advices, measured, remedy_of
from uploader.report.model import RunReport
from uploader.words import count, duration, printable, size

LIST_ALL_UP_TO = 20
"""Runs with more files than this list only what needs a person, and count the rest."""

COUNTED_FROM = 3
"""So many files that were skipped for one reason are counted instead, in any run."""

LIST_WORST = 20
"""So many failures are listed one by one, and so many reasons of each other kind."""

REMEDIES_TOLD = 3
"""So many different things to do are told of files that are only counted."""

_PAST = {
    Decision.STORED: "stored",
    Decision.CONVERTED: "converted",
    Decision.PRESENT: "already there",
    Decision.PLANNED: "would be sent",
    Decision.SKIPPED: "skipped",
    Decision.FAILED: "failed",
}


def summary(run: RunReport, *, verbose: bool = False, quiet: bool = False) -> Iterator[str]:
    """The lines of a run's report, the verdict on all of it last. Lines hold no line breaks, escapes or colours.

    ``verbose`` lists every file, ``quiet`` none that went well, and where all did there are no lines at all. Of the files that only
    share the trouble of the whole run, the number is told.
    """
    calm, grave, shared = [], [], 0
    for outcome in run.outcomes:
        if not outcome.exit_code:
            calm.append(outcome)
        elif run.error is not None and outcome.ended_with_run:
            shared += 1
        else:
            grave.append(outcome)
    if quiet:
        if not grave and not shared:
            return
        calm.clear()
    if verbose or len(calm) + len(grave) <= LIST_ALL_UP_TO:
        alike = [] if verbose else _alike(calm)
        yield from _groups(alike)
        yield from _listed([outcome for outcome in (*calm, *grave) if outcome not in alike], verbose=verbose)
    else:
        yield from _groups(calm)
        for each in advices(calm, limit=REMEDIES_TOLD):
            yield f"      try: {printable(each.text)} ({count(each.files, 'file')})"
        yield from _listed(grave[:LIST_WORST])
        if len(grave) > LIST_WORST:
            yield f"  ... and {len(grave) - LIST_WORST:,} more like these; --verbose lists all, --json too"
    if not quiet:
        yield from map(left_out, run.left_out)
    if shared:
        yield f"  {'failed':9} {count(shared, 'file')} not sent, for the error told below"
    yield verdict(run)


def _alike(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Files that were skipped for a reason which is many others', too."""
    reasons = Counter(outcome.reason for outcome in outcomes if outcome.decision is Decision.SKIPPED)
    return [
        outcome
        for outcome in outcomes
        if outcome.decision is Decision.SKIPPED and reasons[outcome.reason] >= COUNTED_FROM and not outcome.warnings
    ]


def left_out(kind: LeftOut) -> str:
    """A line about one kind of files that were not looked at, and about the option that has them taken in."""
    examples = ", ".join(map(printable, kind.examples[:2]))
    more = ", ..." if kind.number > 2 else ""
    return f"  left out  {kind.number:>7,}  {kind.what}: {kind.remedy}  ({examples}{more})"


def _listed(outcomes: Sequence[Outcome], *, verbose: bool = False) -> Iterator[str]:
    width = min(max((len(printable(outcome.path)) for outcome in outcomes), default=0), 48)
    told_remedies: set[str] = set()
    for outcome in outcomes:
        yield from _lines(outcome, width)
        remedy = remedy_of(outcome)
        # A failed file is looked at alone; many files with one warning are one thing to do.
        if remedy and (outcome.exit_code or (outcome.warnings and remedy not in told_remedies)):
            told_remedies.add(remedy)
            yield f"      try: {printable(remedy)}"
        if verbose and outcome.figures is not None and (told := _told_of_ranges(outcome.figures)):
            yield f"      ranges that the debug information gets wrong: {told}"


def _told_of_ranges(figures: Figures) -> str:
    counts = {"dropped": figures.dropped_ranges, "cut": figures.cut_ranges, "widened": figures.widened_ranges}
    return ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)


def _lines(outcome: Outcome, width: int) -> Iterator[str]:
    quality = outcome.quality.label if outcome.quality else ""
    yield f"  {outcome.decision.value:9} {quality:9} {printable(outcome.path):{width}}  {_detail(outcome)}".rstrip()
    for warning in outcome.warnings[:3]:
        yield f"      warning: {printable(warning)}"
    if len(outcome.warnings) > 3:
        yield f"      ... and {count(len(outcome.warnings) - 3, 'more warning')}, which --json lists"


def _detail(outcome: Outcome) -> str:
    figures = outcome.figures
    if outcome.exit_code or figures is None or outcome.decision not in (Decision.STORED, Decision.CONVERTED):
        return printable(outcome.reason)
    told = f"{count(figures.functions, 'function')}, {measured(figures)}"
    read = f"{size(outcome.input_size_bytes)} -> " if outcome.input_size_bytes else ""
    told += f"; {read}{size(outcome.compressed_size_bytes or outcome.gsym_size_bytes)}"
    new = outcome.reason in (NEW_IN_STORE, "") or outcome.decision is Decision.CONVERTED
    return told if new else f"{told} ({printable(outcome.reason)})"


def _groups(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """One line for each decision and quality, or reason where that is what matters; with an example or two."""
    groups: dict[tuple[Decision, str], list[str]] = {}
    for outcome in outcomes:
        if outcome.decision is Decision.SKIPPED:
            what = outcome.role.of_many if outcome.role else printable(outcome.reason)
        else:
            what = outcome.quality.label if outcome.quality else ""
        groups.setdefault((outcome.decision, what), []).append(outcome.path)
    order = list(Decision)
    listed = sorted(groups.items(), key=lambda group: (order.index(group[0][0]), -len(group[1]), group[0][1]))
    for (decision, what), paths in listed[:LIST_WORST]:
        examples = ", ".join(printable(os.path.basename(path)) for path in paths[:2])
        more = ", ..." if len(paths) > 2 else ""
        yield f"  {decision.value:9} {len(paths):>7,}  {what}  ({examples}{more})"
    if len(listed) > LIST_WORST:
        yield f"  ... and {count(len(listed) - LIST_WORST, 'more kind')}; --verbose lists all, --json too"


def verdict(run: RunReport) -> str:
    """The result of a run, in one line."""
    counts = run.counts
    parts = [f"{counts[decision]:,} {_PAST[decision]}" for decision in _PAST if counts[decision]]
    told = f"{count(len(run.outcomes), 'file')}: {', '.join(parts) or 'nothing to do'}"
    poor = [outcome for outcome in run.outcomes if outcome.quality is Quality.FUNCTIONS and has_symbols(outcome)]
    if poor:
        told += f"; {len(poor):,} with function names only"
        told += " (built without -g, or stripped?)" * (run.dwarf and any(map(without_debug, poor)))
    sent = run.total("sent_size_bytes")
    if sent:
        told += f"; {size(sent)} sent in {count(run.total('chunks_sent'), 'chunk')}"
    return f"{told}; {duration(run.seconds)}"
