"""The page: whole, safe and in order, whatever files are called and however many there are."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import re

from hypothesis import given

from tests.report.runs import FEW, HOSTILE, below_gate, broken, full, poor, run_of, runs, skipped
from uploader.errors import QualityTooLow
from uploader.model import Provenance
from uploader.report.html import OPEN_FILES, page
from uploader.report.model import RunReport
from uploader.values import replace
from uploader.words import printable

VOID = {"meta", "input"}
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "p", "code", "div", "strong", "dl", "dt", "dd",
    "span", "ul", "ol", "li", "i", "b", "small", "details", "summary", "footer",
    "a", "form", "label", "input", "select", "option", "output", "script",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "style", "open", "aria-hidden",
    "href", "rel", "id", "hidden", "type", "placeholder", "autocomplete", "value", "data-size", "data-lines",
}  # fmt: skip


class Page(html.parser.HTMLParser):
    """Reads a page, and fails where an element is not closed, or is none of ours."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.text = ""
        self.attributes: set[str] = set()
        self.seen: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@FEW
@given(runs)
def test_whatever_files_are_called_the_page_is_sound_and_holds_only_our_own_elements(run: RunReport) -> None:
    read = Page(page(run))
    assert read.seen <= ELEMENTS
    assert read.attributes <= ATTRIBUTES
    for outcome in run.outcomes:
        assert printable(outcome.path) in read.text
        assert printable(outcome.reason) in read.text
        assert outcome.identity is None or str(outcome.identity) in read.text


def test_a_page_needs_nothing_from_elsewhere_and_runs_nothing_but_its_own_script() -> None:
    text = page(run_of([full(HOSTILE), broken(HOSTILE)]))
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', text)
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    text = text.replace(f"<script>{script}</script>", "")
    assert not re.search(r"fetch|XMLHttpRequest|WebSocket|import|eval|innerHTML|https?:", script)
    assert not re.search(r"<(script|link|img|iframe|object)\b|\bsrc=|\bhref=|url\(|@import|\son\w+=", text)


def test_each_file_tells_its_coverage_sources_sizes_decision_and_time() -> None:
    text = Page(page(run_of([full()]))).text
    for told in (
        "functions100 %",
        "lines90 %",
        "dwarf 9, symtab 1",
        "4.2 MB → 310 kB",
        "stored",
        "new in the store",
        "0.4 s",
        "ab" * 20,
    ):
        assert told in text


def test_a_page_tells_when_it_was_made_and_of_what_with_links_to_the_ci() -> None:
    made = Provenance(
        repository="https://git.example.com/a/b",
        branch="main",
        revision="0123456789abcdef" * 2,
        run_url="https://git.example.com/a/b/actions/runs/7",
    )
    text = page(replace(run_of([full()]), provenance=made, ended_at="2026-11-22T08:00:00Z"))
    assert "2026-11-22 08:00:00 UTC · commit <code>0123456789ab</code> of main" in text
    assert '<a href="https://git.example.com/a/b/actions/runs/7" rel="noreferrer">the CI run</a>' in text


def test_only_addresses_of_pages_become_links() -> None:
    made = Provenance(repository="javascript:alert(1)", run_url='https://x/"><script>')
    text = page(replace(run_of([full()]), provenance=made))
    assert 'href="javascript' not in text
    assert '<a href="https://x/&quot;&gt;&lt;script&gt;" rel="noreferrer">' in text


def test_what_is_missing_is_told_with_how_to_get_it() -> None:
    text = Page(page(run_of([poor(), poor("other"), full()]))).text
    assert "no DWARF: built without -g" in text
    assert "Built without -g: function names only. Add -g1 for lines, or -g for inlined calls too. (2 files: " in text


def test_the_worst_stand_first() -> None:
    text = page(run_of([full(lines=0.9), full("build/less", lines=0.2), poor(), skipped(), below_gate(), broken()]))
    places = [
        text.index(f">{path}</span>")
        for path in ("build/broken", "build/below", "build/plain", "build/less", "build/app", "build/copy")
    ]
    assert places == sorted(places)


def test_thousands_of_files_are_all_there_and_folded() -> None:
    outcomes = [
        *(full(f"build/lib{i}.so") for i in range(4000)),
        *(poor(f"p{i}") for i in range(900)),
        *(broken(f"b{i}") for i in range(100)),
    ]
    text = page(run_of(outcomes))
    Page(text)
    assert text.count('<span class="name">') == 5000
    assert len(text) < 4_000_000
    opened = re.sub(r"<details><summary>.*?</details>", "", text, flags=re.DOTALL)
    assert opened.count('<span class="name">') == 2 * OPEN_FILES


def test_many_files_can_be_found_and_sorted_and_few_need_no_such_thing() -> None:
    many = page(run_of([full(f"build/{i}") for i in range(12)]))
    assert '<form id="find" hidden="hidden">' in many
    assert many.count('<li data-size="4200000" data-lines="90.0">') == 12
    assert '<form id="find"' not in page(run_of([full()]))


def test_only_what_is_folded_may_be_drawn_late() -> None:
    text = page(run_of([full(f"build/{i}") for i in range(OPEN_FILES + 5)]))
    assert text.count('<ol class="files">') == 1
    assert text.count('<ol class="files later">') == 1
    assert "ol.later > li { content-visibility: auto" in text


def test_bars_keep_their_colours_on_paper() -> None:
    assert "print-color-adjust: exact" in page(run_of([full()]))


def test_what_stopped_the_run_stands_at_the_top() -> None:
    text = page(run_of([broken()], error=QualityTooLow("too poor", remedy="Add -g.")))
    assert text.index("too poor") < text.index("Add -g.") < text.index("build/broken")
