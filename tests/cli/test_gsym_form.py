"""Which GSYM version is written, and whether all names of a function are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Symup, compile_c
from uploader.gsym.decode import decode
from uploader.gsym.lookup import Gsym

SOURCE = """
__attribute__((noinline)) int strong(int x) { return x * 3 + 1; }
int weak_name(int) __attribute__((weak, alias("strong")));
int _ZN5shape4areaEi(int) __attribute__((alias("strong")));
int main(int count, char **words) { (void)words; return strong(count) + weak_name(count); }
"""


@pytest.fixture(scope="module")
def aliased(cc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a function of three names."""
    return compile_c(cc, SOURCE, tmp_path_factory.mktemp("aliased") / "aliased")


@pytest.fixture(scope="module")
def long_id(cc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose build-id has 32 bytes, for which version 1 has no room."""
    return compile_c(cc, SOURCE, tmp_path_factory.mktemp("long") / "long", "-Wl,--build-id=0x" + "ab" * 32)


def start_of(path: Path, name: bytes) -> int:
    table = decode(path.read_bytes())[1]
    return next(start for start, number in zip(table.start, table.name, strict=True) if table.names[number] == name)


def test_version_1_is_usual_and_version_2_is_had_for_the_asking(symup: Symup, aliased: Path, tmp_path: Path) -> None:
    runs = {
        "usual": ((), "", 1),
        "asked": (("--gsym-version", 2), "", 2),
        "environment": ((), "2", 2),
        "flag first": (("--gsym-version", 1), "2", 1),
    }
    for name, (flags, environment, version) in runs.items():
        path = tmp_path / f"{name}.gsym"
        assert symup("convert", aliased, "-o", path, *flags, SYMUP_GSYM_VERSION=environment).code == 0
        assert decode(path.read_bytes())[0].version == version, name
        assert f"GSYM version {version}," in symup("inspect", path).out


def test_what_version_1_cannot_hold_is_version_2_by_itself(symup: Symup, long_id: Path, tmp_path: Path) -> None:
    assert symup("convert", long_id, "-o", tmp_path / "long.gsym").code == 0
    header, _ = decode((tmp_path / "long.gsym").read_bytes())
    assert (header.version, header.uuid) == (2, b"\xab" * 32)


def test_version_1_is_refused_by_name_where_it_cannot_hold_the_file(
    symup: Symup, long_id: Path, tmp_path: Path
) -> None:
    ran = symup("convert", long_id, "-o", tmp_path / "long.gsym", "--gsym-version", 1)
    assert ran.code == 2
    assert "no room for a UUID over 20 bytes" in ran.err and "Choose GSYM version 2" in ran.err
    assert not (tmp_path / "long.gsym").exists()


@pytest.mark.parametrize("version", ["3", "0", "two"])
def test_there_is_no_other_version(symup: Symup, aliased: Path, tmp_path: Path, version: str) -> None:
    ran = symup("convert", aliased, "-o", tmp_path / "out.gsym", "--gsym-version", version)
    assert ran.code == 2
    assert "--gsym-version" in ran.err


@pytest.mark.parametrize("version", [1, 2])
def test_kept_aliases_are_told_on_request(symup: Symup, aliased: Path, tmp_path: Path, version: int) -> None:
    path = tmp_path / "kept.gsym"
    assert symup("convert", aliased, "-o", path, "--keep-aliases", "--gsym-version", version).code == 0
    address = hex(start_of(path, b"strong"))
    plain = symup("lookup", path, address).out
    assert "weak_name" not in plain
    told = symup("lookup", path, address, "--aliases").out
    assert told.startswith(plain)
    assert told.removeprefix(plain).split() == ["also", "shape::area(int)", "also", "weak_name"]
    (answer,) = symup("lookup", path, address, "--aliases", "--json").document["addresses"]
    assert answer["aliases"] == [
        {"function": "shape::area(int)", "symbol": "_ZN5shape4areaEi"},
        {"function": "weak_name", "symbol": "weak_name"},
    ]
    (answer,) = symup("lookup", path, address, "--json").document["addresses"]
    assert "aliases" not in answer


def test_without_the_flag_there_are_none(symup: Symup, aliased: Path, tmp_path: Path) -> None:
    path = tmp_path / "usual.gsym"
    assert symup("convert", aliased, "-o", path).code == 0
    assert Gsym(path.read_bytes()).aliases(start_of(path, b"strong")) == []
    assert b"weak_name" not in path.read_bytes()


def test_a_store_takes_both_forms(symup: Symup, aliased: Path, long_id: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert symup("upload", aliased, long_id, "--to", store, "--keep-aliases", "--gsym-version", 2).code == 0
    path = tmp_path / "kept.gsym"
    assert symup("convert", aliased, "-o", path).code == 0
    address = hex(start_of(path, b"strong"))
    assert "also weak_name" in symup("lookup", aliased, address, "--aliases", "--from", store).out
    assert "also weak_name" in symup("lookup", long_id, address, "--aliases", "--from", store).out


def test_a_project_file_may_ask_for_aliases(symup: Symup, aliased: Path, tmp_path: Path) -> None:
    (symup.home / "symup.toml").write_text("keep_aliases = true\ngsym_version = 2\n")
    path = tmp_path / "kept.gsym"
    assert symup("convert", aliased, "-o", path).code == 0
    assert Gsym(path.read_bytes()).aliases(start_of(path, b"strong")) == [b"_ZN5shape4areaEi", b"weak_name"]
