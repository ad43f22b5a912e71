import hashlib
import tracemalloc
from typing import Any

import pytest
import zstandard

from tests.writers.artifact_writer import make_artifact, make_gsym, make_manifest
from uploader.errors import ArtifactMismatch, StoreDamaged
from uploader.model import Quality
from uploader.store import verify
from uploader.transfer.chunks import Chunk, ChunkedFile
from uploader.transfer.protocol import Manifest
from uploader.values import replace


def chunked(frame: bytes, content: bytes) -> ChunkedFile:
    return ChunkedFile(
        chunks=(Chunk(sha256=hashlib.sha256(frame).hexdigest(), data=frame),),
        compressed_size_bytes=len(frame),
        content_size_bytes=len(content),
        content_sha256=hashlib.sha256(content).hexdigest(),
    )


def check(file: ChunkedFile, manifest: Manifest) -> None:
    verify.check_artifact(manifest, {chunk.sha256: chunk.data for chunk in file.chunks}.get)


def compressed(content: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(content)


def test_a_sound_artifact_passes() -> None:
    artifact = make_artifact(functions=300, max_chunk_size_bytes=1000)
    check(artifact.file, artifact.manifest)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"kind": "elf"}, "kind"),
        ({"compression": "gzip"}, "compression"),
        ({"content_size_bytes": 0}, "bytes"),
        ({"content_size_bytes": verify.MAX_CONTENT_SIZE_BYTES + 1}, "bytes"),
        ({"quality": Quality.NONE}, "without functions"),
        ({"content_sha256": "0" * 64}, "not what the manifest declares"),
        ({"content_size_bytes": 100}, "larger than the 100 bytes"),
        ({"content_size_bytes": 10_000_000}, "not what the manifest declares"),
    ],
)
def test_every_declaration_is_checked(changes: Any, complaint: str) -> None:
    artifact = make_artifact()
    with pytest.raises(ArtifactMismatch, match=complaint):
        check(artifact.file, replace(artifact.manifest, **changes))


def test_the_uuid_must_be_the_build_id() -> None:
    file = make_artifact("aa11").file
    with pytest.raises(ArtifactMismatch, match="UUID aa11"):
        check(file, make_manifest(file, "bb22"))


def test_content_must_be_gsym() -> None:
    content = b"not GSYM at all, but sound zstd"
    file = chunked(compressed(content), content)
    with pytest.raises(ArtifactMismatch, match="GSYM"):
        check(file, make_manifest(file, "aa11"))


def test_a_quality_that_the_file_does_not_have_is_refused() -> None:
    artifact = make_artifact(gsym=make_gsym("c0ffee", with_lines=False))
    with pytest.raises(ArtifactMismatch, match="no line"):
        check(artifact.file, artifact.manifest)
    empty = make_artifact(gsym=make_gsym("c0ffee", functions=0), quality=Quality.FUNCTIONS)
    with pytest.raises(ArtifactMismatch, match="no function"):
        check(empty.file, empty.manifest)


def test_a_small_chunk_named_again_and_again_is_not_read_for_ever() -> None:
    file = make_artifact("aa11").file
    manifest = make_manifest(file, "aa11")
    endless = replace(
        manifest,
        chunks=manifest.chunks * 100_000,
        chunk_sizes_bytes=manifest.chunk_sizes_bytes * 100_000,
        compressed_size_bytes=manifest.compressed_size_bytes * 100_000,
    )
    with pytest.raises(ArtifactMismatch, match="too many"):
        check(file, endless)


@pytest.mark.parametrize("cut", [1, 5, -1])
def test_a_cut_frame_is_refused(cut: int) -> None:
    gsym = make_gsym("aa11")
    file = chunked(compressed(gsym)[:cut], gsym)
    with pytest.raises(ArtifactMismatch):
        check(file, make_manifest(file, "aa11"))


@pytest.mark.parametrize("tail", [b"x", b"\0" * 5000, compressed(b"more")])
def test_nothing_may_follow_the_frame(tail: bytes) -> None:
    gsym = make_gsym("aa11")
    file = chunked(compressed(gsym) + tail, gsym)
    with pytest.raises(ArtifactMismatch):
        check(file, make_manifest(file, "aa11"))


def test_a_frame_that_inflates_past_its_declared_size_is_stopped_early() -> None:
    bomb = compressed(b"\0" * 500_000_000)
    assert len(bomb) < 100_000
    file = chunked(bomb, b"\0" * 1000)
    tracemalloc.start()
    with pytest.raises(ArtifactMismatch, match="larger than the 1000 bytes"):
        check(file, make_manifest(file, "aa11"))
    assert tracemalloc.get_traced_memory()[1] < 64_000_000
    tracemalloc.stop()


def test_a_frame_that_wants_a_huge_window_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=30, compression_level=1, enable_ldm=True)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    frame = stream.compress(b"x" * 1000) + stream.flush()
    file = chunked(frame, b"x" * 1000)
    with pytest.raises(ArtifactMismatch, match="zstd"):
        check(file, make_manifest(file, "aa11"))


def test_a_chunk_with_other_bytes_is_damage() -> None:
    artifact = make_artifact()
    with pytest.raises(StoreDamaged):
        list(verify.content(artifact.manifest, lambda sha256: b"x" * artifact.file.compressed_size_bytes))
    with pytest.raises(StoreDamaged, match="missing"):
        list(verify.content(artifact.manifest, lambda sha256: None))
