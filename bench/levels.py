"""Which zstd level pays: what each takes and saves, and how long whole uploads take over lines of several speeds."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zstandard

import cores
import speed
import throttle
import wire

LEVELS = (1, 3, 6, 9, 12, 15, 19)
MEASURED_LEVELS = (1, 3, 6, 9, 12, 19)
MEGABITS = (10, 100, 1000)
ROUNDS = 3

AT_LEVEL = (
    "import sys; from uploader.protocol import chunks; chunks.LEVEL = int(sys.argv.pop(1));"
    " from uploader.cli.main import main; sys.exit(main())"
)


def measure(core: cores.Core, source: Path, *, runs: int) -> dict[str, Any]:
    """For one input: compression by level, and the wall seconds of real uploads by line and level."""
    with tempfile.TemporaryDirectory(prefix="symup-levels.") as folder:
        gsym = Path(folder) / "out.gsym"
        done = subprocess.run(
            speed.symup(core).command(source, gsym), env=core.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"symup convert exited {done.returncode}: {done.stderr[-1000:]}")
        content = gsym.read_bytes()
    return {
        "gsym_bytes": len(content),
        "levels": {str(level): compression(content, level) for level in LEVELS},
        "uploads": uploads(core, source, runs),
    }


def compression(content: bytes, level: int) -> dict[str, float]:
    """Seconds of CPU (the median of some rounds), and the size that comes of it."""
    taken = []
    size_bytes = 0
    for _ in range(ROUNDS):
        begin = time.process_time()
        size_bytes = len(zstandard.ZstdCompressor(level=level, write_checksum=True).compress(content))
        taken.append(time.process_time() - begin)
    return {"seconds": round(statistics.median(taken), 4), "bytes": size_bytes}


def uploads(core: cores.Core, source: Path, runs: int) -> dict[str, dict[str, list[float]]]:
    """Wall seconds of ``symup upload`` to a server behind a slow line, by Mbit/s and level, the levels in turn."""
    taken: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory(prefix="symup-levels.") as folder, _server(core, Path(folder)) as port:
        for megabits in MEGABITS:
            with throttle.SlowLine(port, megabits * 1e6) as line:
                samples: dict[str, list[float]] = {str(level): [] for level in MEASURED_LEVELS}
                for turn in range(runs):
                    for level in MEASURED_LEVELS:
                        project = f"p{megabits}-{turn}-{level}"
                        samples[str(level)].append(_seconds(core, source, line.port, level, project))
                taken[str(megabits)] = samples
    return taken


def _seconds(core: cores.Core, source: Path, port: int, level: int, project: str) -> float:
    """One upload into a project of its own, where nothing is there yet."""
    program = [sys.executable, "-c", AT_LEVEL, str(level)]
    begin = time.perf_counter()
    report = wire.upload(core, source, f"http://127.0.0.1:{port}", program, project=project)
    seconds = time.perf_counter() - begin
    if not report["totals"]["chunks_sent"]:
        raise RuntimeError(f"nothing of {source} was sent")
    return round(seconds, 3)


@contextmanager
def _server(core: cores.Core, folder: Path) -> Iterator[int]:
    """``symup serve`` over an empty store; gives its port."""
    log = folder / "log"
    with log.open("wb") as stream:
        command: Sequence[str] = core.command("serve", "--store", str(folder / "store"), "--create", "--port", "0")
        process = subprocess.Popen(command, cwd=folder, env=core.environment, stdout=stream, stderr=stream)
    try:
        yield _port(process, log)
    finally:
        process.terminate()
        process.wait(30)


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    for _ in range(300):
        for word in log.read_text(errors="replace").split():
            if word.startswith("http://127.0.0.1:"):
                return int(word.rstrip("/.,").rpartition(":")[2])
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"symup serve does not answer: {log.read_text(errors='replace')[-1000:]}")
