import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from tests.store.dying_os import DyingOs, Killed
from uploader.errors import Refused, UsageError
from uploader.store import folder as folder_module
from uploader.store.blobs import Blob
from uploader.store.folder import FolderBlobs

KEY = "p/chunks/ab/one"


@pytest.fixture
def blobs(tmp_path: Path) -> FolderBlobs:
    return FolderBlobs(tmp_path / "store")


def got(blobs: FolderBlobs, key: str) -> Blob:
    blob = blobs.get(key)
    assert blob is not None
    return blob


def listed(blobs: FolderBlobs, prefix: str = "p/") -> list[str]:
    return [info.key for info in blobs.list(prefix)]


def test_what_was_put_can_be_got(blobs: FolderBlobs) -> None:
    assert blobs.get(KEY) is None
    assert blobs.size_bytes(KEY) is None
    assert blobs.put_if_absent(KEY, b"data")
    assert got(blobs, KEY).data == b"data"
    assert blobs.size_bytes(KEY) == 4


def test_put_if_absent_leaves_what_is_there(blobs: FolderBlobs) -> None:
    blobs.put_if_absent(KEY, b"first")
    assert not blobs.put_if_absent(KEY, b"second")
    assert got(blobs, KEY).data == b"first"


def test_swap_replaces_only_what_the_tag_names(blobs: FolderBlobs) -> None:
    assert blobs.swap(KEY, b"one", tag=None)
    assert not blobs.swap(KEY, b"two", tag=None)
    tag = got(blobs, KEY).tag
    assert blobs.swap(KEY, b"two", tag=tag)
    assert not blobs.swap(KEY, b"three", tag=tag)
    assert got(blobs, KEY).data == b"two"


def test_replace_stores_whatever_is_there(blobs: FolderBlobs) -> None:
    for data in (b"one", b"two", b"two"):
        blobs.replace(KEY, data)
        assert got(blobs, KEY).data == data


def test_a_folder_has_no_size_and_a_scratch_file_no_name(blobs: FolderBlobs) -> None:
    blobs.put_if_absent(KEY, b"data")
    assert blobs.size_bytes(KEY.rpartition("/")[0]) is None
    with blobs.scratch() as file:
        file.write(b"x")
        assert os.listdir(blobs.root / ".tmp") == []
        assert os.fstat(file.fileno()).st_dev == blobs.root.stat().st_dev


def test_a_folder_is_made_only_by_writing(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "store")
    assert blobs.get(KEY) is None
    assert blobs.size_bytes(KEY) is None
    assert listed(blobs) == []
    assert blobs.sweep(unmodified_since=time.time()) == 0
    blobs.delete([KEY])
    assert not (tmp_path / "store").exists()


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError):
        FolderBlobs(tmp_path / "file")


@pytest.mark.parametrize(
    "key", ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/.tmp", "a/", ".locks/00", "a\\b", "a\0b"]
)
def test_no_key_leaves_the_folder(blobs: FolderBlobs, key: str) -> None:
    for act in (
        blobs.get,
        blobs.size_bytes,
        lambda key: blobs.delete([key]),
        lambda key: blobs.put_if_absent(key, b""),
    ):
        with pytest.raises(ValueError, match="not a key"):
            act(key)


@pytest.mark.skipif(os.name != "posix", reason="needs links")
def test_a_link_leads_nobody_out_of_the_folder(blobs: FolderBlobs, tmp_path: Path) -> None:
    outside, path = tmp_path / "outside", blobs.root / KEY
    outside.write_bytes(b"theirs")
    os.utime(outside, (1000, 1000))
    path.parent.mkdir(parents=True)
    path.symlink_to(outside)
    assert blobs.size_bytes(KEY) == 0
    assert blobs.put_if_absent(KEY, b"ours")
    assert (path.is_symlink(), path.read_bytes()) == (False, b"ours")
    assert (outside.read_bytes(), outside.stat().st_mtime) == (b"theirs", 1000)


def test_list_names_everything_in_order_and_no_leftovers(blobs: FolderBlobs) -> None:
    for key in ("p/chunks/bb/2", "p/chunks/aa/1", "p/artifacts/x", "q/chunks/aa/1"):
        blobs.put_if_absent(key, b"12345")
    (blobs.root / ".tmp" / "left").write_bytes(b"")
    assert listed(blobs, "p/chunks/") == ["p/chunks/aa/1", "p/chunks/bb/2"]
    assert next(blobs.list("p/chunks/")).size_bytes == 5
    assert listed(blobs, "none/") == []


def test_a_full_or_forbidden_disk_is_an_error_with_a_remedy(blobs: FolderBlobs) -> None:
    blobs.put_if_absent("p/file", b"")
    with pytest.raises(Refused) as caught:
        blobs.put_if_absent("p/file/below", b"")
    assert caught.value.remedy


def test_a_store_that_was_deleted_meanwhile_is_made_again(blobs: FolderBlobs) -> None:
    import shutil

    blobs.put_if_absent(KEY, b"data")
    shutil.rmtree(blobs.root)
    assert blobs.put_if_absent(KEY, b"again")
    assert got(blobs, KEY).data == b"again"


def steps_of(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> int:
    counting = DyingOs()
    monkeypatch.setattr(folder_module, "os", counting)
    act()
    monkeypatch.setattr(folder_module, "os", os)
    return counting.steps


@pytest.mark.parametrize("operation", ["put_if_absent", "swap"])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_content(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, operation: str
) -> None:
    def write(blobs: FolderBlobs) -> bool:
        if operation == "swap":
            return blobs.swap(KEY, b"new content", tag=got(blobs, KEY).tag)
        return blobs.put_if_absent(KEY, b"new content")

    def prepared(name: str) -> FolderBlobs:
        blobs = FolderBlobs(tmp_path / name)
        if operation == "swap":
            blobs.put_if_absent(KEY, b"old")
        return FolderBlobs(tmp_path / name)

    counted = prepared("count")
    steps = steps_of(monkeypatch, lambda: write(counted))
    assert steps >= 5
    before = b"old" if operation == "swap" else None
    for dies_at in range(steps):
        blobs = prepared(f"run{dies_at}")
        monkeypatch.setattr(folder_module, "os", DyingOs(dies_at))
        with pytest.raises(Killed):
            write(blobs)
        monkeypatch.setattr(folder_module, "os", os)
        survivor = FolderBlobs(tmp_path / f"run{dies_at}")
        found = survivor.get(KEY)
        assert (None if found is None else found.data) in (before, b"new content")
        assert listed(survivor) in ([], [KEY])
        write(survivor)
        assert got(survivor, KEY).data == b"new content"
        survivor.sweep(unmodified_since=time.time() + 60)
        assert os.listdir(survivor.root / ".tmp") == []


WRITES: dict[str, Callable[[FolderBlobs], object]] = {
    "put_if_absent": lambda blobs: blobs.put_if_absent(KEY, b"data"),
    "swap": lambda blobs: blobs.swap(KEY, b"data", tag=None),
    "replace": lambda blobs: blobs.replace(KEY, b"data"),
}


def changes_by(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[tuple[str, str]]:
    """The calls that change the file system, in order, each with what it is about."""
    calls: list[tuple[str, str]] = []

    class Watching(DyingOs):
        def __getattr__(self, name: str) -> Any:
            real = super().__getattr__(name)
            if name not in self.CHANGING:
                return real

            def noted(*arguments: Any, **keywords: Any) -> Any:
                result = real(*arguments, **keywords)
                what = os.readlink(f"/proc/self/fd/{arguments[0]}") if name == "fsync" else str(arguments[0])
                calls.append((name, what))
                return result

            return noted

    monkeypatch.setattr(folder_module, "os", Watching())
    act()
    monkeypatch.setattr(folder_module, "os", os)
    return calls


@pytest.mark.parametrize("operation", WRITES)
def test_content_is_synced_before_its_name_and_that_before_it_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, operation: str
) -> None:
    root = tmp_path / "store"
    calls = changes_by(monkeypatch, lambda: WRITES[operation](FolderBlobs(root)))
    temporary = next(what for name, what in calls if name == "replace")
    replaced = calls.index(("replace", temporary))
    assert ("fsync", temporary) in calls[:replaced]
    assert ("fsync", str(root / "p/chunks/ab")) in calls[replaced:]
    for made in (root / "p", root / "p/chunks", root / "p/chunks/ab"):
        assert ("fsync", str(made.parent)) in calls[calls.index(("mkdir", str(made))) :]


@pytest.mark.parametrize("operation", WRITES)
def test_folders_that_another_made_and_did_not_live_to_sync_are_synced_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, operation: str
) -> None:
    root = tmp_path / "store"
    (root / KEY).parent.mkdir(parents=True)
    blobs = FolderBlobs(root)
    calls = changes_by(monkeypatch, lambda: WRITES[operation](blobs))
    for parent in (tmp_path, root, root / "p", root / "p/chunks"):
        assert ("fsync", str(parent)) in calls[: calls.index(("fsync", str(root / "p/chunks/ab")))]
    again = changes_by(monkeypatch, lambda: blobs.replace(KEY, b"other"))
    assert not {("fsync", str(root / "p")), ("fsync", str(root / "p/chunks"))} & set(again)


def test_of_many_threads_one_puts(blobs: FolderBlobs) -> None:
    barrier = threading.Barrier(8)

    def put(number: int) -> bool:
        barrier.wait()
        return blobs.put_if_absent(KEY, b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(put, range(8)))
    assert results.count(True) == 1
    assert got(blobs, KEY).data == b"%d" % results.index(True)


def count_up(root: Path, times: int) -> None:
    blobs = FolderBlobs(root)
    for _ in range(times):
        while True:
            blob = got(blobs, "p/counter")
            if blobs.swap("p/counter", b"%d" % (int(blob.data) + 1), tag=blob.tag):
                break


def test_swaps_of_several_processes_lose_nothing(blobs: FolderBlobs) -> None:
    blobs.put_if_absent("p/counter", b"0")
    context = get_context("spawn")
    processes = [context.Process(target=count_up, args=(blobs.root, 25)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert got(blobs, "p/counter").data == b"75"


def test_a_pipe_that_takes_a_files_place_while_it_is_opened_is_damage_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blobs = FolderBlobs(tmp_path / "store")
    assert blobs.put_if_absent("p/a", b"data")
    place = tmp_path / "store" / "p" / "a"
    looked = folder_module._status

    def look_and_lose_the_race(path: Path) -> os.stat_result | None:
        status = looked(path)
        path.unlink()
        os.mkfifo(path)
        return status

    monkeypatch.setattr(folder_module, "_status", look_and_lose_the_race)
    blob = blobs.get("p/a")
    assert blob is not None
    assert (blob.data, blob.trouble) == (b"", "is no regular file")
    assert place.is_fifo()
