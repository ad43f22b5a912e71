"""Measures what symup costs, all of it, and writes docs/performance.md with its plot, and the raw samples beside it.

``python bench/performance.py [SECTION…]`` fetches the inputs that are missing (``bench/inputs.py``) and measures:

- ``conversion``: ``symup convert`` and llvm-gsymutil in turn, A B A B …, and the uncompiled core with them; whether the bytes of the
  result are the same with 1, 2 and 8 jobs, compiled or not;
- ``start``: how long ``symup --version`` and the conversion of a small file take;
- ``wire``: what ``symup upload`` sends, against what others send of the same files;
- ``levels``: which zstd level pays on lines of 10, 100 and 1000 Mbit/s;
- ``growth``: time and memory against size.

Each section takes the place of what an earlier run has left of it in docs/performance.json; the page is written from all of them. An
input that can't be had here, and a converter that fails on one, is told as that. With ``--inputs`` a section keeps what it has of others.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import builds
import cores
import growth
import inputs
import levels
import page
import peaks
import speed
import wire

DOCS = inputs.ROOT / "docs"
SMALL = "g++-dwarf5"
CONVERTED = (
    *(SMALL, "python3.11", "librados2", "libc6-dbg", "valgrind-dbg"),
    *("ceph-osd", "vmlinux", "hugo", "buf", "esbuild"),
)
COMPRESSED = (SMALL, "python3.11", "librados2")
GO_TABLE = ".gopclntab"
JOBS = (1, 2, 8)
MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What every section is told: how often, how wide, and up to which MB of ``.debug_info`` or Go's table it does what takes long."""

    names: tuple[str, ...]
    runs: int
    jobs: int
    plain_up_to: float
    plain_jobs_up_to: float
    strong_up_to: float


def conversion(plan: Plan) -> dict[str, Any]:
    """Each input's medians, ratios, samples, and the digests of what came out by core and jobs."""
    core = cores.installed()
    with tempfile.TemporaryDirectory(prefix="symup-plain.") as folder:
        plain = cores.plain(Path(folder))
        plain.run("convert", str(inputs.input_path(SMALL)), "-o", str(Path(folder) / "warm.gsym"))
        return _each(plan.names, lambda name: _converted(name, core, plain, plan))


def _converted(name: str, core: cores.Core, plain: cores.Core, plan: Plan) -> dict[str, Any]:
    source = inputs.input_path(name)
    info_mb = peaks.aside(growth.info_bytes, source) / MB
    read_mb = info_mb or peaks.aside(growth.info_bytes, source, GO_TABLE) / MB
    symup, llvm = speed.symup(core, plan.jobs), speed.gsymutil(plan.jobs)
    uncompiled = speed.symup(plain, plan.jobs, most_runs=1 if read_mb > plan.plain_jobs_up_to else 3)
    contenders = [symup, llvm, uncompiled] if read_mb <= plan.plain_up_to else [symup, llvm]
    speed.read_once(source)
    failures = {}
    held: dict[str, int] = {}
    for contender in contenders[:2]:
        try:
            held[contender.name] = speed.run(contender, source).peak_bytes
        except RuntimeError as error:
            failures[contender.name] = str(error).replace(str(source), name).strip().splitlines()[-1]
    if symup.name in failures:
        raise RuntimeError(failures[symup.name])
    samples = speed.measure(source, [one for one in contenders if one.name not in failures], plan.runs, held)
    digests = {"compiled": {str(plan.jobs): _only_digest(samples[symup.name])}}
    for jobs in JOBS:
        digests["compiled"].setdefault(str(jobs), speed.run(speed.symup(core, jobs), source).output_digest)
    if uncompiled.name in samples:
        digests["plain"] = {str(plan.jobs): _only_digest(samples[uncompiled.name])}
        for jobs in JOBS if read_mb <= plan.plain_jobs_up_to else ():
            digests["plain"].setdefault(str(jobs), speed.run(speed.symup(plain, jobs), source).output_digest)
    return {
        "files": 1 if source.is_file() else samples[symup.name][0].output_files,
        "input_bytes": sum(path.stat().st_size for path in _files(source)),
        "info_bytes": round(info_mb * MB),
        "failures": failures,
        "digests": digests,
        **speed.summarize(samples, llvm.name if llvm.name in samples else symup.name),
    }


def _only_digest(samples: Sequence[speed.Sample]) -> str:
    return "+".join(sorted({sample.output_digest for sample in samples}))


def _files(source: Path) -> list[Path]:
    return [source] if source.is_file() else [path for path in source.rglob("*") if path.is_file()]


def start(plan: Plan) -> dict[str, Any]:
    """Wall seconds of the commands that should feel like nothing."""
    core = cores.installed()
    small = str(inputs.input_path(SMALL).resolve())
    with tempfile.TemporaryDirectory(prefix="symup-start.") as folder:
        commands = {
            "symup --version": ("--version",),
            f"symup convert {SMALL}": ("convert", small, "-o", str(Path(folder) / "out.gsym")),
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(2 * plan.runs + 1):
            for name, arguments in commands.items():
                begin = time.perf_counter()
                if core.run(*arguments).returncode:
                    raise RuntimeError(f"{name} failed")
                taken[name].append(round(time.perf_counter() - begin, 4))
    return {"found": {name: {"seconds": seconds[1:]} for name, seconds in taken.items()}}


def on_the_wire(plan: Plan) -> dict[str, Any]:
    """Bytes by what is sent."""
    core = cores.installed()

    def sent(name: str) -> dict[str, int]:
        source = inputs.input_path(name)
        strong = growth.info_bytes(source) <= plan.strong_up_to * MB
        return wire.measure(core, source, threads=plan.jobs, strong=strong)

    return _each(plan.names, sent)


def which_level(plan: Plan) -> dict[str, Any]:
    """Compression and uploads by level, and the level that symup takes."""
    core = cores.installed()
    runs = min(plan.runs, 5)
    found = _each(plan.names, lambda name: levels.measure(core, inputs.input_path(name), runs=runs))
    return {"level": core.compression_level(), **found}


def growing(plan: Plan) -> dict[str, Any]:
    """The points of the plot."""
    core = cores.installed()
    runs = min(plan.runs, 3)
    return _each(plan.names, lambda name: growth.measure(core, name, jobs=plan.jobs, runs=runs))


def _each(names: Iterable[str], measure: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
    """What ``measure`` finds of each input, or why it finds nothing."""
    found: dict[str, Any] = {}
    for name in names:
        begin = time.perf_counter()
        try:
            found[name] = dict(measure(name))
        except (inputs.InputUnavailable, RuntimeError) as error:
            found[name] = {"unavailable": str(error).strip().splitlines()[-1][:300]}
        seconds = time.perf_counter() - begin
        print(f"  {name}: {found[name].get('unavailable', 'measured')} ({seconds:.0f} s)", file=sys.stderr, flush=True)
    return {"found": found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page: what measures it, on which inputs, and the tools that it can't do without."""

    measure: Callable[[Plan], dict[str, Any]]
    names: tuple[str, ...]
    tools: tuple[str, ...] = ()


SECTIONS = {
    "conversion": Section(measure=conversion, names=CONVERTED, tools=(speed.GSYMUTIL,)),
    "start": Section(measure=start, names=()),
    "wire": Section(measure=on_the_wire, names=CONVERTED, tools=(wire.OBJCOPY, builds.LLVM_OBJCOPY, speed.GSYMUTIL)),
    "levels": Section(measure=which_level, names=COMPRESSED),
    "growth": Section(measure=growing, names=(*growth.SERIES, *growth.REAL)),
}


def circumstances(arguments: Sequence[str], load: float) -> dict[str, Any]:
    """Where, when, with what and by which command something was measured; ``load`` is how busy the machine was before."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": " ".join(["python bench/performance.py", *arguments]),
        "revision": _output("git", "-C", str(inputs.ROOT), "describe", "--always", "--dirty"),
        "symup": cores.installed().run("--version").stdout.strip(),
        "llvm": next(
            (line.strip() for line in _output(speed.GSYMUTIL, "--version").splitlines() if "version" in line), ""
        ),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _field(Path("/proc/cpuinfo"), "model name"),
        "cpus": os.cpu_count(),
        "memory_gb": round(int(_field(Path("/proc/meminfo"), "MemTotal").split()[0] or 0) / MB, 1),
        "load_before": round(load, 1),
    }


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


def _field(path: Path, name: str) -> str:
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "0")


def main() -> int:
    """Measures the sections, writes the page; gives 1 where an input has no figures, and 2 where a tool is missing."""
    parser = argparse.ArgumentParser(description="Measure what symup costs, and write docs/performance.md.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--runs", type=int, default=7, help="samples of each contender (default 7; growth takes 3)")
    parser.add_argument("--jobs", type=int, default=2, help="of symup, and llvm-gsymutil's threads (default 2)")
    parser.add_argument("--inputs", nargs="+", metavar="NAME", help="only these, of bench/inputs.py")
    parser.add_argument(
        "--plain-up-to",
        type=float,
        default=200,
        metavar="MB",
        help="of .debug_info, for the uncompiled core (default 200)",
    )
    parser.add_argument(
        "--plain-jobs-up-to", type=float, default=30, metavar="MB", help="as above, with 1 and 8 jobs, too (default 30)"
    )
    parser.add_argument(
        "--strong-up-to",
        type=float,
        default=200,
        metavar="MB",
        help="as above, for zstd -19 of debug files (default 200)",
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the page and its data lie (default docs/)")
    parser.add_argument("--only-page", action="store_true", help="measure nothing: write the page from the data")
    options = parser.parse_args()
    wanted = options.sections or list(SECTIONS)
    if unknown := [name for name in wanted if name not in SECTIONS]:
        parser.error(f"no section is called {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    if missing := _missing_tools(wanted):
        print(f"not installed here: {', '.join(missing)} (Debian: llvm-22, binutils)", file=sys.stderr)
        return 2
    plan = Plan(
        names=(),
        runs=options.runs,
        jobs=options.jobs,
        plain_up_to=options.plain_up_to,
        plain_jobs_up_to=options.plain_jobs_up_to,
        strong_up_to=options.strong_up_to,
    )
    data = options.docs / "performance.json"
    results: dict[str, Any] = json.loads(data.read_text()) if data.exists() else {}
    failed = False
    for name in () if options.only_page else wanted:
        print(f"{name}:", file=sys.stderr, flush=True)
        names = tuple(inputs.expand(options.inputs)) if options.inputs else SECTIONS[name].names
        measured = circumstances(sys.argv[1:], os.getloadavg()[0])
        # Apart, so that the memory of one section is no part of the next one's peaks.
        fresh = peaks.aside(SECTIONS[name].measure, replace(plan, names=names))
        if options.inputs and name in results:
            fresh["found"] = {**results[name]["found"], **fresh["found"]}
        results[name] = {"measured": measured, **fresh}
        failed |= any("unavailable" in one for one in fresh["found"].values())
        data.write_text(page.as_json(results))
        page.write(options.docs, results)
    page.write(options.docs, results)
    return int(failed)


def _missing_tools(sections: Iterable[str]) -> list[str]:
    wanted = dict.fromkeys(tool for name in sections for tool in SECTIONS[name].tools)
    return [tool for tool in wanted if shutil.which(tool) is None]


if __name__ == "__main__":
    sys.exit(main())
