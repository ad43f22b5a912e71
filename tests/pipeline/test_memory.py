"""How much memory there is, by the machine and by the container, and how much a file is expected to take of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.writers.elf_writer import CODE, Note, Section, Symbol, elf
from uploader.model import Decision
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline import memory
from uploader.pipeline.convert import convert
from uploader.pipeline.memory import (
    BASE_BYTES,
    FACTOR,
    LEAST_BYTES,
    available_bytes,
    bounded_schedule,
    default_bytes,
    peak_bytes,
)
from uploader.pipeline.plan import Plan
from uploader.progress import Silent
from uploader.sources.identify import identify

GB = 1 << 30


class Notes(Silent):
    """Keeps what a person would read."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def system(root: Path, *, available: int | None, groups: str = "", **files: str) -> str:
    """A ``/proc`` and a ``/sys`` that tell this; a file's name has ``__`` for ``/``."""
    texts = {"proc__self__cgroup": groups} | files
    if available is not None:
        texts["proc__meminfo"] = f"MemTotal:  99999999 kB\nMemAvailable:   {available // 1024} kB\n"
    for name, text in texts.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


def v2(folder: str, limit: str, used: int, inactive: int = 0) -> dict[str, str]:
    """The files of a control group of version 2."""
    base = f"sys__fs__cgroup{folder}__memory."
    return {
        f"{base}max": limit + "\n",
        f"{base}current": f"{used}\n",
        f"{base}stat": f"anon 5\ninactive_file {inactive}\n",
    }


def v1(folder: str, limit: int, used: int, inactive: int = 0) -> dict[str, str]:
    """The files of a memory control group of version 1."""
    base = f"sys__fs__cgroup__memory{folder}__memory."
    return {
        f"{base}limit_in_bytes": f"{limit}\n",
        f"{base}usage_in_bytes": f"{used}\n",
        f"{base}stat": f"cache 7\ntotal_inactive_file {inactive}\n",
    }


def test_without_a_container_it_is_what_the_machine_has_free(tmp_path: Path) -> None:
    assert available_bytes(system(tmp_path, available=6 * GB, groups="0::/\n")) == 6 * GB


def test_where_the_system_tells_nothing_it_is_unknown(tmp_path: Path) -> None:
    assert available_bytes(str(tmp_path)) is None


def test_a_containers_limit_counts_less_what_is_used_but_for_the_page_cache(tmp_path: Path) -> None:
    root = system(tmp_path, available=64 * GB, groups="0::/\n", **v2("", str(4 * GB), 2 * GB, inactive=GB))
    assert available_bytes(root) == 3 * GB


def test_the_narrowest_group_on_the_way_up_counts(tmp_path: Path) -> None:
    groups = v2("__ci", str(2 * GB), 0) | v2("__ci__job", "max", 0)
    assert available_bytes(system(tmp_path, available=64 * GB, groups="0::/ci/job\n", **groups)) == 2 * GB


def test_limits_of_version_1_count_too(tmp_path: Path) -> None:
    groups = "9:name=systemd:/\n4:cpu,memory:/docker/abc\n0::/\n"
    # In the container its own group is the root, whatever path the machine knows it by.
    root = system(tmp_path, available=64 * GB, groups=groups, **v1("", 3 * GB, GB, inactive=GB // 2))
    assert available_bytes(root) == 5 * GB // 2


def test_the_unlimited_of_version_1_is_no_limit(tmp_path: Path) -> None:
    root = system(tmp_path, available=GB, groups="4:memory:/\n", **v1("", 9223372036854771712, 5 * GB))
    assert available_bytes(root) == GB


def test_a_group_that_is_full_leaves_nothing(tmp_path: Path) -> None:
    assert available_bytes(system(tmp_path, available=GB, groups="0::/\n", **v2("", str(GB), 2 * GB))) == 0


def test_by_itself_a_run_takes_a_share_of_it_and_never_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for available, bound in ((4 * GB, 3 * GB), (0, LEAST_BYTES), (None, None)):
        monkeypatch.setattr(memory, "available_bytes", lambda given=available: given)
        assert default_bytes() == bound


def inflated_size_bytes(data: bytes) -> int:
    with ElfFile.from_bytes(data) as file:
        return identify(file).inflated_size_bytes


def test_a_file_takes_a_multiple_of_what_it_declares_to_inflate_to() -> None:
    packed = elf([Section(".text", b"\xc3" * 999, flags=CODE), Section(".debug_info", bytes(100_000), compress="zlib")])
    assert inflated_size_bytes(packed) == 100_000
    inputs = [SimpleNamespace(inflated_size_bytes=100_000), SimpleNamespace(inflated_size_bytes=5)]
    assert peak_bytes(cast(Any, SimpleNamespace(inputs=inputs))) == BASE_BYTES + FACTOR * 100_005


def test_a_claim_that_can_not_be_true_counts_as_its_bytes() -> None:
    lie = Section(".debug_info", b"x" * 100, compress="zlib", declared_size_bytes=1 << 40)
    assert inflated_size_bytes(elf([lie])) < 1000


def artifact(path: str, size_bytes: int) -> Any:
    inputs = [SimpleNamespace(inflated_size_bytes=size_bytes)]
    return cast(Any, SimpleNamespace(path=path, size_bytes=size_bytes, inputs=inputs))


def test_a_note_tells_of_what_does_not_fit_even_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Notes()
    files = [artifact("large", 3 * GB), artifact("small", 1000)]
    schedule = bounded_schedule(files, jobs=2, max_memory_bytes=2 * GB, progress=notes)
    (note,) = notes.notes
    assert note.startswith("large may take 6.5 GB of memory, more than the 2.1 GB allowed")
    first = schedule.take_now()
    assert first is files[0]
    assert schedule.take_now() is None

    monkeypatch.setattr(memory, "default_bytes", lambda: None)
    assert [bounded_schedule(files, jobs=2, max_memory_bytes=None, progress=notes).take_now() for _ in files]
    assert len(notes.notes) == 1


def test_a_run_within_its_bound_converts_all_one_after_another(tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    for number in range(6):
        (build / f"binary-{number}").write_bytes(
            elf(
                [Section(".text", b"\xc3" * 64, flags=CODE, address=0x1000)],
                symbols=[Symbol("work", 0x1000, 16)],
                notes=[Note("GNU", 3, bytes([number]) * 20)],
            )
        )
    notes = Notes()
    outcomes = {}
    for bound in (None, BASE_BYTES // 2):
        finished = convert(Plan(paths=[build], jobs=4, max_memory_bytes=bound), tmp_path / "out", progress=notes)
        outcomes[bound] = [one.decision for one in finished.outcomes]
    assert outcomes[None] == outcomes[BASE_BYTES // 2] == [Decision.CONVERTED] * 6
    assert len(notes.notes) == 4
    assert notes.notes[-1] == "and so are 3 more files"
