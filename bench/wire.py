"""What travels for an input: the chunks that symup sends, and what others send of the same files."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

import builds
import cores
import speed

OBJCOPY = os.environ.get("OBJCOPY", "objcopy")


STRONG, USUAL = 19, 3


def measure(core: cores.Core, source: Path, *, threads: int, strong: bool = True) -> dict[str, int]:
    """The bytes for one input, by what is sent; `RuntimeError` where a tool fails.

    All ways are given the same files: those that symup has stored something of. ``strong`` compresses inflated debug files as far as
    zstd goes, too, at about a second of CPU for each 2 MB.
    """
    levels = (USUAL, STRONG) if strong else (USUAL,)
    with tempfile.TemporaryDirectory(prefix="symup-wire.") as folder:
        report = upload(core, source, str(Path(folder) / "store"))
        stored = [Path(outcome["path"]) for outcome in report["outcomes"] if outcome["decision"] == "stored"]
        sizes = {
            "files": len(stored),
            "symup": report["totals"]["sent_size_bytes"],
            "symup_gsym": report["totals"]["gsym_size_bytes"],
        }
        sizes |= dict.fromkeys(("debug_file", f"debug_file_zstd{USUAL}", "inflated"), 0)
        sizes |= {f"inflated_zstd{level}": 0 for level in levels}
        for path in stored:
            kept, inflated = Path(folder) / "kept", Path(folder) / "inflated"
            _run([OBJCOPY, "--only-keep-debug", str(path), str(kept)])
            # Not binutils' objcopy: it takes what zlib has packed to less than a tenth for damaged.
            _run([builds.LLVM_OBJCOPY, "--only-keep-debug", "--decompress-debug-sections", str(path), str(inflated)])
            sizes["debug_file"] += kept.stat().st_size
            sizes[f"debug_file_zstd{USUAL}"] += compressed_bytes(kept, level=USUAL)
            sizes["inflated"] += inflated.stat().st_size
            for level in levels:
                sizes[f"inflated_zstd{level}"] += compressed_bytes(inflated, level=level)
        sizes |= _llvm(stored, Path(folder) / "llvm.gsym", threads, core.compression_level())
    return sizes


def upload(
    core: cores.Core, source: Path, destination: str, program: Sequence[str] = (), *, project: str = "default"
) -> dict[str, Any]:
    """The report of ``symup upload``; ``program`` runs symup in another way than ``core`` does by itself."""
    command = [*(program or core.command()), "upload", str(source.resolve())]
    command += ["--to", destination, "--project", project, "--json", "--quiet"]
    done = _run(command, environment=core.environment)
    return cast("dict[str, Any]", json.loads(done.stdout))


def compressed_bytes(path: Path, *, level: int) -> int:
    """The size of a file once zstd has compressed it at ``level``."""
    counter = _Counter()
    with path.open("rb") as stream:
        zstandard.ZstdCompressor(level=level, threads=-1).copy_stream(
            stream, cast("BinaryIO", counter), size=path.stat().st_size
        )
    return counter.size_bytes


class _Counter:
    def __init__(self) -> None:
        self.size_bytes = 0

    def write(self, data: bytes) -> int:
        self.size_bytes += len(data)
        return len(data)


def _llvm(paths: Iterable[Path], out: Path, threads: int, level: int) -> dict[str, int]:
    """llvm-gsymutil's files, and these compressed at the level that symup takes; without those that it can't write."""
    sizes = {"llvm_gsym": 0, "llvm_gsym_zstd": 0, "llvm_files": 0}
    for path in paths:
        out.unlink(missing_ok=True)
        command = speed.gsymutil(threads).command(path, out)
        if subprocess.run(command, capture_output=True, check=False).returncode or not out.exists():
            continue
        sizes["llvm_files"] += 1
        sizes["llvm_gsym"] += out.stat().st_size
        sizes["llvm_gsym_zstd"] += compressed_bytes(out, level=level)
    return sizes


def _run(command: Sequence[str], *, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=tempfile.gettempdir(),
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} exited {done.returncode}: {done.stderr.strip()[-1000:]}")
    return done
