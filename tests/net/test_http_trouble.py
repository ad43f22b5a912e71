"""The client against a real server through a network that misbehaves."""

import hashlib
import itertools
import logging
import random
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.net.bad_network import BadNetwork, answers, reset, status
from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import Artifact, make_artifact
from tests.writers.token_writer import mint
from uploader.credentials.token import Token
from uploader.destinations.send import send
from uploader.destinations.server import HttpDestination
from uploader.errors import ArtifactMismatch, ChunkMismatch, NetworkGaveOut, NotAllowed, NothingFound, Refused, TooLarge
from uploader.model import SymbolId
from uploader.net.patience import Patience
from uploader.protocol.words import Holding
from uploader.server.tokens import Scope
from uploader.values import replace

LIMIT_SIZE_BYTES = 64 * 1024
numbers = itertools.count()
Open = Callable[..., HttpDestination]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(
        tmp_path_factory.mktemp("trouble") / "store", max_request_size_bytes=LIMIT_SIZE_BYTES
    ) as running:
        yield running


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def opened(slept: list[float]) -> Iterator[Open]:
    destinations: list[HttpDestination] = []

    def open_one(url: str, *, token: Token | None = None, patience: Patience | None = None) -> HttpDestination:
        destination = HttpDestination(
            url, project=f"p{next(numbers)}", token=token, patience=patience, sleep=slept.append
        )
        destinations.append(destination)
        return destination

    yield open_one
    for destination in destinations:
        destination.close()


def sent_whole(destination: HttpDestination, artifact: Artifact) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert send(destination, artifact.file, artifact.manifest, executor=pool).committed.reason
    assert b"".join(destination.fetch(artifact.manifest.identity.primary)) == artifact.gsym
    assert destination.manifest(artifact.manifest.identity.primary) == artifact.manifest


def test_it_does_all_that_a_destination_does(server: RunningServer, opened: Open) -> None:
    destination = opened(server.url)
    artifact = make_artifact("aa11", chunks=3, aliases=("go:x",))
    assert destination.capabilities().max_chunk_size_bytes == LIMIT_SIZE_BYTES
    assert destination.negotiate([artifact.question])[0].holding is Holding.MISSING
    with pytest.raises(ArtifactMismatch):
        destination.commit(artifact.manifest)
    with pytest.raises(ChunkMismatch):
        destination.put_chunk("0" * 64, b"data")
    sent_whole(destination, artifact)
    assert destination.negotiate([artifact.question])[0].holding is Holding.PRESENT
    assert destination.manifest(SymbolId.parse("go:x")) == artifact.manifest
    assert destination.manifest(SymbolId.parse("beef")) is None
    with pytest.raises(NothingFound):
        destination.fetch(SymbolId.parse("beef"))


def test_questions_are_cut_into_batches_that_fit(server: RunningServer, opened: Open) -> None:
    artifact = make_artifact("aa11")
    many = replace(artifact.question, chunks=tuple(f"{number:064x}" for number in range(50)))
    with BadNetwork(server.port) as network:
        destination = opened(network.url)
        sent_whole(destination, artifact)
        asked = len(network.requests)
        answers = destination.negotiate([many] * 40 + [replace(artifact.question, chunks=())] * 1100)
        assert len(answers) == 1140
        assert {answer.holding for answer in answers} == {Holding.PRESENT}
        assert 3 < len(network.requests) - asked < 10


def test_nothing_over_the_servers_limit_is_sent(server: RunningServer, opened: Open) -> None:
    with BadNetwork(server.port) as network:
        destination = opened(network.url)
        data = b"x" * (LIMIT_SIZE_BYTES + 1)
        with pytest.raises(TooLarge, match=str(LIMIT_SIZE_BYTES)):
            destination.put_chunk(hashlib.sha256(data).hexdigest(), data)
        assert not network.chunk_puts


def test_resets_and_503s_are_outlasted_with_the_body_sent_anew(
    server: RunningServer, opened: Open, slept: list[float]
) -> None:
    artifact = make_artifact(functions=600)
    behaviours = (
        answers(status("503 Service Unavailable", "Retry-After: 7")),
        reset,
        answers(status("502 Bad Gateway", body=b"<html>bad gateway</html>")),
        reset,
        answers(b""),
        answers(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"),
        answers(status("429 Too Many Requests")),
    )
    with BadNetwork(server.port, behaviours=behaviours) as network:
        sent_whole(opened(network.url), artifact)
    assert len(slept) >= len(behaviours)
    assert max(slept) >= 7


def test_connections_that_are_cut_anywhere_are_outlasted(server: RunningServer, opened: Open) -> None:
    artifact = make_artifact(functions=1500, max_chunk_size_bytes=28_000)
    cut = 0
    for seed in range(5):
        chance = random.Random(seed)
        lengths = [chance.choice((1, -1)) * chance.randrange(1, 40_000) for _ in range(60)]
        cuts = dict(enumerate(lengths))
        with BadNetwork(server.port, cut_after=cuts.get) as network:
            sent_whole(opened(network.url), artifact)
            cut += network.cut
    assert cut > 3


def test_a_proxy_with_a_small_limit_is_named_with_the_remedy(
    server: RunningServer, opened: Open, slept: list[float]
) -> None:
    too_large = answers(status("413 Request Entity Too Large", body=b"<html>nginx</html>"))
    data = random.Random(1).randbytes(60_000)
    with BadNetwork(server.port, behaviours=(too_large,)) as network:
        through = opened(network.url)
        through._capabilities = opened(server.url).capabilities()
        with pytest.raises(Refused, match="60000 bytes") as caught:
            through.put_chunk(hashlib.sha256(data).hexdigest(), data)
    assert "client_max_body_size" in str(caught.value.remedy)
    assert slept == []


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (status("400 Bad Request"), Refused),
        (status("401 Unauthorized"), NotAllowed),
        (status("403 Forbidden", body=b'{"error": "not_allowed", "reason": "no \\u001b[31mcolours"}'), NotAllowed),
        (status("404 Not Found", body=b"<html>"), Refused),
        (status("507 Insufficient Storage"), Refused),
        (status("200 OK", body=b"[" * 100_000), Refused),
        (status("301 Moved Permanently", "Location: ftp://elsewhere/"), Refused),
    ],
)
def test_what_trying_again_can_not_mend_is_told_at_once(
    server: RunningServer, opened: Open, slept: list[float], response: bytes, expected: type[Exception]
) -> None:
    with BadNetwork(server.port, behaviours=(answers(response),)) as network:
        with pytest.raises(expected) as caught:
            opened(network.url).capabilities()
        assert network.connections == 1
    assert slept == []
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (
            ("Location: http://host:port/",),
            r"301 and redirects to an address that can't be read \('http://host:port/'\)",
        ),
        (("Location: ",), "redirects to no address"),
        ((), "redirects to no address"),
    ],
)
def test_a_redirection_to_nowhere_is_told_as_one(
    server: RunningServer, opened: Open, slept: list[float], header: tuple[str, ...], told: str
) -> None:
    response = status("301 Moved Permanently", *header)
    with BadNetwork(server.port, behaviours=(answers(response),)) as network:
        with pytest.raises(Refused, match=told) as caught:
            opened(network.url).capabilities()
        assert network.connections == 1
    assert slept == []
    assert "a proxy before it" in str(caught.value.remedy)


def test_it_gives_up_in_the_end_and_says_how_to_go_on(opened: Open, slept: list[float]) -> None:
    now = itertools.count(0.0, 3.0)
    destination = opened("http://127.0.0.1:1", patience=Patience(monotonic=lambda: next(now)))
    with pytest.raises(NetworkGaveOut, match="attempts") as caught:
        destination.capabilities()
    assert "resumes" in str(caught.value.remedy)
    assert 2 < len(slept) < 10


def test_closing_ends_the_waiting(server: RunningServer) -> None:
    response = answers(status("503 Service Unavailable", "Retry-After: 15"))
    with BadNetwork(server.port, behaviours=(response,) * 9) as network:
        destination = HttpDestination(network.url, project="p")
        threading.Timer(0.5, destination.close).start()
        with pytest.raises(NetworkGaveOut):
            destination.capabilities()


def test_a_token_follows_no_redirect_to_another_host(tmp_path: Path, opened: Open) -> None:
    token, lines = mint(name="t", scopes=frozenset({Scope.ADMIN}), project="*")
    (tmp_path / "tokens").write_text(lines)
    with RunningServer(tmp_path / "store", tokens=tmp_path / "tokens") as other:
        elsewhere = answers(status("307 Temporary Redirect", f"Location: {other.url}/v1/capabilities"))
        with BadNetwork(other.port, behaviours=(elsewhere,)) as network:
            # The page answers who has no token; a wrong or leaked one would show as allowed to ask for more.
            assert opened(network.url, token=token).capabilities().features == ("frames", "tokens")
        elsewhere = answers(
            status("307 Temporary Redirect", f"Location: {other.url}/v1/projects/p/symbols/aa/manifest")
        )
        with BadNetwork(other.port, behaviours=(elsewhere,)) as network, pytest.raises(NotAllowed):
            opened(network.url, token=token).manifest(SymbolId.parse("aa"))
        with BadNetwork(other.port, behaviours=(lambda _client: False,)) as network:
            assert opened(network.url, token=token).manifest(SymbolId.parse("aa")) is None


def test_a_body_follows_no_redirect_to_another_host(server: RunningServer, opened: Open) -> None:
    elsewhere = status("307 Temporary Redirect", f"Location: {server.url}/")
    with BadNetwork(server.port, behaviours=(answers(elsewhere),)) as network:
        destination = opened(network.url)
        destination._capabilities = opened(server.url).capabilities()
        with pytest.raises(Refused, match="redirects"):
            destination.put_chunk(hashlib.sha256(b"data").hexdigest(), b"data")


def test_a_body_follows_a_redirect_within_the_server_that_keeps_it(server: RunningServer, opened: Open) -> None:
    data = b"data"
    sha256 = hashlib.sha256(data).hexdigest()
    for code, kept in (
        ("307 Temporary", True),
        ("308 Permanent", True),
        ("301 Moved", False),
        ("303 See Other", False),
    ):
        within = status(code, f"Location: /v1/projects/p/chunks/{sha256}")
        with BadNetwork(server.port, behaviours=(answers(within),)) as network:
            destination = opened(network.url)
            destination._capabilities = opened(server.url).capabilities()
            if kept:
                destination.put_chunk(sha256, data)
                assert network.connections == 2
            else:
                with pytest.raises(Refused, match="redirects"):
                    destination.put_chunk(sha256, data)
                assert network.connections == 1


def test_a_server_that_wants_a_token_says_so_early(
    tmp_path: Path, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token, lines = mint(name="t", scopes=frozenset({Scope.READ}), project="other")
    (tmp_path / "tokens").write_text(lines)
    with RunningServer(tmp_path / "store", tokens=tmp_path / "tokens") as guarded:
        with pytest.raises(NotAllowed, match="wants a token"):
            opened(guarded.url).capabilities()
        with pytest.raises(NotAllowed, match="valid token"):
            opened(guarded.url, token=Token("wrong")).capabilities()
        with pytest.raises(
            NotAllowed, match=r'does not allow this in project p\d*: .* takes the scope "upload" there'
        ) as caught:
            opened(guarded.url, token=token).negotiate([make_artifact().question])
        shown = (
            "".join(traceback.format_exception(caught.value)) + caplog.text + repr(vars(caught.value)) + guarded.log()
        )
        assert token.reveal() not in shown
        assert 'a token with the scope "upload" in this project' in str(caught.value.remedy)


def test_two_clients_at_once_with_the_same_files_both_succeed(server: RunningServer) -> None:
    artifacts = [make_artifact(f"{number:02x}aa", chunks=3) for number in range(12)]
    clients = [HttpDestination(server.url, project="together") for _ in range(2)]
    begin = threading.Barrier(2)

    def upload(destination: HttpDestination) -> list[bool]:
        begin.wait()
        with ThreadPoolExecutor(4) as chunks:
            return [send(destination, one.file, one.manifest, executor=chunks).committed.stored for one in artifacts]

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(upload, clients))
    assert all(first != second for first, second in zip(*results, strict=True))
    for artifact in artifacts:
        assert b"".join(clients[0].fetch(artifact.manifest.identity.primary)) == artifact.gsym
    for destination in clients:
        destination.close()
