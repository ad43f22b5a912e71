"""Debug files: found wherever debuggers look, taken only where build-id or CRC proves them, and told why not otherwise."""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.writers import split_debug
from tests.writers.elf_writer import CODE, NT_GNU_BUILD_ID, Note, Section, Symbol, elf
from uploader.errors import UsageError
from uploader.inputs.companions import Companions, Search, names_of
from uploader.model import Source
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.input import FileInput
from uploader.sources.identify import Identified, identify

ID = bytes.fromhex("0123456789abcdef0123456789abcdef01234567")
OTHER_ID = bytes(20 * [7])
IN_TREE = Path("01") / "23456789abcdef0123456789abcdef01234567.debug"


def binary(*, build_id: bytes | None = ID, link: bytes = b"", crc32: int = 0, code: bytes = b"\xc3" * 64) -> bytes:
    sections = [Section(".text", code, flags=CODE, address=0x1000)]
    if link:
        padded = link + bytes(4 - len(link) % 4)
        sections.append(Section(".gnu_debuglink", padded + crc32.to_bytes(4, "little")))
    return elf(sections, notes=notes(build_id), dynamic_symbols=[Symbol("f", 0x1000, 4)])


def debug(
    *, build_id: bytes | None = ID, dwarf: bool = True, symtab: bool = True, size_bytes: int = 64, address: int = 0x1000
) -> bytes:
    sections = [Section(".text", type=8, flags=CODE, address=address, size_bytes=size_bytes)]
    if dwarf:
        sections.append(Section(".debug_info", b"\1" * 16))
    return elf(sections, notes=notes(build_id), symbols=[Symbol("f", 0x1000, 4)] if symtab else None)


def notes(build_id: bytes | None) -> list[Note]:
    return [] if build_id is None else [Note("GNU", NT_GNU_BUILD_ID, build_id)]


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def identified(path: Path) -> Identified:
    with ElfFile.open(path) as file:
        return identify(file)


def search(path: Path, **places: object) -> Search:
    places.setdefault("system_dirs", ())
    return Companions(**places).search(identified(path))  # type: ignore[arg-type]  # tests name the places as they need


def found(path: Path, **places: object) -> Path | None:
    result = search(path, **places).found
    return None if result is None else Path(result.path)


@pytest.mark.parametrize(
    "where",
    [
        "bin/app.dbg",
        "bin/.debug/app.dbg",
        "bin/app.debug",
        "bin/.debug/app.debug",
        "bin/.build-id/" + str(IN_TREE),
        "root/.build-id/" + str(IN_TREE),
        "root/usr/lib/debug/.build-id/" + str(IN_TREE),
        "symbols/.build-id/" + str(IN_TREE),
        "symbols/" + str(IN_TREE),
        "symbols/app.dbg",
        "symbols/{bin}/app.dbg",
        "symbols/deep/er/whatever",
        "system/.build-id/" + str(IN_TREE),
        "system/{bin}/app.dbg",
    ],
)
def test_every_place_where_debuggers_look(tmp_path: Path, where: str) -> None:
    app = put(tmp_path / "bin" / "app", binary(link=b"app.dbg"))
    for folder in ("symbols", "root", "system"):
        (tmp_path / folder).mkdir()
    companion = put(tmp_path / where.format(bin=str(app.parent).lstrip("/")), debug())
    places = {
        "debug_dirs": [str(tmp_path / "symbols")],
        "roots": [str(tmp_path / "root")],
        "system_dirs": [str(tmp_path / "system")],
    }
    result = search(app, **places)
    assert result.found is not None
    assert (Path(result.found.path), result.rejected) == (companion, ())
    assert Source.DWARF in result.found.sources


def test_where_nothing_is_found_the_places_are_told(tmp_path: Path) -> None:
    app = put(tmp_path / "bin" / "app", binary())
    result = search(app, system_dirs=["/usr/lib/debug"])
    folder = str(app.parent)
    assert result == Search(
        looked_in=(
            f"{folder}/.build-id", "/usr/lib/debug/.build-id", folder, f"{folder}/.debug", f"/usr/lib/debug{folder}"
        )
    )  # fmt: skip


def test_a_name_that_fits_is_not_enough(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary(link=b"app.dbg"))
    put(tmp_path / "app.dbg", debug(build_id=OTHER_ID))
    result = search(app)
    assert result.found is None
    (rejected,) = result.rejected
    assert rejected.path == str(tmp_path / "app.dbg")
    assert rejected.reason == f"its build-id is {OTHER_ID.hex()}, the binary's {ID.hex()}"


def test_the_crc_does_not_overrule_build_ids(tmp_path: Path) -> None:
    companion = debug(build_id=OTHER_ID)
    app = put(tmp_path / "app", binary(link=b"app.dbg", crc32=zlib.crc32(companion)))
    put(tmp_path / "app.dbg", companion)
    assert found(app) is None


def test_a_build_id_that_fits_needs_no_crc(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary(link=b"app.dbg", crc32=1))
    assert found(app) is None
    put(tmp_path / "app.dbg", debug())
    assert found(app) == tmp_path / "app.dbg"


@pytest.mark.parametrize(("of_binary", "of_debug"), [(None, None), (ID, None), (None, ID)])
def test_without_two_build_ids_the_crc_decides(tmp_path: Path, of_binary: bytes | None, of_debug: bytes | None) -> None:
    companion = debug(build_id=of_debug)
    app = put(tmp_path / "app", binary(build_id=of_binary, link=b"app.dbg", crc32=zlib.crc32(companion)))
    put(tmp_path / "app.dbg", companion)
    assert found(app) == tmp_path / "app.dbg"

    put(tmp_path / "app.dbg", companion + b"\0")
    (rejected,) = search(app).rejected
    assert "no build-id" in rejected.reason
    assert f"its CRC is {zlib.crc32(companion + bytes(1)):08x}" in rejected.reason
    assert f".gnu_debuglink says {zlib.crc32(companion):08x}" in rejected.reason


def test_without_build_id_and_debuglink_nothing_tells_that_files_belong_together(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary(build_id=None))
    put(tmp_path / "app.debug", debug(build_id=None))
    (rejected,) = search(app).rejected
    assert rejected.reason == "the binary has no build-id and no .gnu_debuglink to tell that they belong together"


def test_without_build_ids_files_in_debug_folders_are_found_by_name_and_crc(tmp_path: Path) -> None:
    companion = debug(build_id=None)
    app = put(tmp_path / "bin" / "app", binary(build_id=None, link=b"app.dbg", crc32=zlib.crc32(companion)))
    put(tmp_path / "symbols" / "one" / "app.dbg", debug(build_id=None, size_bytes=128))
    right = put(tmp_path / "symbols" / "two" / "app.dbg", companion)
    assert found(app, debug_dirs=[str(tmp_path / "symbols")]) == right


def test_files_that_the_walk_met_are_looked_at_by_name(tmp_path: Path) -> None:
    companion = debug(build_id=None)
    app = put(tmp_path / "bin" / "app", binary(build_id=None, link=b"app.dbg", crc32=zlib.crc32(companion)))
    elsewhere = put(tmp_path / "elsewhere" / "app.dbg", companion)
    assert found(app, met={"app.dbg": [FileInput(path=str(elsewhere))]}) == elsewhere


@pytest.mark.parametrize("link", [b"../outside", b"/etc/outside", b"..", b"a/b"])
def test_a_debuglink_leads_out_of_no_folder(tmp_path: Path, link: bytes) -> None:
    app = put(tmp_path / "bin" / "app", binary(link=link))
    put(tmp_path / "outside", debug())
    put(tmp_path / "bin" / "a" / "b", debug())
    assert found(app) is None


@pytest.mark.parametrize("link", [b"..", b".", b"../f", b"/etc/passwd", b"a/b"])
def test_a_debuglink_that_is_no_base_name_names_nothing(tmp_path: Path, link: bytes) -> None:
    path = put(tmp_path / "app", binary(build_id=None, link=link))
    assert names_of(identified(path)) == ("app.debug", "app")
    assert search(path).rejected == ()


def test_one_id_with_different_code_is_no_pair(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary())
    put(tmp_path / "app.debug", debug(size_bytes=128))
    (rejected,) = search(app).rejected
    assert rejected.reason == "it has the id of the binary, but different code"


def test_a_binary_that_prelink_moved_is_told_as_such(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary())
    put(tmp_path / "app.debug", debug(address=0x3000))
    (rejected,) = search(app).rejected
    assert "moved by prelink" in rejected.reason
    assert "prelink -u" in rejected.reason


def test_a_file_that_adds_nothing_is_not_taken(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary())
    put(tmp_path / "app.debug", debug(dwarf=False, symtab=False))
    (rejected,) = search(app).rejected
    assert rejected.reason == "holds nothing that the binary lacks"


def test_a_file_with_symbols_only_gives_way_to_one_with_dwarf(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary(link=b"app.dbg"))
    poor = put(tmp_path / "app.dbg", debug(dwarf=False))
    assert found(app) == poor
    rich = put(tmp_path / ".debug" / "app.dbg", debug())
    assert found(app) == rich


def test_the_binary_is_not_its_own_companion(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary(link=b"app"))
    (tmp_path / "app.debug").symlink_to("app")
    os.link(app, tmp_path / "linked")
    assert search(app) == Search(looked_in=search(app).looked_in)


def test_what_can_not_be_read_is_told_and_passed_over(tmp_path: Path) -> None:
    app = put(tmp_path / "app", binary(link=b"app.dbg"))
    put(tmp_path / "app.dbg", b"not an ELF file")
    put(tmp_path / ".debug" / "app.dbg", debug()[:100])
    os.mkfifo(tmp_path / "app.debug")
    (tmp_path / ".debug" / "app.debug").mkdir()
    (tmp_path / "symbols").mkdir()
    (tmp_path / "symbols" / "app.dbg").symlink_to("app.dbg")
    right = put(tmp_path / "symbols" / "app.debug", debug())
    result = search(app, debug_dirs=[str(tmp_path / "symbols")])
    assert result.found is not None
    assert result.found.path == str(right)
    reasons = {Path(one.path).relative_to(tmp_path).as_posix(): one.reason for one in result.rejected}
    assert reasons.keys() == {"app.dbg", ".debug/app.dbg", "app.debug", ".debug/app.debug"}
    assert reasons["app.dbg"] == "is not an ELF file"
    assert "regular" in reasons["app.debug"]
    assert not any(str(tmp_path) in reason for reason in reasons.values()), "the path stands beside it"


def test_a_link_to_the_binary_is_followed_to_where_it_lies(tmp_path: Path) -> None:
    app = put(tmp_path / "versions" / "1.2" / "app", binary())
    companion = put(tmp_path / "versions" / "1.2" / "app.debug", debug())
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "app").symlink_to(app)
    assert found(tmp_path / "bin" / "app") == companion


def test_a_debug_folder_that_is_not_there_is_an_error_of_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="symbols is not a folder"):
        Companions(debug_dirs=[str(tmp_path / "symbols")])


@pytest.mark.parametrize("tool", ["objcopy", "eu-strip", "llvm-objcopy-22"])
@pytest.mark.parametrize("build_id", ["sha1", "none"])
def test_what_real_tools_split_is_paired(tmp_path: Path, peer: Callable[[str], str], tool: str, build_id: str) -> None:
    whole = split_debug.build(tmp_path / "whole", build_id=build_id)
    app, companion = tmp_path / "app", tmp_path / "app.debug"
    if tool == "eu-strip":
        split_debug.run(peer(tool), "-f", "app.debug", "-o", "app", "whole", cwd=tmp_path)
    else:
        split_debug.run(peer(tool), "--only-keep-debug", "whole", "app.debug", cwd=tmp_path)
        shutil.copy(whole, app)
        split_debug.run(tool, "--strip-all", "--add-gnu-debuglink=app.debug", "app", cwd=tmp_path)
    assert found(app) == companion
    split_debug.debug_file(split_debug.build(tmp_path / "other", variant=2, build_id=build_id), companion)
    (rejected,) = search(app).rejected
    assert ("its build-id is" if build_id == "sha1" else "its CRC is") in rejected.reason
