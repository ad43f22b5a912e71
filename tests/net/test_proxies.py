"""Which connections go through the proxies that the environment names, and what these get to see."""

import base64
import io
import itertools
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.net.bad_network import BadNetwork, Behaviour, status
from tests.server.running_server import RunningServer
from tests.writers.token_writer import mint
from uploader.credentials.token import Token
from uploader.destinations.server import HttpDestination
from uploader.errors import NetworkGaveOut, UsageError
from uploader.net.download import download
from uploader.net.patience import Patience
from uploader.protocol.wire import json_text, pages
from uploader.protocol.words import Capabilities
from uploader.server.tokens import Scope

CAPABILITIES = status("200 OK", body=json_text.dumps(pages.CAPABILITIES.write(Capabilities())))
Named = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> Named:
    """Names a proxy in an environment that names no other."""
    for kind in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{kind}_proxy", raising=False)
        monkeypatch.delenv(f"{kind}_proxy".upper(), raising=False)
    return monkeypatch.setenv


@pytest.fixture
def heard() -> list[bytes]:
    return []


@pytest.fixture
def proxy(heard: list[bytes]) -> Iterator[BadNetwork]:
    """One that keeps what it hears first of each connection, and answers for whoever is asked."""
    with BadNetwork(1, behaviours=(keeping(heard, CAPABILITIES),) * 99) as network:
        yield network


def keeping(heard: list[bytes], response: bytes) -> Behaviour:
    def act(client: socket.socket) -> bool:
        heard.append(client.recv(65536))
        client.sendall(response)
        return True

    return act


def impatient(url: str, *, token: Token | None = None) -> HttpDestination:
    now = itertools.count(0.0, 60.0)
    return HttpDestination(
        url, project="p", token=token, patience=Patience(monotonic=lambda: next(now)), sleep=lambda _seconds: None
    )


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_no_proxy_sees_what_goes_to_this_machine_in_plain_text(
    tmp_path: Path, named: Named, proxy: BadNetwork, heard: list[bytes], host: str, variable: str
) -> None:
    named(variable, proxy.url)
    token, lines = mint(name="t", scopes=frozenset({Scope.UPLOAD}), project="*")
    (tmp_path / "tokens").write_text(lines)
    with RunningServer(tmp_path / "store", tokens=tmp_path / "tokens") as server:
        url = f"http://{host}:{server.port}"
        destination = HttpDestination(url, project="p", token=token)
        assert destination.capabilities().features == ("frames", "tokens")
        destination.close()
        page = io.BytesIO()
        assert download(f"{url}/healthz", page, headers={}, stall_seconds=10, deadline=None, max_size_bytes=99) == 200
    assert heard == []


@pytest.mark.parametrize("prefix", ["http://", "", "http://me:secret@"])
def test_a_server_elsewhere_is_asked_through_the_proxy(
    named: Named, proxy: BadNetwork, heard: list[bytes], prefix: str
) -> None:
    named("http_proxy", proxy.url.replace("http://", prefix))
    destination = HttpDestination("http://symbols.example.com", project="p")
    assert destination.capabilities().max_batch == Capabilities().max_batch
    destination.close()
    (request,) = heard
    assert request.startswith(b"GET http://symbols.example.com/v1/capabilities HTTP/1.1\r\n")
    login = b"Proxy-Authorization: Basic " + base64.b64encode(b"me:secret")
    assert (login in request) is ("me" in prefix)


@pytest.mark.parametrize("host", ["symbols.example.com", "localhost"])
def test_a_proxy_passes_https_on_without_seeing_any_of_it(
    named: Named, proxy: BadNetwork, heard: list[bytes], host: str
) -> None:
    named("https_proxy", proxy.url)
    with pytest.raises(NetworkGaveOut):
        impatient(f"https://{host}", token=Token("t0ken")).capabilities()
    assert all(request.startswith(f"CONNECT {host}:443 HTTP/1.1\r\n".encode()) for request in heard)
    assert heard
    assert b"t0ken" not in b"".join(heard)


def test_what_no_proxy_lists_goes_past_it(named: Named, proxy: BadNetwork, heard: list[bytes]) -> None:
    named("https_proxy", proxy.url)
    named("no_proxy", "localhost")
    direct: list[bytes] = []
    with BadNetwork(1, behaviours=(keeping(direct, b""),) * 99) as server, pytest.raises(NetworkGaveOut):
        impatient(server.url.replace("http://127.0.0.1", "https://localhost")).capabilities()
    assert heard == []
    assert direct


def test_a_kind_of_proxy_that_is_not_supported_is_told_with_the_way_past_it(named: Named) -> None:
    named("all_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(UsageError, match="socks5") as caught:
        HttpDestination("http://symbols.example.com", project="p").capabilities()
    assert "NO_PROXY" in str(caught.value.remedy)
