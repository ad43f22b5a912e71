"""What a hostile or broken server can cost the client: bounded memory, bounded time."""

import json
import socket
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from tests.net.bad_network import BadNetwork, Behaviour, answers, drips, relays, status
from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import make_artifact, put_all
from uploader.destinations.server import HttpDestination
from uploader.errors import NetworkGaveOut, NotAllowed, Refused, StoreDamaged
from uploader.net.patience import Patience
from uploader.protocol.wire import artifacts, pages
from uploader.protocol.words import MIN_CHUNK_SIZE_BYTES, Capabilities
from uploader.values import replace

IMPATIENT = Patience(exchange_seconds=1.0, commit_seconds=1.0, give_up_after_seconds=0.5, first_contact_seconds=0.5)
MEBIBYTE = 1024 * 1024
Open = Callable[..., HttpDestination]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("bounds") / "store") as running:
        yield running


@pytest.fixture
def opened() -> Iterator[Open]:
    destinations: list[HttpDestination] = []

    def open_one(url: str, *, patience: Patience = IMPATIENT) -> HttpDestination:
        destinations.append(HttpDestination(url, project="p", patience=patience, sleep=lambda _seconds: None))
        return destinations[-1]

    yield open_one
    for destination in destinations:
        destination.close()


def good(value: object) -> bytes:
    return status("200 OK", body=json.dumps(value).encode())


def peak_bytes(act: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_encoding_that_nobody_asked_for_is_refused_unread(server: RunningServer, opened: Open) -> None:
    bomb = zstandard.compress(bytes(200 * MEBIBYTE))
    response = status("200 OK", "Content-Encoding: zstd", body=bomb)
    with BadNetwork(server.port, behaviours=(answers(response),)) as network:
        destination = opened(network.url)

        def ask() -> None:
            with pytest.raises(Refused, match="Content-Encoding 'zstd'"):
                destination.capabilities()

        assert peak_bytes(ask) < 4 * MEBIBYTE


@pytest.mark.parametrize("sized", [True, False])
def test_an_answer_is_no_larger_than_what_was_asked_for(server: RunningServer, opened: Open, sized: bool) -> None:
    body = b"[" + b"0," * (10 * MEBIBYTE) + b"0]"
    response = status("200 OK", body=body) if sized else b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body
    with BadNetwork(server.port, behaviours=(answers(response),) * 3) as network:
        destination = opened(network.url)

        def ask() -> None:
            with pytest.raises(Refused, match="more than the 65536 bytes"):
                destination.capabilities()

        assert peak_bytes(ask) < 4 * MEBIBYTE


def test_an_error_page_without_end_is_no_different_from_a_short_one(server: RunningServer, opened: Open) -> None:
    response = status("403 Forbidden", body=b"x" * (20 * MEBIBYTE))
    with (
        BadNetwork(server.port, behaviours=(answers(response),)) as network,
        pytest.raises(NotAllowed, match="status 403"),
    ):
        opened(network.url).capabilities()


@pytest.mark.parametrize("member", ["max_chunk_size_bytes", "max_request_size_bytes"])
def test_a_limit_that_would_cut_files_to_dust_is_refused(server: RunningServer, opened: Open, member: str) -> None:
    for limit, works in ((1, False), (MIN_CHUNK_SIZE_BYTES - 1, False), (MIN_CHUNK_SIZE_BYTES, True)):
        said = pages.CAPABILITIES.write(Capabilities()) | {member: limit}
        with BadNetwork(server.port, behaviours=(answers(good(said)),)) as network:
            destination = opened(network.url)
            if works:
                assert destination.capabilities().max_chunk_size_bytes == limit
                continue
            with pytest.raises(Refused, match="sends no chunks below") as caught:
                destination.capabilities()
            assert "64 KiB" in str(caught.value.remedy)


def test_no_batch_is_larger_than_what_can_be_read_back(server: RunningServer, opened: Open) -> None:
    said = pages.CAPABILITIES.write(replace(Capabilities(), max_batch=10**9, max_request_size_bytes=10**12))
    with BadNetwork(server.port, behaviours=(answers(good(said)),)) as network:
        assert opened(network.url).capabilities().max_batch == 500


def test_a_declared_size_that_no_symbol_file_has_is_refused_before_anything_is_fetched(
    server: RunningServer, opened: Open
) -> None:
    artifact = make_artifact("b1")
    huge = replace(artifact.manifest, content_size_bytes=8 * 1024**3)
    with BadNetwork(server.port, behaviours=(answers(good(artifacts.MANIFEST.write(huge))),)) as network:
        with pytest.raises(StoreDamaged, match="8589934592 bytes"):
            opened(network.url).fetch(artifact.manifest.identity.primary)
        assert network.connections == 1


def test_a_chunk_is_no_larger_than_its_manifest_says(server: RunningServer, opened: Open) -> None:
    artifact = make_artifact("b2")
    put_all(opened(server.url), artifact)
    opened(server.url).commit(artifact.manifest)
    padded = status("200 OK", body=artifact.file.chunks[0].data + b"x")
    manifest = answers(good(artifacts.MANIFEST.write(artifact.manifest)))
    with (
        BadNetwork(server.port, behaviours=(manifest, answers(padded))) as network,
        pytest.raises(StoreDamaged, match="other bytes"),
    ):
        list(opened(network.url).fetch(artifact.manifest.identity.primary))


HEAD = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "nothing": drips(b"", b""),
    "a head": drips(HEAD, b"X: y\r\n"),
    "one header": drips(HEAD + b"X: ", b"y"),
    "interim answers": drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "a body": drips(HEAD + b"Content-Length: 60000\r\n\r\n", b"x"),
    "a body in chunks": drips(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "an error page": drips(b"HTTP/1.1 500 Oops\r\nContent-Length: 60000\r\n\r\n", b"x"),
}


@pytest.mark.parametrize("dripping", DRIPS.values(), ids=DRIPS)
def test_a_server_that_drips_is_given_up(server: RunningServer, opened: Open, dripping: Behaviour) -> None:
    with BadNetwork(server.port, behaviours=(dripping,)) as network:
        began = time.monotonic()
        with pytest.raises(NetworkGaveOut, match="no whole answer in time"):
            opened(network.url).capabilities()
        assert 0.9 < time.monotonic() - began < 5


def test_interim_answers_at_full_speed_are_given_up(server: RunningServer, opened: Open) -> None:
    flood = drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000, every_seconds=0.0)
    with (
        BadNetwork(server.port, behaviours=(flood,)) as network,
        pytest.raises(Refused, match="far more than was asked for"),
    ):
        opened(network.url).capabilities()


def test_a_connection_that_was_good_once_is_bounded_as_well(server: RunningServer, opened: Open) -> None:
    # The first answer leaves the connection open; what comes after it drips.
    capabilities = json.dumps(pages.CAPABILITIES.write(Capabilities())).encode()
    first = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(capabilities) + capabilities

    def act(client: socket.socket) -> bool:
        client.recv(65536)
        client.sendall(first)
        return drips(HEAD, b"X: y\r\n")(client)

    with BadNetwork(server.port, behaviours=(act, *[drips(b"", b"")] * 9)) as network:
        destination = opened(network.url)
        destination.capabilities()
        began = time.monotonic()
        with pytest.raises(NetworkGaveOut):
            destination.negotiate([make_artifact().question])
        assert time.monotonic() - began < 5


def test_a_server_that_takes_the_body_and_then_nothing_is_given_up(server: RunningServer, opened: Open) -> None:
    def deaf(client: socket.socket) -> bool:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        time.sleep(8)
        return True

    artifact = make_artifact("b3", functions=60_000)
    with BadNetwork(server.port, behaviours=(relays, *[deaf] * 9)) as network:
        destination = opened(network.url)
        destination.capabilities()
        destination._exchanges._client.close()
        again = opened(network.url)
        again._capabilities = destination._capabilities
        began = time.monotonic()
        with pytest.raises(NetworkGaveOut, match="in time"):
            put_all(again, artifact)
        assert time.monotonic() - began < 6


def test_a_tls_handshake_that_never_ends_is_given_up(server: RunningServer, opened: Open) -> None:
    with BadNetwork(server.port, behaviours=(drips(b"", b""),) * 3) as network:
        began = time.monotonic()
        with pytest.raises(NetworkGaveOut, match="no connection in time"):
            opened(network.url.replace("http://", "https://")).capabilities()
        assert time.monotonic() - began < 5


def test_slow_and_steady_is_no_stall(server: RunningServer, opened: Open, tmp_path: Path) -> None:
    body = json.dumps(pages.CAPABILITIES.write(Capabilities())).encode() + b" " * 40_000

    def act(client: socket.socket) -> bool:
        client.recv(65536)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
        for offset in range(0, len(body), 4000):
            client.sendall(body[offset : offset + 4000])
            time.sleep(0.25)
        return True

    with BadNetwork(server.port, behaviours=(act,)) as network:
        began = time.monotonic()
        assert opened(network.url).capabilities() == Capabilities()
        assert time.monotonic() - began > 2
