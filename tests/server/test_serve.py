"""Starting and ending the server."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import make_artifact
from uploader.errors import UsageError
from uploader.server.serve import serve
from uploader.store.folder import FolderBlobs


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_without_tokens_it_serves_nobody_else(tmp_path: Path, host: str) -> None:
    with pytest.raises(UsageError, match="no tokens") as caught:
        serve(FolderBlobs(tmp_path / "store"), host=host, port=0)
    assert caught.value.remedy


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="can't listen"):
            serve(FolderBlobs(tmp_path / "store"), port=taken.getsockname()[1])


@pytest.mark.parametrize(
    "arguments",
    [{"host": "no.such.host.invalid"}, {"port": 70000}, {"max_request_size_bytes": 100}, {"tokens_path": Path("none")}],
)
def test_what_can_not_be_served_is_a_usage_error(tmp_path: Path, arguments: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        serve(FolderBlobs(tmp_path / "store"), **{"port": 0, **arguments})  # type: ignore[arg-type]  # keywords by case


def test_a_store_that_is_a_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError):
        serve(FolderBlobs(tmp_path / "file"), port=0)


def test_a_request_under_way_is_finished_before_it_ends(tmp_path: Path) -> None:
    chunk = make_artifact(functions=2000).file.chunks[0]
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield chunk.data[:1000]
        begun.set()
        go_on.wait(20)
        yield chunk.data[1000:]

    with RunningServer(tmp_path / "store") as server:
        answers: list[httpx.Response] = []
        url = f"{server.url}/v1/projects/p/chunks/{chunk.sha256}"
        client = threading.Thread(target=lambda: answers.append(httpx.put(url, content=slowly(), timeout=30)))
        client.start()
        begun.wait(20)
        ender = threading.Thread(target=server.stop)
        ender.start()
        ender.join(0.5)
        assert ender.is_alive()
        go_on.set()
        client.join(30)
        ender.join(30)
        assert [answer.status_code for answer in answers] == [200]
        assert not ender.is_alive()
        assert (tmp_path / "store/p/chunks" / chunk.sha256[:2] / chunk.sha256).read_bytes() == chunk.data


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_the_size_of_requests_is_told_to_clients(tmp_path: Path, by: str) -> None:
    (tmp_path / "store").mkdir()
    flag = ["--max-request-size", "1M"] if by == "flag" else []
    environment = os.environ | ({} if flag else {"SYMUP_MAX_REQUEST_SIZE": "1M"})
    command = [sys.executable, "-m", "uploader", "serve", "--store", str(tmp_path / "store"), "--port", "0", *flag]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            limits = httpx.get(process.stdout.readline().strip() + "/v1/capabilities").json()
        finally:
            process.terminate()
    assert limits["max_request_size_bytes"] == limits["max_chunk_size_bytes"] == 1024 * 1024


def test_a_size_of_requests_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "uploader", "serve", "--store", str(tmp_path), "--max-request-size", "much"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "'much' is no size" in told.stderr
