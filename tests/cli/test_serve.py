"""symup serve as its user starts it: what it says, and when."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.cli.conftest import Server, Symup
from uploader.errors import ExitCode


def test_a_port_that_is_taken_is_told_before_anything_is_served(symup: Symup, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = symup("serve", "--store", tmp_path, "--port", taken.getsockname()[1])
    assert ran.code == ExitCode.USAGE
    assert "can't listen" in ran.err
    assert "serving" not in ran.err


def test_a_folder_that_is_not_there_is_made_only_when_asked(symup: Symup, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for store, words in (("mistyped", []), ("file", []), ("file", ["--create"]), ("file/below", ["--create"])):
        ran = symup("serve", "--store", tmp_path / store, "--port", 0, *words)
        assert ran.code == ExitCode.USAGE, (store, words)
        assert str(tmp_path / store) in ran.err
    assert "--create" in symup("serve", "--store", tmp_path / "mistyped").err
    assert not (tmp_path / "mistyped").exists()


def test_it_says_what_it_serves_and_that_nothing_is_in_it_yet(server: Server, symup: Symup, program: Path) -> None:
    assert f"serving the store in {server.store}, which holds nothing yet; Ctrl-C ends it" in server.log.read_text()
    assert symup("upload", program, "--to", server.url).code == ExitCode.DONE
    server.kill()
    server.log.write_text("")
    server.starts = 0
    server.start()
    assert f"serving the store in {server.store}; Ctrl-C ends it" in server.log.read_text()


def test_without_a_store_the_default_one_is_served(symup: Symup) -> None:
    process = symup.start("serve", "--port", 0)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
    finally:
        process.terminate()
        _, said = process.communicate(timeout=30)
    assert str(symup.home) in said
