"""The text of a run: complete while files are few, short and worst-first once they are many."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.report.runs import full, poor, run_of
from uploader.errors import ExitCode, NetworkGaveOut, SymupError
from uploader.judgement import NO_DEBUG_ADVICE
from uploader.model import Decision, Figures, Outcome, Quality, Role, Source
from uploader.report.groups import Group, group_of, grouped
from uploader.report.model import RunReport
from uploader.report.text import LIST_WORST, summary, verdict
from uploader.values import replace


def lines_of(
    outcomes: Sequence[Outcome],
    *,
    seconds: float = 1,
    verbose: bool = False,
    quiet: bool = False,
    error: SymupError | None = None,
) -> list[str]:
    run = RunReport(command="upload", outcomes=tuple(outcomes), exit_code=ExitCode.DONE, seconds=seconds, error=error)
    return list(summary(run, verbose=verbose, quiet=quiet))


def stored(name: str, *, quality: Quality = Quality.FULL) -> Outcome:
    return Outcome(
        path=f"build/{name}",
        decision=Decision.STORED,
        reason="new in the store",
        quality=quality,
        figures=Figures(
            executable_bytes=1000,
            function_bytes=1000,
            line_bytes=0 if quality is Quality.FUNCTIONS else 985,
            functions=1234,
            line_rows=0 if quality is Quality.FUNCTIONS else 9,
            by_source={Source.DWARF: 1234},
        ),
        input_size_bytes=4_200_000,
        compressed_size_bytes=310_400,
        sent_size_bytes=310_400,
        chunks_total=1,
        chunks_sent=1,
    )


def failed(name: str) -> Outcome:
    return Outcome(
        path=f"build/{name}",
        decision=Decision.FAILED,
        reason="ends within its section headers",
        remedy="Build it again.",
        exit_code=ExitCode.SOME_FAILED,
    )


def skipped(name: str, reason: str, role: Role | None = None) -> Outcome:
    return Outcome(path=f"build/{name}", decision=Decision.SKIPPED, reason=reason, role=role)


def copy(name: str, path: str) -> Outcome:
    return skipped(name, Role.COPY.of(path), Role.COPY)


def test_three_files_are_told_one_by_one() -> None:
    outcomes = [stored("app"), failed("broken.so"), copy("app.copy", "build/app")]
    assert lines_of(outcomes, seconds=1.24) == [
        "  stored    full      build/app        1,234 functions, 100 % of the code named, 98.5 % with lines; 4.2 MB -> 310 kB",
        "  skipped             build/app.copy   the same bytes as build/app",
        "  failed              build/broken.so  ends within its section headers",
        "      try: Build it again.",
        "3 files: 1 stored, 1 skipped, 1 failed; 310 kB sent in 1 chunk; 1.2 s",
    ]


def test_three_thousand_files_fit_on_a_screen_worst_told_by_name() -> None:
    outcomes = [
        *(stored(f"lib{i}.so") for i in range(2900)),
        *(stored(f"stripped{i}.so", quality=Quality.FUNCTIONS) for i in range(50)),
        *(copy(f"copy{i}", f"build/lib{i}.so") for i in range(25)),
        *(failed(f"broken{i:02}") for i in range(25)),
    ]
    lines = lines_of(outcomes, seconds=200)
    assert len(lines) < 60
    assert "  stored      2,900  full  (lib0.so, lib1.so, ...)" in lines
    assert "  stored         50  functions  (stripped0.so, stripped1.so, ...)" in lines
    assert "  skipped        25  a copy of another file  (copy0, copy1, ...)" in lines
    assert sum("ends within" in line for line in lines) == LIST_WORST
    assert "  ... and 5 more like these; --verbose lists all, --json too" in lines
    assert lines[-1].startswith("3,000 files: 2,950 stored, 25 skipped, 25 failed; 50 with function names only")
    assert lines[-1].endswith("3 min 20 s")


def test_what_to_do_about_a_warning_is_told_once_for_all_files_that_have_it() -> None:
    remedy = "Put the .dwo files beside it."
    warned = [
        replace(stored(name), warnings=("1 of 1 split units were not found",), lacks_files=True, remedy=remedy)
        for name in "ab"
    ]
    told = lines_of([*warned, replace(stored("c"), warnings=("no build-id",), remedy="Link it with -Wl,--build-id.")])
    assert [line for line in told if "try:" in line] == [
        "      try: Put the .dwo files beside it.",
        "      try: Link it with -Wl,--build-id.",
    ]
    assert told.index("      try: Put the .dwo files beside it.") == 2


def test_what_to_do_about_many_files_is_told_with_their_number() -> None:
    told = lines_of([*(stored(f"lib{i}") for i in range(20)), *(poor(f"plain{i}") for i in range(7))])
    assert [line for line in told if "try:" in line] == [f"      try: {NO_DEBUG_ADVICE} (7 files)"]


def test_verbose_lists_every_file() -> None:
    lines = lines_of([stored(f"lib{i}") for i in range(300)], seconds=1, verbose=True)
    assert len(lines) == 301


def test_quiet_lists_failures_only_but_counts_all() -> None:
    outcomes = [
        *(stored(f"lib{i}") for i in range(300)),
        copy("copy", "build/lib0"),
        failed("broken"),
    ]
    assert lines_of(outcomes, quiet=True) == [
        "  failed              build/broken  ends within its section headers",
        "      try: Build it again.",
        "302 files: 300 stored, 1 skipped, 1 failed; 93 MB sent in 300 chunks; 1.0 s",
    ]
    assert lines_of(outcomes[:-1], quiet=True) == []


def test_files_that_share_the_trouble_of_the_run_are_counted_not_listed() -> None:
    error = NetworkGaveOut("host is gone")
    lost = [
        Outcome(
            path=f"f{i}",
            decision=Decision.FAILED,
            reason="not sent: host is gone",
            exit_code=ExitCode.NETWORK,
            ended_with_run=True,
        )
        for i in range(7)
    ]
    lines = lines_of([stored("app"), *lost], seconds=1, error=error)
    assert "  failed    7 files not sent, for the error told below" in lines
    assert not any("host is gone" in line for line in lines)


def test_nothing_at_all() -> None:
    assert lines_of([], seconds=0) == ["0 files: nothing to do; 0.0 s"]


def test_verbose_tells_what_ranges_were_dropped_cut_and_widened() -> None:
    outcome = stored("lua")
    assert outcome.figures is not None
    figures = replace(outcome.figures, dropped_ranges=2, widened_ranges=1494)
    lines = lines_of([replace(outcome, figures=figures), stored("other")], verbose=True)
    told = [line for line in lines if "ranges" in line]
    assert told == ["      ranges that the debug information gets wrong: 2 dropped, 1,494 widened"]
    assert not any("ranges" in line for line in lines_of([replace(outcome, figures=figures)]))


def test_a_page_counts_as_many_files_with_function_names_only_as_the_text() -> None:
    """A stripped file without any symbol is not one of them."""
    bare = replace(skipped("bare", "no function symbols in it"), quality=Quality.NONE, warnings=("no DWARF: stripped",))
    outcomes = [full(), poor("build/a"), poor("build/b"), bare]
    groups = {group: len(members) for group, members in grouped(outcomes)}
    assert "; 2 with function names only" in verdict(run_of(outcomes))
    assert (groups[Group.POOR], groups[Group.EMPTY]) == (2, 1)


def test_the_guess_why_there_are_no_lines_is_left_out_where_they_were_not_to_be_read() -> None:
    told = run_of([poor("a")])
    assert "1 with function names only (built without -g, or stripped?)" in verdict(told)
    assert "1 with function names only; " in verdict(replace(told, dwarf=False))


@pytest.mark.parametrize(
    "known",
    [
        replace(full(), quality=Quality.FUNCTIONS),
        replace(poor("a"), warnings=("Go's table could not be read: is cut off in its header",)),
    ],
    ids=["partly built with -g", "Go's table is damaged"],
)
def test_no_cause_is_guessed_where_another_is_known(known: Outcome) -> None:
    assert "1 with function names only; " in verdict(run_of([known]))
    assert "(built without -g, or stripped?)" in verdict(run_of([known, poor("b")]))


def test_a_file_with_warnings_that_is_none_the_poorer_stands_with_its_like() -> None:
    lacking = replace(full(), warnings=("1 of 9 split units were not found: a.dwo",), lacks_files=True)
    assert group_of(lacking) is Group.WARNED
