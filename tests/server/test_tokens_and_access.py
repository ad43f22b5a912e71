"""Who may do what, seen from outside, and what the tokens file may hold."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import make_artifact
from tests.writers.token_writer import mint
from uploader.credentials.token import Token
from uploader.errors import UsageError
from uploader.protocol.wire import artifacts, pages
from uploader.server.tokens import Scope, digest_of, read_tokens

ARTIFACT = make_artifact()
CHUNK = ARTIFACT.file.chunks[0]


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Token]]:
    path, minted = tmp_path_factory.mktemp("tokens") / "tokens.toml", {}
    with path.open("w") as file:
        for name, scope, project in (
            ("web-upload", Scope.UPLOAD, "web"),
            ("web-read", Scope.READ, "web"),
            ("db-admin", Scope.ADMIN, "db"),
            ("root", Scope.ADMIN, "*"),
        ):
            minted[name], lines = mint(name=f'the "{name}" one', scopes=frozenset({scope}), project=project)
            file.write(lines)
    return path, minted


@pytest.fixture(scope="module")
def server(tokens: tuple[Path, dict[str, Token]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("access") / "store", tokens=tokens[0]) as running:
        for project in ("web", "db"):
            headers = {"Authorization": f"Bearer {tokens[1]['root'].reveal()}"}
            base = f"{running.url}/v1/projects/{project}"
            httpx.put(f"{base}/chunks/{CHUNK.sha256}", content=CHUNK.data, headers=headers).raise_for_status()
            body = {"manifest": artifacts.MANIFEST.write(ARTIFACT.manifest)}
            httpx.post(f"{base}/artifacts:commit", json=body, headers=headers).raise_for_status()
        yield running


PAGES = {
    "negotiate": ("POST", "artifacts:negotiate", {"json": {"questions": [pages.QUESTION.write(ARTIFACT.question)]}}),
    "put": ("PUT", f"chunks/{CHUNK.sha256}", {"content": CHUNK.data}),
    "commit": ("POST", "artifacts:commit", {"json": {"manifest": artifacts.MANIFEST.write(ARTIFACT.manifest)}}),
    "manifest": ("GET", "symbols/c0ffee/manifest", {}),
    "symbols": ("GET", "symbols/c0ffee", {}),
    "chunk": ("GET", f"chunks/{CHUNK.sha256}", {}),
}
UPLOADING, READING = {"negotiate", "put", "commit", "manifest"}, {"manifest", "symbols", "chunk"}


def ask(server: RunningServer, page: str, project: str, authorization: str | None) -> httpx.Response:
    method, path, body = PAGES[page]
    headers = {} if authorization is None else {b"Authorization": authorization.encode("latin-1")}
    return httpx.request(method, f"{server.url}/v1/projects/{project}/{path}", headers=headers, **body)  # type: ignore[arg-type]  # keywords by page


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("name", "project", "allowed"),
    [
        ("web-upload", "web", UPLOADING),
        ("web-read", "web", READING),
        ("db-admin", "db", UPLOADING | READING),
        ("root", "web", UPLOADING | READING),
        ("root", "db", UPLOADING | READING),
        ("web-upload", "db", set()),
        ("web-read", "db", set()),
        ("db-admin", "web", set()),
        ("db-admin", "none", set()),
    ],
)
def test_a_token_may_do_what_its_scope_says_in_its_project(
    server: RunningServer, tokens: tuple[Path, dict[str, Token]], page: str, name: str, project: str, allowed: set[str]
) -> None:
    answer = ask(server, page, project, f"Bearer {tokens[1][name].reveal()}")
    assert answer.status_code == (200 if page in allowed else 403)


@pytest.mark.parametrize("page", PAGES)
def test_a_stranger_learns_nothing_of_other_projects(
    server: RunningServer, tokens: tuple[Path, dict[str, Token]], page: str
) -> None:
    authorization = f"Bearer {tokens[1]['web-read'].reveal()}"
    existing, missing, impossible = (ask(server, page, project, authorization) for project in ("db", "none", "NO..PE"))
    assert existing.status_code == missing.status_code == impossible.status_code == 403
    assert existing.content == missing.content == impossible.content


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer wrong", "Basic d2ViOndlYg==", "Bearer \xe9\xff"])
def test_without_a_valid_token_nothing_goes(server: RunningServer, page: str, authorization: str | None) -> None:
    answer = ask(server, page, "web", authorization)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["error"] == "not_logged_in"


@pytest.mark.parametrize(
    ("scheme", "status"),
    [
        ("Bearer", 200),
        ("bearer", 200),
        ("BEARER", 200),
        ("Basic", 401),
        ("Token", 401),
        ("Bearer2", 401),
        ("Digest", 401),
    ],
)
def test_a_valid_token_counts_under_the_scheme_bearer_alone(
    server: RunningServer, tokens: tuple[Path, dict[str, Token]], scheme: str, status: int
) -> None:
    secret = tokens[1]["web-read"].reveal()
    assert ask(server, "symbols", "web", f"{scheme} {secret}").status_code == status
    assert ask(server, "symbols", "web", secret).status_code == 401, "a token has a scheme before it"


def test_limits_are_told_to_everyone_but_a_wrong_token_is_told_at_once(
    server: RunningServer, tokens: tuple[Path, dict[str, Token]]
) -> None:
    url = f"{server.url}/v1/capabilities"
    assert "tokens" in httpx.get(url).json()["features"]
    assert httpx.get(url, headers={"Authorization": f"Bearer {tokens[1]['web-read'].reveal()}"}).status_code == 200
    assert httpx.get(url, headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_no_token_shows_in_the_servers_log(server: RunningServer, tokens: tuple[Path, dict[str, Token]]) -> None:
    for token in tokens[1].values():
        ask(server, "commit", "nope", f"Bearer {token.reveal()}")
        assert token.reveal() not in server.log()
        assert token.reveal() not in tokens[0].read_text()


def test_a_minted_token_is_found_by_its_digest_alone(tmp_path: Path) -> None:
    token, lines = mint(name="ci", scopes=frozenset({Scope.UPLOAD, Scope.READ}), project="web")
    assert len(token.reveal()) > 40
    (tmp_path / "tokens").write_text(lines)
    grant = read_tokens(tmp_path / "tokens").find(token.reveal())
    assert grant is not None
    assert (grant.name, grant.project, grant.scopes) == ("ci", "web", frozenset({Scope.UPLOAD, Scope.READ}))
    assert read_tokens(tmp_path / "tokens").find(token.reveal()[:-1]) is None
    assert read_tokens(tmp_path / "tokens").find("\udcff") is None


@pytest.mark.parametrize(
    "content",
    [
        "[[token]\n",
        "token = 3",
        'tokens = "x"',
        "[[token]]\n",
        '[[token]]\nsha256 = "s3cr3t"\nscopes = ["read"]\nproject = "web"',
        f'[[token]]\nsha256 = "{digest_of("x")}"\nscopes = ["write"]\nproject = "web"',
        f'[[token]]\nsha256 = "{digest_of("x")}"\nscopes = [["read"]]\nproject = "web"',
        f'[[token]]\nsha256 = "{digest_of("x")}"\nscopes = []\nproject = "web"',
        f'[[token]]\nsha256 = "{digest_of("x")}"\nscopes = ["read"]\nproject = "../web"',
        f'[[token]]\nsha256 = "{digest_of("x")}"\nscopes = ["read"]\nproject = "web"\nsecret = "s3cr3t"',
        "secret = s3cr3t",
    ],
)
def test_a_bad_tokens_file_is_refused_without_showing_it(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokens").write_text(content)
    with pytest.raises(UsageError) as caught:
        read_tokens(tmp_path / "tokens")
    assert "s3cr3t" not in caught.value.message


def test_a_missing_tokens_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_tokens(tmp_path / "none")
