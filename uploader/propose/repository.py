"""Looks at a source repository: how it builds, where the binaries then lie, and which CI it has. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from uploader.propose import cargo_profile
from uploader.values import frozen, replace

MAX_READ_BYTES = 256 * 1024


@frozen
class Build:
    """One way that a repository builds."""

    name: str
    commands: tuple[str, ...]
    paths: tuple[str, ...]
    """The places of the binaries, from the repository's folder."""
    environment: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    """A hint on how its symbols get good."""


@frozen
class Repository:
    """The builds and the CI of a repository."""

    builds: tuple[Build, ...]
    has_github: bool
    has_gitlab: bool
    has_submodules: bool = False
    releaser: str = ""
    """The file by which a tool of its own builds what is released, outside of any CI job that was found."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The places of binaries once all is built; ``build`` where nothing tells."""
        return tuple(dict.fromkeys(path for build in self.builds for path in build.paths)) or ("build",)


CMAKE = Build(
    name="CMake",
    commands=("cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo", "cmake --build build --parallel"),
    paths=("build",),
    hint="RelWithDebInfo builds with -g; strip what you ship after the symbols are sent.",
)
MESON = Build(
    name="Meson",
    commands=("meson setup build --buildtype=debugoptimized", "meson compile -C build"),
    paths=("build",),
    hint="debugoptimized builds with -g; strip what you ship after the symbols are sent.",
)
CARGO = Build(
    name="Cargo",
    commands=("cargo build --release",),
    paths=("target/release",),
    environment=(("CARGO_PROFILE_RELEASE_DEBUG", "1"), ("CARGO_PROFILE_RELEASE_STRIP", "none")),
    hint=cargo_profile.switched_on(""),
)
BAZEL = Build(
    name="Bazel",
    commands=("bazel build -c opt --copt=-g --strip=never //...",),
    paths=("bazel-bin/",),
    hint="Bazel builds without -g and strips by itself: --copt=-g --strip=never.",
)
GO = Build(
    name="Go",
    commands=("mkdir -p bin", "go build -o bin/ ./..."),
    paths=("bin",),
)
PYTHON = Build(
    name="Python wheel with compiled modules",
    commands=(
        "python3 -m pip wheel --no-deps --wheel-dir dist .",
        'for wheel in dist/*.whl; do python3 -m zipfile -e "$wheel" build/wheel; done',
    ),
    paths=("build/wheel",),
    environment=(("CFLAGS", "-O2 -g"), ("CXXFLAGS", "-O2 -g")),
    hint="Compiled modules need -g, which the job sets in CFLAGS; some build tools strip all the same.",
)
MAKE = Build(
    name="Make",
    commands=("make CFLAGS='-O2 -g' CXXFLAGS='-O2 -g'",),
    paths=(".",),
    hint="Build with -g; strip what you ship after the symbols are sent.",
)

_RELEASERS = (".goreleaser.yaml", ".goreleaser.yml", "goreleaser.yaml", "goreleaser.yml", "dist-workspace.toml")
_NATIVE_BACKEND = (
    r"scikit[-_]build|mesonpy|meson-python|maturin|setuptools[-_]rust|py-build-cmake|cython|pybind11|nanobind"
)
_NATIVE_SETUP = r"\bext_modules\b|\bExtension\(|\bcythonize\("


def look(folder: Path) -> Repository:
    """The builds and the CI in ``folder``. A file that can't be read counts as not there."""
    builds: list[Build] = []
    if _is_native_wheel(folder):
        # The wheel's own build runs CMake, Meson or Cargo.
        builds.append(PYTHON)
    else:
        cargo = replace(CARGO, hint=cargo_profile.switched_on(_read(folder / "Cargo.toml")))
        builds += [cargo if build is CARGO else build for build, has in _SIGNS if has(folder)]
        if not builds and any((folder / name).is_file() for name in ("Makefile", "makefile", "GNUmakefile")):
            builds.append(MAKE)
    remotes = _read(folder / ".git" / "config")
    return Repository(
        builds=tuple(builds),
        releaser=next((name for name in _RELEASERS if (folder / name).is_file()), ""),
        has_submodules=(folder / ".gitmodules").is_file(),
        has_github=(folder / ".github").is_dir() or "github.com" in remotes,
        has_gitlab=(folder / ".gitlab-ci.yml").is_file() or "gitlab" in remotes,
    )


def _has(name: str) -> Callable[[Path], bool]:
    return lambda folder: (folder / name).is_file()


def _has_bazel(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel"))


_SIGNS: tuple[tuple[Build, Callable[[Path], bool]], ...] = (
    (CMAKE, _has("CMakeLists.txt")),
    (MESON, _has("meson.build")),
    (CARGO, _has("Cargo.toml")),
    (GO, _has("go.mod")),
    (BAZEL, _has_bazel),
)


def _is_native_wheel(folder: Path) -> bool:
    return bool(
        re.search(_NATIVE_BACKEND, _read(folder / "pyproject.toml"))
        or re.search(_NATIVE_SETUP, _read(folder / "setup.py"))
    )


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_READ_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
