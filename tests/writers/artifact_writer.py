"""Whole artifacts for stores and servers: real GSYM bytes, their chunks and the manifest that goes with them."""

import hashlib
from array import array
from dataclasses import dataclass
from typing import Protocol

from uploader.gsym.decode import decode
from uploader.gsym.encode import encode
from uploader.model import Figures, Identity, Quality, Source, SymbolId
from uploader.protocol.chunks import ChunkedFile, compress
from uploader.protocol.words import MAX_CHUNK_SIZE_BYTES, MIN_CHUNK_SIZE_BYTES, Manifest, Question
from uploader.symbols.columns import SymbolTable
from uploader.symbols.figures import measure
from uploader.values import replace


@dataclass(frozen=True, kw_only=True)
class Artifact:
    gsym: bytes
    file: ChunkedFile
    manifest: Manifest

    @property
    def question(self) -> Question:
        return Question(
            identity=self.manifest.identity,
            quality=self.manifest.quality,
            kind=self.manifest.kind,
            chunks=self.manifest.chunks,
        )


def make_gsym(
    build_id: str, *, functions: int = 4, with_lines: bool = True, flavour: str = "", name_bytes: int = 32
) -> bytes:
    """A GSYM file of functions with names that hardly compress: ``name_bytes`` of chance in hex each."""
    table = SymbolTable()
    names, seed = [b""], f"{build_id}/{flavour}"
    for index in range(functions):
        table.start.append(0x1000 + 32 * index)
        table.end.append(0x1000 + 32 * index + 24)
        table.name.append(len(names))
        names.append(hashlib.shake_256(f"{seed}/{index}".encode()).hexdigest(name_bytes).encode())
        if with_lines:
            table.row_address.append(0x1000 + 32 * index)
            table.row_file.append(1)
            table.row_line.append(index + 1)
        table.row_first.append(len(table.row_address))
    table.node_first = array("I", [0] * (functions + 1))
    table.names, table.files = names, ((b"", b""), (b"/src", b"main.c"))
    return encode(table, base_address=0x1000, uuid=bytes.fromhex(build_id))


def make_artifact(
    build_id: str = "c0ffee",
    *,
    functions: int = 4,
    quality: Quality = Quality.FULL,
    flavour: str = "",
    primary: str | None = None,
    aliases: tuple[str, ...] = (),
    max_chunk_size_bytes: int = MAX_CHUNK_SIZE_BYTES,
    chunks: int | None = None,
    gsym: bytes | None = None,
) -> Artifact:
    """``chunks`` asks for so many of the least size that a store takes."""
    name_bytes = 32
    if chunks is not None:
        max_chunk_size_bytes = MIN_CHUNK_SIZE_BYTES
        name_bytes = (2 * chunks - 1) * MIN_CHUNK_SIZE_BYTES // (2 * functions)
    if gsym is None:
        gsym = make_gsym(
            build_id,
            functions=functions,
            with_lines=quality >= Quality.LINES,
            flavour=flavour,
            name_bytes=name_bytes,
        )
    file = compress(gsym, max_chunk_size_bytes=max_chunk_size_bytes)
    assert chunks in (None, len(file.chunks))
    manifest = make_manifest(file, primary or build_id, quality=quality, aliases=aliases)
    return Artifact(gsym=gsym, file=file, manifest=replace(manifest, figures=honest_figures(gsym, quality)))


def honest_figures(gsym: bytes, quality: Quality) -> Figures:
    """What a client would claim of such a file."""
    _, table = decode(gsym)
    source = Source.DWARF if quality is Quality.FULL else Source.SYMTAB
    code = list(zip(table.start, table.end, strict=True))
    counted = measure(table, executable=code, by_source={source: len(table)} if len(table) else {})
    return replace(counted, inline_bytes=counted.line_bytes if quality is Quality.FULL else 0)


def make_manifest(
    file: ChunkedFile, primary: str, *, quality: Quality = Quality.FULL, aliases: tuple[str, ...] = ()
) -> Manifest:
    return Manifest(
        identity=Identity(primary=SymbolId.parse(primary), aliases=tuple(SymbolId.parse(alias) for alias in aliases)),
        chunks=tuple(chunk.sha256 for chunk in file.chunks),
        chunk_sizes_bytes=tuple(len(chunk.data) for chunk in file.chunks),
        compressed_size_bytes=file.compressed_size_bytes,
        content_size_bytes=file.content_size_bytes,
        content_sha256=file.content_sha256,
        quality=quality,
        figures=Figures(functions=4, line_rows=4),
        file_name="libexample.so",
        tool="symup test",
        created_at="2026-01-02T03:04:05Z",
    )


class TakesChunks(Protocol):
    def put_chunk(self, sha256: str, data: bytes) -> None: ...


def put_all(destination: TakesChunks, artifact: Artifact) -> None:
    """Puts every chunk, in order."""
    for chunk in artifact.file.chunks:
        destination.put_chunk(chunk.sha256, chunk.data)
