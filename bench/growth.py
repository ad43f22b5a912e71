"""How symup's time and memory grow with the debug information: a series of equal units, and real files beside it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import chart
import cores
import inputs
import peaks
import speed

SERIES = tuple(inputs.GROWN)
REAL = (
    *("libc6", "uwsgi", "gsl", "python3.11", "libstdc++6", "itpp", "librados2", "ceph-osd-3", "libjvm"),
    *("vmlinux", "ceph-osd"),
)
FIGURES = {"wall_seconds": 1.0, "cpu_seconds": 1.0, "peak_bytes": 1e6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The straight line that fits best, and how much of the points' variance it explains."""

    slope: float
    intercept: float
    r_squared: float


def measure(core: cores.Core, name: str, *, jobs: int, runs: int) -> dict[str, Any]:
    """One point: the size of ``.debug_info`` once inflated, and samples of its conversion."""
    source = inputs.input_path(name)
    contender = speed.symup(core, jobs)
    samples = speed.measure(source, [contender], runs)[contender.name]
    return {"info_bytes": peaks.aside(info_bytes, source), "samples": [speed.rounded(asdict(one)) for one in samples]}


def info_bytes(path: Path, section_name: str = ".debug_info") -> int:
    """The bytes of that section, once inflated, of a file or of all ELF files of a folder."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    total = 0
    for one in [path] if path.is_file() else path.rglob("*"):
        if not one.is_file():
            continue
        with one.open("rb") as stream:
            try:
                section = ELFFile(stream).get_section_by_name(section_name)
            except ELFError:
                continue
            if section is not None and section["sh_type"] != "SHT_NOBITS":
                total += section.data_size
    return total


def fit(points: Sequence[tuple[float, float]]) -> Line:
    """The line of least squares through points of at least two sizes."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    slope, intercept = statistics.linear_regression(xs, ys)
    explained = statistics.correlation(xs, ys) ** 2 if len(set(ys)) > 1 else 1.0
    return Line(slope=slope, intercept=intercept, r_squared=explained)


def points(found: Mapping[str, Mapping[str, Any]], names: Sequence[str], figure: str) -> list[tuple[str, float, float]]:
    """Name, MB of ``.debug_info`` and the median figure of those inputs that were measured."""
    return [
        (
            name,
            found[name]["info_bytes"] / 1e6,
            statistics.median(sample[figure] for sample in found[name]["samples"]) / FIGURES[figure],
        )
        for name in names
        if "samples" in found.get(name, {})
    ]


def fits(found: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> dict[str, Line]:
    """The line of each figure over the inputs of ``names``; empty where too few were measured."""
    lines = {}
    for figure in FIGURES:
        measured = [(x, y) for _, x, y in points(found, names, figure)]
        if len(measured) > 2:
            lines[figure] = fit(measured)
    return lines


def plot(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The SVG: seconds and MB against MB of ``.debug_info``, the series filled, with its line, real files hollow."""
    lines = fits(found, SERIES)
    panels = []
    for figure, title, unit in (
        ("wall_seconds", "wall time, seconds", "s"),
        ("peak_bytes", "peak memory, MB", "MB"),
    ):
        line = lines.get(figure)
        panels.append(
            chart.Panel(
                title=title,
                x_title="MB of .debug_info, inflated",
                series=points(found, SERIES, figure),
                others=points(found, REAL, figure),
                line=(line.slope, line.intercept) if line else None,
                note=f"{100 * line.slope:.3g} {unit} for each 100 MB, R² = {line.r_squared:.4f}" if line else "",
            )
        )
    return chart.svg(panels, "symup convert: time and memory against the size of the debug information")
