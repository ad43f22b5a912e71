"""symup login, logout and whoami as processes, against real servers that want tokens."""

from __future__ import annotations

import os
import pty
import select
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from tests.cli.conftest import Ran, Symup
from tests.server.running_server import RunningServer
from tests.writers.token_writer import mint
from uploader.errors import ExitCode
from uploader.server.tokens import Scope

KEYRINGS = Path(__file__).parent / "keyrings"


@pytest.fixture(scope="module")
def secret() -> list[str]:
    return []


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory, secret: list[str]) -> Iterator[list[RunningServer]]:
    """Two servers, each with a token of its own."""
    folder = tmp_path_factory.mktemp("servers")
    running = []
    for name in ("one", "two"):
        token, lines = mint(name=name, scopes=frozenset({Scope.UPLOAD}), project="default")
        secret.append(token.reveal())
        (folder / f"{name}.toml").write_text(lines)
        running.append(RunningServer(folder / name, tokens=folder / f"{name}.toml"))
    yield running
    for server in running:
        server.kill()


def run(symup: Symup, env: dict[str, str], *words: object, stdin: str = "") -> Ran:
    return symup(*words, stdin=stdin, cwd=None, **env)


def keyring_environ(symup: Symup, tmp_path: Path, backend: str) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join([symup.environ()["PYTHONPATH"], str(KEYRINGS)]),
        "PYTHON_KEYRING_BACKEND": backend,
        "TEST_KEYRING_FILE": str(tmp_path / "keyring.json"),
    }


def test_two_servers_side_by_side(
    symup: Symup, servers: list[RunningServer], secret: list[str], program: Path, tmp_path: Path
) -> None:
    env = keyring_environ(symup, tmp_path, "file_keyring.FileKeyring")
    one, two = (server.url for server in servers)
    shown = ""
    for url, token in ((one, secret[0]), (two, secret[1])):
        ran = run(symup, env, "login", url + "/", stdin=token + "\n")
        assert ran.code == ExitCode.DONE
        shown += ran.out + ran.err
        who = run(symup, env, "whoami", "--to", url, "--json")
        assert (who.document["token_from"], who.document["may_upload"], who.code) == ("keyring", True, 0)
        shown += who.out + who.err
    assert run(symup, env, "upload", program, "--to", two).code == ExitCode.DONE
    assert run(symup, env, "logout", two).code == ExitCode.DONE
    assert run(symup, env, "upload", program, "--to", two).code == ExitCode.NOT_ALLOWED
    assert run(symup, env, "whoami", "--to", two).code == ExitCode.NOT_ALLOWED
    assert run(symup, env, "whoami", "--to", one).code == ExitCode.DONE
    assert not any(token in shown for token in secret)


def test_a_token_that_the_server_does_not_know_is_not_kept(
    symup: Symup, servers: list[RunningServer], secret: list[str], tmp_path: Path
) -> None:
    env = keyring_environ(symup, tmp_path, "file_keyring.FileKeyring")
    ran = run(symup, env, "login", servers[0].url, stdin=secret[1] + "\n")
    assert ran.code == ExitCode.NOT_ALLOWED
    assert not (tmp_path / "keyring.json").exists()
    assert secret[1] not in ran.out + ran.err


@pytest.mark.parametrize(
    "backend", ["keyring.backends.fail.Keyring", "keyring.backends.null.Keyring", "file_keyring.TalkativeKeyring"]
)
def test_without_a_keyring_there_is_a_hint_and_no_file(
    symup: Symup, servers: list[RunningServer], secret: list[str], tmp_path: Path, backend: str
) -> None:
    env = keyring_environ(symup, tmp_path, backend)
    ran = run(symup, env | {"SYMUP_DEBUG": "1"}, "login", servers[0].url, stdin=secret[0])
    assert ran.code == ExitCode.USAGE
    assert "SYMUP_TOKEN" in ran.err
    assert "netrc" in ran.err
    assert secret[0] not in ran.out + ran.err
    written = [path for path in symup.home.rglob("*") if path.is_file()]
    assert not any(secret[0].encode() in path.read_bytes() for path in written)
    who = run(symup, env | {"SYMUP_TOKEN": secret[0]}, "whoami", "--to", servers[0].url)
    assert (who.code, "SYMUP_TOKEN" in who.out) == (0, True)


def test_a_token_on_the_command_line_is_refused_and_not_repeated(symup: Symup) -> None:
    for words in (["symup_abc"], ["--token=symup_abc"]):
        ran = symup("login", "https://symbols.example.com", *words)
        assert ran.code == ExitCode.USAGE
        assert "symup_abc" not in ran.out + ran.err


@pytest.mark.parametrize("dest", ["./folder", "https://user:pass@host/"])
def test_what_is_no_server_wants_no_token(symup: Symup, dest: str) -> None:
    for command in ("login", "logout"):
        ran = symup(command, dest, stdin="token")
        assert ran.code == ExitCode.USAGE
        assert "pass@" not in ran.err


def test_a_token_does_not_travel_over_plain_http(symup: Symup, tmp_path: Path) -> None:
    env = keyring_environ(symup, tmp_path, "file_keyring.FileKeyring")
    ran = run(symup, env, "login", "http://symbols.example.com", stdin="token")
    assert ran.code == ExitCode.USAGE
    assert "plain http" in ran.err


def test_nobody_is_asked_for_a_token_that_no_keyring_would_keep(symup: Symup, tmp_path: Path) -> None:
    env = keyring_environ(symup, tmp_path, "keyring.backends.fail.Keyring")
    ours, theirs = pty.openpty()
    process = Popen(
        symup.words("login", "https://symbols.example.com"),
        stdin=theirs, stdout=theirs, stderr=theirs, env=symup.environ(**env), cwd=symup.home, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = read_until(ours, b"no keyring on this machine")
    assert process.wait(30) == ExitCode.USAGE
    os.close(ours)
    assert b"Token for" not in shown


def test_a_folder_needs_no_token(symup: Symup, tmp_path: Path) -> None:
    ran = symup("whoami", "--to", tmp_path / "store")
    assert (ran.code, "no token needed" in ran.out) == (0, True)


def test_a_token_that_is_typed_is_not_shown(
    symup: Symup, servers: list[RunningServer], secret: list[str], tmp_path: Path
) -> None:
    env = keyring_environ(symup, tmp_path, "file_keyring.FileKeyring")
    ours, theirs = pty.openpty()
    process = Popen(
        symup.words("login", servers[0].url),
        stdin=theirs, stdout=theirs, stderr=theirs, env=symup.environ(**env), cwd=symup.home, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = read_until(ours, b"not shown")
    os.write(ours, secret[0].encode() + b"\n")
    shown += read_until(ours, b"is in the keyring")
    assert process.wait(30) == 0
    os.close(ours)
    assert secret[0].encode() not in shown
    assert run(symup, env, "whoami", "--to", servers[0].url).code == 0


def read_until(descriptor: int, words: bytes) -> bytes:
    """What the terminal shows, until it shows the words."""
    shown = b""
    deadline = time.monotonic() + 30
    while words not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([descriptor], [], [], 1)[0]:
            shown += os.read(descriptor, 4096)
    return shown
