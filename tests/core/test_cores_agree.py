"""The compiled core and the plain one are the same program: the same input gives the same bytes on both."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from uploader.gsym.decode import decode

import cores

COMPILED_EXPECTED = os.environ.get("SYMUP_COMPILE") == "1"

RECIPES = (
    "gcc-dwarf4",
    "gcc-dwarf5-O0",
    "gcc-lto",
    "gcc-sections",
    "gcc-stripped",
    "gcc-debug-file",
    "gcc-m32-dwarf4",
    "gcc-m32-dwarf5",
    "clang-dwarf4",
    "clang-lld-sections",
    "g++-dwarf4",
    "g++-zlib",
    "g++-zstd",
    "clang++-dwarf5",
    "rustc-debug",
)


@pytest.fixture(scope="module")
def compiled_core(missing: Callable[[str], None]) -> cores.Core:
    """symup as it is installed here, if its whole core is compiled."""
    core = cores.installed()
    if uncompiled := core.uncompiled_modules():
        reason = f"{len(uncompiled)} modules of the installed core are not compiled, {uncompiled[0]} first"
        if COMPILED_EXPECTED:
            pytest.fail(f"{reason}, and SYMUP_COMPILE=1 asks for a compiled core", pytrace=False)
        missing(reason)
    return core


@pytest.fixture(scope="module")
def plain_core(tmp_path_factory: pytest.TempPathFactory) -> cores.Core:
    """symup as plain Python, from a copy of its sources alone."""
    return cores.plain(tmp_path_factory.mktemp("plain"))


def test_the_copy_runs_nothing_compiled(plain_core: cores.Core) -> None:
    modules = plain_core.uncompiled_modules()
    assert "uploader.gsym.line_table_encoder" in modules
    assert any(module.startswith("uploader.sources.dwarf.") for module in modules)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("recipe", RECIPES)
def test_both_cores_give_the_same_bytes(
    recipe: str,
    compiled_core: cores.Core,
    plain_core: cores.Core,
    built_binary: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    assert_same_bytes(built_binary(recipe), compiled_core, plain_core, tmp_path)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", ["1", "2"])
def test_both_cores_keep_the_same_aliases(
    version: str,
    compiled_core: cores.Core,
    plain_core: cores.Core,
    built_binary: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    """Of a C++ program, whose constructors have two names each."""
    flags = ("--keep-aliases", "--gsym-version", version)
    table = decode(assert_same_bytes(built_binary("g++-dwarf4"), compiled_core, plain_core, tmp_path, *flags))[1]
    assert len(table.alias_name)


def assert_same_bytes(
    binary: Path, compiled_core: cores.Core, plain_core: cores.Core, folder: Path, *flags: str
) -> bytes:
    """Converts a binary on both cores, and gives what both wrote."""
    results = {}
    for core in (compiled_core, plain_core):
        out = folder / f"{core.name}.gsym"
        done = core.run("convert", str(binary), "-o", str(out), *flags)
        assert done.returncode == 0, f"{core.name}: {done.stderr}"
        results[core.name] = out.read_bytes()
    compiled, plain = results.values()
    assert len(compiled) > 200
    assert compiled == plain
    return compiled
