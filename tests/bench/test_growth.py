"""The plot shows the points that were measured, and the line through them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.writers.elf_writer import Section, elf

import builds
import growth
import inputs

SVG = "{http://www.w3.org/2000/svg}"


def point(megabytes: float, seconds: float, peak: float) -> dict[str, Any]:
    """What was measured of one input: three samples, of which the middle one counts."""
    samples = [
        {"wall_seconds": seconds * factor, "cpu_seconds": seconds * factor, "peak_bytes": peak * 1e6 * factor}
        for factor in (0.5, 1, 9)
    ]
    return {"info_bytes": megabytes * 1e6, "samples": samples}


STRAIGHT = {f"grown-{size}": point(size, 0.25 + 0.01 * size, 40 + 2 * size) for size in (1, 10, 100, 500)}
REAL = {"librados2": point(155, 3.0, 600)}


def test_points_on_a_line_give_that_line() -> None:
    lines = growth.fits(STRAIGHT, growth.SERIES)
    assert lines["wall_seconds"].slope == pytest.approx(0.01)
    assert lines["wall_seconds"].intercept == pytest.approx(0.25)
    assert lines["peak_bytes"].slope == pytest.approx(2)
    assert [line.r_squared for line in lines.values()] == pytest.approx([1, 1, 1])


def test_points_on_a_curve_tell_themselves_apart() -> None:
    squared = {f"grown-{size}": point(size, size * size, 1) for size in (1, 10, 100, 500)}
    assert growth.fits(squared, growth.SERIES)["wall_seconds"].r_squared < 0.98


def test_what_could_not_be_measured_is_no_point() -> None:
    found = {**STRAIGHT, "grown-200": {"unavailable": "no room"}}
    assert [name for name, _, _ in growth.points(found, growth.SERIES, "wall_seconds")] == list(STRAIGHT)
    assert growth.fits(REAL, growth.REAL) == {}


def test_the_plot_has_every_point_in_both_panels() -> None:
    drawn = ET.fromstring(growth.plot(STRAIGHT | REAL))
    circles = drawn.findall(f".//{SVG}circle")
    assert [one.get("class") for one in circles].count("series") == 2 * len(STRAIGHT)
    assert [one.get("class") for one in circles].count("other") == 2
    assert len(drawn.findall(f".//{SVG}path[@class='line']")) == 2
    width, height = float(drawn.get("width", 0)), float(drawn.get("height", 0))
    for one in circles:
        assert 0 < float(one.get("cx", -1)) < width
        assert 0 < float(one.get("cy", -1)) < height
    assert "R² = 1.0000" in "".join(drawn.itertext())


def test_the_size_is_that_of_the_inflated_section(tmp_path: Path) -> None:
    for name, compress in (("plain", ""), ("zlib", "zlib")):
        (tmp_path / name).write_bytes(elf([Section(".debug_info", b"\1" * 5000, compress=compress)]))
    (tmp_path / "notes.txt").write_text("no ELF file")
    assert growth.info_bytes(tmp_path / "zlib") == 5000
    assert growth.info_bytes(tmp_path) == 10_000


def test_a_program_grows_by_units_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peer: Callable[[str], str]
) -> None:
    peer(builds.LLD)
    peer("g++")
    monkeypatch.setenv("SYMUP_INPUTS", str(tmp_path))
    one, two = (growth.info_bytes(inputs.input_path(f"grown-{units}")) for units in (1, 2))
    assert 900_000 < one < 1_200_000
    assert two == pytest.approx(2 * one, rel=0.01)
