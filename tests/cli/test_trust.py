"""A token goes only where its owner sent it, and a checkout names no place beyond itself: against a real server that wants tokens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Symup
from tests.cli.test_login import keyring_environ
from tests.server.running_server import RunningServer
from tests.writers.token_writer import mint
from uploader.cli.options import max_memory_bytes
from uploader.config.settings import Settings
from uploader.errors import ExitCode
from uploader.pipeline.memory import default_bytes
from uploader.server.tokens import Scope


@pytest.fixture(scope="module")
def secret() -> list[str]:
    return []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, secret: list[str]) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    token, lines = mint(name="mine", scopes=frozenset({Scope.UPLOAD}), project="default")
    secret.append(token.reveal())
    (folder / "tokens.toml").write_text(lines)
    with RunningServer(folder / "store", tokens=folder / "tokens.toml") as running:
        yield running


@pytest.fixture
def checkout(tmp_path: Path, server: RunningServer) -> Path:
    """A checkout whose file names the server."""
    folder = tmp_path / "checkout"
    (folder / ".git").mkdir(parents=True)
    (folder / "symup.toml").write_text(f'to = "{server.url}"\n')
    return folder


def test_the_variables_token_does_not_go_to_a_server_that_only_the_checkout_names(
    symup: Symup, server: RunningServer, secret: list[str], checkout: Path, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "store").mkdir()
    for words in (["upload", program], ["status", program], ["push", tmp_path / "store"], ["whoami"]):
        ran = symup(*words, cwd=checkout, SYMUP_TOKEN=secret[0])
        assert ran.code == ExitCode.NOT_ALLOWED, (words, ran.err)
        assert f"SYMUP_TOKEN is not sent to {server.url}: only {checkout / 'symup.toml'} names that server" in ran.err
        assert f"SYMUP_TO={server.url}" in ran.err
        assert secret[0] not in ran.out + ran.err


def test_its_owner_says_where_it_goes(
    symup: Symup, server: RunningServer, secret: list[str], checkout: Path, program: Path
) -> None:
    def run(*words: str, to: str = "") -> int:
        return symup("upload", program, *words, cwd=checkout, SYMUP_TOKEN=secret[0], SYMUP_TO=to).code

    assert run("--to", server.url) == ExitCode.DONE
    assert run(to=server.url) == ExitCode.DONE
    own = symup.home / ".config" / "symup" / "config.toml"
    own.parent.mkdir(parents=True)
    for lines in (f'to = "{server.url}"', f'trusted = ["{server.url}"]'):
        own.write_text(lines)
        assert run() == ExitCode.DONE, lines
    own.write_text('trusted = ["https://elsewhere.example.com"]')
    assert run() == ExitCode.NOT_ALLOWED


def test_who_has_logged_in_there_has_said_so(
    symup: Symup, server: RunningServer, secret: list[str], checkout: Path, program: Path, tmp_path: Path
) -> None:
    env = keyring_environ(symup, tmp_path, "file_keyring.FileKeyring")
    assert symup("login", server.url, stdin=secret[0], cwd=None, **env).code == ExitCode.DONE
    assert symup("upload", program, cwd=checkout, stdin="", **env).code == ExitCode.DONE
    # Another server's token is no reason to send that one.
    who = symup("whoami", "--json", cwd=checkout, **env, SYMUP_TOKEN="another-servers")
    assert (who.code, who.document["token_from"]) == (ExitCode.DONE, "keyring")


def test_without_a_token_the_server_is_asked_without(
    symup: Symup, server: RunningServer, checkout: Path, program: Path
) -> None:
    ran = symup("upload", program, "--json", cwd=checkout)
    assert ran.code == ExitCode.NOT_ALLOWED
    assert "not sent to" not in ran.err


def test_whoami_tells_who_names_the_server(
    symup: Symup, server: RunningServer, secret: list[str], checkout: Path
) -> None:
    for token in ("", secret[0]):
        who = symup("whoami", cwd=checkout, SYMUP_TOKEN=token)
        assert f"named by {checkout / 'symup.toml'} alone" in who.out
        document = symup("whoami", "--json", cwd=checkout, SYMUP_TOKEN=token).document
        assert document["named_by"] == str(checkout / "symup.toml")
        assert (document["destination"], document["token_from"], document["exit_code"]) == (server.url, None, 4)
    document = symup("whoami", "--json", "--to", server.url, cwd=checkout, SYMUP_TOKEN=secret[0]).document
    assert (document["named_by"], document["token_from"]) == (None, "SYMUP_TOKEN")


def test_a_file_above_the_repository_chooses_nothing(
    symup: Symup, checkout: Path, program: Path, server: RunningServer
) -> None:
    (checkout / "symup.toml").rename(checkout.parent / "symup.toml")
    ran = symup("upload", program, "--json", cwd=checkout, SYMUP_TOKEN="mine")
    assert ran.code == ExitCode.DONE
    assert ran.document["destination"].startswith(str(symup.home))


def test_a_checkout_has_nothing_written_beyond_itself(
    symup: Symup, checkout: Path, program: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (checkout / "link").symlink_to(tmp_path)
    for to in (str(elsewhere), "../elsewhere", "link/elsewhere", f"file://{elsewhere}"):
        (checkout / "symup.toml").write_text(f'to = "{to}"\n')
        ran = symup("upload", program, cwd=checkout)
        assert ran.code == ExitCode.USAGE, to
        assert "'to' names what is not in the checkout" in ran.err
        assert "SYMUP_TO" in ran.err
        assert not elsewhere.exists()
    assert symup("upload", program, cwd=checkout, SYMUP_TO=str(elsewhere)).code == ExitCode.DONE
    assert symup("convert", program, "-o", "out.gsym", cwd=checkout).code == ExitCode.DONE, (
        "it has no use for a destination"
    )


@pytest.mark.parametrize(
    "link",
    [
        "store/default",
        "store/.locks",
        "store/.tmp",
        "store/default/chunks",
        "store/default/artifacts",
        "store/default/aliases",
        *(f"store/.locks/{number:02x}" for number in (0, 63)),
        "store/default/chunks/ab",
        "store/default/artifacts/ab/abcd",
        "store/default/aliases/gnu",
    ],
)
def test_no_link_in_a_checkouts_store_leads_a_write_out_of_it(
    symup: Symup, checkout: Path, program: Path, tmp_path: Path, link: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (checkout / "symup.toml").write_text('to = "store"\n')
    (checkout / link).parent.mkdir(parents=True)
    (checkout / link).symlink_to(elsewhere)
    (checkout / "store" / "another").symlink_to(elsewhere)
    ran = symup("upload", program, cwd=checkout)
    assert ran.code == ExitCode.USAGE
    assert "holds links that may lead out of it" in ran.err
    assert not [*elsewhere.iterdir()]
    (checkout / link).unlink()
    assert symup("upload", program, cwd=checkout).code == ExitCode.DONE
    assert symup("upload", program, "--project", "another", cwd=checkout).code == ExitCode.USAGE
    assert not [*elsewhere.iterdir()]
    assert symup("upload", program, "--project", "another", cwd=checkout, SYMUP_TO="store").code == ExitCode.DONE


def test_a_checkout_takes_no_more_memory_than_a_run_does_by_itself() -> None:
    by_itself = default_bytes()
    assert by_itself is not None
    vast = Settings(max_memory=1 << 50, only_lowers_memory=True)
    assert (max_memory_bytes(vast) or 0) < 1 << 49
    assert max_memory_bytes(Settings(max_memory=1 << 26, only_lowers_memory=True)) == 1 << 26
    assert max_memory_bytes(Settings(max_memory=1 << 50)) == 1 << 50
    assert max_memory_bytes(Settings()) is None


def test_a_checkout_has_nothing_looked_through_beyond_itself(
    symup: Symup, checkout: Path, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "debug").mkdir()
    (checkout / "symup.toml").write_text(f'debug_dir = ["{tmp_path / "debug"}"]\n')
    for words in (["convert", program, "-o", "out.gsym"], ["upload", program, "--to", "store"], ["inspect", program]):
        ran = symup(*words, cwd=checkout)
        assert ran.code == ExitCode.USAGE, words
        assert "'debug_dir' names what is not in the checkout" in ran.err
        assert "SYMUP_DEBUG_DIR" in ran.err
        assert symup(*words, cwd=checkout, SYMUP_DEBUG_DIR=str(tmp_path / "debug")).code == ExitCode.DONE
    own = symup.home / ".config" / "symup" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'trusted = ["{os.fspath(tmp_path)}"]')
    assert symup("inspect", program, cwd=checkout).code == ExitCode.DONE


def test_a_destination_that_may_be_a_server_makes_no_folder(symup: Symup, program: Path) -> None:
    ran = symup("upload", program, "--to", "symbols.example.com")
    assert ran.code == ExitCode.USAGE
    assert "https://symbols.example.com for the server, or ./symbols.example.com for a new folder" in ran.err
    assert not (symup.home / "symbols.example.com").exists()
    assert symup("upload", program, "--to", "./symbols.example.com").code == ExitCode.DONE
    assert symup("upload", program, "--to", "symbols.example.com").code == ExitCode.DONE, "it is there now"
