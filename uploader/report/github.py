"""A run as GitHub shows it: the job summary and the annotations (workflow commands) of a step."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence

from uploader.errors import ExitCode
from uploader.judgement import function_coverage, line_coverage
from uploader.model import Outcome
from uploader.report.groups import (
    Group,
    advices,
    group_of,
    grouped,
    sentences,
    worst_first,
)
from uploader.report.model import RunReport
from uploader.report.text import verdict
from uploader.words import count, percent, printable, size

SUMMARY_LIMIT_BYTES = 1024 * 1024
"""GitHub drops the whole summary of a step that has more."""

ANNOTATIONS_OF_A_KIND = 10
"""GitHub shows so many of a step and drops the rest."""

LISTED_OPEN = 25
"""Files of a group that stand open; the rest is folded."""

_ROOM_FOR_END_BYTES = 512
_MAX_TEXT_CHARACTERS = 300
_NOT_PLAIN = re.compile(r"(?!(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|:(?=\s|$))[^A-Za-z0-9 /,.()%;?=+-]")
"""Characters that could be markup: all but a few signs, `_` within words and `:` before blanks, since others make links or emoji."""
_HEADER = "| | quality | file | functions | lines | size | what became of it |\n|---|---|---|--:|--:|--:|---|\n"


def summary(run: RunReport, *, limit_bytes: int = SUMMARY_LIMIT_BYTES) -> str:
    """Markdown of at most ``limit_bytes`` in UTF-8: what went wrong first, the rest folded; says how much it leaves out.

    Nothing at all where there is no room to say even that.
    """
    if limit_bytes <= _ROOM_FOR_END_BYTES:
        return ""
    page = _Page(limit_bytes)
    page.add(f"### {'✅' if run.exit_code is ExitCode.DONE else '❌'} symup {run.command}: {_md(verdict(run))}\n\n")
    where = [f"{name} {_code(value)}" for name, value in (("to", run.destination), ("project", run.project)) if value]
    if run.shard:
        where.append(f"shard {_code(run.shard)}")
    if where:
        page.add(", ".join(where) + "\n\n")
    if run.error is not None:
        page.add(f"> **{_md(run.error.message)}**\n")
        page.add(f">\n> {_md(run.error.remedy)}\n\n" if run.error.remedy else "\n")
    todo = advices(run.outcomes, limit=5)
    if todo:
        page.add("**To do**\n\n")
        for item in todo:
            examples = ", ".join(_code(path) for path in item.examples)
            page.add(f"- {_md(item.text)} ({count(item.files, 'file')}: {examples}{', …' if item.files > 3 else ''})\n")
        page.add("\n")
    for kind in run.left_out:
        examples = ", ".join(_code(path) for path in kind.examples)
        more = ", …" if kind.number > len(kind.examples) else ""
        page.add(f"Left out: {kind.number:,} {_md(kind.what)} ({examples}{more}): {_md(kind.remedy)}\n\n")
    left = len(run.outcomes)
    for group, members in grouped(run.outcomes):
        left -= _group(page, group, members)
    if left:
        page.end(f"\n**{count(left, 'more file')} did not fit in here; the JSON report has all of them.**\n")
    return page.text()


def commands(run: RunReport) -> Iterator[str]:
    """The workflow commands for the worst files, at most ten errors and ten warnings, each a line."""
    worst = worst_first(run.outcomes)
    stopped = sum(outcome.ended_with_run for outcome in worst)
    errors = [_annotation("error", one) for one in worst if one.exit_code and not one.ended_with_run]
    if run.error is not None:
        unsent = f" ({count(stopped, 'file')} not sent)" if stopped else ""
        errors.insert(0, error_annotation(f"{run.error.message}{unsent}", run.error.remedy))
    yield from _some(errors, "error")
    yield from _some(
        [_annotation("warning", one) for one in worst if not one.exit_code and group_of(one).needs_care], "warning"
    )


def error_annotation(message: str, remedy: str | None) -> str:
    """The workflow command for what concerns the run as a whole."""
    told = f"{message}. {remedy}" if remedy else message
    return f"::error title=symup::{_data(told)}"


def muted() -> tuple[str, str]:
    """Two lines between which the runner takes no output for a command: a file's name could look like one."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}", f"::{token}::"


class _Page:
    """Text that never grows over its limit."""

    def __init__(self, limit_bytes: int) -> None:
        self._left_bytes = limit_bytes - _ROOM_FOR_END_BYTES
        self._parts: list[str] = []

    def add(self, text: str, *, keep_bytes: int = 0) -> bool:
        """Takes the text in if, with it, ``keep_bytes`` stay free; false where not, and then nothing is added."""
        size_bytes = len(text.encode())
        if size_bytes + keep_bytes > self._left_bytes:
            return False
        self._left_bytes -= size_bytes
        self._parts.append(text)
        return True

    def end(self, text: str) -> None:
        """The last words, for which there always is room."""
        self._parts.append(text)

    def text(self) -> str:
        return "".join(self._parts)


def _group(page: _Page, group: Group, members: Sequence[Outcome]) -> int:
    """Writes a group as far as there is room; how many files it told."""
    opened, folded = (members[:LISTED_OPEN], members[LISTED_OPEN:]) if group.needs_care else ((), members)
    told = 0
    if opened and page.add(f"#### {group.value}: {len(members):,}\n\n{_HEADER}", keep_bytes=1024):
        told += _rows(page, opened)
        page.add("\n")
    closing = "\n</details>\n\n"
    title = f"{group.value}: {len(folded):,}" + (" more" if opened else "")
    if folded and told == len(opened):
        start = f"<details><summary>{title}</summary>\n\n{_HEADER}"
        if page.add(start, keep_bytes=len(closing) + 1024):
            told += _rows(page, folded, keep_bytes=len(closing))
            page.add(closing)
    return told


def _rows(page: _Page, outcomes: Sequence[Outcome], *, keep_bytes: int = 1) -> int:
    for told, outcome in enumerate(outcomes):
        if not page.add(_row(outcome), keep_bytes=keep_bytes):
            return told
    return len(outcomes)


def _row(outcome: Outcome) -> str:
    quality = "" if outcome.quality is None else outcome.quality.label
    out = outcome.compressed_size_bytes or outcome.gsym_size_bytes
    sizes = f"{size(outcome.input_size_bytes)} → {size(out)}" if out else size(outcome.input_size_bytes)
    why = "<br>".join(_md(text) for text in sentences(outcome, warnings=2))
    return (
        f"| {outcome.decision.value} | {quality} | {_code(outcome.path)} | {percent(function_coverage(outcome))} "
        f"| {percent(line_coverage(outcome))} | {sizes} | {why} |\n"
    )


def _annotation(kind: str, outcome: Outcome) -> str:
    said = sentences(outcome, warnings=2)
    title = f"symup: {group_of(outcome).value.lower()}"
    return f"::{kind} file={_property(outcome.path)},title={_property(title)}::{_data('. '.join(said))}"


def _some(lines: list[str], kind: str) -> Iterator[str]:
    if len(lines) <= ANNOTATIONS_OF_A_KIND:
        yield from lines
        return
    shown = ANNOTATIONS_OF_A_KIND - 1
    yield from lines[:shown]
    yield f"::{kind} title=symup::and {count(len(lines) - shown, 'more file')}: the job summary lists them"


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _MAX_TEXT_CHARACTERS else text[: _MAX_TEXT_CHARACTERS - 1] + "…"


def _md(text: str) -> str:
    """Text that Markdown shows as it is: whatever could be markup stands as a character reference."""
    safe = _NOT_PLAIN.sub(lambda found: _reference(found[0]), _cut(text))
    return safe.replace("www.", "www&#46;")


def _reference(character: str) -> str:
    return character if ord(character) > 127 else f"&#{ord(character)};"


def _code(text: str) -> str:
    """A name: nothing in it becomes a mention, a link or an emoji."""
    return f"<code>{_md(text)}</code>"


def _data(text: str) -> str:
    # https://docs.github.com/actions/reference/workflow-commands-for-github-actions: the runner's own escapes.
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
