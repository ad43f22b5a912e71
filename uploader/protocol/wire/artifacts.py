"""The documents about an artifact: its ids, its figures, why it falls short, and the manifest that a store keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from uploader.model import Build, Figures, Identity, Provenance, Shortfall, Source
from uploader.protocol.wire import json_text
from uploader.protocol.wire.document import Document
from uploader.protocol.wire.json_text import Json, MalformedMessage, NotUnicode
from uploader.protocol.wire.kinds import COUNT, ID, KIND, SHA256, TEXT, Optional, Several, an_array, an_object
from uploader.protocol.words import MAX_CHUNK_SIZE_BYTES, Manifest, max_chunks

_MAX_ALIASES = 8
MAX_WARNINGS = 12
"""How many warnings of an artifact are kept and told again."""
MAX_WARNING_CHARACTERS = 300
"""How long one of them may be: an answer of 500 artifacts is to stay a small document."""
MAX_EVIDENCE = 64
MAX_DESCRIPTION_SIZE_BYTES = 64 * 1024
"""The size of all of a manifest but its chunks, at most."""
_CHUNK_BYTES_PER_VALUE = 16
"""A chunk of a manifest is an object of two members, of 64 digits and more."""


class _Warnings(Several):
    """Warnings, of which a peer may keep more than this one: no fault of the artifact, what is too much is left out."""

    def read(self, value: object, name: str) -> tuple[str, ...]:
        return bounded_warnings(super().read(value, name))


class _FiguresDocument(Document[Figures]):
    def read(self, value: object, name: str | None = None) -> Figures:
        """A peer that doesn't tell ``inline_bytes`` took DWARF of any kind for a source of inlined calls."""
        members = an_object(value, name or "figures")
        fields = self.fields_in(members)
        if fields.get("inline_bytes") is None:
            tells_of_inlines = fields.get("by_source", {}).get(Source.DWARF) or fields.get("inlines")
            fields["inline_bytes"] = fields.get("line_bytes", 0) if tells_of_inlines else 0
        return Figures(**fields)


class _ManifestDocument(Document[Manifest]):
    """Its chunks are rows of two columns of the manifest; where it comes from is told by members of its own."""

    def read(self, value: object, name: str | None = None) -> Manifest:
        """The manifest, if its chunks are sound and add up to the compressed size."""
        members = an_object(value, name or "manifest")
        compressed_size_bytes = COUNT.read(members.get("compressed_size_bytes", 0), "compressed_size_bytes")
        digests, sizes = _chunks(an_array(members.get("chunks", []), "chunks"), compressed_size_bytes)
        manifest = Manifest(
            **self.fields_in(members),
            chunks=digests,
            chunk_sizes_bytes=sizes,
            provenance=PROVENANCE.read(members),
        )
        if len(json_text.dumps(self._description(manifest))) > MAX_DESCRIPTION_SIZE_BYTES:
            raise MalformedMessage(f"manifest: more than {MAX_DESCRIPTION_SIZE_BYTES} bytes besides its chunks")
        return manifest

    def write(self, value: Manifest) -> Json:
        """As it is stored and sent."""
        chunks = [
            {"sha256": sha256, "size_bytes": size_bytes}
            for sha256, size_bytes in zip(value.chunks, value.chunk_sizes_bytes, strict=True)
        ]
        return {**self._description(value), "chunks": chunks}

    def described(self) -> Json:
        """Its JSON schema."""
        own, provenance = super().described(), PROVENANCE.described()
        chunk = {
            "type": "object",
            "properties": {"sha256": SHA256.schema(), "size_bytes": COUNT.schema()},
            "required": ["sha256", "size_bytes"],
        }
        chunks = {"chunks": {"type": "array", "items": chunk, "minItems": 1}}
        return own | {
            "properties": own["properties"] | provenance["properties"] | chunks,
            "required": [*own["required"], "chunks"],
        }

    def _description(self, manifest: Manifest) -> Json:
        return super().write(manifest) | PROVENANCE.write(manifest.provenance)


IDENTITY = Document("IdentityDocument", Identity, primary=ID, aliases=Several(ID, limit=_MAX_ALIASES))
FIGURES = _FiguresDocument("FiguresDocument", Figures, inline_bytes=Optional(COUNT))
SHORTFALL = Document("ShortfallDocument", Shortfall, evidence=Several(TEXT, limit=MAX_EVIDENCE))
PROVENANCE = Document("Provenance", Provenance, renamed={"revision": "source_revision"})
BUILD = Document("Build", Build)
WARNINGS = _Warnings(TEXT)
MANIFEST = _ManifestDocument(
    "ManifestDocument",
    Manifest,
    apart=("chunks", "chunk_sizes_bytes", "provenance"),
    identity=IDENTITY,
    kind=KIND,
    content_sha256=SHA256,
    figures=FIGURES,
    warnings=WARNINGS,
    shortfall=Optional(SHORTFALL),
    build=Optional(BUILD),
)


def manifest_from_bytes(data: bytes) -> Manifest:
    """A manifest as a server gives it. Raises `ValueError`."""
    return MANIFEST.read(manifest_value(data))


def manifest_value(data: bytes) -> object:
    """The JSON value in ``data``, which is not parsed where it holds more values than a manifest can: one of two bytes takes a hundred.

    Raises `ValueError`.
    """
    values = json_text.values_in(data)
    if values > MAX_DESCRIPTION_SIZE_BYTES + len(data) // _CHUNK_BYTES_PER_VALUE:
        raise MalformedMessage(f"manifest: {values} values are too many for {len(data)} bytes")
    return json_text.loads(data)


def stored_manifest(value: object) -> Manifest:
    """The manifest in a `manifest_value` that a store kept, which may have texts that no UTF-8 can spell. Raises `ValueError`."""
    try:
        return MANIFEST.read(value)
    except NotUnicode:
        return MANIFEST.read(json_text.all_unicode(value))


def bounded_warnings(warnings: Sequence[str]) -> tuple[str, ...]:
    """The warnings as a manifest keeps them: the first, each cut to a length, and how many more there were."""
    cut = [
        warning if len(warning) <= MAX_WARNING_CHARACTERS else warning[: MAX_WARNING_CHARACTERS - 1] + "…"
        for warning in warnings
    ]
    if len(cut) <= MAX_WARNINGS:
        return tuple(cut)
    return (*cut[: MAX_WARNINGS - 1], f"and {len(cut) - MAX_WARNINGS + 1} more warnings, told when it was made")


def _chunks(named: Sequence[Any], compressed_size_bytes: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if len(named) > max_chunks(compressed_size_bytes):
        raise MalformedMessage(f"chunks: {len(named)} are too many for {compressed_size_bytes} compressed bytes")
    chunks = [an_object(chunk, "chunks") for chunk in named]
    digests = tuple([SHA256.read(chunk.get("sha256"), "chunks") for chunk in chunks])
    sizes = tuple([COUNT.read(chunk.get("size_bytes", 0), "size_bytes") for chunk in chunks])
    if not digests:
        raise MalformedMessage("chunks: an artifact has at least one")
    if any(not 0 < size <= MAX_CHUNK_SIZE_BYTES for size in sizes):
        raise MalformedMessage(f"chunks: a chunk has 1 to {MAX_CHUNK_SIZE_BYTES} bytes")
    if sum(sizes) != compressed_size_bytes:
        raise MalformedMessage("compressed_size_bytes: is not the sum of the chunks")
    return digests, sizes
