"""Walking: files by what they begin with, in a fixed order, once each; nothing stops the walk and nothing odd is opened."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.writers.elf_writer import elf
from uploader.errors import UsageError
from uploader.inputs.port import Found, PassedOver, Trouble
from uploader.inputs.walk import walk
from uploader.objects.input import FileInput

ELF = elf()


def make(root: Path, *names: str, data: bytes = ELF) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def names(root: Path, *paths: Path, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
    told = [
        each for each in walk(paths or [root], include=include, exclude=exclude) if not isinstance(each, PassedOver)
    ]
    assert all(isinstance(each, Found) for each in told), told
    return [os.path.relpath(each.path, root) for each in told]


def test_files_are_told_by_their_content_not_by_their_names(tmp_path: Path) -> None:
    make(tmp_path, "program", "notes.txt", "lib/libx.so.1", "lib/deep/er/kernel.ko")
    make(tmp_path, "script.so", "lib/libtext.so", data=b"#!/bin/sh\n" * 20)
    make(tmp_path, "empty.so", data=b"")
    make(tmp_path, "short.so", data=ELF[:51])
    assert names(tmp_path) == ["lib/deep/er/kernel.ko", "lib/libx.so.1", "notes.txt", "program"]
    found = next(walk([tmp_path / "program"]))
    assert found == Found(
        input=FileInput(path=str(tmp_path / "program")), size_bytes=len(ELF), is_elf=True, explicit=True
    )


def test_the_order_is_that_of_the_paths_and_below_them_of_the_bytes_of_names(tmp_path: Path) -> None:
    make(tmp_path, "b/2", "b/10", "b/Z", "b/é", "a/x")
    (tmp_path / "b" / os.fsdecode(b"\xff")).write_bytes(ELF)
    assert names(tmp_path, tmp_path / "b", tmp_path / "a") == [
        "b/10", "b/2", "b/Z", "b/é", "b/" + os.fsdecode(b"\xff"), "a/x",
    ]  # fmt: skip


def test_a_file_named_explicitly_is_told_whatever_it_is(tmp_path: Path) -> None:
    make(tmp_path, "text", data=b"hello " * 20)
    make(tmp_path, "empty", data=b"")
    told = list(walk([tmp_path, tmp_path / "text", tmp_path / "empty"], include=["*.so"], exclude=["text"]))
    assert [(Path(each.path).name, each) for each in told if isinstance(each, Found)] == [
        ("text", Found(input=FileInput(path=str(tmp_path / "text")), size_bytes=120, is_elf=False, explicit=True)),
        ("empty", Found(input=FileInput(path=str(tmp_path / "empty")), size_bytes=0, is_elf=False, explicit=True)),
    ]
    assert len(told) == 2


def test_one_file_is_told_once_whatever_its_names(tmp_path: Path) -> None:
    make(tmp_path, "a/lib.so.1.2", "z")
    os.link(tmp_path / "a/lib.so.1.2", tmp_path / "a/twin")
    (tmp_path / "a/lib.so").symlink_to("lib.so.1.2")
    (tmp_path / "b").symlink_to("z")
    assert names(tmp_path, tmp_path, tmp_path / "z", tmp_path) == ["a/lib.so.1.2", "z"]


def test_links_to_folders_are_followed_only_where_they_are_named(tmp_path: Path) -> None:
    make(tmp_path, "outside/x", "tree/y")
    (tmp_path / "tree/way-out").symlink_to(tmp_path / "outside")
    assert names(tmp_path, tmp_path / "tree") == ["tree/y"]
    assert names(tmp_path, tmp_path / "tree/way-out") == ["tree/way-out/x"]


def test_loops_and_dangling_links_are_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "tree/x")
    (tmp_path / "tree/up").symlink_to(tmp_path)
    (tmp_path / "tree/self").symlink_to("self")
    (tmp_path / "tree/nowhere").symlink_to("gone")
    assert names(tmp_path, tmp_path / "tree") == ["tree/x"]


def test_sockets_pipes_and_devices_are_never_opened(tmp_path: Path) -> None:
    make(tmp_path, "x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        assert names(tmp_path) == ["x"]
        told = [next(walk([tmp_path / name])) for name in ("pipe", "socket", "device")]
    assert [each.reason for each in told if isinstance(each, Trouble)] == [
        "is a pipe, not a file", "is a socket, not a file", "is a device, not a file",
    ]  # fmt: skip


def test_a_path_that_is_not_there_is_trouble_and_the_walk_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "x")
    told = list(walk([tmp_path / "gone", "bad\0name", tmp_path / "x"]))
    assert told[0] == Trouble(path=str(tmp_path / "gone"), reason="no such file or directory")
    assert isinstance(told[1], Trouble)
    assert isinstance(told[2], Found)


def test_unreadable_folders_and_files_are_trouble_and_the_walk_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "a/x", "locked/y", "z/file", "z/other")
    (tmp_path / "locked").chmod(0)
    (tmp_path / "z/file").chmod(0)
    program = textwrap.dedent("""
        import os, sys
        from uploader.inputs.walk import walk
        if os.getuid() == 0:
            os.setgid(65534); os.setuid(65534)
        for each in walk(["."]):
            print(type(each).__name__, each.path, getattr(each, "reason", ""))
    """)
    # The folders above are private to whoever runs the tests: the child starts inside and needs none of them.
    tmp_path.chmod(0o755)
    path = os.pathsep.join(entry for entry in sys.path if entry)
    try:
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        (tmp_path / "locked").chmod(0o755)
    assert run.stdout.splitlines() == [
        "Found ./a/x ",
        "Trouble ./locked permission denied",
        "Trouble ./z/file permission denied",
        "Found ./z/other ",
    ], run.stderr


def test_a_folder_that_vanishes_under_the_walk_is_trouble(tmp_path: Path) -> None:
    make(tmp_path, "a/x", "b/y", "c/z")
    told = walk([tmp_path])
    assert isinstance(next(told), Found)
    (tmp_path / "b/y").unlink()
    (tmp_path / "b").rmdir()
    rest = list(told)
    assert [(type(each), Path(each.path).name) for each in rest] == [(Trouble, "b"), (Found, "z")]


def test_folders_nested_deeper_than_python_may_recurse_are_walked(tmp_path: Path) -> None:
    depth = sys.getrecursionlimit() + 200
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    with os.fdopen(os.open("x", os.O_WRONLY | os.O_CREAT, dir_fd=here), "wb") as file:
        file.write(ELF)
    os.close(here)
    try:
        assert len(names(tmp_path)) == 1
    finally:
        # pytest's own cleaning up recurses.
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_a_senseless_glob_is_refused_before_anything_is_told(tmp_path: Path) -> None:
    make(tmp_path, "x")
    with pytest.raises(UsageError, match="can't be understood"):
        next(walk([tmp_path], exclude=["[z-a]"]))


def test_include_and_exclude_choose_files_and_keep_out_of_folders(tmp_path: Path) -> None:
    make(tmp_path, "a/x.so", "a/y.o", "build/x.so", "build/z/w.so", "x.so")
    assert names(tmp_path, include=("*.so",)) == ["a/x.so", "build/x.so", "build/z/w.so", "x.so"]
    assert names(tmp_path, include=("*.so",), exclude=("build",)) == ["a/x.so", "x.so"]
    assert names(tmp_path, include=("build/**/*.so", "*.o")) == ["a/y.o", "build/x.so", "build/z/w.so"]
    assert names(tmp_path, exclude=("*.so", "*.o")) == []
    (tmp_path / "build").chmod(0)
    try:
        assert names(tmp_path, include=("*.so",), exclude=("build/",)) == ["a/x.so", "x.so"]
    finally:
        (tmp_path / "build").chmod(0o755)


def test_many_small_files_are_walked_in_seconds(tmp_path: Path) -> None:
    for folder in range(20):
        make(tmp_path, f"{folder}/program")
        for file in range(500):
            (tmp_path / str(folder) / f"{file}.txt").write_bytes(b"x" * 60)
    started = time.monotonic()
    assert len(names(tmp_path)) == 20
    assert time.monotonic() - started < 5


def passed_over(*paths: Path, build_internals: bool = False) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for each in walk(paths, build_internals=build_internals):
        if isinstance(each, PassedOver):
            told.setdefault(each.what, []).append(os.path.relpath(each.path, paths[0]))
    return told


def test_a_person_knows_a_program_by_the_name_that_cargo_gives_it_last(tmp_path: Path) -> None:
    make(tmp_path, "debug/deps/rusty-58e682c11784241a", "debug/examples/ex-006bf95d044893bf")
    os.link(tmp_path / "debug/deps/rusty-58e682c11784241a", tmp_path / "debug/rusty")
    os.link(tmp_path / "debug/examples/ex-006bf95d044893bf", tmp_path / "debug/examples/ex")
    assert names(tmp_path) == ["debug/examples/ex", "debug/rusty"]


INTERNALS = [
    "CMakeFiles/3.25.1/CompilerIdC/a.out",
    "CMakeFiles/3.25.1/CMakeDetermineCompilerABI_C.bin",
    "CMakeFiles/_CMakeLTOTest-C/bin/boo",
    "CMakeFiles/_CMakeLTOTest-C/bin/CMakeFiles/foo.dir/foo.c.o",
    "CMakeFiles/CMakeScratch/TryCompile-x/cmTC_1a2b3",
    "CMakeFiles/feature_tests.bin",
    "_deps/zlib-subbuild/CMakeFiles/3.25.1/CompilerIdC/a.out",
    "meson-private/sanitycheckc.exe",
    "debug/build/rusty-c9d4fc266695c6e1/build-script-build",
    "debug/build/rusty-c9d4fc266695c6e1/build_script_build-c9d4fc266695c6e1",
    "conftest",
    "conftest12.exe",
    "bazel-out/k8-opt-exec-2B5CBBC6/bin/tool",
    "bazel-out/host/bin/tool",
    "_bin/process-wrapper",
]
OWN = [
    "CMakeFiles/server.dir/src/main.c.o",
    "CMakeFiles/CMakeRelink.dir/server",
    "build_script_runner",
    "build/tools/build-script-host",
    "private/server",
    "conftester",
    "bazel-out/k8-opt/bin/executor",
    "_bin/server",
]


def test_what_build_systems_leave_for_themselves_is_left_out_and_told(tmp_path: Path) -> None:
    make(tmp_path, *INTERNALS, *OWN)
    found = [each for each in walk([tmp_path], build_internals=False) if isinstance(each, Found)]
    assert sorted(os.path.relpath(each.path, tmp_path) for each in found) == sorted(OWN)
    told = passed_over(tmp_path)
    assert sorted(path for paths in told.values() for path in paths) == sorted(INTERNALS)
    assert [what.split("'")[0] for what in sorted(told)] == [
        "Bazel",
        "CMake",
        "Cargo",
        "Meson",
        "checks of a configure script",
    ]
    assert sorted(names(tmp_path)) == sorted(INTERNALS + OWN)


def test_what_a_shell_puts_in_for_a_star_is_no_name_that_a_person_gave(tmp_path: Path) -> None:
    make(tmp_path, "CMakeFiles/3.25.1/CompilerIdC/a.out", "server")
    assert passed_over(tmp_path / "CMakeFiles", tmp_path / "server") == {
        "CMake's checks of the compiler": ["3.25.1/CompilerIdC/a.out"]
    }


def test_a_file_named_explicitly_is_taken_whoever_left_it(tmp_path: Path) -> None:
    make(tmp_path, "CMakeFiles/feature_tests.bin")
    os.link(tmp_path / "CMakeFiles/feature_tests.bin", tmp_path / "CMakeFiles/twin.bin")
    told = [
        each.path
        for each in walk([tmp_path, tmp_path / "CMakeFiles/feature_tests.bin"], build_internals=False)
        if isinstance(each, Found)
    ]
    assert told == [str(tmp_path / "CMakeFiles/feature_tests.bin")]


def test_a_name_of_its_own_beside_that_of_a_build_system_is_taken(tmp_path: Path) -> None:
    make(tmp_path, "meson-private/x", "deep/down/program")
    os.link(tmp_path / "deep/down/program", tmp_path / "meson-private/program")
    found = [each for each in walk([tmp_path], build_internals=False) if isinstance(each, Found)]
    assert [os.path.relpath(each.path, tmp_path) for each in found] == ["deep/down/program"]


def test_linked_folders_are_told_where_they_lead_out_of_what_was_given(tmp_path: Path) -> None:
    make(tmp_path, "elsewhere/bin/app", "tree/own/x")
    (tmp_path / "tree/bazel-bin").symlink_to(tmp_path / "elsewhere/bin")
    (tmp_path / "tree/own-too").symlink_to("own")
    (tmp_path / "tree/here").symlink_to(".")
    assert passed_over(tmp_path / "tree") == {"linked folders that lead elsewhere": ["bazel-bin"]}
    assert passed_over(tmp_path / "tree", tmp_path / "tree/bazel-bin") == {}
    assert names(tmp_path, tmp_path / "tree/bazel-bin/") == ["tree/bazel-bin/app"]


CONTAINERS = {
    "libx.a": (b"!<arch>\nx.o/            0", "static libraries"),
    "thin.a": (b"!<thin>\nx", "static libraries"),
    "x.deb": (b"!<arch>\ndebian-binary   0", "Debian packages"),
    "x-py3-none-any.whl": (b"PK\3\4", "zip archives"),
    "x.rpm": (b"\xed\xab\xee\xdb\3\0", "RPM packages"),
    "x.tar": (bytes(257) + b"ustar\00000", "tar archives"),
    "x.tar.zst": (b"\x28\xb5\x2f\xfd", "compressed files"),
    "x.apk": (b"\x1f\x8b\x08", "compressed files"),
    "module.ko.xz": (b"\xfd7zXZ\0", "compressed files"),
    "x.squashfs": (b"hsqs", "file system images"),
    "x.ext4": (bytes(1080) + b"\x53\xef", "file system images"),
    "x.iso": (bytes(32769) + b"CD001", "file system images"),
    "initrd": (b"070701", "cpio archives"),
}


def test_archives_are_told_by_what_they_begin_with(tmp_path: Path) -> None:
    for name, (data, _) in CONTAINERS.items():
        make(tmp_path, name, data=data + bytes(64))
    make(tmp_path, "notes.gz", data=b"\x1f\x8b\x08" + bytes(64))
    make(tmp_path, "zeros", data=bytes(40000))
    told = passed_over(tmp_path)
    assert {path: what for what, paths in told.items() for path in paths} == {
        name: what for name, (_, what) in CONTAINERS.items()
    }
    found = next(walk([tmp_path / "notes.gz"]))
    assert isinstance(found, Found)
    assert found.container is not None
    assert found.container.one == "a compressed file"
