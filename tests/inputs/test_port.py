"""What every input keeps to; and one more kind of file that is looked into, made here, which its line in the registry alone makes known."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.writers.elf_writer import CODE, NOBITS, Note, Section, Symbol, elf
from uploader.destinations.folder import FolderDestination
from uploader.errors import InputError, MalformedElf, NotElf
from uploader.inputs import registry
from uploader.inputs.port import WITHIN, Found, PassedOver, Trouble
from uploader.inputs.walk import walk
from uploader.model import Decision, Source
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.file_bytes import OpenBytes
from uploader.objects.input import BytesInput, FileInput, Input
from uploader.pipeline.gather import gather
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.values import frozen

ID = [Note("GNU", 3, bytes(range(20)))]
TEXT = Section(".text", b"\x90" * 64, address=0x1000, flags=CODE)
NO_TEXT = Section(".text", address=0x1000, flags=CODE, type=NOBITS, size_bytes=64)
STRIPPED = elf([TEXT], notes=ID)
DEBUG = elf([NO_TEXT], notes=ID, symbols=[Symbol("answer", 0x1010, 8)])
ALONE = DebugSources(system_dirs=())

MAGIC = b"SHELF\n"


@frozen
class ShelfMember:
    """A file on a shelf: known by name, read out of the whole again wherever it is opened."""

    outer: Input
    name: str

    @property
    def path(self) -> str:
        return f"{self.outer.path}{WITHIN}{self.name}"

    @property
    def place(self) -> None:
        return None

    def key(self) -> tuple[object, str]:
        return self.outer.key(), self.name

    def open(self, *, mapped: bool = True) -> OpenBytes:
        data = next(data for name, data in shelved(self.outer) if name == self.name)
        if data is None:
            raise InputError("is torn", path=self.path)
        return BytesInput(data=data).open(mapped=mapped)


class Shelf:
    """Files one after the other, each behind its name and its size; a size of ``-`` stands for one that is torn."""

    def begins(self, head: bytes, /) -> bool:
        return head.startswith(MAGIC)

    def members(self, outer: Input, /) -> Iterator[Input | Trouble]:
        for name, data in shelved(outer):
            yield (
                ShelfMember(outer=outer, name=name)
                if data is not None
                else Trouble(path=f"{outer.path}{WITHIN}{name}", reason="is torn")
            )


def shelved(outer: Input) -> Iterator[tuple[str, bytes | None]]:
    file = outer.open(mapped=False)
    rest = bytes(file.data[len(MAGIC) :])
    file.close()
    while rest:
        head, newline, rest = rest.partition(b"\n")
        if not newline:
            raise InputError("is cut off", path=outer.path)
        name, _, size = head.decode().partition(" ")
        if size == "-":
            yield name, None
            continue
        yield name, rest[: int(size)]
        rest = rest[int(size) :]


def shelf(**files: bytes | None) -> bytes:
    return MAGIC + b"".join(
        f"{name} {'-' if data is None else len(data)}\n".encode() + (data or b"") for name, data in files.items()
    )


@pytest.fixture(autouse=True)
def _shelves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "OPENERS", (*registry.OPENERS, Shelf()))


@pytest.fixture(params=["file", "bytes", "member"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Input:
    """One input of each kind, with the same bytes."""
    (tmp_path / "app").write_bytes(STRIPPED)
    (tmp_path / "all.shelf").write_bytes(shelf(app=STRIPPED))
    made: dict[str, Input] = {
        "file": FileInput(path=str(tmp_path / "app")),
        "bytes": BytesInput(data=STRIPPED, path="app"),
        "member": ShelfMember(outer=FileInput(path=str(tmp_path / "all.shelf")), name="app"),
    }
    return made[request.param]


@pytest.mark.parametrize("mapped", [False, True])
def test_an_input_gives_its_bytes_as_often_as_it_is_asked(source: Input, mapped: bool) -> None:
    for _ in range(2):
        file = source.open(mapped=mapped)
        assert bytes(file.data[:]) == STRIPPED
        file.close()
    with ElfFile.of(source, mapped=mapped) as opened:
        assert (opened.path, opened.input) == (source.path, source)


def test_an_input_travels_to_another_process_and_is_the_same_file_there(source: Input) -> None:
    there = pickle.loads(pickle.dumps(source))
    assert (there, there.key(), there.path) == (source, source.key(), source.path)
    with ElfFile.of(there) as opened:
        assert opened.size_bytes == len(STRIPPED)


def test_an_input_has_a_place_only_where_its_path_can_be_opened(source: Input) -> None:
    assert source.place is None or Path(source.place).read_bytes() == STRIPPED


@pytest.mark.parametrize(
    ("data", "error", "reason"), [(b"\x7fEL", NotElf, "is not an ELF file"), (b"\x7fELF\2\1\1", MalformedElf, "")]
)
def test_what_is_wrong_with_a_file_names_it_once(data: bytes, error: type[InputError], reason: str) -> None:
    with pytest.raises(error) as raised:
        ElfFile.of(BytesInput(data=data, path="shelf!/x"))
    assert raised.value.message == f"shelf!/x {raised.value.reason}"
    assert reason in raised.value.reason
    assert "shelf" not in raised.value.reason


def test_files_within_a_file_are_found_wherever_the_walk_meets_it(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    one = tmp_path / "out" / "all.shelf"
    one.write_bytes(shelf(app=STRIPPED, notes=b"no ELF " * 20, nothing=b"", torn=None, test=STRIPPED))
    for paths in ([tmp_path], [one], [tmp_path, one], [one, one]):
        told = list(walk(paths, exclude=["test"]))
        assert [(each.path, type(each)) for each in told] == [
            (f"{one}!/app", Found),
            (f"{one}!/torn", Trouble),
        ], paths


def test_globs_speak_of_files_within_a_file_by_their_names_and_by_the_whole_path(tmp_path: Path) -> None:
    one = tmp_path / "all.shelf"
    one.write_bytes(shelf(app=STRIPPED, lib=STRIPPED))

    def names(include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
        told = walk([tmp_path], include=include, exclude=exclude)
        return [each.path.partition(WITHIN)[2] for each in told if isinstance(each, Found)]

    assert names() == ["app", "lib"]
    assert names(include=["lib"]) == ["lib"]
    assert names(exclude=["all.shelf!/lib"]) == ["app"]
    assert names(exclude=["*.shelf"]) == []
    assert [each.path for each in walk([one], exclude=["lib"])] == [f"{one}!/app"]


def test_a_file_that_is_cut_off_tells_what_it_has_and_why_no_more(tmp_path: Path) -> None:
    one = tmp_path / "all.shelf"
    one.write_bytes(shelf(app=STRIPPED) + b"rest 100")
    told = list(walk([tmp_path]))
    assert [type(each) for each in told] == [Found, Trouble]
    assert told[1] == Trouble(path=str(one), reason="is cut off")


def test_without_its_line_in_the_registry_it_is_no_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "all.shelf").write_bytes(shelf(app=STRIPPED))
    monkeypatch.setattr(registry, "OPENERS", ())
    assert list(walk([tmp_path])) == []


def test_binary_and_debug_file_pair_by_build_id_across_files_that_hold_them(tmp_path: Path) -> None:
    (tmp_path / "app.shelf").write_bytes(shelf(app=STRIPPED))
    (tmp_path / "debug.shelf").write_bytes(shelf(debug=DEBUG))
    gathered = gather(Plan(paths=[tmp_path], conversion=Conversion(debug=ALONE)), progress=Silent())
    (artifact,) = gathered.artifacts
    assert [Path(file.path).name for file in artifact.inputs] == ["app", "debug"]
    assert [outcome.reason for outcome in gathered.outcomes] == [
        f"part of {tmp_path}/app.shelf!/app, which it is read with"
    ]


def test_what_a_file_holds_is_converted_and_stored_under_a_name_that_people_understand(tmp_path: Path) -> None:
    (tmp_path / "all.shelf").write_bytes(shelf(app=STRIPPED, debug=DEBUG, copy=STRIPPED))
    finished = upload(
        Plan(paths=[tmp_path], jobs=1, conversion=Conversion(debug=ALONE)),
        FolderDestination(tmp_path / "store", "default"),
        progress=Silent(),
    )
    within = f"{tmp_path}/all.shelf!/"
    assert {outcome.path.removeprefix(within): outcome.decision for outcome in finished.outcomes} == {
        "app": Decision.STORED,
        "copy": Decision.SKIPPED,
        "debug": Decision.SKIPPED,
    }
    (stored,) = [outcome for outcome in finished.outcomes if outcome.decision is Decision.STORED]
    assert stored.figures is not None
    assert stored.figures.by_source == {Source.SYMTAB: 1}
    assert any(outcome.reason == f"the same bytes as {within}app" for outcome in finished.outcomes)


def test_nothing_is_looked_for_beside_a_file_that_lies_in_another(tmp_path: Path) -> None:
    (tmp_path / "all.shelf").write_bytes(shelf(app=STRIPPED))
    (tmp_path / "debug").mkdir()
    (tmp_path / "debug" / "app.debug").write_bytes(DEBUG)
    (artifact,) = gather(
        Plan(paths=[tmp_path / "all.shelf"], conversion=Conversion(debug=ALONE)), progress=Silent()
    ).artifacts
    assert artifact.search is not None
    assert artifact.search.looked_in == ()
    found = gather(
        Plan(
            paths=[tmp_path / "all.shelf"],
            conversion=Conversion(debug=DebugSources(debug_dirs=(str(tmp_path),), system_dirs=())),
        ),
        progress=Silent(),
    )
    assert [Path(file.path).name for file in found.artifacts[0].inputs] == ["app", "app.debug"]


def test_kinds_that_are_not_opened_are_still_told(tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_bytes(b"PK\x03\x04" + bytes(200))
    assert [type(each) for each in walk([tmp_path])] == [PassedOver]
