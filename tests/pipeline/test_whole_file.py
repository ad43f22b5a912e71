"""Files appear whole; links, pipes and devices stay what they are."""

from __future__ import annotations

import os
import select
import socket
import stat
import threading
from pathlib import Path

import pytest

from uploader.errors import ExitCode, NotWritten, UsageError
from uploader.pipeline.whole_file import write_whole


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "x.gsym"
    target.write_bytes(b"old")
    with target.open("rb") as reader:
        write_whole(target, b"new")
        assert reader.read() == b"old"
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x.gsym"]


def test_the_same_bytes_are_not_written_again_and_count_as_of_now(tmp_path: Path) -> None:
    target = tmp_path / "x.gsym"
    target.write_bytes(b"same")
    os.utime(target, (1, 1))
    before = target.stat().st_ino
    write_whole(target, b"same")
    assert target.stat().st_ino == before
    assert target.stat().st_mtime > 1


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, there: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    if there:
        (tmp_path / "elsewhere" / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("elsewhere/real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere" / "real").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "link"]


def test_a_pipe_takes_the_bytes_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    write_whole(tmp_path / "pipe", b"bytes")
    reader.join(10)
    assert got == [b"bytes"]
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


def test_a_pipe_that_nobody_reads_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uploader.pipeline.whole_file.READER_SECONDS", 0.0, raising=False)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotWritten, match="nobody reads") as caught:
        write_whole(tmp_path / "pipe", b"bytes")
    assert "Start what reads it" in str(caught.value.remedy)
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


def test_a_pipe_whose_reader_goes_away_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)

    def read_a_little_and_go() -> None:
        select.select([reader], [], [])
        os.read(reader, 1)
        os.close(reader)

    threading.Thread(target=read_a_little_and_go, daemon=True).start()
    with pytest.raises(NotWritten, match="Broken pipe") as caught:
        write_whole(tmp_path / "pipe", b"x" * (4 << 20))
    assert "ended before it had all" in str(caught.value.remedy)


def test_a_device_takes_the_bytes_and_stays(tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to("/dev/null")
    write_whole(tmp_path / "null", b"bytes")
    assert (tmp_path / "null").is_symlink()
    (tmp_path / "full").symlink_to("/dev/full")
    with pytest.raises(NotWritten, match="No space left") as caught:
        write_whole(tmp_path / "full", b"bytes")
    assert caught.value.exit_code is ExitCode.SOME_FAILED
    assert "Make room" in str(caught.value.remedy)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_folders_and_sockets_are_refused_and_stay(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for name, what in (("folder", "it is a folder"), ("socket", "it is a socket")):
            with pytest.raises(UsageError, match=what):
                write_whole(tmp_path / name, b"bytes")
    assert sorted(os.listdir(tmp_path)) == ["folder", "socket"]


def test_a_link_in_circles_is_told(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="can't write"):
        write_whole(tmp_path / "loop", b"bytes")
