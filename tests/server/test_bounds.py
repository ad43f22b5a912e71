"""What a peer can make a server hold, read or wait for: before its token is known, and after."""

import asyncio
import contextlib
import json
import select
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import make_artifact, make_gsym
from uploader.protocol.wire import artifacts, pages
from uploader.protocol.words import Capabilities
from uploader.server.app import create_app
from uploader.server.connection import Bounds, bounded_protocol
from uploader.server.limit import BodyLimit
from uploader.server.tokens import Tokens
from uploader.server.trouble import answer_errors
from uploader.store.folder import FolderBlobs

NEGOTIATE = "/v1/projects/p/artifacts:negotiate"
COMMIT = "/v1/projects/p/artifacts:commit"
CHUNK = "/v1/projects/p/chunks/" + "0" * 64
QUICK = Bounds(
    connections=8,
    connections_of_one_address=6,
    head_seconds=0.6,
    window_seconds=0.6,
    window_size_bytes=1000,
    refused_body_seconds=0.6,
    check_seconds=0.1,
)
Connect = Callable[..., socket.socket]


@contextlib.contextmanager
def served(
    store: Path, bounds: Bounds, *, tokens: Tokens | None = None, max_bodies_size_bytes: int = 1 << 28
) -> Iterator[int]:
    """A real server with bounds of its own, in a thread; gives its port."""
    app = create_app(
        FolderBlobs(store), tokens=tokens, capabilities=Capabilities(), max_bodies_size_bytes=max_bodies_size_bytes
    )
    with running(app, bounds) as port:
        yield port


@contextlib.contextmanager
def running(app: ASGIApp, bounds: Bounds) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, http=bounded_protocol(bounds), log_level="error", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join(20)


@pytest.fixture
def connect() -> Iterator[Connect]:
    with contextlib.ExitStack() as stack:

        def opened(port: int, data: bytes = b"") -> socket.socket:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            connection.sendall(data)
            return connection

        yield opened


def head(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join((f"{method} {path} HTTP/1.1", "Host: localhost", *lines, "", "")).encode()


def is_closed(connection: socket.socket, *, within_seconds: float) -> bool:
    """Whether the server ends the connection, whatever it says before."""
    ends_at = time.monotonic() + within_seconds
    while select.select([connection], [], [], max(0.0, ends_at - time.monotonic()))[0]:
        try:
            if not connection.recv(1 << 16):
                return True
        except ConnectionError:
            return True
    return False


def answered(connection: socket.socket) -> bytes:
    """What comes first, and what follows at once."""
    data = connection.recv(1 << 16)
    while data and select.select([connection], [], [], 0.3)[0]:
        more = connection.recv(1 << 16)
        if not more:
            break
        data += more
    return data


@pytest.mark.parametrize(("method", "path"), [("POST", NEGOTIATE), ("POST", COMMIT), ("PUT", CHUNK)])
def test_who_has_no_token_is_told_so_before_a_byte_of_the_body(
    tmp_path: Path, connect: Connect, method: str, path: str
) -> None:
    with served(tmp_path / "store", QUICK, tokens=Tokens(())) as port:
        lines = ("Content-Type: application/json", "Content-Length: 8000000")
        assert answered(connect(port, head(method, path, *lines))).startswith(b"HTTP/1.1 401 ")


def test_a_body_that_is_refused_already_may_not_go_on_for_ever(tmp_path: Path, connect: Connect) -> None:
    with served(tmp_path / "store", QUICK, tokens=Tokens(())) as port:
        connection = connect(port, head("PUT", CHUNK, "Content-Length: 8000000"))
        assert answered(connection).startswith(b"HTTP/1.1 401 ")
        for _ in range(30):
            time.sleep(0.1)
            try:
                connection.sendall(b"x" * 2000)
            except ConnectionError:
                break
        else:
            pytest.fail("the rest of the body is still read")


def test_json_of_more_values_than_a_message_can_mean_is_not_parsed(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "store") as server:
        for path in (NEGOTIATE, COMMIT):
            for body in (b"[" + b"[]," * 200_000 + b"0]", b'{"a":[' + b'{"a":0},' * 100_000 + b"0]}"):
                answer = httpx.post(server.url + path, content=body)
                assert answer.status_code == 400
                assert "too many" in answer.json()["reason"]


def test_the_largest_batch_and_manifest_are_no_such_thing(tmp_path: Path) -> None:
    question = pages.QUESTION.write(make_artifact("aa11", aliases=("go:x", "file:" + "0" * 32)).question)
    with RunningServer(tmp_path / "store") as server:
        answer = httpx.post(server.url + NEGOTIATE, json={"questions": [question] * 500})
        assert len(answer.json()["answers"]) == 500
        many = question | {"chunks": [f"{number:064x}" for number in range(60_000)]}
        answer = httpx.post(server.url + NEGOTIATE, content=json.dumps({"questions": [many]}), timeout=60)
        assert len(answer.json()["answers"][0]["missing_chunks"]) == 60_000
        over = question | {"chunks": ["0" * 64] * 70_000}
        assert httpx.post(server.url + NEGOTIATE, content=json.dumps({"questions": [over]})).status_code == 400


@pytest.mark.parametrize("begin", [b"", b"GET /healthz HTTP/1.1\r\nHost: loc"])
def test_a_request_whose_head_does_not_come_is_ended(tmp_path: Path, connect: Connect, begin: bytes) -> None:
    with served(tmp_path / "store", QUICK) as port:
        assert is_closed(connect(port, begin), within_seconds=5)


def test_a_head_that_drips_is_ended(tmp_path: Path, connect: Connect) -> None:
    with served(tmp_path / "store", QUICK) as port:
        connection = connect(port, b"GET /healthz HTTP/1.1\r\nX-Long: ")
        for _ in range(30):
            if is_closed(connection, within_seconds=0.1):
                return
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"x")
        pytest.fail("a dripping head is still read")


def test_a_second_head_that_drips_is_ended(tmp_path: Path, connect: Connect) -> None:
    with served(tmp_path / "store", QUICK) as port:
        connection = connect(port, head("GET", "/healthz"))
        assert answered(connection).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /heal")
        assert is_closed(connection, within_seconds=5)


def test_a_connection_between_two_requests_is_left_alone(tmp_path: Path, connect: Connect) -> None:
    with served(tmp_path / "store", QUICK) as port:
        connection = connect(port)
        for _ in range(2):
            connection.sendall(head("GET", "/healthz"))
            assert answered(connection).startswith(b"HTTP/1.1 200 ")
            time.sleep(1.5)


@pytest.mark.parametrize(("piece_size_bytes", "ends"), [(10, True), (1000, False)])
def test_a_body_has_to_get_on(tmp_path: Path, connect: Connect, piece_size_bytes: int, ends: bool) -> None:
    with served(tmp_path / "store", QUICK) as port:
        connection = connect(port, head("PUT", CHUNK, "Content-Length: 1000000"))
        closed = False
        for _ in range(20):
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"x" * piece_size_bytes)
            closed = closed or is_closed(connection, within_seconds=0.1)
        assert closed is ends


def test_a_body_that_the_server_is_slow_to_read_is_not_the_clients_fault(connect: Connect) -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(3 * QUICK.window_seconds)
        body = await Request(scope, receive).body()
        await Response(str(len(body)))(scope, receive, send)

    size_bytes = 4_000_000
    with running(slow, QUICK) as port:
        connection = connect(port, head("PUT", CHUNK, f"Content-Length: {size_bytes}", "Connection: close"))
        connection.sendall(bytes(size_bytes))
        assert answered(connection).endswith(str(size_bytes).encode())


def limited(*, silence_seconds: float = 60.0) -> FastAPI:
    app = FastAPI()
    answer_errors(app)
    app.add_middleware(BodyLimit, max_size_bytes=100, silence_seconds=silence_seconds)

    async def told(request: Request) -> Response:
        return Response(f"{len(await request.body())} bytes")

    app.add_route("/body", told, methods=["PUT"])
    return app


@pytest.mark.parametrize("in_pieces", [False, True])
def test_no_page_reads_a_body_over_the_limit(in_pieces: bool) -> None:
    with running(limited(), QUICK) as port:

        def answer(size_bytes: int) -> httpx.Response:
            content = bytes(size_bytes)
            url, headers = f"http://127.0.0.1:{port}/body", {"X-Build": "20260101"}
            return httpx.put(url, content=iter([content]) if in_pieces else content, headers=headers)

        assert answer(100).text == "100 bytes"
        assert answer(101).status_code == 413


def test_a_body_that_is_announced_over_the_limit_is_refused_before_a_byte_of_it(
    tmp_path: Path, connect: Connect
) -> None:
    with served(tmp_path / "store", Bounds(connections=8, connections_of_one_address=6)) as port:
        for path in (NEGOTIATE, COMMIT, CHUNK):
            connection = connect(port, head("PUT" if path is CHUNK else "POST", path, "Content-Length: 8000000000"))
            assert answered(connection).startswith(b"HTTP/1.1 413 ")


def test_who_falls_silent_in_a_body_is_told_that_it_took_too_long(connect: Connect) -> None:
    patient = Bounds(connections=8, connections_of_one_address=6)
    with running(limited(silence_seconds=0.2), patient) as port:
        connection = connect(port, head("PUT", "/body", "Content-Length: 10") + b"x")
        answer = answered(connection)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert is_closed(connection, within_seconds=5) or b"connection: close" in answer.lower()


def test_an_answer_may_take_longer_than_a_client_may_be_silent_in_its_request(connect: Connect) -> None:
    silence_seconds = 0.2

    async def pieces() -> AsyncIterator[bytes]:
        yield b"begun "
        await asyncio.sleep(3 * silence_seconds)
        yield b"done"

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        assert await Request(scope, receive).body() == b"x"
        await StreamingResponse(pieces(), headers={"Content-Length": "10"})(scope, receive, send)

    with running(BodyLimit(slow, max_size_bytes=100, silence_seconds=silence_seconds), QUICK) as port:
        answer = httpx.put(f"http://127.0.0.1:{port}{CHUNK}", content=b"x")
        assert answer.text == "begun done"


def test_an_answer_has_to_be_taken(tmp_path: Path, connect: Connect) -> None:
    artifact = make_artifact("aa11", gsym=make_gsym("aa11", name_bytes=2_000_000))
    with served(tmp_path / "store", QUICK) as port:
        with httpx.Client(base_url=f"http://localhost:{port}") as client:
            for chunk in artifact.file.chunks:
                client.put(f"/v1/projects/p/chunks/{chunk.sha256}", content=chunk.data)
            client.post(COMMIT, json={"manifest": artifacts.MANIFEST.write(artifact.manifest)}).raise_for_status()
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", port))
            connection.sendall(head("GET", "/v1/projects/p/symbols/aa11"))
            time.sleep(3)
            taken = 0
            with contextlib.suppress(ConnectionError):
                while piece := connection.recv(1 << 16):
                    taken += len(piece)
            assert taken < len(artifact.gsym)


def test_connections_that_wait_make_room_for_who_comes(tmp_path: Path, connect: Connect) -> None:
    patient = Bounds(connections=8, connections_of_one_address=6)
    with served(tmp_path / "store", patient) as port:
        waiting = [connect(port, b"GET /healthz HT") for _ in range(40)]
        answer = answered(connect(port, head("GET", "/healthz")))
        assert answer.startswith(b"HTTP/1.1 200 ")
        still_open = [one for one in waiting if not is_closed(one, within_seconds=0.01)]
        assert still_open == waiting[-len(still_open) :]
        assert len(still_open) == 5


@pytest.mark.parametrize(
    "bounds",
    [Bounds(connections=100, connections_of_one_address=3), Bounds(connections=3, connections_of_one_address=100)],
)
def test_where_all_are_busy_nobody_else_is_let_in(tmp_path: Path, connect: Connect, bounds: Bounds) -> None:
    with served(tmp_path / "store", bounds) as port:
        busy = [connect(port, head("PUT", CHUNK, "Content-Length: 100") + b"x") for _ in range(3)]
        time.sleep(0.5)
        assert is_closed(connect(port), within_seconds=5)
        assert not any(is_closed(one, within_seconds=0.01) for one in busy)
        busy[0].sendall(b"x" * 99)
        assert answered(busy[0]).startswith(b"HTTP/1.1 422 ")
        assert answered(connect(port, head("GET", "/healthz"))).startswith(b"HTTP/1.1 200 ")


def test_connections_that_had_their_answer_make_room_for_who_comes(tmp_path: Path, connect: Connect) -> None:
    with served(tmp_path / "store", Bounds(connections=8, connections_of_one_address=3)) as port:
        for _ in range(7):
            assert answered(connect(port, head("GET", "/healthz"))).startswith(b"HTTP/1.1 200 ")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of this machine")
def test_who_takes_all_connections_of_an_address_leaves_the_others_theirs(tmp_path: Path, connect: Connect) -> None:
    with served(tmp_path / "store", Bounds(connections=100, connections_of_one_address=3)) as port:
        for _ in range(3):
            connection = connect(port, head("PUT", CHUNK, "Content-Length: 100", "Expect: 100-continue"))
            assert answered(connection).startswith(b"HTTP/1.1 100 ")
        assert is_closed(connect(port), within_seconds=5)
        with socket.create_connection(("127.0.0.1", port), timeout=10, source_address=("127.0.0.2", 0)) as other:
            other.sendall(head("GET", "/healthz"))
            assert answered(other).startswith(b"HTTP/1.1 200 ")


def test_a_request_that_tells_two_lengths_is_refused(tmp_path: Path, connect: Connect) -> None:
    with served(tmp_path / "store", QUICK) as port:
        smuggled = head("GET", "/healthz")
        lines = (f"Content-Length: {5 + len(smuggled)}", "Transfer-Encoding: chunked")
        connection = connect(port, head("PUT", CHUNK, *lines) + b"0\r\n\r\n" + smuggled)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while piece := answered(connection):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("path", ["/healthz/", "/v1/capabilities/", "/v1/projects/p/symbols/aa/"])
def test_no_answer_leads_to_the_host_that_a_request_names(tmp_path: Path, connect: Connect, path: str) -> None:
    with served(tmp_path / "store", QUICK) as port:
        answer = answered(connect(port, head("GET", path).replace(b"localhost", b"evil.example.com")))
        assert answer.startswith(b"HTTP/1.1 40")
        assert b"evil.example.com" not in answer


def test_clients_that_hang_up_leave_no_traceback(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "store") as server:
        for path in (NEGOTIATE, COMMIT, CHUNK):
            method = "PUT" if path is CHUNK else "POST"
            with socket.create_connection(("127.0.0.1", server.port)) as connection:
                connection.sendall(head(method, path, "Content-Length: 1000") + b"x")
                time.sleep(0.3)
        assert httpx.get(server.url + "/healthz").status_code == 200
        server.stop()
        assert server.log() == ""


def test_damage_in_mid_answer_is_a_line_in_the_log_and_breaks_the_connection(tmp_path: Path) -> None:
    artifact = make_artifact("aa11", chunks=4)
    with RunningServer(tmp_path / "store") as server:
        for chunk in artifact.file.chunks:
            httpx.put(f"{server.url}/v1/projects/p/chunks/{chunk.sha256}", content=chunk.data)
        httpx.post(
            server.url + COMMIT, json={"manifest": artifacts.MANIFEST.write(artifact.manifest)}
        ).raise_for_status()
        last = artifact.file.chunks[-1]
        path = server.store_path / "p/chunks" / last.sha256[:2] / last.sha256
        path.write_bytes(bytes(len(last.data)))
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(f"{server.url}/v1/projects/p/symbols/aa11", headers={"Accept-Encoding": "zstd"})
        server.stop()
        assert "breaks off" in server.log()
        assert "Traceback" not in server.log()


@pytest.mark.parametrize("length", ["Content-Length: 8000000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize(("method", "path"), [("POST", NEGOTIATE), ("POST", COMMIT), ("PUT", CHUNK)])
def test_bodies_beyond_the_room_for_all_are_put_off_before_a_byte_of_them(
    tmp_path: Path, connect: Connect, method: str, path: str, length: str
) -> None:
    patient = Bounds(connections=8, connections_of_one_address=6)
    with served(tmp_path / "store", patient, max_bodies_size_bytes=10_000_000) as port:
        first = connect(port, head(method, path, length))
        time.sleep(0.3)
        told = answered(connect(port, head(method, path, length)))
        assert told.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 2" in told.lower()
        assert b'"busy"' in told
        assert answered(connect(port, head("GET", "/healthz"))).startswith(b"HTTP/1.1 200 ")
        first.close()
        time.sleep(0.3)
        again = connect(port, head(method, path, length))
        assert not select.select([again], [], [], 0.5)[0]
