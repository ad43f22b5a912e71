"""Draws scatter plots with a straight line as SVG, legible on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 460, 360
LEFT, RIGHT, TOP, BOTTOM = 62, 18, 58, 52
TICKS = 5

STYLE = """
  .page { fill: #ffffff } text { fill: #24292f; font: 12px system-ui, sans-serif } .title { font-weight: 600; font-size: 13px }
  .note, .label { fill: #57606a } .label { font-size: 10px } .grid { stroke: #d0d7de; stroke-width: 1 }
  .series { fill: #0969da } .line { stroke: #0969da; stroke-width: 1.5 } .other { fill: none; stroke: #bc4c00; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .note, .label { fill: #9198a1 } .grid { stroke: #30363d }
    .series { fill: #4493f8 } .line { stroke: #4493f8 } .other { stroke: #f0883e }
  }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One plot. Points are (name, x, y); ``line`` is (slope, intercept)."""

    title: str
    x_title: str
    series: Sequence[tuple[str, float, float]]
    others: Sequence[tuple[str, float, float]]
    line: tuple[float, float] | None
    note: str


def svg(panels: Sequence[Panel], description: str) -> str:
    """A document with the panels side by side."""
    width = WIDTH * len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" role="img">',
        f"<title>{escape(description)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{HEIGHT}"/>',
    ]
    for place, panel in enumerate(panels):
        parts += [f'<g transform="translate({place * WIDTH} 0)">', *_drawn(panel), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def _drawn(panel: Panel) -> list[str]:
    everything = [*panel.series, *panel.others]
    x_step = _step(max((x for _, x, _ in everything), default=1))
    y_step = _step(max((y for _, _, y in everything), default=1))
    x_end = x_step * math.ceil(max((x for _, x, _ in everything), default=1) / x_step)
    y_end = y_step * math.ceil(max((y for _, _, y in everything), default=1) / y_step)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + (right - LEFT) * x / x_end, bottom - (bottom - TOP) * y / y_end

    parts = [
        f'<text class="title" x="{LEFT}" y="22">{escape(panel.title)}</text>',
        f'<text class="note" x="{LEFT}" y="40">{escape(panel.note)}</text>',
        f'<text x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(panel.x_title)}</text>',
    ]
    for tick in range(round(x_end / x_step) + 1):
        x, y = at(tick * x_step, 0)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 17:.1f}" text-anchor="middle">{tick * x_step:g}</text>')
    for tick in range(round(y_end / y_step) + 1):
        x, y = at(0, tick * y_step)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
        parts.append(f'<text x="{x - 7:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick * y_step:g}</text>')
    if panel.line and panel.series:
        slope, intercept = panel.line
        (x1, y1), (x2, y2) = (at(x, slope * x + intercept) for x in (0, max(x for _, x, _ in panel.series)))
        parts.append(f'<path class="line" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>')
    for name, x, y in panel.others:
        across, down = at(x, y)
        label = f"<title>{escape(name)}: {x:.0f}, {y:.3g}</title>"
        parts.append(f'<circle class="other" cx="{across:.1f}" cy="{down:.1f}" r="4">{label}</circle>')
        if x > x_end / 8:
            place, anchor = (across + 8, "start") if across < WIDTH * 3 / 4 else (across - 8, "end")
            parts.append(
                f'<text class="label" x="{place:.1f}" y="{down + 4:.1f}" text-anchor="{anchor}">{escape(name)}</text>'
            )
    for name, x, y in panel.series:
        across, down = at(x, y)
        label = f"<title>{escape(name)}: {x:.0f}, {y:.3g}</title>"
        parts.append(f'<circle class="series" cx="{across:.1f}" cy="{down:.1f}" r="3.5">{label}</circle>')
    return parts


def _step(end: float) -> float:
    """The distance of ticks: 1, 2 or 5 times a power of ten, so that about five reach ``end``."""
    rough = end / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
