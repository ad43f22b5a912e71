"""Runs to render: one of each kind of file, many of them, and any that hypothesis thinks of."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st

from uploader.errors import ExitCode, QualityTooLow, SymupError
from uploader.model import (
    Concern,
    Decision,
    Figures,
    Identity,
    IdScheme,
    Outcome,
    Provenance,
    Quality,
    Source,
    SymbolId,
)
from uploader.report.model import RunReport
from uploader.values import replace

FEW = settings(max_examples=40)
"""Rendering is slow to try, and every example has many names."""

HOSTILE = "build/<script>alert(1)</script>`rm`|@everyone\n::error::x :tada: [a](http://b) *c* __d__ ##[error]e %0A&amp;\x1b[2J\udce9"

sizes = st.integers(0, 1 << 40)
gnu_ids = st.binary(min_size=1, max_size=20).map(lambda data: SymbolId(scheme=IdScheme.GNU, value=data.hex()))
file_ids = st.binary(min_size=16, max_size=16).map(lambda data: SymbolId(scheme=IdScheme.FILE, value=data.hex()))
texts = st.text(st.characters(), max_size=12) | st.sampled_from([HOSTILE, "'\"><b>", "a|b", "-->", "]]>", "&#60;"])
outcomes = st.builds(
    Outcome,
    path=texts.filter(bool),
    decision=st.sampled_from(Decision),
    reason=texts.filter(bool),
    identity=st.none() | st.builds(Identity, primary=gnu_ids, aliases=st.lists(file_ids, max_size=2).map(tuple)),
    quality=st.none() | st.sampled_from(Quality),
    figures=st.none()
    | st.builds(
        Figures,
        executable_bytes=sizes,
        function_bytes=sizes,
        line_bytes=sizes,
        functions=sizes,
        by_source=st.dictionaries(st.sampled_from(Source), sizes, max_size=3),
    ),
    input_size_bytes=sizes,
    compressed_size_bytes=sizes,
    seconds=st.floats(0, 1e6),
    warnings=st.lists(texts, max_size=7).map(tuple),
    remedy=st.none() | texts,
    concern=st.none() | st.sampled_from([Concern.CONFLICT, Concern.DECLINED]),
    exit_code=st.sampled_from(ExitCode),
)
errors = st.none() | st.builds(QualityTooLow, texts.filter(str.strip), remedy=st.none() | texts)
runs = st.builds(
    RunReport,
    command=st.sampled_from(["upload", "convert", "push"]),
    outcomes=st.lists(outcomes, max_size=3).map(tuple),
    exit_code=st.sampled_from(ExitCode),
    seconds=st.floats(0, 1e5),
    destination=st.none() | texts,
    project=st.none() | texts,
    error=errors,
    shard=st.none() | st.just("2/5"),
    provenance=st.builds(Provenance, repository=texts, branch=texts, revision=texts, run_url=texts),
    ended_at=st.sampled_from(["", "2026-11-22T08:00:00Z"]),
)


def run_of(outcomes: Sequence[Outcome], *, error: SymupError | None = None) -> RunReport:
    """A run of ``upload`` with these files."""
    code = max((ExitCode(one.exit_code) for one in outcomes), default=ExitCode.DONE)
    return RunReport(
        command="upload",
        outcomes=tuple(outcomes),
        exit_code=code,
        seconds=1.5,
        destination="https://symbols.example.com",
        project="default",
        error=error,
    )


def full(path: str = "build/app", *, lines: float = 0.9) -> Outcome:
    """Stored with everything; ``lines`` is the share of its code with lines."""
    return Outcome(
        path=path,
        decision=Decision.STORED,
        reason="new in the store",
        identity=Identity(primary=SymbolId(scheme=IdScheme.GNU, value="ab" * 20)),
        quality=Quality.FULL,
        figures=Figures(
            executable_bytes=1000,
            function_bytes=1000,
            line_bytes=int(1000 * lines),
            functions=10,
            inlines=3,
            line_rows=99,
            by_source={Source.DWARF: 9, Source.SYMTAB: 1},
        ),
        input_size_bytes=4_200_000,
        gsym_size_bytes=600_000,
        compressed_size_bytes=310_000,
        sent_size_bytes=310_000,
        chunks_total=1,
        chunks_sent=1,
        seconds=0.4,
    )


def poor(path: str = "build/plain") -> Outcome:
    """Stored with function names only."""
    return replace(
        full(path),
        quality=Quality.FUNCTIONS,
        figures=Figures(executable_bytes=1000, function_bytes=900, functions=9, by_source={Source.SYMTAB: 9}),
        warnings=("no DWARF: built without -g, or stripped of debug information",),
    )


def broken(path: str = "build/broken") -> Outcome:
    """Failed."""
    return Outcome(
        path=path,
        decision=Decision.FAILED,
        reason="ends within its section headers",
        remedy="Build it again.",
        exit_code=ExitCode.SOME_FAILED,
    )


def below_gate(path: str = "build/below") -> Outcome:
    """Stored, but poorer than asked."""
    return replace(
        full(path, lines=0.4), reason="new in the store; 40 % of the code has lines", exit_code=ExitCode.QUALITY
    )


def skipped(path: str = "build/copy") -> Outcome:
    """Left alone."""
    return Outcome(path=path, decision=Decision.SKIPPED, reason="the same bytes as build/app")
