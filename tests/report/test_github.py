"""What GitHub is given: a summary that is never dropped and shows names as they are, and commands that names can't forge."""

from __future__ import annotations

import html.parser
import re

from hypothesis import given
from markdown_it import MarkdownIt

from tests.report.runs import FEW, HOSTILE, below_gate, broken, full, poor, run_of, runs, skipped
from uploader.errors import NetworkGaveOut, QualityTooLow
from uploader.report.github import ANNOTATIONS_OF_A_KIND, SUMMARY_LIMIT_BYTES, commands, muted, summary
from uploader.report.model import RunReport
from uploader.values import replace
from uploader.words import printable

OURS = {
    "h3",
    "h4",
    "p",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "code",
    "details",
    "summary",
    "strong",
    "ul",
    "li",
    "br",
    "blockquote",
}
COMMAND = re.compile(r"::(?P<name>error|warning)(?: (?P<properties>[^:]*))?::(?P<data>[^\r\n]*)")


class Rendered(html.parser.HTMLParser):
    """What a reader sees of rendered Markdown: its elements, and its text."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def unescaped(text: str) -> str:
    """As the runner reads a command's data and properties."""
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


@FEW
@given(runs)
def test_whatever_files_are_called_the_summary_holds_only_our_own_markup(run: RunReport) -> None:
    rendered = Rendered(summary(run))
    assert rendered.tags <= OURS


def test_a_hostile_name_is_shown_as_it_is() -> None:
    rendered = Rendered(summary(run_of([broken(HOSTILE)])))
    assert printable(HOSTILE) in rendered.text


@FEW
@given(runs)
def test_a_summary_never_grows_over_its_limit(run: RunReport) -> None:
    for limit_bytes in (SUMMARY_LIMIT_BYTES, 3000, 900, 500, -1):
        assert len(summary(run, limit_bytes=limit_bytes).encode()) <= max(0, limit_bytes)


def test_what_does_not_fit_is_counted() -> None:
    run = run_of(
        [
            *(broken(f"build/{'deep/' * 50}broken{i}") for i in range(40)),
            *(full(f"build/{'deep/' * 50}lib{i}.so") for i in range(3000)),
        ]
    )
    text = summary(run)
    assert len(text.encode()) <= SUMMARY_LIMIT_BYTES
    told = re.search(r"\*\*([\d,]+) more files did not fit in here", text)
    assert told
    assert len(re.findall(r"^\| (?:failed|stored) \|", text, re.MULTILINE)) + int(told[1].replace(",", "")) == 3040


def test_the_worst_stand_first_and_the_good_are_folded() -> None:
    text = summary(run_of([full(), poor(), skipped(), below_gate(), broken()]))
    places = [
        text.index(word)
        for word in (
            "Failed: 1",
            "Below the gate: 1",
            "Function names only: 1",
            "<details>",
            "inlined calls: 1",
            "Skipped: 1",
        )
    ]
    assert places == sorted(places)
    assert "Build it again" in text


def test_everything_is_told_of_a_small_run() -> None:
    assert "did not fit" not in summary(run_of([full(), broken()]))


@FEW
@given(runs)
def test_every_command_is_one_line_that_the_runner_understands(run: RunReport) -> None:
    for line in commands(run):
        assert COMMAND.fullmatch(line)


def test_a_name_comes_through_a_command_unchanged() -> None:
    (line,) = commands(run_of([broken("build/a,b:c%25d")]))
    found = COMMAND.fullmatch(line)
    assert found
    properties = dict(part.split("=", 1) for part in found["properties"].split(","))
    assert unescaped(properties["file"]) == "build/a,b:c%25d"
    assert unescaped(found["data"]) == "ends within its section headers. Build it again."


def test_ten_of_a_kind_at_most_and_the_last_counts_the_rest() -> None:
    run = run_of(
        [*(broken(f"b{i}") for i in range(30)), *(poor(f"p{i}") for i in range(12)), full()],
        error=QualityTooLow("1 file is below the gate"),
    )
    lines = list(commands(run))
    errors = [line for line in lines if line.startswith("::error")]
    warnings = [line for line in lines if line.startswith("::warning")]
    assert len(errors) == len(warnings) == ANNOTATIONS_OF_A_KIND
    assert "below the gate" in errors[0]
    assert "and 22 more files" in errors[-1]
    assert "and 3 more files" in warnings[-1]


def test_output_is_muted_by_a_word_that_nobody_can_guess() -> None:
    (begin, end), (another, _) = muted(), muted()
    assert begin == f"::stop-commands::{end.strip(':')}"
    assert begin != another


def test_what_stopped_the_run_is_annotated_once_for_all_its_files() -> None:
    error = NetworkGaveOut("https://symbols.example.com could not be reached in 6 attempts")
    unsent = [
        replace(
            broken(f"build/lib{number}.so"),
            reason=f"not sent: {error.message}",
            exit_code=error.exit_code,
            ended_with_run=True,
        )
        for number in range(30)
    ]
    lines = list(commands(run_of([*unsent, broken()], error=error)))
    assert len(lines) == 2
    assert "in 6 attempts (30 files not sent)" in lines[0]
    assert "file=build/broken" in lines[1]
