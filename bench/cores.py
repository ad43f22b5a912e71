"""Runs symup by its command line on either core: as it is installed, or as plain Python from a copy of its sources alone."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "uploader"


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """One way to run symup: the folder that Python finds the package in, or None for where it is installed."""

    name: str
    search_path: Path | None

    @property
    def environment(self) -> dict[str, str]:
        """The environment that a process of this core needs; it may keep bytecode, as it does at its users'."""
        environment = dict(os.environ)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if self.search_path is not None:
            environment["PYTHONPATH"] = str(self.search_path)
        return environment

    def command(self, *arguments: str) -> list[str]:
        """The command line of ``symup ARGUMENTS…``."""
        return [sys.executable, "-m", PACKAGE, *arguments]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs ``symup ARGUMENTS…`` from a folder that holds no package, so that only ``search_path`` decides which one runs."""
        return self._python("-m", PACKAGE, *arguments)

    def compression_level(self) -> int:
        """The zstd level of what symup sends."""
        return int(self._said("from uploader.protocol.chunks import LEVEL; print(LEVEL)"))

    def uncompiled_modules(self) -> tuple[str, ...]:
        """The modules of the core that run as plain Python here; empty where all of it is compiled."""
        return tuple(
            self._said("from uploader.core.which import uncompiled_modules; print(*uncompiled_modules())").split()
        )

    def _said(self, program: str) -> str:
        done = self._python("-c", program)
        if done.returncode:
            raise RuntimeError(f"the {self.name} core does not run: {done.stderr.strip()}")
        return done.stdout

    def _python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tempfile.gettempdir(),
            env=self.environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )


@functools.cache
def installed() -> Core:
    """Symup as it is installed for this Python; failing that, as it lies in the repository."""
    here = Core(name="installed", search_path=None)
    if here._python("-c", f"import {PACKAGE}").returncode == 0:
        return here
    return Core(name="repository", search_path=ROOT)


def plain(folder: Path) -> Core:
    """Symup as plain Python: a copy of its ``.py`` files alone, made in ``folder``."""
    for source in sorted((ROOT / PACKAGE).rglob("*.py")):
        target = folder / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return Core(name="plain", search_path=folder)
