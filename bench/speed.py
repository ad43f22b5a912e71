"""Measures symup against llvm-gsymutil, side by side: wall time, CPU time, peak memory and size of the result.

``python bench/speed.py [INPUT…] [--runs 7]`` converts each input (a name of ``bench/inputs.py``, a file or a folder) with both in
turn, A B A B …, so that whatever else the machine does falls on both. It prints medians, ratios and the raw samples. A folder is
converted by symup in one run, by llvm-gsymutil in a shell loop over its files.

The peak is that of the largest process, or the sum of all that ran at once where several were large (``bench/peaks.py``).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cores
import inputs
import peaks

GSYMUTIL = os.environ.get("LLVM_GSYMUTIL", "llvm-gsymutil-22")
DEFAULT_INPUTS = ("librados2",)
PLAIN = "symup (plain Python)"
FIGURES = ("wall_seconds", "cpu_seconds", "peak_bytes", "output_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What one run of one converter took, and what came of it; the digest is of all files written, their names included."""

    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    output_bytes: int
    output_files: int
    output_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A converter: its name, the command that converts an input into an output, and how many runs it is given at most."""

    name: str
    command: Callable[[Path, Path], list[str]]
    environment: Mapping[str, str]
    most_runs: int | None = None


def run(contender: Contender, source: Path, *, known_peak_bytes: int | None = None) -> Sample:
    """Runs one conversion into a fresh place, and measures the process with its children; `RuntimeError` where it fails.

    Watching how much several processes hold together costs time: a run that is given what an earlier one was seen to hold isn't
    watched. Linux counts the peak of the process that starts another as the other's, too: this one must stay small.
    """
    with tempfile.TemporaryDirectory(prefix="symup-speed.") as folder:
        out = Path(folder) / "out"
        if source.is_dir():
            out.mkdir()
        with (Path(folder) / "log").open("w+") as log:
            begin = time.perf_counter()
            process = subprocess.Popen(
                contender.command(source, out), cwd=folder, env=contender.environment, stdout=log, stderr=log
            )
            with peaks.TreePeak(process.pid) if known_peak_bytes is None else nullcontext() as tree:
                _, status, usage = os.wait4(process.pid, 0)
                wall = time.perf_counter() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                log.seek(0)
                raise RuntimeError(f"{contender.name} exited {process.returncode}: {log.read()[-2000:]}")
        written = sorted(path for path in ([out] if out.is_file() else out.rglob("*")) if path.is_file())
        if not written:
            raise RuntimeError(f"{contender.name} wrote nothing for {source}")
        return Sample(
            wall_seconds=wall,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_bytes=max(usage.ru_maxrss * 1024, known_peak_bytes or 0, tree.peak_bytes if tree is not None else 0),
            output_bytes=sum(path.stat().st_size for path in written),
            output_files=len(written),
            output_digest=_digest(written, out),
        )


def _digest(written: Sequence[Path], out: Path) -> str:
    digest = hashlib.sha256()
    for path in written:
        with path.open("rb") as stream:
            digest.update(f"{path.relative_to(out)} {hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def symup(core: cores.Core, jobs: int | None = None, most_runs: int | None = None) -> Contender:
    """Symup on one of its cores; with as many jobs as it takes by itself, or with ``jobs``."""
    chosen = ["--jobs", str(jobs)] if jobs else []
    return Contender(
        name="symup" if core.name != "plain" else PLAIN,
        command=lambda source, out: core.command("convert", str(source.resolve()), "-o", str(out), *chosen),
        environment=core.environment,
        most_runs=most_runs,
    )


def gsymutil(threads: int) -> Contender:
    """llvm-gsymutil with so many threads; over a folder, in a loop."""

    def command(source: Path, out: Path) -> list[str]:
        tool = [GSYMUTIL, "--quiet", f"--num-threads={threads}"]
        if source.is_file():
            return [*tool, "--convert", str(source.resolve()), "--out-file", str(out)]
        loop = 'find "$1" -name "*.debug" | while read -r f; do %s --convert "$f" --out-file "$2/${f##*/}.gsym"; done; true'
        return ["sh", "-c", loop % shlex.join(tool), "sh", str(source.resolve()), str(out)]

    return Contender(name="llvm-gsymutil", command=command, environment=dict(os.environ))


def measure(
    source: Path, contenders: Sequence[Contender], runs: int, peak_bytes: Mapping[str, int] | None = None
) -> dict[str, list[Sample]]:
    """``runs`` samples of each contender, taken in turn after one read of the input that warms the page cache.

    ``peak_bytes`` is what contenders were seen to hold before, by name: those are not watched. Any other is watched in its first turn.
    """
    read_once(source)
    known = dict(peak_bytes or {})
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in contenders}
    for turn in range(runs):
        for contender in contenders:
            if contender.most_runs is None or turn < contender.most_runs:
                sample = run(contender, source, known_peak_bytes=known.get(contender.name))
                known.setdefault(contender.name, sample.peak_bytes)
                samples[contender.name].append(sample)
    return samples


def read_once(source: Path) -> None:
    """Reads a file, or all of a folder, so that no run is the one that waits for the disk."""
    for path in [source] if source.is_file() else source.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                while stream.read(1 << 20):
                    pass


def summarize(samples: Mapping[str, Sequence[Sample]], baseline: str) -> dict[str, Any]:
    """Medians of each contender, their ratios to the baseline's, and the raw samples."""
    medians = {
        name: {figure: statistics.median(getattr(sample, figure) for sample in taken) for figure in FIGURES}
        for name, taken in samples.items()
    }
    return {
        "medians": medians,
        "ratios": {
            name: {figure: round(values[figure] / medians[baseline][figure], 3) for figure in FIGURES}
            for name, values in medians.items()
            if name != baseline
        },
        "samples": {name: [rounded(asdict(sample)) for sample in taken] for name, taken in samples.items()},
    }


def rounded(sample: Mapping[str, Any]) -> dict[str, Any]:
    """A sample with its times in tenths of milliseconds."""
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in sample.items()}


def as_text(name: str, summary: Mapping[str, Any]) -> str:
    """One input's summary for people."""
    lines = [name]
    for contender, values in summary["medians"].items():
        lines.append(
            f"  {contender:<22} wall {values['wall_seconds']:7.3f} s  cpu {values['cpu_seconds']:7.3f} s"
            f"  peak {values['peak_bytes'] / 1e6:8.1f} MB  output {values['output_bytes'] / 1e6:8.3f} MB"
        )
    for contender, ratios in summary["ratios"].items():
        shares = "  ".join(f"{figure.rsplit('_', 1)[0]} {ratios[figure]:.2f}" for figure in FIGURES)
        lines.append(f"  {contender} / llvm-gsymutil: {shares}")
    for contender, taken in summary["samples"].items():
        raw = " ".join(f"{sample['wall_seconds']:.3f}" for sample in taken)
        lines.append(f"  samples of {contender}, wall seconds: {raw}")
    return "\n".join(lines)


def main() -> int:
    """Measures each input and prints what came out; gives 1 where a converter fails."""
    parser = argparse.ArgumentParser(description="Measure symup convert against llvm-gsymutil, in turn.")
    parser.add_argument("inputs", nargs="*", default=list(DEFAULT_INPUTS), help="names of bench/inputs.py, or paths")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2, help="of llvm-gsymutil (default 2)")
    parser.add_argument("--jobs", type=int, help="of symup (default: its own)")
    parser.add_argument("--plain", action="store_true", help="measure the uncompiled core, too")
    parser.add_argument("--max-wall-ratio", type=float, help="fail where symup takes more than this share of the time")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    options = parser.parse_args()
    baseline = gsymutil(options.threads)
    failed = False
    documents: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="symup-plain.") as folder:
        core = cores.installed()
        contenders = [symup(core, options.jobs), baseline]
        if options.plain:
            contenders.append(symup(cores.plain(Path(folder)), options.jobs))
        if uncompiled := core.uncompiled_modules():
            print(f"note: {len(uncompiled)} modules of the core are not compiled here", file=sys.stderr)
        for name in inputs.expand(options.inputs):
            try:
                samples = measure(inputs.input_path(name), contenders, options.runs)
            except (inputs.InputUnavailable, RuntimeError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
                continue
            documents[name] = summarize(samples, baseline.name)
            ratio = documents[name]["ratios"]["symup"]["wall_seconds"]
            failed |= options.max_wall_ratio is not None and ratio > options.max_wall_ratio
            if not options.json:
                print(as_text(name, documents[name]), flush=True)
    if options.json:
        machine = {"machine": platform.machine(), "cpus": os.cpu_count(), "python": platform.python_version()}
        print(json.dumps({"machine": machine, "runs": options.runs, "inputs": documents}, indent=2))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
