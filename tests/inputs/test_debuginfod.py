"""debuginfod: elfutils' variables and cache, a real server, and servers that lie, stall and fail."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.writers import split_debug
from tests.writers.debuginfod_server import Request, Scripted, debuginfod, scripted
from uploader.errors import UsageError
from uploader.inputs.debuginfod import MAX_SIZE_BYTES, DebugInfod, DebugInfodSettings, Fetched
from uploader.model import Source
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.identify import Identified, identify


def identified(path: Path) -> Identified:
    with ElfFile.open(path) as file:
        return identify(file)


class Program:
    """A stripped program, its debug file in a folder of its own, and a debug file of another program."""

    def __init__(self, folder: Path) -> None:
        whole = split_debug.build(folder / "whole")
        self.debug = split_debug.debug_file(whole, folder / "served" / "app.debug")
        self.binary = identified(split_debug.stripped(whole, folder / "app"))
        self.other = split_debug.debug_file(split_debug.build(folder / "other", variant=2), folder / "other.debug")
        self.id = split_debug.build_id(whole)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("program"))


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., DebugInfod]:
    """``ask(url, TIMEOUT="1")`` gives a client as the environment variables DEBUGINFOD_… set it up, that doesn't wait between attempts."""

    def client(*urls: str, **variables: str) -> DebugInfod:
        environ = {"DEBUGINFOD_URLS": " ".join(urls), "DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}
        environ |= {f"DEBUGINFOD_{name}": value for name, value in variables.items()}
        return DebugInfod(DebugInfodSettings.from_environment(environ), sleep=lambda _: None)

    return client


@pytest.fixture(scope="module")
def server(
    program: Program, tmp_path_factory: pytest.TempPathFactory, peer: Callable[[str], str]
) -> Iterator[tuple[str, Path]]:
    log = tmp_path_factory.mktemp("debuginfod") / "log"
    with debuginfod(peer("debuginfod"), program.debug.parent, log, ready=program.id) as url:
        yield url, log


def cached(tmp_path: Path, program: Program) -> Path:
    return tmp_path / "cache" / program.id / "debuginfo"


def leftovers(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache").rglob("debuginfo.*"))


def test_a_real_server_gives_the_debug_file(
    program: Program, server: tuple[str, Path], ask: Callable[..., DebugInfod], tmp_path: Path
) -> None:
    url, log = server
    asked_before = log.read_text().count("GET /buildid/")
    client = ask(url)
    assert client.cached(program.binary) is None
    fetched = client.fetch(program.binary)
    assert fetched.file is not None, fetched.reason
    assert Path(fetched.file.path) == cached(tmp_path, program)
    assert cached(tmp_path, program).read_bytes() == program.debug.read_bytes()
    assert Source.DWARF in fetched.file.sources
    assert client.fetch(program.binary) == fetched
    assert client.cached(program.binary) == fetched.file
    assert leftovers(tmp_path) == []
    asked = [line for line in log.read_text().splitlines() if "GET /buildid/" in line][asked_before:]
    assert len(asked) == 1, "the second time it comes out of the cache"
    assert f"GET /buildid/{program.id}/debuginfo 200" in asked[0]
    assert "UA:symup/" in asked[0]


def test_the_cache_is_shared_with_elfutils_both_ways(
    program: Program,
    server: tuple[str, Path],
    ask: Callable[..., DebugInfod],
    tmp_path: Path,
    peer: Callable[[str], str],
) -> None:
    find = [peer("debuginfod-find"), "debuginfo", program.id]
    environ = os.environ | {"DEBUGINFOD_CACHE_PATH": str(tmp_path / "cache")}
    subprocess.run(find, env=environ | {"DEBUGINFOD_URLS": server[0]}, check=True, capture_output=True)
    nobody = "http://127.0.0.1:9"
    assert ask(nobody).fetch(program.binary).file is not None

    cached(tmp_path, program).unlink()
    assert ask(server[0]).fetch(program.binary).file is not None
    told = subprocess.run(find, env=environ | {"DEBUGINFOD_URLS": nobody}, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == str(cached(tmp_path, program))


def test_what_a_real_server_lacks_is_remembered_for_a_while(
    program: Program, server: tuple[str, Path], ask: Callable[..., DebugInfod], tmp_path: Path
) -> None:
    unknown = identified(program.other)
    client = ask(server[0])
    assert client.may_have(unknown)
    fetched = client.fetch(unknown)
    assert fetched == Fetched(reason=f"debuginfod: {server[0]} have no debug file for it")
    assert not client.may_have(unknown)
    assert client.fetch(unknown).reason == "debuginfod: no server had it lately"
    mark = tmp_path / "cache" / split_debug.build_id(program.other) / "debuginfo"
    assert mark.stat().st_size == 0
    long_ago = time.time() - 700
    os.utime(mark, (long_ago, long_ago))
    assert client.may_have(unknown)
    (tmp_path / "cache" / "cache_miss_s").write_text("100000\n")
    assert not client.may_have(unknown)


def test_a_limit_is_told_to_the_server(
    program: Program, server: tuple[str, Path], ask: Callable[..., DebugInfod], tmp_path: Path
) -> None:
    client = ask(server[0], MAXSIZE="100")
    assert "over DEBUGINFOD_MAXSIZE" in client.fetch(program.binary).reason
    assert client.may_have(program.binary), "that it is too large is no reason to believe that it isn't there"
    assert leftovers(tmp_path) == []


def answering(
    program: Program, answer: Callable[[Request, bytes], object]
) -> contextlib.AbstractContextManager[Scripted]:
    return scripted(lambda request: answer(request, program.debug.read_bytes()))


def test_an_answer_that_is_another_programs_is_not_taken(
    program: Program, ask: Callable[..., DebugInfod], tmp_path: Path
) -> None:
    with scripted(lambda request: request.answer(200, program.other.read_bytes())) as server:
        fetched = ask(server.url).fetch(program.binary)
    assert fetched.file is None
    assert f"its build-id is {split_debug.build_id(program.other)}" in fetched.reason
    assert not cached(tmp_path, program).exists()
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("body", [b"", b"<html>welcome to this hotel</html>", b"\x7fELF" + bytes(100)])
def test_an_answer_that_is_no_debug_file_is_not_taken(
    program: Program, ask: Callable[..., DebugInfod], tmp_path: Path, body: bytes
) -> None:
    with scripted(lambda request: request.answer(200, body)) as server:
        fetched = ask(server.url).fetch(program.binary)
    assert fetched.file is None
    assert "its answer was not taken" in fetched.reason
    assert not cached(tmp_path, program).exists()


def test_the_next_server_is_asked_where_the_first_has_nothing_or_fails(
    program: Program, ask: Callable[..., DebugInfod]
) -> None:
    with (
        scripted(lambda request: request.answer(404)) as empty,
        scripted(lambda request: request.answer(500)) as broken,
        answering(program, lambda request, body: request.answer(200, body)) as good,
    ):
        assert ask(empty.url, broken.url, "http://127.0.0.1:9", good.url + "/").fetch(program.binary).file is not None
        assert len(empty.requests) == 1
        assert {(request.method, request.path) for request in good.requests} == {
            ("GET", f"/buildid/{program.id}/debuginfo")
        }


def test_real_servers_are_asked_in_turn_until_one_has_it(
    program: Program,
    server: tuple[str, Path],
    ask: Callable[..., DebugInfod],
    tmp_path: Path,
    peer: Callable[[str], str],
) -> None:
    """Of three: one that is not there, one that serves another program, and one that has it; behind that, nobody is asked."""
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(program.other, other / "other.debug")
    log = tmp_path / "other.log"
    with (
        debuginfod(peer("debuginfod"), other, log, ready=split_debug.build_id(program.other)) as lacking,
        scripted(lambda request: request.answer(404)) as last,
    ):
        fetched = ask("http://127.0.0.1:9", lacking, server[0], last.url).fetch(program.binary)
        assert fetched.file is not None, fetched.reason
        assert Path(fetched.file.path).read_bytes() == program.debug.read_bytes()
        assert f"GET /buildid/{program.id}/debuginfo 404" in log.read_text()
        assert last.requests == []


def test_only_what_all_servers_lack_is_remembered_as_missing(program: Program, ask: Callable[..., DebugInfod]) -> None:
    with scripted(lambda request: request.answer(404)) as empty:
        client = ask(empty.url, "http://127.0.0.1:9", RETRY_LIMIT="0")
        assert "127.0.0.1:9" in client.fetch(program.binary).reason
        assert client.may_have(program.binary)


@pytest.mark.parametrize(("limit", "attempts"), [("0", 1), ("4", 5), ("", 3)])
def test_it_is_tried_again_as_often_as_told(
    program: Program, ask: Callable[..., DebugInfod], limit: str, attempts: int
) -> None:
    with scripted(lambda request: request.answer(503)) as server:
        fetched = ask(server.url, RETRY_LIMIT=limit).fetch(program.binary)
    assert fetched.reason == f"debuginfod: {server.url}: answered 503"
    assert len(server.requests) == attempts


def test_a_connection_that_breaks_is_tried_again_from_the_start(
    program: Program, ask: Callable[..., DebugInfod]
) -> None:
    seen: list[int] = []

    def answer(request: Request, body: bytes) -> None:
        seen.append(len(seen))
        part = body[: len(body) // 2] if len(seen) == 1 else body
        request.answer(200, part, Content_Length=str(len(body)))

    with answering(program, answer) as server:
        assert ask(server.url).fetch(program.binary).file is not None
    assert len(seen) == 2


def test_a_server_that_stalls_is_given_up(program: Program, ask: Callable[..., DebugInfod]) -> None:
    with scripted(lambda request: time.sleep(30)) as server:
        began = time.monotonic()
        assert "bytes came in 1 s" in ask(server.url, TIMEOUT="1", RETRY_LIMIT="0").fetch(program.binary).reason
        assert time.monotonic() - began < 10


def drip(request: Request, body: bytes) -> None:
    request.answer(200, b"", Content_Length="1000000000")
    while True:
        request.send(b"x")
        time.sleep(0.05)


def test_a_server_that_drips_is_given_up(program: Program, ask: Callable[..., DebugInfod], tmp_path: Path) -> None:
    with answering(program, drip) as server:
        began = time.monotonic()
        reason = ask(server.url, TIMEOUT="1", RETRY_LIMIT="0").fetch(program.binary).reason
        assert "bytes came in 1 s" in reason
        assert time.monotonic() - began < 10
    assert leftovers(tmp_path) == []


def test_all_attempts_together_take_no_longer_than_told(program: Program, ask: Callable[..., DebugInfod]) -> None:
    with answering(program, drip) as server:
        began = time.monotonic()
        assert "longer than allowed" in ask(server.url, MAXTIME="1", RETRY_LIMIT="50").fetch(program.binary).reason
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("declared", [True, False])
def test_an_answer_without_end_is_cut_at_the_limit(
    program: Program, ask: Callable[..., DebugInfod], tmp_path: Path, declared: bool
) -> None:
    def answer(request: Request) -> None:
        length = {"Content_Length": "1000000000"} if declared else {"Content_Length": "", "Connection": "close"}
        request.answer(200, b"", **length)
        for _ in range(100):
            request.send(bytes(10_000))

    with scripted(answer) as server:
        reason = ask(server.url, MAXSIZE="50000", RETRY_LIMIT="3").fetch(program.binary).reason
    assert "over the limit of 50000" in reason
    assert len(server.requests) == 1, "trying again would not make it smaller"
    assert server.requests[0].headers["x-debuginfod-maxsize"] == "50000"
    assert leftovers(tmp_path) == []


def test_redirections_are_followed_without_the_headers_that_may_be_secret(
    program: Program, ask: Callable[..., DebugInfod], tmp_path: Path
) -> None:
    secrets = tmp_path / "headers"
    secrets.write_text("Authorization: Bearer s3cret\n\nno header\nX-Team: symbols\n")
    with answering(program, lambda request, body: request.answer(200, body)) as target:
        with scripted(lambda request: request.answer(302, Location=f"{target.url}/elsewhere")) as first:
            client = ask(first.url, HEADERS_FILE=str(secrets))
            assert client.fetch(program.binary).file is not None
        assert first.requests[0].headers["authorization"] == "Bearer s3cret"
        assert first.requests[0].headers["x-team"] == "symbols"
        assert target.requests[0].path == "/elsewhere"
        assert "authorization" not in target.requests[0].headers
    assert "s3cret" not in repr(client._settings)


def test_redirections_without_end_and_to_files_are_refused(program: Program, ask: Callable[..., DebugInfod]) -> None:
    with scripted(lambda request: request.answer(302, Location=request.path)) as server:
        assert "redirects without end" in ask(server.url).fetch(program.binary).reason
    with scripted(lambda request: request.answer(302, Location="file:///etc/passwd")) as server:
        assert "redirects to file" in ask(server.url).fetch(program.binary).reason


def test_a_name_and_password_in_a_url_are_used_and_never_shown(
    program: Program, ask: Callable[..., DebugInfod]
) -> None:
    with scripted(lambda request: request.answer(403)) as server:
        client = ask(server.url.replace("//", "//me:s3cret@"))
        fetched = client.fetch(program.binary)
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert fetched.reason == f"debuginfod: {server.url}: answered 403"
    assert "s3cret" not in repr(client._settings)


def test_a_damaged_file_in_the_cache_is_replaced(
    program: Program, ask: Callable[..., DebugInfod], tmp_path: Path
) -> None:
    cached(tmp_path, program).parent.mkdir(parents=True)
    cached(tmp_path, program).write_bytes(program.debug.read_bytes()[:500])
    with answering(program, lambda request, body: request.answer(200, body)) as server:
        assert ask(server.url).fetch(program.binary).file is not None
    assert cached(tmp_path, program).read_bytes() == program.debug.read_bytes()


def test_a_cache_that_can_not_be_written_is_a_reason_not_a_crash(
    program: Program, ask: Callable[..., DebugInfod], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("in the way")
    fetched = ask("http://127.0.0.1:9").fetch(program.binary)
    assert fetched.file is None
    assert "cache" in fetched.reason


def test_a_binary_without_build_id_is_not_asked_for(ask: Callable[..., DebugInfod], tmp_path: Path) -> None:
    app = identified(split_debug.stripped(split_debug.build(tmp_path / "whole", build_id="none"), tmp_path / "app"))
    client = ask("http://127.0.0.1:9")
    assert not client.may_have(app)
    assert "build-id" in client.fetch(app).reason


def test_what_is_asked_is_told_only_where_verbose(program: Program, tmp_path: Path) -> None:
    with scripted(lambda request: request.answer(404)) as server:
        environ = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(tmp_path)}
        for variables, told in (
            ({}, []),
            ({"DEBUGINFOD_VERBOSE": "1"}, [f"debuginfod: GET {server.url}/buildid/{program.id}/debuginfo: 404"]),
        ):
            notes: list[str] = []
            DebugInfod(DebugInfodSettings.from_environment(environ | variables), note=notes.append).fetch(
                program.binary
            )
            assert notes == told
            (tmp_path / program.id / "debuginfo").unlink()


def test_the_environment_is_read_as_elfutils_reads_it(tmp_path: Path) -> None:
    urls = {"DEBUGINFOD_URLS": "ima:enforcing https://one/ http://two/path/ https://one"}
    read = DebugInfodSettings.from_environment(urls | {"HOME": str(tmp_path)})
    assert read.urls == ("https://one", "http://two/path")
    assert read.cache == tmp_path / ".cache" / "debuginfod_client"
    assert (read.timeout_seconds, read.max_seconds, read.max_size_bytes, read.retries) == (90, 0, MAX_SIZE_BYTES, 2)
    assert DebugInfodSettings.from_environment(urls | {"HOME": "/h", "XDG_CACHE_HOME": "/x"}).cache == Path(
        "/x/debuginfod_client"
    )
    (tmp_path / ".debuginfod_client_cache").mkdir()
    assert (
        DebugInfodSettings.from_environment(urls | {"HOME": str(tmp_path)}).cache
        == tmp_path / ".debuginfod_client_cache"
    )
    numbers = {
        "DEBUGINFOD_TIMEOUT": "5",
        "DEBUGINFOD_MAXTIME": "60",
        "DEBUGINFOD_MAXSIZE": "1000",
        "DEBUGINFOD_RETRY_LIMIT": "0",
    }
    read = DebugInfodSettings.from_environment(urls | numbers | {"DEBUGINFOD_CACHE_PATH": "/c"})
    assert (read.cache, read.timeout_seconds, read.max_seconds, read.max_size_bytes, read.retries) == (
        Path("/c"),
        5,
        60,
        1000,
        0,
    )


@pytest.mark.parametrize(
    "variables",
    [
        {"DEBUGINFOD_URLS": ""},
        {"DEBUGINFOD_URLS": "ftp://one"},
        {"DEBUGINFOD_URLS": "https://"},
        {"DEBUGINFOD_TIMEOUT": "soon"},
        {"DEBUGINFOD_MAXSIZE": "-1"},
        {"DEBUGINFOD_HEADERS_FILE": "/does/not/exist"},
    ],
)
def test_what_makes_no_sense_is_an_error_of_usage(variables: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="DEBUGINFOD_"):
        DebugInfodSettings.from_environment({"DEBUGINFOD_URLS": "https://one"} | variables)
