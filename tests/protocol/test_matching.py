"""What is taken for an answer names what was asked for: answers that are repeated, mixed up or garbled are asked for again."""

import contextlib
import hashlib
import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.net.bad_network import BadNetwork, Behaviour, answers, status
from tests.net.tls_front import TlsFront, certificate, openssl
from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import Artifact, make_artifact, put_all
from uploader.destinations.folder import FolderDestination
from uploader.destinations.send import send
from uploader.destinations.server import HttpDestination
from uploader.errors import ChunkMismatch, NetworkGaveOut, NotAsSent, Refused
from uploader.model import Quality, SymbolId
from uploader.net.patience import Patience
from uploader.protocol import matching
from uploader.protocol.wire import artifacts, json_text, pages
from uploader.protocol.words import Answer, Capabilities, Committed, Holding, Manifest, Question
from uploader.values import replace

ONE, OTHER = make_artifact("c1", chunks=3), make_artifact("c2")
Open = Callable[[str], HttpDestination]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("matching") / "store") as running:
        yield running


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def opened(slept: list[float]) -> Iterator[Open]:
    destinations: list[HttpDestination] = []

    def open_one(url: str) -> HttpDestination:
        """One that knows the capabilities, so that its first connection is for what is asked first."""
        destinations.append(HttpDestination(url, project="p", sleep=slept.append))
        destinations[-1]._capabilities = Capabilities()
        return destinations[-1]

    yield open_one
    for destination in destinations:
        destination.close()


def good(value: object) -> bytes:
    return status("200 OK", body=json.dumps(value).encode())


def said(*given: Answer) -> bytes:
    return good({"answers": [pages.ANSWER.write(answer) for answer in given]})


def lacking(question: Question) -> Answer:
    return Answer(
        identity=question.identity,
        kind=question.kind,
        holding=Holding.MISSING,
        reason="not there",
        missing_chunks=question.chunks,
    )


A, B = lacking(ONE.question), lacking(OTHER.question)
WRONG = {
    "answers in another order": said(B, A),
    "one answer twice": said(A, A),
    "one answer more": said(A, B, B),
    "one answer too few": said(A),
    "no answer at all": said(),
    "about another kind": said(replace(A, kind="other"), B),
    "about other aliases": said(replace(A, identity=replace(A.identity, aliases=(SymbolId.parse("go:x"),))), B),
    "with a chunk of another question": said(replace(A, missing_chunks=B.missing_chunks), B),
    "with a chunk that nobody asked for": said(replace(A, missing_chunks=("0" * 64,)), B),
    "of another page": good({"stored": True, "reason": "new in the store"}),
    "of no page": status("200 OK", body=b"<html>please log in</html>"),
    "with a bit flipped": said(A, B).replace(b'"holding"', b'"hol\x04ing"'),
}


@pytest.mark.parametrize("response", WRONG.values(), ids=WRONG)
def test_an_answer_to_another_question_is_asked_for_again(
    server: RunningServer, opened: Open, slept: list[float], response: bytes
) -> None:
    with BadNetwork(server.port, behaviours=(answers(response),) * 2) as network:
        given = opened(network.url).negotiate([ONE.question, OTHER.question])
        assert [answer.identity for answer in given] == [ONE.manifest.identity, OTHER.manifest.identity]
        assert [answer.missing_chunks for answer in given] == [ONE.question.chunks, OTHER.question.chunks]
    assert len(slept) == 2


@pytest.mark.parametrize("response", WRONG.values(), ids=WRONG)
def test_where_it_never_fits_that_is_told(server: RunningServer, opened: Open, response: bytes) -> None:
    with BadNetwork(server.port, behaviours=(answers(response),) * 9) as network:
        with pytest.raises(Refused, match="not the protocol's, 3 times") as caught:
            opened(network.url).negotiate([ONE.question, OTHER.question])
        assert network.connections == 3
    assert caught.value.remedy


@pytest.mark.parametrize("body", [b"[]", b"null", b"{}"])
def test_an_answer_to_a_chunk_that_names_none_is_no_answer(server: RunningServer, opened: Open, body: bytes) -> None:
    data = ONE.file.chunks[0].data
    capabilities = opened(server.url).capabilities()
    with BadNetwork(server.port, behaviours=(answers(status("200 OK", body=body)),) * 9) as network:
        destination = opened(network.url)
        destination._capabilities = capabilities
        with pytest.raises(Refused, match="not the protocol's, 3 times"):
            destination.put_chunk(ONE.file.chunks[0].sha256, data)


def test_the_number_of_answers_is_told(server: RunningServer, opened: Open) -> None:
    for response, told in ((said(A, B, B), "3 answers to 2 questions"), (said(A), "1 answers to 2 questions")):
        with (
            BadNetwork(server.port, behaviours=(answers(response),) * 9) as network,
            pytest.raises(Refused, match=told),
        ):
            opened(network.url).negotiate([ONE.question, OTHER.question])


def test_an_answer_that_makes_no_sense_is_told_without_control_characters(server: RunningServer, opened: Open) -> None:
    told = artifacts.MANIFEST.write(ONE.manifest)
    response = good(told | {"figures": told["figures"] | {"by_source": {"\x1b[31mred": "many"}}})
    with (
        BadNetwork(server.port, behaviours=(answers(response),) * 9) as network,
        pytest.raises(Refused, match=r"\[31mred: a count is needed") as caught,
    ):
        opened(network.url).manifest(ONE.manifest.identity.primary)
    assert caught.value.message.isprintable()


def test_what_is_sent_says_what_it_is_and_a_question_without_a_body_says_nothing(
    server: RunningServer, opened: Open
) -> None:
    heard: list[bytes] = []

    def hears(client: socket.socket) -> bool:
        heard.append(client.recv(65536, socket.MSG_PEEK).partition(b"\r\n\r\n")[0])
        return False

    chunk = ONE.file.chunks[0]
    asks: list[Callable[[HttpDestination], object]] = [
        lambda destination: destination.negotiate([ONE.question]),
        lambda destination: destination.put_chunk(chunk.sha256, chunk.data),
        lambda destination: destination.manifest(OTHER.manifest.identity.primary),
    ]
    for ask in asks:
        with BadNetwork(server.port, behaviours=(hears,)) as network:
            ask(opened(network.url))
    types = [[line for line in head.split(b"\r\n") if line.lower().startswith(b"content-type:")] for head in heard]
    assert types == [[b"Content-Type: application/json"], [b"Content-Type: application/octet-stream"], []]


def test_what_else_comes_on_a_connection_with_a_garbled_answer_is_not_read(server: RunningServer, opened: Open) -> None:
    def act(client: socket.socket) -> bool:
        client.recv(65536)
        wrong, right = said(B, A).replace(b"Connection: close\r\n", b""), said(A, B)
        client.sendall(wrong + right.replace(b"not there", b"left over"))
        client.settimeout(10)
        with contextlib.suppress(OSError):
            while client.recv(65536):
                pass
        return True

    with BadNetwork(server.port, behaviours=(act,)) as network:
        given = opened(network.url).negotiate([ONE.question, OTHER.question])
        assert {answer.reason for answer in given} == {"not in the store yet"}


@pytest.mark.parametrize(
    "wrong",
    [
        good({"sha256": "0" * 64, "size_bytes": len(OTHER.file.chunks[0].data)}),
        good({"sha256": OTHER.file.chunks[0].sha256, "size_bytes": 1}),
        good({"stored": True, "reason": ""}),
        status("422 Unprocessable Entity", body=b'{"error": "chunk_mismatch", "reason": "other bytes came"}'),
    ],
)
def test_a_chunk_is_stored_when_the_answer_says_so_of_this_chunk(
    server: RunningServer, opened: Open, wrong: bytes
) -> None:
    chunk = OTHER.file.chunks[0]
    with BadNetwork(server.port, behaviours=(answers(wrong),) * 2) as network:
        opened(network.url).put_chunk(chunk.sha256, chunk.data)
        assert network.chunk_puts == {chunk.sha256.encode(): 1}
    with BadNetwork(server.port, behaviours=(answers(wrong),) * 9) as network:
        with pytest.raises(Refused):
            opened(network.url).put_chunk(chunk.sha256, chunk.data)
        assert network.connections == 3


def test_bytes_that_have_another_name_here_already_are_not_sent(server: RunningServer, opened: Open) -> None:
    with BadNetwork(server.port) as network:
        with pytest.raises(ChunkMismatch):
            opened(network.url).put_chunk("0" * 64, b"data")
        assert not network.connections


def test_a_manifest_is_of_what_was_asked_for(server: RunningServer, opened: Open) -> None:
    put_all(opened(server.url), ONE)
    opened(server.url).commit(ONE.manifest)
    wrong = answers(good(artifacts.MANIFEST.write(OTHER.manifest)))
    other_kind = answers(good(artifacts.MANIFEST.write(replace(ONE.manifest, kind="other"))))
    with BadNetwork(server.port, behaviours=(wrong, other_kind)) as network:
        held = opened(network.url).manifest(ONE.manifest.identity.primary)
        assert held is not None and held.chunks == ONE.manifest.chunks


def test_a_chunk_that_comes_garbled_is_fetched_again(server: RunningServer, opened: Open) -> None:
    put_all(opened(server.url), OTHER)
    opened(server.url).commit(OTHER.manifest)
    garbled = bytearray(OTHER.file.chunks[0].data)
    garbled[7] ^= 4
    manifest = answers(good(artifacts.MANIFEST.write(OTHER.manifest)))
    with BadNetwork(server.port, behaviours=(manifest, answers(status("200 OK", body=bytes(garbled))))) as network:
        assert b"".join(opened(network.url).fetch(OTHER.manifest.identity.primary)) == OTHER.gsym


def test_a_question_too_large_for_any_request_is_refused() -> None:
    question = ONE.question
    assert matching.parts([question], 10_000) == [question]
    cut = matching.parts([question], 280)
    assert len(cut) > 1 and sum((part.chunks for part in cut), ()) == question.chunks
    assert all(len(json_text.dumps(pages.QUESTION.write(part))) < 280 for part in cut)
    with pytest.raises(Refused, match="over the 100 bytes"):
        matching.parts([question], 100)


class Lying(FolderDestination):
    """Says that it stored what it did not, or something else."""

    lie: Callable[[Manifest], Manifest | None]

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        return Committed(stored=True, reason="new in the store")

    def manifest(self, symbol_id: SymbolId, kind: str = "gsym") -> Manifest | None:
        return self.lie(ONE.manifest)


@pytest.mark.parametrize(
    "lie",
    [
        lambda _manifest: None,
        lambda manifest: replace(manifest, content_sha256="0" * 64),
        lambda manifest: replace(manifest, chunks=manifest.chunks[::-1]),
        lambda manifest: replace(manifest, chunk_sizes_bytes=manifest.chunk_sizes_bytes[::-1]),
        lambda manifest: replace(manifest, identity=OTHER.manifest.identity),
        lambda manifest: replace(manifest, kind="other"),
        lambda manifest: replace(manifest, content_size_bytes=1),
        lambda manifest: replace(manifest, compressed_size_bytes=1),
    ],
)
def test_what_is_said_to_be_stored_is_read_back(tmp_path: Path, lie: Callable[[Manifest], Manifest | None]) -> None:
    destination = Lying(tmp_path / "store", "p")
    destination.lie = lie
    with ThreadPoolExecutor(2) as pool, pytest.raises(NotAsSent) as caught:
        send(destination, ONE.file, ONE.manifest, executor=pool)
    assert caught.value.exit_code == 5 and caught.value.remedy


def test_what_the_destination_holds_is_told_as_it_judges_it(tmp_path: Path) -> None:
    destination = Lying(tmp_path / "store", "p")
    destination.lie = lambda manifest: replace(manifest, quality=Quality.FUNCTIONS)
    with ThreadPoolExecutor(2) as pool:
        sent = send(destination, ONE.file, ONE.manifest, executor=pool)
    assert sent.committed.stored and not sent.declined
    assert sent.held.quality is Quality.FUNCTIONS


def test_a_commit_whose_answer_was_anothers_is_no_success(server: RunningServer, opened: Open) -> None:
    def sent(destination: HttpDestination, artifact: Artifact) -> None:
        with ThreadPoolExecutor(1) as pool:
            send(destination, artifact.file, artifact.manifest, executor=pool)

    fresh = make_artifact("c9")
    # Asked, put, committed: the third connection's answer is another commit's, and the request never arrived.
    closing: tuple[Behaviour, ...] = (
        answers(said(lacking(fresh.question))),
        answers(good({"sha256": fresh.manifest.chunks[0], "size_bytes": fresh.manifest.compressed_size_bytes})),
        answers(good({"stored": True, "reason": "new in the store"})),
    )
    with BadNetwork(server.port, behaviours=closing) as network, pytest.raises(NotAsSent, match="holds nothing"):
        sent(opened(network.url), fresh)


def test_forced_all_chunks_go_and_heal_what_lies_there_damaged(tmp_path: Path) -> None:
    destination = FolderDestination(tmp_path / "store", "p")
    with ThreadPoolExecutor(2) as pool:
        send(destination, ONE.file, ONE.manifest, executor=pool)
        damaged = tmp_path / "store/p/chunks" / ONE.manifest.chunks[1][:2] / ONE.manifest.chunks[1]
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:5] + bytes([whole[5] ^ 1]) + whole[6:])
        again = send(destination, ONE.file, ONE.manifest, executor=pool, force=True)
    assert again.chunks_sent == again.chunks_total == len(ONE.manifest.chunks)
    assert damaged.read_bytes() == whole
    assert hashlib.sha256(b"".join(destination.fetch(ONE.manifest.identity.primary))).hexdigest() == (
        ONE.manifest.content_sha256
    )


def test_a_wait_that_is_too_long_is_told_for_what_it_is(server: RunningServer, opened: Open) -> None:
    for header, told in (("Retry-After: 10800", "wait 3 h"), ("Retry-After: 86400", "wait 24 h")):
        busy = answers(status("503 Service Unavailable", header))
        with BadNetwork(server.port, behaviours=(busy,)) as network, pytest.raises(NetworkGaveOut) as caught:
            opened(network.url).manifest(SymbolId.parse("aa"))
        assert told in caught.value.message and "gave up" in caught.value.message
        assert "could not be reached" not in caught.value.message
        assert told.removeprefix("wait ") in str(caught.value.remedy)


needs_openssl = pytest.mark.skipif(openssl() is None, reason="openssl makes the certificates")


@needs_openssl
def test_nothing_goes_from_https_to_http(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, key = certificate(tmp_path, host="localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    for code in ("301 Moved Permanently", "302 Found", "307 Temporary Redirect"):
        with BadNetwork(server.port) as network:
            downgrade = status(code, f"Location: {network.url}/v1/capabilities")
            with TlsFront(pem, key, downgrade) as front:
                destination = HttpDestination(front.url, project="p", patience=Patience())
                with pytest.raises(Refused, match=r"redirects to http://127\.0\.0\.1"):
                    destination.capabilities()
                destination.close()
                assert len(front.asked) == 1
            assert not network.connections


@needs_openssl
def test_a_certificate_that_is_not_believed_has_the_remedy_for_its_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(url: str) -> NetworkGaveOut:
        destination = HttpDestination(url, project="p")
        with pytest.raises(NetworkGaveOut) as caught:
            destination.capabilities()
        destination.close()
        return caught.value

    pem, key = certificate(tmp_path, host="other.example")
    with TlsFront(pem, key, b"") as front:
        unknown = told(front.url)
        assert "not trusted" in unknown.message and "SSL_CERT_FILE" in str(unknown.remedy)
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        for url in (front.url, f"https://localhost:{front.port}"):
            wrong = told(url)
            assert "is for another host" in wrong.message
            assert "SSL_CERT_FILE" not in str(wrong.remedy) and "Name the server" in str(wrong.remedy)
