"""What the commands of a CI step build, read as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.propose.build_commands import WHEELS, Built, built_by_action, commands, strips
from uploader.propose.build_steps import of_script


def built_by(script: str) -> Built | None:
    build = of_script(script, Path("no-such-repository"))
    return None if build is None else build.built


@pytest.mark.parametrize(
    ("script", "name", "paths"),
    [
        ("cargo build --release", "Cargo", ("target/release",)),
        ("cargo +nightly auditable build -r --target x86_64-unknown-linux-musl", "Cargo", ("target/x86_64-unknown-linux-musl/release",)),
        ("cargo build --profile release-lto", "Cargo", ("target/release-lto",)),
        ("cargo build", "Cargo", ("target/debug",)),
        ("cross build --release --target ${{ matrix.target }}", "cross", ("target/${{ matrix.target }}/release",)),
        ("${{ env.CARGO }} build --release ${{ env.TARGET_FLAGS }}", "Cargo", ("target",)),
        ("$BUILD_CMD build --release --target=arm", "Cargo", ("target/arm/release",)),
        ("go build -ldflags='-X main.v=1' -o bin/tool ./cmd/tool", "Go", ("bin/tool",)),
        ("cmake -B out -S . && cmake --build out -j4", "CMake", ("out",)),
        ("mkdir b; cd b; cmake ..; make -j$(nproc)", "Make", ("b",)),
        ("cmake -S . -B build && cd build && make\ncd -\ncargo build", "Make and Cargo", ("build", "target/debug")),
        ("pushd a/b; make; popd; make -C c", "Make", ("a/b", "c")),
        ("cd x/$VERSION && make", "Make", ("x",)),
        ("cd x && cmake -B ../out && cmake --build ../out", "CMake", ("out",)),
        ("cmake --preset release && cmake --build --preset release", "CMake", ("build", "out")),
        ("cmake --preset release && cmake --build out/release", "CMake", ("out/release",)),
        ("cmake --preset release --build -B -x", "CMake", ("build", "out")),
        ("cargo build --release && cargo build", "Cargo", ("target/release",)),
        ("cmake --build out && cmake --build out --target test", "CMake", ("out",)),
        ("meson setup builddir --buildtype=debugoptimized\nmeson compile -C builddir", "Meson", ("builddir",)),
        ("cmake -G Ninja -B o\nninja -C o", "Ninja", ("o",)),
        ("bazelisk build --config=release //...", "Bazel", ("bazel-bin/",)),
        ("goreleaser release --clean", "GoReleaser", ("dist",)),
        ("python -m cibuildwheel --output-dir wheels", "cibuildwheel", ("wheels",)),
        ("pipx run cibuildwheel==3.0", "cibuildwheel", ("wheelhouse",)),
        ("maturin build --release -o dist", "maturin", ("dist",)),
        ("sudo CFLAGS=-g make -C src all", "Make", ("src",)),
        ("docker build -t app .", "Docker", ()),
        ("cargo build \\\n  --release", "Cargo", ("target/release",)),
    ],
)  # fmt: skip
def test_building_commands(script: str, name: str, paths: tuple[str, ...]) -> None:
    built = built_by(script)
    assert built is not None
    assert (built.name, built.paths) == (name, paths)


@pytest.mark.parametrize(
    "script",
    [
        "ninja -C out test", "meson compile -C out clang-format", "cmake --build out -t test", "make check", "make install",
        "cargo test --release", "cargo fmt", "go test ./...", "echo cargo build", "", "ls; # make",
    ],
)  # fmt: skip
def test_commands_that_build_nothing(script: str) -> None:
    assert built_by(script) is None


@pytest.mark.parametrize(
    ("script", "ships"),
    [
        ("cargo build", False),
        ("cargo build --release", True),
        ("cmake -B b -DCMAKE_BUILD_TYPE=Debug", False),
        ("cmake -B b -DCMAKE_BUILD_TYPE=RelWithDebInfo", True),
    ],
)
def test_what_ships_is_told_by_the_kind_of_build(script: str, ships: bool) -> None:
    built = built_by(script)
    assert built is not None
    assert built.ships is ships
    assert built.debug_build is not ships


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("cmake -B b -DCMAKE_BUILD_TYPE=Release", "RelWithDebInfo"),
        ("cargo build --release", "CARGO_PROFILE_RELEASE_DEBUG"),
        ("bazel build //...", "--strip=never"),
        ("meson setup b --buildtype=release\nmeson compile -C b", "debugoptimized"),
        ("cmake -G Ninja -B b -DCMAKE_BUILD_TYPE=Release\nninja -C b", "RelWithDebInfo"),
        ("cargo build --profile dist-lto", "CARGO_PROFILE_DIST_LTO_DEBUG"),
        ("cmake --build --preset release", "The preset says where"),
    ],
)
def test_what_takes_the_symbols_away_is_told(script: str, word: str) -> None:
    built = built_by(script)
    assert built is not None
    assert word in built.hint


@pytest.mark.parametrize("flags", ["-X main.name=x-s", "-s -w"])
def test_a_go_build_gets_no_advice(flags: str) -> None:
    built = built_by(f"go build -ldflags='{flags}' -o x .")
    assert built is not None
    assert built.hint == ""


def test_actions_of_others() -> None:
    wheels = built_by_action("pypa/cibuildwheel@v3", {})
    assert wheels is not None
    assert (wheels.paths, wheels.packed) == (("wheelhouse",), WHEELS)
    released = built_by_action("goreleaser/goreleaser-action@abc", {"args": "release"})
    assert released is not None
    assert (released.paths, released.ships) == (("dist",), True)
    crossed = built_by_action("houseabsolute/actions-rust-cross@v1", {"target": "arm", "args": "--release"})
    assert crossed is not None
    assert crossed.paths == ("target/arm/release",)
    assert built_by_action("actions/checkout@v5", {}) is None


def test_stripping_is_seen() -> None:
    assert strips("cmake --build out\nstrip out/tool")
    assert strips("aarch64-linux-gnu-strip -o a b")
    assert not strips("echo strip")


@given(st.text())
def test_any_text_is_answered(script: str) -> None:
    for words in commands(script):
        assert words
    built_by(script)


def test_an_expression_stays_one_word() -> None:
    assert commands("tool ${{ matrix.a || 'b c' }}/x") == [["tool", "${{ matrix.a || 'b c' }}/x"]]
