"""The words that a client and a destination exchange, whatever carries them.

``Destination`` is the port: a folder, object storage and a symbol server each implement it, and the pipeline knows no other way to
reach symbols. All methods may be called from several threads at once.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from uploader.model import Build, Figures, Identity, Provenance, Quality, Shortfall, SymbolId
from uploader.values import frozen

MAX_CHUNK_SIZE_BYTES = 8 * 1024 * 1024
MIN_CHUNK_SIZE_BYTES = 64 * 1024
"""No limit below this is kept: smaller chunks make more requests and names than they save. The first and the last may be smaller."""
MAX_HEAD_SIZE_BYTES = 4096
"""The content of the frame that goes before the rest of a file, at most."""
FRAMES_FEATURE = "frames"
"""Among `Capabilities.features` of a destination that takes files in two frames."""
GSYM_KIND = "gsym"
KINDS = (GSYM_KIND,)
"""All kinds of artifacts."""
TOKENS_FEATURE = "tokens"
"""Among `Capabilities.features` of a destination that wants a token for everything else."""


def max_chunks(compressed_size_bytes: int) -> int:
    """The most chunks that a file of that compressed size may be cut into: all but the first and the last have the least size."""
    return 2 + compressed_size_bytes // MIN_CHUNK_SIZE_BYTES


def differ(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether fingerprints are those of two programs: two of one kind aren't the same."""
    known = dict(each.split(":", 1) for each in one if ":" in each)
    told = dict(each.split(":", 1) for each in other if ":" in each)
    return any(known[kind] != value for kind, value in told.items() if kind in known)


class Holding(enum.StrEnum):
    """The state of an id at a destination, beside the file that the client could send."""

    PRESENT = "present"
    POORER = "poorer"
    MISSING = "missing"


@frozen
class Capabilities:
    """The limits and features of a destination."""

    max_chunk_size_bytes: int = MAX_CHUNK_SIZE_BYTES
    max_batch: int = 500
    max_request_size_bytes: int = MAX_CHUNK_SIZE_BYTES + 64 * 1024
    features: tuple[str, ...] = ()
    server: str = ""


@frozen
class Question:
    """One line of a negotiation: an id, the quality the client expects to reach, and its chunks once they are known."""

    identity: Identity
    quality: Quality
    kind: str = GSYM_KIND
    chunks: tuple[str, ...] = ()
    """SHA-256 digests in lowercase hex; empty before extraction."""
    force: bool = False
    evidence: tuple[str, ...] = ()
    """Of a file that is ready to be sent and falls short: what it was made of (`Shortfall.evidence`)."""


@frozen
class Answer:
    """A destination's reply to one `Question`. Asking changes nothing there."""

    identity: Identity
    kind: str = GSYM_KIND
    holding: Holding
    reason: str
    stored_quality: Quality | None = None
    stored_figures: Figures | None = None
    """Of what is stored; None where nothing is, or where an older server does not tell."""
    stored_size_bytes: int = 0
    """Of what is stored, compressed."""
    stored_warnings: tuple[str, ...] = ()
    """The warnings of the run that made it."""
    stored_shortfall: Shortfall | None = None
    stored_lacks_files: bool = False
    stored_fingerprints: tuple[str, ...] = ()
    """Those of the program that the stored file was made of (`Manifest.fingerprints`)."""
    missing_chunks: tuple[str, ...] = ()
    """Those of the question's chunks that the destination lacks."""


@frozen
class Manifest:
    """The description of one artifact in a store. Written last, when all chunks are there and the whole has been checked."""

    identity: Identity
    kind: str = GSYM_KIND
    chunks: tuple[str, ...]
    """SHA-256 digests of the chunks of the compressed file, in order."""
    chunk_sizes_bytes: tuple[int, ...]
    compression: str = "zstd"
    compressed_size_bytes: int
    content_size_bytes: int
    content_sha256: str
    """Of the GSYM file itself, uncompressed."""
    quality: Quality
    figures: Figures
    sources: tuple[str, ...] = ()
    file_name: str = ""
    tool: str = ""
    """The program that made it, e.g. ``symup 0.1.0``."""
    warnings: tuple[str, ...] = ()
    """The warnings of the run that made it: a later run that finds it present tells them again."""
    shortfall: Shortfall | None = None
    """None where it is as good as its sources promised."""
    lacks_files: bool = False
    """Files that its debug information refers to were not found: split units, or what dwz moved out."""
    provenance: Provenance = Provenance()
    build: Build | None = None
    """None where the program says nothing of its build."""
    fingerprints: tuple[str, ...] = ()
    """Texts of a kind and a value, as ``code:…``: two of one kind that differ are of two programs under one id."""
    created_at: str = ""
    """RFC 3339, UTC."""


@frozen
class Committed:
    """The result of a commit. ``stored`` is false where the destination kept what it had, and says why."""

    stored: bool
    reason: str


class Destination(Protocol):
    """A place that keeps symbols: one project of a folder, a bucket or a server."""

    @property
    def url(self) -> str:
        """Its place, for people; never holds a credential."""

    def tell_waiting(self, observer: Callable[[str], None]) -> None:
        """Has ``observer`` told, from any thread, while trouble is being outlasted: what is waited for; the empty text when it is over."""

    def capabilities(self) -> Capabilities:
        """Limits and features; the first contact, so it raises `NotAllowed` or `NetworkGaveOut` early."""

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        """Answers in the order of the questions; cuts them into batches itself; no side effects."""

    def put_chunk(self, sha256: str, data: bytes) -> None:
        """Stores one immutable chunk, idempotently. Raises `ChunkMismatch`, `TooLarge`, `Refused`, `NetworkGaveOut`.

        After `TooLarge` the capabilities name the limit that was learned of, where chunks can be cut to keep to it.
        """

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        """Makes the artifact visible, all at once, idempotently. Raises `ArtifactMismatch` where chunks are missing or wrong."""

    def manifest(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Manifest | None:
        """The manifest of the artifact that is stored for an id (aliases resolve), or None."""

    def fetch(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Iterator[bytes]:
        """The whole artifact's bytes, decompressed and verified. Raises `NothingFound`."""

    def close(self) -> None:
        """Releases connections."""
