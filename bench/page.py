"""Writes docs/performance.md: tables out of what ``bench/performance.py`` has measured, between the markers of each section."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import growth
from speed import PLAIN

LLVM = "llvm-gsymutil"
NAME, PLOT = "performance.md", "growth.svg"
NOTHING = "–"
TARGETS = {"symup --version": 0.25, "symup convert": 0.4}

Found = Mapping[str, Mapping[str, Any]]


def as_json(results: Mapping[str, Any]) -> str:
    """The data, with each sample on a line of its own."""
    text = json.dumps(results, indent=1, ensure_ascii=False)
    return re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda flat: re.sub(r"\s*\n\s*", " ", flat[0]), text) + "\n"


def write(docs: Path, results: Mapping[str, Any]) -> None:
    """Puts each section's tables between its markers, and draws the plot; sections that were never measured stay as they are."""
    path = docs / NAME
    text = path.read_text() if path.exists() else ""
    for name, render in SECTIONS.items():
        if name in results:
            section = f"{render(results[name])}\n\n{circumstances(results[name]['measured'])}"
            text = put(text, section, f"<!-- {name}: begin -->", f"<!-- {name}: end -->")
    path.write_text(text)
    if "growth" in results:
        (docs / PLOT).write_text(growth.plot(results["growth"]["found"]))


def put(text: str, section: str, begin: str, end: str) -> str:
    """A page's text with a section between its markers, which are added at the end where the page has none."""
    if begin not in text:
        text += f"\n{begin}\n{end}\n"
    before, rest = text.split(begin, 1)
    return f"{before}{begin}\n{section}\n{end}{rest.split(end, 1)[1]}"


def circumstances(measured: Mapping[str, Any]) -> str:
    """One line: when, by which command, with what, where."""
    return (
        f"*{measured['date']}: `{measured['command']}` at {measured['revision']}. {measured['symup']}; {measured['llvm']}; Python"
        f" {measured['python']}; {measured['processor']}, {measured['cpus']} CPUs, {measured['memory_gb']:g} GB; {measured['system']};"
        f" load average before: {measured['load_before']:g}.*"
    )


def conversion(section: Mapping[str, Any]) -> str:
    """The table of conversions, the one of the uncompiled core, and what became of the bytes."""
    found: Found = section["found"]
    head = (
        *("input", "files", "MB", "MB of .debug_info", "wall, s", "faster", "CPU, s", "faster"),
        *("peak, MB", "share", "output, MB", "share", "runs"),
    )
    rows = [_conversion_row(name, one) for name, one in found.items()]
    uncompiled = [_plain_row(name, one) for name, one in found.items() if PLAIN in one.get("medians", {})]
    parts = [
        "Each pair is symup / llvm-gsymutil, medians. “faster” is llvm-gsymutil's figure by ours, “share” ours by its.",
        table(head, rows),
        "The uncompiled core, with its wall time by llvm-gsymutil's and by the compiled core's:",
        table(("input", "wall, s", "by llvm-gsymutil", "by compiled", "peak, MB", "runs"), uncompiled),
        "Same bytes, by core and number of jobs:",
        "\n".join(f"- {name}: {_sameness(one)}" for name, one in found.items() if "digests" in one),
    ]
    if judged := targets(found):
        parts += ["What these figures are held to:", "\n".join(judged)]
    return "\n\n".join(parts)


def _conversion_row(name: str, one: Mapping[str, Any]) -> Sequence[str]:
    if "unavailable" in one:
        return (name, f"not measured: {one['unavailable']}", *[""] * 11)
    ours, theirs = one["medians"]["symup"], one["medians"].get(LLVM)

    def pair(figure: str, scale: float, digits: int) -> str:
        other = f"{theirs[figure] / scale:.{digits}f}" if theirs else "fails"
        return f"{ours[figure] / scale:.{digits}f} / {other}"

    def ratio(figure: str, *, faster: bool) -> str:
        if not theirs:
            return NOTHING
        return f"{theirs[figure] / ours[figure]:.2f}×" if faster else f"{ours[figure] / theirs[figure]:.2f}"

    return (
        *(name, str(one["files"]), f"{one['input_bytes'] / 1e6:.1f}", f"{one['info_bytes'] / 1e6:.1f}"),
        *(pair("wall_seconds", 1, 2), ratio("wall_seconds", faster=True)),
        *(pair("cpu_seconds", 1, 2), ratio("cpu_seconds", faster=True)),
        *(pair("peak_bytes", 1e6, 0), ratio("peak_bytes", faster=False)),
        *(pair("output_bytes", 1e6, 2), ratio("output_bytes", faster=False)),
        str(len(one["samples"]["symup"])),
    )


def _plain_row(name: str, one: Mapping[str, Any]) -> Sequence[str]:
    medians = one["medians"]
    wall = medians[PLAIN]["wall_seconds"]
    theirs = f"{wall / medians[LLVM]['wall_seconds']:.1f}×" if LLVM in medians else NOTHING
    ours = f"{wall / medians['symup']['wall_seconds']:.0f}×"
    peak = f"{medians[PLAIN]['peak_bytes'] / 1e6:.0f}"
    return (name, f"{wall:.1f}", theirs, ours, peak, str(len(one["samples"][PLAIN])))


def _sameness(one: Mapping[str, Any]) -> str:
    runs = {f"{core}, --jobs {jobs}": digest for core, by in one["digests"].items() for jobs, digest in by.items()}
    distinct = set(runs.values())
    said = "; ".join(f"{core} with --jobs {', '.join(sorted(by, key=int))}" for core, by in one["digests"].items())
    if len(distinct) > 1:
        return f"**DIFFERENT**: {', '.join(f'{run}: {digest}' for run, digest in runs.items())}"
    theirs = {sample["output_digest"] for sample in one["samples"].get(LLVM, ())}
    others = (
        f" (llvm-gsymutil: {len(theirs)} different results in {len(one['samples'][LLVM])} runs)"
        if len(theirs) > 1
        else ""
    )
    return f"the same, {said}{others}"


def targets(found: Found) -> list[str]:
    """A line for each figure that is held to something, and whether it is met."""
    said = []

    def judge(name: str, what: str, value: float, limit: float, *, least: bool = False) -> None:
        met = value >= limit if least else value <= limit
        said.append(
            f"- {name}: {what} {value:.2f}, {'at least' if least else 'at most'} {limit:.3g}: {'met' if met else '**missed**'}"
        )

    for name, one in found.items():
        medians = one.get("medians", {})
        if LLVM not in medians:
            continue
        ours, theirs = medians["symup"], medians[LLVM]
        if name == "librados2":
            judge(name, "share of wall time", ours["wall_seconds"] / theirs["wall_seconds"], 1 / 3)
            judge(name, "share of peak memory", ours["peak_bytes"] / theirs["peak_bytes"], 0.5)
            judge(name, "share of output", ours["output_bytes"] / theirs["output_bytes"], 0.75)
        if name in {"libc6-dbg", "valgrind-dbg"}:
            judge(name, "times faster", theirs["wall_seconds"] / ours["wall_seconds"], 4, least=True)
        if PLAIN in medians:
            plain = medians[PLAIN]["wall_seconds"] / theirs["wall_seconds"]
            judge(name, "uncompiled, times llvm-gsymutil's wall time", plain, 20)
    return said


def start(section: Mapping[str, Any]) -> str:
    """The table of start-up times."""
    rows = []
    for name, one in section["found"].items():
        seconds = one["seconds"]
        limit = next((limit for start, limit in TARGETS.items() if name.startswith(start)), None)
        held = f"under {limit:g}: {'met' if statistics.median(seconds) < limit else '**missed**'}" if limit else NOTHING
        rows.append((f"`{name}`", f"{statistics.median(seconds):.3f}", f"{min(seconds):.3f}", held, str(len(seconds))))
    return table(("command", "median, s", "best, s", "target, s", "runs"), rows)


def wire(section: Mapping[str, Any]) -> str:
    """The table of bytes sent."""
    head = (
        *(
            "input",
            "files",
            "symup sends, MB",
            "debug file",
            "with zstd -3",
            "inflated",
            "with zstd -3",
            "with zstd -19",
        ),
        *("llvm's GSYM", "with zstd", "share of the smallest debug file", "share of llvm's with zstd"),
    )
    rows = []
    for name, one in section["found"].items():
        if "unavailable" in one:
            rows.append((name, f"not measured: {one['unavailable']}", *[""] * 10))
            continue
        least = min(value for key, value in one.items() if key.startswith(("debug_file", "inflated")))
        all_theirs = one["llvm_files"] == one["files"]
        keys = ("debug_file", "debug_file_zstd3", "inflated", "inflated_zstd3", "inflated_zstd19")
        rows.append(
            (
                *(name, str(one["files"]), f"**{one['symup'] / 1e6:{'.2f' if one['symup'] > 100_000 else '.3f'}}**"),
                *(f"{one[key] / 1e6:.1f}" if key in one else NOTHING for key in keys),
                *(f"{one[key] / 1e6:.2f}" if one["llvm_files"] else "fails" for key in ("llvm_gsym", "llvm_gsym_zstd")),
                f"{one['symup'] / least:.3f}",
                f"{one['symup'] / one['llvm_gsym_zstd']:.2f}" if all_theirs else f"of {one['llvm_files']} files only",
            )
        )
    return table(head, rows)


def levels(section: Mapping[str, Any]) -> str:
    """A table of compression, and one of whole uploads, for each input."""
    parts = [f"symup takes level **{section['level']}**."]
    for name, one in section["found"].items():
        if "unavailable" in one:
            parts.append(f"{name}: not measured: {one['unavailable']}")
            continue
        lines = list(one["uploads"])
        head = (
            *("level", "CPU, s", "MB"),
            *(f"sum at {line} Mbit/s, s" for line in lines),
            *(f"upload at {line} Mbit/s, s" for line in lines),
        )
        rows = []
        for level, taken in one["levels"].items():
            sums = [f"{taken['seconds'] + taken['bytes'] * 8 / (float(line) * 1e6):.3f}" for line in lines]
            whole = [_median(one["uploads"][line].get(level)) for line in lines]
            rows.append((level, f"{taken['seconds']:.3f}", f"{taken['bytes'] / 1e6:.3f}", *sums, *whole))
        parts += [f"{name}, {one['gsym_bytes'] / 1e6:.1f} MB of GSYM:", table(head, rows)]
    return "\n\n".join(parts)


def _median(seconds: Sequence[float] | None) -> str:
    return f"{statistics.median(seconds):.2f}" if seconds else NOTHING


def growing(section: Mapping[str, Any]) -> str:
    """The lines' figures, and a table of all points."""
    found: Found = section["found"]
    units = {"wall_seconds": ("wall", "s"), "cpu_seconds": ("CPU", "s"), "peak_bytes": ("peak memory", "MB")}
    fits = []
    for group, names in (("equal units", growth.SERIES), ("real files", growth.REAL)):
        for figure, line in growth.fits(found, names).items():
            what, unit = units[figure]
            fits.append(
                (group, what, f"{line.intercept:.2f} {unit}", f"{100 * line.slope:.2f} {unit}", f"{line.r_squared:.4f}")
            )
    rows = []
    for name, one in sorted(found.items(), key=lambda item: item[1].get("info_bytes", 0)):
        if "unavailable" in one:
            rows.append((name, f"not measured: {one['unavailable']}", "", "", ""))
            continue
        figures = [
            statistics.median(sample[figure] for sample in one["samples"])
            for figure in ("wall_seconds", "cpu_seconds", "peak_bytes")
        ]
        rows.append(
            (
                name,
                f"{one['info_bytes'] / 1e6:.1f}",
                f"{figures[0]:.2f}",
                f"{figures[1]:.2f}",
                f"{figures[2] / 1e6:.0f}",
            )
        )
    return "\n\n".join(
        [
            table(("line through", "of", "starts at", "and for each 100 MB", "R²"), fits),
            table(("input", "MB of .debug_info", "wall, s", "CPU, s", "peak, MB"), rows),
        ]
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown: the first column to the left, figures to the right."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


SECTIONS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "conversion": conversion,
    "start": start,
    "wire": wire,
    "levels": levels,
    "growth": growing,
}
