"""Either end is killed in mid-transfer, and the same command again completes: at most the chunks in flight are sent twice."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.destinations.uploading_client import CHUNKS_AT_ONCE, artifacts
from tests.net.bad_network import BadNetwork
from tests.server.running_server import RunningServer
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore

SHAPE = (110, 80, 2100)
KILL_AT_PUT = 100


def client(dest: str) -> "subprocess.Popen[str]":
    arguments = [sys.executable, "-m", "tests.destinations.uploading_client", dest, *map(str, SHAPE)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def finished(process: "subprocess.Popen[str]") -> tuple[int, list[str]]:
    output, _ = process.communicate(timeout=90)
    return process.returncode, output.splitlines()


def assert_complete(store: Path) -> None:
    kept = SymbolStore(FolderBlobs(store), "web")
    for artifact in artifacts(*SHAPE):
        assert b"".join(kept.fetch(artifact.manifest.identity.primary)) == artifact.gsym


def total_chunks() -> int:
    return len({sha256 for artifact in artifacts(*SHAPE) for sha256 in artifact.manifest.chunks})


class AtPut:
    """Sets off once, when so many chunks have been begun."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.happened = threading.Event()

    def __call__(self, total: int) -> None:
        if total >= self.count:
            self.happened.set()


def test_a_killed_client_resumes(tmp_path: Path) -> None:
    at_put = AtPut(KILL_AT_PUT)
    with RunningServer(tmp_path / "store") as server, BadNetwork(server.port, on_put=at_put) as network:
        assert total_chunks() > 2 * KILL_AT_PUT
        victim = client(network.url)
        assert at_put.happened.wait(60)
        victim.kill()
        code, _ = finished(victim)
        assert code == -9
        assert finished(client(network.url))[0] == 0
        sent_twice = [digest for digest, count in network.chunk_puts.items() if count > 1]
        assert len(sent_twice) <= CHUNKS_AT_ONCE
        assert max(network.chunk_puts.values()) <= 2
        assert len(network.chunk_puts) == total_chunks()
        assert_complete(tmp_path / "store")

        before = len(network.requests)
        assert finished(client(network.url)) == (0, [])
        third = network.requests[before:]
        assert [request.rpartition(b"/")[2] for request in third] == [b"capabilities", b"artifacts:negotiate"]


def test_a_killed_server_costs_the_chunks_in_flight(tmp_path: Path) -> None:
    at_put = AtPut(KILL_AT_PUT)
    with RunningServer(tmp_path / "store") as server, BadNetwork(server.port, on_put=at_put) as network:
        uploading = client(network.url)
        assert at_put.happened.wait(60)
        server.kill()
        server.start()
        code, lines = finished(uploading)
        assert (code, len(lines)) == (0, SHAPE[0])
        sent_twice = [digest for digest, count in network.chunk_puts.items() if count > 1]
        assert len(sent_twice) <= CHUNKS_AT_ONCE
        assert_complete(tmp_path / "store")


def test_a_server_that_dies_again_and_again_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    deaths = [AtPut(count) for count in (40, 100, 160)]

    def on_put(total: int) -> None:
        for death in deaths:
            death(total)

    with RunningServer(tmp_path / "store") as server, BadNetwork(server.port, on_put=on_put) as network:
        uploading = client(network.url)
        for death in deaths:
            assert death.happened.wait(60)
            server.kill()
            server.start()
        assert finished(uploading)[0] == 0
        assert_complete(tmp_path / "store")


@pytest.mark.parametrize("over", ["server", "folder"])
def test_two_client_processes_with_the_same_files_both_succeed(tmp_path: Path, over: str) -> None:
    store = tmp_path / "store"
    if over == "folder":
        uploading = [client(str(store)) for _ in range(2)]
        assert [finished(process)[0] for process in uploading] == [0, 0]
    else:
        with RunningServer(store) as server, ThreadPoolExecutor(2) as pool:
            assert [code for code, _ in pool.map(finished, [client(server.url) for _ in range(2)])] == [0, 0]
    assert_complete(store)


def test_a_client_killed_over_a_folder_resumes(tmp_path: Path) -> None:
    store = tmp_path / "store"
    victim = client(str(store))
    assert victim.stdout is not None
    for _ in range(10):
        assert victim.stdout.readline()
    victim.kill()
    victim.stdout.close()
    victim.wait(30)
    kept = SymbolStore(FolderBlobs(store), "web")
    reported = [one for one in artifacts(*SHAPE) if kept.manifest(one.manifest.identity.primary) is not None]
    assert 10 <= len(reported) < SHAPE[0]
    assert finished(client(str(store)))[0] == 0
    assert_complete(store)
