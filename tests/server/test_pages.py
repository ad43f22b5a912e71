"""The protocol's pages, asked with a plain HTTP client."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import zstandard

from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import Artifact, make_artifact
from uploader.model import Quality
from uploader.protocol.wire import artifacts, json_text, pages

LIMIT_SIZE_BYTES = 256 * 1024
numbers = itertools.count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("pages") / "store", max_request_size_bytes=LIMIT_SIZE_BYTES) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: RunningServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, trust_env=False) as opened:
        yield opened


@pytest.fixture
def project() -> str:
    return f"/v1/projects/p{next(numbers)}"


def put(client: httpx.Client, project: str, artifact: Artifact) -> None:
    for chunk in artifact.file.chunks:
        assert client.put(f"{project}/chunks/{chunk.sha256}", content=chunk.data).status_code == 200


def commit(client: httpx.Client, project: str, artifact: Artifact, *, force: bool = False) -> httpx.Response:
    body = {"manifest": artifacts.MANIFEST.write(artifact.manifest), "force": force}
    return client.post(f"{project}/artifacts:commit", json=body)


def uploaded(client: httpx.Client, project: str, artifact: Artifact) -> Artifact:
    put(client, project, artifact)
    assert commit(client, project, artifact).json()["stored"]
    return artifact


def negotiate(client: httpx.Client, project: str, *artifacts: Artifact) -> list[dict[str, object]]:
    body = {"questions": [pages.QUESTION.write(artifact.question) for artifact in artifacts]}
    answer = client.post(f"{project}/artifacts:negotiate", json=body)
    assert answer.status_code == 200
    return list(answer.json()["answers"])


def test_it_is_healthy_and_names_its_limits(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    limits = client.get("/v1/capabilities").json()
    assert limits["max_request_size_bytes"] == LIMIT_SIZE_BYTES
    assert limits["max_chunk_size_bytes"] == LIMIT_SIZE_BYTES
    assert limits["max_batch"] > 0


def test_the_open_api_document_describes_every_page_with_its_answer(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    pages = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert pages == {
        ("get", "/healthz"),
        ("get", "/v1/capabilities"),
        ("post", "/v1/projects/{project}/artifacts:negotiate"),
        ("put", "/v1/projects/{project}/chunks/{sha256}"),
        ("get", "/v1/projects/{project}/chunks/{sha256}"),
        ("post", "/v1/projects/{project}/artifacts:commit"),
        ("get", "/v1/projects/{project}/symbols/{symbol_id}"),
        ("get", "/v1/projects/{project}/symbols/{symbol_id}/manifest"),
    }
    assert {"Answers", "CommittedDocument", "ManifestDocument", "Trouble"} <= set(document["components"]["schemas"])


def test_an_artifact_goes_up_and_comes_back(client: httpx.Client, project: str) -> None:
    artifact = make_artifact("aa11", chunks=3, aliases=("go:alias",))
    (before,) = negotiate(client, project, artifact)
    assert (before["holding"], before["missing_chunks"]) == ("missing", list(artifact.manifest.chunks))
    uploaded(client, project, artifact)
    (after,) = negotiate(client, project, artifact)
    assert (after["holding"], after["missing_chunks"], after["stored_quality"]) == ("present", [], "full")
    for symbol_id in ("aa11", "go:alias"):
        got = client.get(f"{project}/symbols/{symbol_id}/manifest?kind=gsym")
        assert artifacts.MANIFEST.read(got.json()) == artifact.manifest
        assert client.get(f"{project}/symbols/{symbol_id}", headers={"Accept-Encoding": ""}).content == artifact.gsym


def test_everything_may_be_said_twice(client: httpx.Client, project: str) -> None:
    artifact = uploaded(client, project, make_artifact())
    put(client, project, artifact)
    again = commit(client, project, artifact)
    assert again.status_code == 200
    assert again.json() == {"stored": False, "reason": "already stored with the same content"}


def test_a_better_artifact_replaces_a_poor_one_that_came_first(client: httpx.Client, project: str) -> None:
    uploaded(client, project, make_artifact(quality=Quality.FUNCTIONS))
    rich = make_artifact()
    assert negotiate(client, project, rich)[0]["holding"] == "poorer"
    uploaded(client, project, rich)
    assert client.get(f"{project}/symbols/c0ffee/manifest").json()["quality"] == "full"


def test_zstd_is_sent_as_it_is_stored_to_who_accepts_it(client: httpx.Client, project: str) -> None:
    artifact = uploaded(client, project, make_artifact(chunks=3))
    with client.stream("GET", f"{project}/symbols/c0ffee", headers={"Accept-Encoding": "gzip, zstd"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["Content-Encoding"] == "zstd"
    assert int(answer.headers["Content-Length"]) == len(raw) == artifact.file.compressed_size_bytes
    assert zstandard.ZstdDecompressor().decompress(raw) == artifact.gsym
    assert answer.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["", "identity", "gzip", "zstd;q=0", "zstd; q=0.0, gzip"])
def test_others_get_it_plain(client: httpx.Client, project: str, accepted: str) -> None:
    artifact = uploaded(client, project, make_artifact())
    answer = client.get(f"{project}/symbols/c0ffee", headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in answer.headers
    assert answer.content == artifact.gsym


@pytest.mark.parametrize("encoding", ["identity", "zstd"])
@pytest.mark.parametrize(
    ("wanted", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-2500", 10, 2501),
        ("bytes=3000-", 3000, None),
        ("bytes=-100", -100, None),
        ("bytes=5-999999", 5, None),
    ],
)
def test_ranges_are_of_the_encoded_bytes(
    client: httpx.Client, project: str, encoding: str, wanted: str, start: int, stop: int | None
) -> None:
    artifact = uploaded(client, project, make_artifact(chunks=3))
    frame = b"".join(chunk.data for chunk in artifact.file.chunks)
    whole = frame if encoding == "zstd" else artifact.gsym
    with client.stream(
        "GET", f"{project}/symbols/c0ffee", headers={"Accept-Encoding": encoding, "Range": wanted}
    ) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.status_code == 206
    assert raw == whole[start:stop]
    first = len(whole) + start if start < 0 else start
    assert answer.headers["Content-Range"] == f"bytes {first}-{first + len(raw) - 1}/{len(whole)}"


@pytest.mark.parametrize("wanted", ["bytes=999999-", "bytes=-0"])
def test_a_range_past_the_end_can_not_be_satisfied(client: httpx.Client, project: str, wanted: str) -> None:
    uploaded(client, project, make_artifact())
    answer = client.get(f"{project}/symbols/c0ffee", headers={"Range": wanted})
    assert answer.status_code == 416
    assert answer.headers["Content-Range"].startswith("bytes */")


@pytest.mark.parametrize("wanted", ["bytes=5-2", "bytes=-", "bytes=a-b", "lines=1-2", "bytes=0-1,5-6"])
def test_a_range_that_makes_no_sense_is_ignored(client: httpx.Client, project: str, wanted: str) -> None:
    artifact = uploaded(client, project, make_artifact())
    answer = client.get(f"{project}/symbols/c0ffee", headers={"Range": wanted, "Accept-Encoding": ""})
    assert (answer.status_code, answer.content) == (200, artifact.gsym)


def test_who_has_it_already_gets_it_not_again(client: httpx.Client, project: str) -> None:
    uploaded(client, project, make_artifact())
    url = f"{project}/symbols/c0ffee"
    tag = client.get(url, headers={"Accept-Encoding": ""}).headers["ETag"]
    assert client.get(url, headers={"Accept-Encoding": "", "If-None-Match": tag}).status_code == 304
    assert client.get(url, headers={"Accept-Encoding": "zstd", "If-None-Match": tag}).status_code == 200
    stale = {"Accept-Encoding": "", "Range": "bytes=0-3", "If-Range": '"another"'}
    assert client.get(url, headers=stale).status_code == 200
    head = client.head(url, headers={"Accept-Encoding": ""})
    assert (head.status_code, head.headers["ETag"], head.content) == (200, tag, b"")


def trouble(answer: httpx.Response, status: int, error: str) -> dict[str, object]:
    assert answer.status_code == status, answer.text
    document: dict[str, object] = answer.json()
    assert document["error"] == error
    assert document["reason"]
    return document


def test_what_is_not_there_is_not_found(client: httpx.Client, project: str) -> None:
    trouble(client.get(f"{project}/symbols/beef"), 404, "not_found")
    trouble(client.get(f"{project}/symbols/beef/manifest"), 404, "not_found")
    trouble(client.get(f"{project}/chunks/{'0' * 64}"), 404, "not_found")
    trouble(client.get("/v2/nothing"), 404, "no_such_page")
    trouble(client.delete("/healthz"), 405, "no_such_method")


def test_a_commit_that_does_not_check_out_is_told_why(client: httpx.Client, project: str) -> None:
    artifact = make_artifact()
    trouble(commit(client, project, artifact), 409, "artifact_mismatch")
    other = make_artifact("aa11", primary="bb22")
    put(client, project, other)
    assert "UUID aa11" in str(trouble(commit(client, project, other), 409, "artifact_mismatch")["reason"])


def test_a_chunk_with_another_digest_is_refused(client: httpx.Client, project: str) -> None:
    trouble(client.put(f"{project}/chunks/{'0' * 64}", content=b"data"), 422, "chunk_mismatch")
    trouble(client.put(f"{project}/chunks/{'0' * 64}", content=b""), 400, "malformed")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"{",
        b"[" * 100_000,
        b"9" * 5000,
        b"\xff",
        b'{"questions": 3}',
        b'{"questions": [{"identity": {"primary": "../../x"}, "quality": "full"}]}',
        b'{"questions": [{"identity": {"primary": "go:../x"}, "quality": "full"}]}',
        b'{"questions": [{"identity": {"primary": "aa", "aliases": ["go:..", "file:zz"]}, "quality": "full"}]}',
        b'{"questions": [{"identity": {"primary": "aa"}, "quality": "best"}]}',
        b'{"questions": [{"identity": {"primary": "aa"}, "quality": "full", "chunks": ["../../../etc/passwd"]}]}',
        b'{"questions": [{"identity": {"primary": "aa"}, "quality": "full", "kind": "../gsym"}]}',
    ],
)
def test_what_is_no_question_is_told_so(client: httpx.Client, project: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    trouble(client.post(f"{project}/artifacts:negotiate", content=body, headers=headers), 400, "malformed")


@pytest.mark.parametrize(
    "changes",
    [
        {"chunks": []},
        {"compressed_size_bytes": 1},
        {"compressed_size_bytes": -1},
        {"content_size_bytes": 1 << 80},
        {"content_sha256": "x"},
        {"chunks": [{"sha256": "a" * 64, "size_bytes": 1 << 40}]},
        {"file_name": "x" * 5000},
        {"figures": {"functions": "many"}},
        {"quality": 3},
        {"identity": {"primary": "aa", "aliases": ["bb"] * 9}},
    ],
)
def test_what_is_no_manifest_is_told_so(client: httpx.Client, project: str, changes: dict[str, object]) -> None:
    body = {"manifest": artifacts.MANIFEST.write(make_artifact().manifest) | changes}
    trouble(client.post(f"{project}/artifacts:commit", json=body), 400, "malformed")


def test_a_batch_over_the_limit_is_refused(client: httpx.Client, project: str) -> None:
    line = {"identity": {"primary": "aa"}, "quality": "full"}
    trouble(client.post(f"{project}/artifacts:negotiate", json={"questions": [line] * 501}), 400, "malformed")


@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_body_over_the_limit_is_cut_off(client: httpx.Client, project: str, in_pieces: bool) -> None:
    data = b"x" * (LIMIT_SIZE_BYTES + 1)
    body = iter([data[:100_000], data[100_000:200_000], data[200_000:]]) if in_pieces else data
    document = trouble(client.put(f"{project}/chunks/{'0' * 64}", content=body), 413, "too_large")
    assert document["limit_size_bytes"] == LIMIT_SIZE_BYTES
    blob = json.dumps({"questions": [], "padding": "x" * LIMIT_SIZE_BYTES}).encode()
    content = iter([blob[:1000], blob[1000:]]) if in_pieces else blob
    headers = {"Content-Type": "application/json"}
    trouble(client.post(f"{project}/artifacts:negotiate", content=content, headers=headers), 413, "too_large")


@pytest.mark.parametrize(
    "name", ["..", ".tmp", ".locks", "A", "a..b", "%2e%2e", "..%2f..%2fetc", "%00", "a%0a", "%5c", "a%2f..%2fb"]
)
def test_no_project_name_leaves_the_store(client: httpx.Client, server: RunningServer, name: str) -> None:
    # Sent as it stands: a client's own cleaning of the path must not stand in for the server's.
    target = f"/v1/projects/{name}/chunks/{'0' * 64}".encode()
    request = client.build_request("GET", server.url, extensions={"target": target})
    answer = client.send(request)
    assert answer.status_code in (400, 404)
    assert answer.json()["error"] in ("malformed", "no_such_page")


@pytest.mark.parametrize("symbol_id", ["..%2f..%2fx", "go:..", "go:.x", "elf:aa", "aa%00", "zz", "%ff", "aaa"])
def test_no_id_leaves_the_project(client: httpx.Client, server: RunningServer, project: str, symbol_id: str) -> None:
    target = f"{project}/symbols/{symbol_id}".encode()
    answer = client.send(client.build_request("GET", server.url, extensions={"target": target}))
    assert answer.status_code in (400, 404)
    assert answer.json()["error"] in ("malformed", "no_such_page")


def test_a_page_of_another_site_can_not_ask_through_a_browser(client: httpx.Client) -> None:
    # DNS rebinding: the browser connects to loopback, but names the host that the page came from.
    answer = client.get("/v1/capabilities", headers={"Host": "evil.example.com"})
    trouble(answer, 403, "not_allowed")


def test_damage_is_told_before_the_answer_begins(client: httpx.Client, server: RunningServer) -> None:
    project = "/v1/projects/damaged"
    artifact = uploaded(client, project, make_artifact())
    (chunk,) = (path for path in (server.store_path / "damaged").rglob(artifact.manifest.chunks[0]))
    chunk.write_bytes(b"other")
    trouble(client.get(f"{project}/symbols/c0ffee"), 409, "store_damaged")


@pytest.mark.parametrize(
    "members",
    [
        {"file_name": "bad\udcff"},
        {"warnings": ["\ud800"]},
        {"sources": ["\ud800"]},
        {"sources": ["y" * 4000] * 20},
        {"figures": {"by_source": {"\ud800": 1}}},
        {"figures": {"by_source": {"x" * 4_000_000: 1}}},
        {"figures": {"by_source": {"\ud800": "no count"}}},
    ],
)
def test_a_manifest_that_no_answer_could_tell_again_is_refused(members: dict[str, object], tmp_path: Path) -> None:
    artifact = make_artifact("aa11")
    manifest = artifacts.MANIFEST.write(artifact.manifest) | members
    with RunningServer(tmp_path / "store") as server, httpx.Client(base_url=server.url, trust_env=False) as client:
        put(client, "/v1/projects/p", artifact)
        content = json.dumps({"manifest": manifest})
        answer = client.post("/v1/projects/p/artifacts:commit", content=content)
        assert answer.status_code == 400, answer.text
        assert len(answer.content) < 1000
        assert client.get("/v1/projects/p/symbols/aa11/manifest").status_code == 404


def test_a_stored_text_that_utf8_cannot_spell_is_told_by_escapes(server: RunningServer, client: httpx.Client) -> None:
    artifact = uploaded(client, "/v1/projects/surrogates", make_artifact("aa11"))
    (path,) = (server.store_path / "surrogates").rglob("*.json")
    stored = artifacts.MANIFEST.write(artifact.manifest) | {"file_name": "bad\udcff", "warnings": ["\ud800"]}
    path.write_bytes(json.dumps(stored, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    told = client.get("/v1/projects/surrogates/symbols/aa11/manifest").json()
    assert told["file_name"] == r"bad\xff"
    assert told["warnings"] == [r"\ud800"]
    (answer,) = negotiate(client, "/v1/projects/surrogates", artifact)
    assert answer["stored_warnings"] == [r"\ud800"]


def test_a_stored_entry_beyond_all_bounds_is_damage_that_an_upload_heals(
    server: RunningServer, client: httpx.Client
) -> None:
    artifact = uploaded(client, "/v1/projects/heavy", make_artifact("aa11"))
    (path,) = (server.store_path / "heavy").rglob("*.json")
    figures = artifacts.FIGURES.write(artifact.manifest.figures) | {"by_source": {"x" * 4_000_000: 1}}
    path.write_bytes(json_text.dumps(artifacts.MANIFEST.write(artifact.manifest) | {"figures": figures}))
    (answer,) = negotiate(client, "/v1/projects/heavy", artifact)
    assert answer["holding"] == "missing"
    assert commit(client, "/v1/projects/heavy", artifact).json()["reason"] == "replaced a damaged entry"
    (answer,) = negotiate(client, "/v1/projects/heavy", artifact)
    assert answer["holding"] == "present"
