"""Whatever dies in the middle, the same command again completes the work and sends next to nothing twice."""

from __future__ import annotations

import hashlib
import signal
from pathlib import Path

from tests.cli.conftest import PROGRAMS, Server, Struck, Symup
from uploader.pipeline.sending import CHUNKS_IN_SENDING

CUT_AFTER = 3


def manifests(server: Server) -> list[Path]:
    return list(server.store.glob("default/artifacts/*/*/gsym.json"))


def stored_digests(symup: Symup, server: Server, programs: Path) -> dict[str, str]:
    done = symup("status", programs, "--to", server.url, "--json")
    assert done.code == 0, done.err
    return {Path(entry["what"]).name: entry["manifest"]["content_sha256"] for entry in done.document["entries"]}


def converted_digests(symup: Symup, programs: Path, folder: Path) -> dict[str, str]:
    assert symup("convert", programs, "-o", folder).code == 0
    return {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.gsym")}


def test_a_killed_client_is_resumed_and_a_third_run_sends_nothing(
    symup: Symup, server: Server, programs: Path, tmp_path: Path
) -> None:
    struck = Struck("uploader.destinations.server:HttpDestination", after=CUT_AFTER, number=signal.SIGKILL)
    client = symup.start("upload", programs, "--to", server.url, struck=struck)
    client.communicate(timeout=90)
    assert client.returncode == -signal.SIGKILL
    assert 1 <= len(manifests(server)) <= CUT_AFTER

    again = symup("upload", programs, "--to", server.url, "--json")
    assert again.code == 0, again.err
    assert again.document["counts"]["stored"] + again.document["counts"]["present"] == PROGRAMS
    sent_twice = server.requests("PUT /v1/projects/default/chunks/") - PROGRAMS
    # An answer that finds its client gone is not in the log.
    assert -CHUNKS_IN_SENDING <= sent_twice <= CHUNKS_IN_SENDING

    asked = server.requests("artifacts%3Anegotiate")
    put = server.requests("PUT ")
    third = symup("upload", programs, "--to", server.url, "--json")
    assert third.code == 0, third.err
    assert third.document["counts"]["present"] == PROGRAMS
    assert third.document["totals"]["extracted"] == 0
    assert third.document["totals"]["chunks_sent"] == 0
    assert server.requests("artifacts%3Anegotiate") - asked == 1
    assert server.requests("PUT ") == put

    assert stored_digests(symup, server, programs) == converted_digests(symup, programs, tmp_path / "converted")


def test_a_killed_server_comes_back_and_the_same_client_goes_on(symup: Symup, server: Server, programs: Path) -> None:
    server.kill()
    server.start(struck=Struck("uploader.store.store:SymbolStore", after=CUT_AFTER, number=signal.SIGKILL))
    client = symup.start("upload", programs, "--to", server.url, "--json")
    assert server.process is not None
    assert server.process.wait(90) == -signal.SIGKILL
    assert client.poll() is None
    assert 1 <= len(manifests(server)) <= CUT_AFTER
    server.start()
    client.communicate(timeout=90)

    again = symup("upload", programs, "--to", server.url, "--json")
    assert again.code == 0, again.err
    assert server.requests("PUT /v1/projects/default/chunks/") <= PROGRAMS + CHUNKS_IN_SENDING
    assert len(stored_digests(symup, server, programs)) == PROGRAMS


def test_two_clients_at_once_both_succeed(symup: Symup, server: Server, programs: Path, tmp_path: Path) -> None:
    clients = [symup.start("upload", programs, "--to", server.url, "--json") for _ in range(2)]
    for client in clients:
        _, err = client.communicate(timeout=90)
        assert client.returncode == 0, err
    assert stored_digests(symup, server, programs) == converted_digests(symup, programs, tmp_path / "converted")
