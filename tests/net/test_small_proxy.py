"""Files go through a proxy that lets only small requests through, though the server behind it names a larger limit."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.net.small_proxy import SmallProxy
from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import make_artifact
from uploader.destinations.send import send
from uploader.destinations.server import HttpDestination
from uploader.errors import Refused, TooLarge
from uploader.pipeline.push import push
from uploader.progress import Silent
from uploader.protocol.words import MIN_CHUNK_SIZE_BYTES, Question
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore
from uploader.values import replace

MEBIBYTE = 1024 * 1024
LARGE = make_artifact("f1", functions=70_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with RunningServer(tmp_path_factory.mktemp("small") / "store") as running:
        yield running


@pytest.mark.parametrize("limit_size_bytes", [MEBIBYTE, 100_000])
def test_a_file_is_cut_until_it_passes_and_the_next_one_is_cut_so_at_once(
    server: RunningServer, limit_size_bytes: int
) -> None:
    assert max(LARGE.manifest.chunk_sizes_bytes) > 2 * MEBIBYTE
    with SmallProxy(server.port, limit_size_bytes=limit_size_bytes) as proxy, ThreadPoolExecutor(4) as pool:
        destination = HttpDestination(proxy.url, project=f"p{limit_size_bytes}")
        sent = send(destination, LARGE.file, LARGE.manifest, executor=pool)
        assert sent.committed.stored and sent.chunks_sent == sent.chunks_total
        assert b"".join(destination.fetch(LARGE.manifest.identity.primary)) == LARGE.gsym
        learned = destination.capabilities().max_chunk_size_bytes
        assert MIN_CHUNK_SIZE_BYTES <= learned <= limit_size_bytes < 2 * learned
        refused = proxy.refused.total()
        assert refused
        other = make_artifact("f2", functions=70_000, max_chunk_size_bytes=learned)
        assert send(destination, other.file, other.manifest, executor=pool).committed.stored
        assert proxy.refused.total() == refused
        destination.close()


def test_questions_about_many_chunks_are_cut_to_what_passes(server: RunningServer) -> None:
    chunks = tuple(f"{number:064x}" for number in range(5000))
    questions = [Question(identity=LARGE.manifest.identity, quality=LARGE.manifest.quality, chunks=chunks)] * 3
    with SmallProxy(server.port, limit_size_bytes=100_000) as proxy:
        destination = HttpDestination(proxy.url, project="asked")
        answers = destination.negotiate([*questions, replace(questions[0], chunks=chunks[:2])])
        assert [answer.missing_chunks for answer in answers] == [chunks, chunks, chunks, chunks[:2]]
        assert max(size_bytes for _, size_bytes in proxy.passed) <= 100_000
        destination.close()


def test_what_a_store_holds_in_large_chunks_is_pushed_in_small_ones(server: RunningServer, tmp_path: Path) -> None:
    source = SymbolStore(FolderBlobs(tmp_path / "store"), "web")
    for chunk in LARGE.file.chunks:
        source.put_chunk(chunk.sha256, chunk.data)
    source.commit(LARGE.manifest)
    with SmallProxy(server.port, limit_size_bytes=MEBIBYTE) as proxy:
        destination = HttpDestination(proxy.url, project="pushed")
        finished = push(source, destination, progress=Silent(), label="the store")
        assert [outcome.decision.value for outcome in finished.outcomes] == ["stored"]
        assert b"".join(destination.fetch(LARGE.manifest.identity.primary)) == LARGE.gsym
        destination.close()


def test_what_can_not_be_cut_further_is_told_with_the_proxys_limit(server: RunningServer) -> None:
    with SmallProxy(server.port, limit_size_bytes=50_000) as proxy, ThreadPoolExecutor(4) as pool:
        destination = HttpDestination(proxy.url, project="tiny")
        with pytest.raises(TooLarge, match="65536 bytes as too large") as caught:
            send(destination, LARGE.file, LARGE.manifest, executor=pool)
        assert "client_max_body_size" in str(caught.value.remedy)
        destination.close()


def test_a_manifest_that_does_not_pass_is_told(server: RunningServer) -> None:
    wide = make_artifact("f3", functions=4)
    manifest = replace(wide.manifest, sources=("y" * 4000,) * 60)
    with SmallProxy(server.port, limit_size_bytes=100_000) as proxy:
        destination = HttpDestination(proxy.url, project="wide")
        with pytest.raises(Refused, match="names the 1 chunks of the file and can't be cut"):
            destination.commit(manifest)
        destination.close()
