import contextlib
import hashlib
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
import zstandard

from tests.writers.artifact_writer import make_artifact, make_gsym, make_manifest
from uploader.errors import ArtifactMismatch, Refused, StoreDamaged
from uploader.model import Quality
from uploader.protocol import verify
from uploader.protocol.chunks import Chunk, ChunkedFile
from uploader.protocol.wire import artifacts
from uploader.protocol.words import MAX_CHUNK_SIZE_BYTES, MAX_HEAD_SIZE_BYTES, Manifest
from uploader.store.folder import FolderBlobs
from uploader.values import replace


def chunked(frame: bytes, content: bytes) -> ChunkedFile:
    return ChunkedFile(
        chunks=(Chunk(sha256=hashlib.sha256(frame).hexdigest(), data=frame),),
        compressed_size_bytes=len(frame),
        content_size_bytes=len(content),
        content_sha256=hashlib.sha256(content).hexdigest(),
    )


def check(file: ChunkedFile, manifest: Manifest) -> Manifest:
    return verify.checked(manifest, {chunk.sha256: chunk.data for chunk in file.chunks}.get, tempfile.TemporaryFile)


def compressed(content: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(content)


def test_a_sound_artifact_passes() -> None:
    artifact = make_artifact(chunks=4)
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
        ({"content_size_bytes": 100}, "not the 100 bytes declared"),
        ({"content_size_bytes": 1_000_000}, "not what the manifest declares"),
        ({"content_size_bytes": 10_000_000}, "too few for 10000000"),
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
    empty = make_artifact(gsym=make_gsym("c0ffee", functions=0), quality=Quality.FUNCTIONS)
    with pytest.raises(ArtifactMismatch, match="no function"):
        check(empty.file, empty.manifest)


def test_a_file_without_a_line_is_no_file_of_lines() -> None:
    for claimed in (Quality.LINES, Quality.FULL):
        artifact = make_artifact(gsym=make_gsym("c0ffee", with_lines=False), quality=claimed)
        with pytest.raises(ArtifactMismatch, match=f"{claimed.label} but holds no line"):
            check(artifact.file, artifact.manifest)


def test_what_an_honest_client_counted_is_stored_as_it_is() -> None:
    for quality in (Quality.FUNCTIONS, Quality.LINES, Quality.FULL):
        artifact = make_artifact(quality=quality, functions=50)
        assert check(artifact.file, artifact.manifest) == artifact.manifest


HUGE = 10**18


@pytest.mark.parametrize(
    "claimed",
    [
        {"functions": HUGE, "by_source": {"dwarf": HUGE, "symtab": HUGE}},
        {"functions": 0, "by_source": {}},
        {"inlines": HUGE},
        {"line_rows": HUGE, "line_bytes": HUGE},
        {"inline_bytes": HUGE},
        {"function_bytes": HUGE},
        {"line_rows": 0, "line_bytes": 0, "function_bytes": 0, "executable_bytes": 0},
    ],
)
def test_figures_are_those_of_the_content_whatever_is_claimed(claimed: Any) -> None:
    artifact = make_artifact(functions=50)
    honest = artifact.manifest.figures
    manifest = replace(artifact.manifest, figures=replace(honest, **claimed))
    stored = check(artifact.file, manifest).figures
    assert replace(stored, by_source={}) == replace(honest, by_source={})
    assert sum(stored.by_source.values()) <= honest.functions


def test_the_number_of_functions_lies_between_names_and_pieces() -> None:
    artifact = make_artifact(functions=50)
    for claimed, stored in ((49, 50), (50, 50), (51, 50)):
        manifest = replace(artifact.manifest, figures=replace(artifact.manifest.figures, functions=claimed))
        assert check(artifact.file, manifest).figures.functions == stored


def test_the_named_code_is_executable() -> None:
    artifact = make_artifact(functions=50)
    for claimed, stored in ((0, 50 * 24), (50 * 24, 50 * 24), (5000, 5000)):
        manifest = replace(artifact.manifest, figures=replace(artifact.manifest.figures, executable_bytes=claimed))
        assert check(artifact.file, manifest).figures.executable_bytes == stored


def test_quality_is_at_most_what_the_content_bears_out_and_at_most_what_is_claimed() -> None:
    rich = make_artifact(functions=50)
    assert check(rich.file, replace(rich.manifest, quality=Quality.FUNCTIONS)).quality is Quality.FUNCTIONS
    plain = replace(rich.manifest, figures=replace(rich.manifest.figures, inline_bytes=0))
    assert check(rich.file, plain).quality is Quality.LINES


@pytest.mark.parametrize("size_bytes", [0, MAX_CHUNK_SIZE_BYTES + 1])
def test_the_size_of_a_single_chunk_is_bounded(size_bytes: int) -> None:
    manifest = make_artifact(chunks=3).manifest
    others = manifest.chunk_sizes_bytes[1:]
    odd = replace(manifest, chunk_sizes_bytes=(size_bytes, *others), compressed_size_bytes=size_bytes + sum(others))
    with pytest.raises(ArtifactMismatch, match="a chunk has 1 to"):
        verify.checked(odd, lambda sha256: None, tempfile.TemporaryFile)
    with pytest.raises(ValueError, match="a chunk has 1 to"):
        artifacts.MANIFEST.read(artifacts.MANIFEST.write(odd))


@pytest.mark.parametrize("count", [3, 72_500])
def test_a_manifest_of_tiny_chunks_is_refused_unread(count: int) -> None:
    manifest = replace(
        make_artifact().manifest,
        chunks=("0" * 64,) * count,
        chunk_sizes_bytes=(1,) * count,
        compressed_size_bytes=count,
        content_size_bytes=count,
    )
    with pytest.raises(ArtifactMismatch, match=f"{count} chunks are too many"):
        verify.checked(manifest, lambda sha256: b"", tempfile.TemporaryFile)
    with pytest.raises(ValueError, match=f"{count} are too many"):
        artifacts.MANIFEST.read(artifacts.MANIFEST.write(manifest))


def no_scratch() -> Any:
    raise AssertionError("nothing is to be written")


def test_what_inflates_beyond_measure_is_refused_before_anything_is_written() -> None:
    content_size_bytes = verify.IN_MEMORY_SIZE_BYTES + 1
    frame = compressed(bytes(content_size_bytes))
    data = {chunk.sha256: chunk.data for chunk in chunked(frame, b"").chunks}
    manifest = replace(make_manifest(chunked(frame, b""), "aa11"), content_size_bytes=content_size_bytes)
    with pytest.raises(ArtifactMismatch, match="too few"):
        verify.checked(manifest, data.get, no_scratch)


def framed(*frames: bytes, content: bytes) -> tuple[ChunkedFile, Manifest]:
    """A file of those frames, and a manifest that declares it."""
    file = ChunkedFile(
        chunks=tuple(Chunk(sha256=hashlib.sha256(frame).hexdigest(), data=frame) for frame in frames),
        compressed_size_bytes=sum(map(len, frames)),
        content_size_bytes=len(content),
        content_sha256=hashlib.sha256(content).hexdigest(),
    )
    return file, make_manifest(file, "c0ffee")


def test_a_head_may_go_before_the_rest_in_a_frame_of_its_own() -> None:
    gsym = make_gsym("c0ffee", functions=500)
    file, manifest = framed(compressed(gsym[:48]), compressed(gsym[48:]), content=gsym)
    check(file, manifest)
    at_once = replace(file, chunks=chunked(b"".join(chunk.data for chunk in file.chunks), gsym).chunks)
    check(at_once, make_manifest(at_once, "c0ffee"))


@pytest.mark.parametrize("cuts", [(48, 96), (48, 48), (0, 48)])
def test_more_frames_than_these_are_refused(cuts: tuple[int, int]) -> None:
    gsym = make_gsym("c0ffee", functions=500)
    parts = [gsym[: cuts[0]], gsym[cuts[0] : cuts[1]], gsym[cuts[1] :]]
    file, manifest = framed(*map(compressed, parts), content=gsym)
    with pytest.raises(ArtifactMismatch):
        check(file, manifest)


def test_only_a_head_may_go_before_the_rest() -> None:
    gsym = make_gsym("c0ffee", functions=2000)
    assert len(gsym) > 2 * MAX_HEAD_SIZE_BYTES
    cut = MAX_HEAD_SIZE_BYTES + 1
    file, manifest = framed(compressed(gsym[:cut]), compressed(gsym[cut:]), content=gsym)
    with pytest.raises(ArtifactMismatch, match="a zstd frame tells 4097 bytes"):
        check(file, manifest)


def test_a_head_alone_is_no_file() -> None:
    gsym = make_gsym("c0ffee", functions=500)
    file, manifest = framed(compressed(gsym[:48]), content=gsym)
    with pytest.raises(ArtifactMismatch, match="not what the manifest declares"):
        check(file, manifest)


def test_a_frame_that_does_not_tell_its_size_is_refused() -> None:
    gsym = make_gsym("aa11")
    frame = zstandard.ZstdCompressor(write_content_size=False).compress(gsym)
    file = chunked(frame, gsym)
    with pytest.raises(ArtifactMismatch, match="tells no size"):
        check(file, make_manifest(file, "aa11"))


def test_what_is_too_large_for_memory_is_read_back_from_a_scratch_file(monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = make_artifact(functions=50)
    monkeypatch.setattr(verify, "IN_MEMORY_SIZE_BYTES", len(artifact.gsym) - 1)
    opened = []

    def scratch() -> IO[bytes]:
        file = tempfile.TemporaryFile()  # noqa: SIM115  # the code under test closes it
        opened.append(file)
        return file

    by_digest = {chunk.sha256: chunk.data for chunk in artifact.file.chunks}
    assert verify.checked(artifact.manifest, by_digest.get, scratch) == artifact.manifest
    assert len(opened) == 1
    assert opened[0].closed
    monkeypatch.setattr(verify, "IN_MEMORY_SIZE_BYTES", len(artifact.gsym))
    assert verify.checked(artifact.manifest, by_digest.get, no_scratch) == artifact.manifest


def test_a_full_disk_is_the_stores_trouble_and_not_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = make_artifact(functions=50)
    monkeypatch.setattr(verify, "IN_MEMORY_SIZE_BYTES", 0)
    by_digest = {chunk.sha256: chunk.data for chunk in artifact.file.chunks}

    @contextlib.contextmanager
    def full() -> Iterator[IO[bytes]]:
        with FolderBlobs(tmp_path).scratch(), open("/dev/full", "wb", buffering=0) as file:
            yield file

    with pytest.raises(Refused, match="No space left") as caught:
        verify.checked(artifact.manifest, by_digest.get, full)
    assert not isinstance(caught.value, ArtifactMismatch)
    assert caught.value.remedy


def test_too_little_memory_is_the_stores_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = make_artifact(functions=50)

    def without_memory(_sha256: str) -> bytes:
        raise MemoryError

    with pytest.raises(Refused, match="memory") as caught:
        verify.checked(artifact.manifest, without_memory, no_scratch)
    assert not isinstance(caught.value, ArtifactMismatch)


def test_a_chunk_named_again_and_again_is_not_read_for_ever() -> None:
    manifest = make_artifact("aa11", chunks=2).manifest
    endless = replace(
        manifest,
        chunks=manifest.chunks[:1] * 1000,
        chunk_sizes_bytes=manifest.chunk_sizes_bytes[:1] * 1000,
        compressed_size_bytes=manifest.chunk_sizes_bytes[0] * 1000,
    )
    with pytest.raises(ArtifactMismatch, match="too many"):
        verify.checked(endless, lambda sha256: b"", no_scratch)


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
    with pytest.raises(ArtifactMismatch, match=r"follow the end of the compressed|not end where its chunks end"):
        check(file, make_manifest(file, "aa11"))


def test_a_frame_that_inflates_past_its_declared_size_is_stopped_early() -> None:
    bomb = compressed(b"\0" * 500_000_000)
    assert len(bomb) < 100_000
    file = chunked(bomb, b"\0" * 1000)
    tracemalloc.start()
    with pytest.raises(ArtifactMismatch, match="tells 500000000 bytes, not the 1000"):
        check(file, make_manifest(file, "aa11"))
    assert tracemalloc.get_traced_memory()[1] < 64_000_000
    tracemalloc.stop()


def test_a_frame_that_wants_a_huge_window_is_refused() -> None:
    # RFC 8878 §3.1.1.1: a size of 4 bytes, a window of 256 MiB, raw blocks.
    size_bytes = 200_000_000
    header = bytes([0x28, 0xB5, 0x2F, 0xFD, 0x80, 18 << 3]) + size_bytes.to_bytes(4, "little")
    frame = header + ((100_000 << 3).to_bytes(3, "little") + b"x" * 100_000) * 10
    file = chunked(frame, b"")
    with pytest.raises(ArtifactMismatch, match="not sound zstd"):
        check(file, replace(make_manifest(file, "aa11"), content_size_bytes=size_bytes))


def test_a_chunk_with_other_bytes_is_damage() -> None:
    artifact = make_artifact()
    with pytest.raises(StoreDamaged):
        list(verify.content(artifact.manifest, lambda sha256: b"x" * artifact.file.compressed_size_bytes))
    with pytest.raises(StoreDamaged, match="missing"):
        list(verify.content(artifact.manifest, lambda sha256: None))
