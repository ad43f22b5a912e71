"""Shards: every id in exactly one, wherever and in whatever order files are met."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.runs import gnu_ids
from tests.writers import split_debug
from uploader.errors import UsageError
from uploader.model import SymbolId
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline.gather import Gathered, gather
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.shard import Shard
from uploader.progress import Silent
from uploader.sources.identify import identify


@given(gnu_ids, st.integers(1, 50))
def test_every_id_is_in_exactly_one_shard(symbol_id: SymbolId, total: int) -> None:
    holding = [number for number in range(1, total + 1) if Shard(number=number, total=total).holds(symbol_id)]
    assert len(holding) == 1


def test_shards_stay_what_they_are_from_version_to_version() -> None:
    """A pipeline's jobs may run different versions for a while."""
    ids = [SymbolId.parse(f"{number:040x}") for number in range(12)]
    assert [next(n for n in (1, 2, 3) if Shard(number=n, total=3).holds(one)) for one in ids] == [
        2,
        2,
        1,
        2,
        1,
        3,
        2,
        2,
        2,
        3,
        2,
        3,
    ]


def test_shards_are_of_like_size() -> None:
    ids = [SymbolId.parse(f"{number:040x}") for number in range(3000)]
    sizes = [sum(Shard(number=number, total=5).holds(one) for one in ids) for number in range(1, 6)]
    assert max(sizes) - min(sizes) < 120


@pytest.mark.parametrize("text", ["0/5", "6/5", "5", "a/b", "", "-1/3", "1/0", "1/99999", "٣/٥"])
def test_what_is_no_part_of_a_whole_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Shard.parse(text)


def test_a_shard_is_written_as_it_is_read() -> None:
    assert str(Shard.parse(" 2/5 ")) == "2/5"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six stripped binaries without a build-id, each with the debug file that its debuglink names, in a folder of their own."""
    folder = tmp_path_factory.mktemp("pairs")
    for number in range(6):
        # Folders of different lengths, so that the debug files differ in size, and with it in their file ids.
        whole = split_debug.build(folder / ("w" * 9 * (number + 1)) / "whole", variant=number, build_id="none")
        debug = split_debug.debug_file(whole, folder / "paired" / "symbols" / f"app{number}.debug")
        split_debug.stripped(whole, folder / "paired" / "bin" / f"app{number}", link=debug)
    return folder / "paired"


def shards(folder: Path, total: int) -> list[Gathered]:
    return [
        gather(
            Plan(
                paths=[folder],
                shard=Shard(number=number, total=total),
                conversion=Conversion(debug=DebugSources(system_dirs=())),
            ),
            progress=Silent(),
        )
        for number in range(1, total + 1)
    ]


@pytest.mark.parametrize("least", [2, 5])
def test_a_binary_and_its_debug_file_without_build_id_are_in_one_shard(pairs: Path, least: int) -> None:
    """Their ids hang on the folder that they were built in: as many shards as it takes for them not to share one."""
    mains = [pairs / "bin" / f"app{number}" for number in range(6)]
    total = next(total for total in range(least, 100) if len({shard_of(main, total) for main in mains}) > 1)
    found = shards(pairs, total)
    inputs = sorted(
        tuple(Path(file.path).name for file in artifact.inputs) for each in found for artifact in each.artifacts
    )
    assert inputs == [(f"app{number}", f"app{number}.debug") for number in range(6)]
    told = sorted(Path(outcome.path).name for each in found for outcome in each.outcomes)
    assert told == [f"app{number}.debug" for number in range(6)]
    for each in found:
        assert {outcome.reason for outcome in each.outcomes} == {
            f"part of {artifact.path}, which it is read with" for artifact in each.artifacts
        }
        assert each.elsewhere == 12 - 2 * len(each.artifacts)
    assert sum(bool(each.artifacts) for each in found) > 1


def test_a_binary_with_a_build_id_keeps_its_debug_file_without_one(tmp_path: Path) -> None:
    whole = split_debug.build(tmp_path / "whole" / "app")
    debug = split_debug.debug_file(whole, tmp_path / "in" / "symbols" / "app.debug")
    split_debug.run("objcopy", "--remove-section=.note.gnu.build-id", debug)
    app = split_debug.stripped(whole, tmp_path / "in" / "bin" / "app", link=debug)
    total = next(total for total in range(2, 100) if shard_of(app, total) != shard_of(debug, total))
    found = [artifact for each in shards(tmp_path / "in", total) for artifact in each.artifacts]
    assert [[Path(file.path).name for file in artifact.inputs] for artifact in found] == [["app", "app.debug"]]


def shard_of(path: Path, total: int) -> int:
    with ElfFile.open(path) as elf:
        primary = identify(elf).identity.primary
    return next(number for number in range(1, total + 1) if Shard(number=number, total=total).holds(primary))
