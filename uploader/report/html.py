"""A run as one page that needs nothing else, no network and no script: the files that need a person first, all others folded.

Whatever comes from outside (paths, ids, messages) is escaped, and the page forbids itself everything but its own style and the one
script that finds and sorts files.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Sequence

from uploader.errors import ExitCode
from uploader.judgement import advice, function_coverage, line_coverage
from uploader.model import Outcome
from uploader.report.groups import Group, advices, grouped
from uploader.report.html_script import ALLOWED, SCRIPT
from uploader.report.html_style import STYLE
from uploader.report.model import RunReport
from uploader.report.text import verdict
from uploader.words import count, duration, percent, printable, size

OPEN_FILES = 15
"""Files of a group that show once it is unfolded; the rest folds again, in parts."""

PART_FILES = 500
"""Files that unfold at once."""

FINDABLE_FROM = 8
"""From so many files on the page offers to find and to sort them."""

OPEN_GROUP_UP_TO = 20
"""Groups that need no care are unfolded while a run has so few files."""

_KIND = {
    Group.FULL: "full",
    Group.LINES: "lines",
    Group.POOR: "functions",
    Group.FAILED: "bad",
    Group.BELOW_GATE: "bad",
}
_HINT = {
    Group.FAILED: "should have worked and did not",
    Group.BELOW_GATE: "poorer than the gates ask",
    Group.POOR: "no lines, since debug information is missing",
    Group.EMPTY: "stripped of all that could be looked up",
    Group.WARNED: "worth a look",
    Group.LINES: "no inlined calls",
    Group.FULL: "fewest lines first",
    Group.SETTLED: "no figures here",
    Group.SKIPPED: "not symbol files of their own",
}


_FIND = (
    '<form id="find" hidden="hidden"><label>Find <input type="search" placeholder="a path, an id, a word" autocomplete="off"></label> '
    '<label>Sort by <select><option value="">what needs care</option><option value="name">name</option>'
    '<option value="size">size</option><option value="lines">fewest lines</option></select></label> <output></output></form>\n'
)


def page(run: RunReport) -> str:
    """The whole document. It is well-formed whatever the names of the files are."""
    return "".join(_document(run))


def _document(run: RunReport) -> Iterator[str]:
    title = f"symup {run.command}: {verdict(run)}"
    yield (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        f'script-src {ALLOWED}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{STYLE}</style></head><body><main>\n"
    )
    yield from _head(run)
    yield from _todo(run)
    for kind in run.left_out:
        examples = ", ".join(f"<code>{_text(path)}</code>" for path in kind.examples)
        more = ", …" if kind.number > len(kind.examples) else ""
        yield f'<p class="soft">Left out: {kind.number:,} {_text(kind.what)} ({examples}{more}): {_text(kind.remedy)}</p>\n'
    groups = grouped(run.outcomes)
    if groups:
        yield "<h2>Files</h2>\n"
    if len(run.outcomes) >= FINDABLE_FROM:
        yield _FIND
    for group, members in groups:
        yield from _group(group, members, opened=group.needs_care or len(run.outcomes) <= OPEN_GROUP_UP_TO)
    yield (
        f"<footer>{_text(run.tool)}, {_text(run.core)} core. “Code” is the executable bytes of a file; the bars show the share of "
        f"them that a function, and a line, is known for.</footer>\n</main><script>{SCRIPT}</script></body></html>\n"
    )


def _head(run: RunReport) -> Iterator[str]:
    mark = "✓" if run.exit_code is ExitCode.DONE else "✗"
    told = {
        ExitCode.DONE: "done",
        ExitCode.QUALITY: "quality below the gate",
        ExitCode.NOTHING_FOUND: "nothing found",
        ExitCode.INTERRUPTED: "interrupted",
    }.get(run.exit_code, "not all went well")
    yield f"<header><h1>{mark} symup {_text(run.command)}: {told}</h1>\n<p>{_text(verdict(run))}</p>\n"
    where = [("to", run.destination), ("project", run.project), ("shard", run.shard)]
    facts = [f"{name} <code>{_text(value)}</code>" for name, value in where if value]
    yield f'<p class="soft">{" · ".join([*facts, f"exit code {int(run.exit_code)}"])}</p>\n'
    made = list(_made(run))
    yield f'<p class="soft">{" · ".join(made)}</p></header>\n' if made else "</header>\n"
    if run.error is not None:
        remedy = f"<p>{_text(run.error.remedy)}</p>" if run.error.remedy else ""
        yield f'<div class="trouble"><strong>{_text(run.error.message)}</strong>{remedy}</div>\n'
    yield '<dl class="tiles">'
    tiles = [("files", f"{len(run.outcomes):,}")]
    tiles += [(decision.value, f"{number:,}") for decision, number in run.counts.items() if number]
    tiles.append(("read", size(run.total("input_size_bytes"))))
    tiles.append(("symbols", size(run.total("compressed_size_bytes") or run.total("gsym_size_bytes"))))
    if run.total("sent_size_bytes"):
        tiles.append(("sent", size(run.total("sent_size_bytes"))))
    tiles.append(("time", duration(run.seconds)))
    yield "".join(f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in tiles)
    yield "</dl>\n"
    yield from _mix(run)


def _made(run: RunReport) -> Iterator[str]:
    """When it was, and of what: the commit and the CI run are links where CI tells their addresses."""
    if run.ended_at:
        yield _text(run.ended_at.replace("T", " ").replace("Z", " UTC"))
    made = run.provenance
    if made.revision:
        commit = f"<code>{_text(made.revision[:12])}</code>"
        branch = f" of {_text(made.branch)}" if made.branch else ""
        yield f"commit {commit}{branch}"
    if made.repository:
        yield _link(made.repository, made.repository)
    if made.run_url:
        yield _link(made.run_url, "the CI run")


def _link(address: str, text: str) -> str:
    if not address.startswith(("https://", "http://")):
        return _text(text)
    return f'<a href="{_text(address)}" rel="noreferrer">{_text(text)}</a>'


def _mix(run: RunReport) -> Iterator[str]:
    """A bar of all files by what they can tell, and its key."""
    numbers = Counter({group: len(members) for group, members in grouped(run.outcomes)})
    shown = [group for group in reversed(Group) if numbers[group] and group is not Group.SKIPPED]
    whole = sum(numbers[group] for group in shown)
    if not whole:
        return
    yield '<div class="mix" aria-hidden="true">'
    for group in shown:
        yield f'<span class="{_KIND.get(group, "none")}" style="flex:{numbers[group]}"></span>'
    yield '</div>\n<ul class="key">'
    for group in shown:
        yield f'<li><i class="{_KIND.get(group, "none")}"></i>{_text(group.value)}: {numbers[group]:,}</li>'
    yield "</ul>\n"


def _todo(run: RunReport) -> Iterator[str]:
    items = advices(run.outcomes, limit=8)
    if not items:
        return
    yield '<h2>What to do</h2>\n<ul class="todo">'
    for item in items:
        examples = ", ".join(f"<code>{_text(path)}</code>" for path in item.examples)
        more = ", …" if item.files > len(item.examples) else ""
        yield f'<li>{_text(item.text)} <span class="soft">({count(item.files, "file")}: {examples}{more})</span></li>\n'
    yield "</ul>\n"


def _group(group: Group, members: Sequence[Outcome], *, opened: bool) -> Iterator[str]:
    attribute = " open" if opened else ""
    yield f"<details{attribute}><summary>{_text(group.value)}: {len(members):,}<b>{_text(_HINT[group])}</b></summary>\n"
    yield from _files(group, members[:OPEN_FILES])
    for start in range(OPEN_FILES, len(members), PART_FILES):
        part = members[start : start + PART_FILES]
        yield f"<details><summary>{start + 1:,} to {start + len(part):,} of {len(members):,}</summary>\n"
        yield from _files(group, part, later=True)
        yield "</details>\n"
    yield "</details>\n"


def _files(group: Group, members: Sequence[Outcome], *, later: bool = False) -> Iterator[str]:
    yield f'<ol class="files{" later" if later else ""}">\n'
    for outcome in members:
        yield from _file(group, outcome)
    yield "</ol>\n"


def _file(group: Group, outcome: Outcome) -> Iterator[str]:
    quality = "" if outcome.quality is None else outcome.quality.label
    decision = outcome.decision.value
    kind = "bad" if _KIND.get(group) == "bad" else quality or "none"
    tag = f"{quality}<small>{decision}</small>" if quality else decision
    lines = line_coverage(outcome)
    facts = f'data-size="{outcome.input_size_bytes}" data-lines="{0 if lines is None else lines:.1f}"'
    yield f'<li {facts}><div class="tag {kind}">{tag}</div><div class="what"><span class="name">{_text(outcome.path)}</span>'
    yield f"<p>{_text(outcome.reason)}</p>"
    for warning in outcome.warnings[:5]:
        yield f'<p class="soft">{_text(warning)}</p>'
    if len(outcome.warnings) > 5:
        yield f'<p class="soft">and {count(len(outcome.warnings) - 5, "more warning")}, which the JSON report lists</p>'
    todo = advice(outcome)
    if todo and (group.needs_care or group is Group.LINES):
        yield f'<p class="fix">{_text(todo)}</p>'
    if outcome.identity is not None:
        yield f'<span class="id name">{_text(str(outcome.identity))}</span>'
    yield "</div>"
    yield from _figures(outcome, quality)
    yield "</li>\n"


def _figures(outcome: Outcome, quality: str) -> Iterator[str]:
    yield '<div class="bars">'
    figures = outcome.figures
    if figures is not None and figures.executable_bytes:
        for name, value in (("functions", function_coverage(outcome)), ("lines", line_coverage(outcome))):
            yield (
                f'<span>{name}</span><span class="bar"><i class="{quality or "none"}" style="width:{value or 0:.1f}%"></i></span>'
                f"<b>{percent(value)}</b>"
            )
        sources = ", ".join(
            f"{_text(str(source))} {number:,}" for source, number in sorted(figures.by_source.items()) if number
        )
        if sources:
            yield f'<span class="sizes">{sources}</span>'
    out = outcome.compressed_size_bytes or outcome.gsym_size_bytes
    facts = (
        [size(outcome.input_size_bytes) + (f" → {size(out)}" if out else "")] if outcome.input_size_bytes or out else []
    )
    if outcome.sent_size_bytes not in (0, out):
        facts.append(f"{size(outcome.sent_size_bytes)} sent")
    if outcome.seconds:
        facts.append(duration(outcome.seconds))
    if facts:
        yield f'<span class="sizes">{_text(" · ".join(facts))}</span>'
    yield "</div>"


def _text(text: str) -> str:
    return html.escape(printable(text))
