"""The documents of the HTTP protocol, for FastAPI to check and to publish as OpenAPI. `uploader.protocol.wire` has the final say."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256 in lowercase hex")]
Count = Annotated[int, Field(ge=0, le=(1 << 63) - 1, strict=True)]
Text = Annotated[str, Field(max_length=4096, strict=True)]
Id = Annotated[str, Field(max_length=256, description="a GNU build-id in bare hex, else go:… or file:…")]
QualityLabel = Annotated[str, Field(pattern="^(none|functions|lines|full)$")]
Kind = Annotated[str, Field(pattern="^[a-z][a-z0-9-]{0,31}$")]


class Trouble(BaseModel):
    """Every error's document."""

    error: str = Field(description="a stable code")
    reason: str
    remedy: str | None = None
    limit_size_bytes: int | None = None


class Health(BaseModel):
    """The server answers."""

    status: str = "ok"


class CapabilitiesDocument(BaseModel):
    """Limits and features."""

    max_chunk_size_bytes: int
    max_batch: int
    max_request_size_bytes: int
    audiences: list[str]
    features: list[str]
    server: str


class IdentityDocument(BaseModel):
    """The id that an artifact is stored under, and those that resolve to it."""

    primary: Id
    aliases: Annotated[list[Id], Field(max_length=8)] = []


class QuestionDocument(BaseModel):
    """What a client could send."""

    identity: IdentityDocument
    quality: QualityLabel
    kind: Kind = "gsym"
    chunks: list[Sha256] = []
    force: bool = False
    evidence: Annotated[list[Text], Field(max_length=64)] = []


class Negotiation(BaseModel):
    """A batch of questions."""

    questions: list[QuestionDocument]


class FiguresDocument(BaseModel):
    """The numbers behind a quality."""

    executable_bytes: Count = 0
    function_bytes: Count = 0
    line_bytes: Count = 0
    inline_bytes: Count | None = None
    functions: Count = 0
    inlines: Count = 0
    line_rows: Count = 0
    by_source: dict[str, Count] = {}
    dropped_ranges: Count = 0
    cut_ranges: Count = 0
    widened_ranges: Count = 0


class ShortfallDocument(BaseModel):
    """That an artifact is poorer than its sources promised, and what was at hand when that was found."""

    promised: QualityLabel
    evidence: Annotated[list[Text], Field(max_length=64)] = []
    lacks_files: bool = False


class AnswerDocument(BaseModel):
    """What the server holds for one question."""

    identity: IdentityDocument
    kind: Kind = "gsym"
    holding: Annotated[str, Field(pattern="^(present|poorer|missing)$")]
    reason: str
    stored_quality: QualityLabel | None = None
    stored_figures: FiguresDocument | None = None
    stored_size_bytes: Count = 0
    stored_warnings: Annotated[list[Text], Field(max_length=64)] = []
    stored_shortfall: ShortfallDocument | None = None
    missing_chunks: list[Sha256] = []


class Answers(BaseModel):
    """The answers in the order of the questions."""

    answers: list[AnswerDocument]


class ChunkDocument(BaseModel):
    """One chunk of a compressed file."""

    sha256: Sha256
    size_bytes: Count


class ManifestDocument(BaseModel):
    """What a store says of one artifact."""

    identity: IdentityDocument
    kind: Kind = "gsym"
    chunks: Annotated[list[ChunkDocument], Field(min_length=1)]
    compression: Text = "zstd"
    compressed_size_bytes: Count
    content_size_bytes: Count
    content_sha256: Sha256
    quality: QualityLabel
    figures: FiguresDocument
    sources: Annotated[list[Text], Field(max_length=64)] = []
    file_name: Text = ""
    tool: Text = ""
    source_revision: Text = ""
    repository: Text = ""
    branch: Text = ""
    run_url: Text = ""
    warnings: Annotated[list[Text], Field(max_length=64)] = []
    shortfall: ShortfallDocument | None = None
    created_at: Text = ""
    extra: dict[str, Text] = {}


class Commit(BaseModel):
    """Asks that an artifact become visible."""

    manifest: ManifestDocument
    force: bool = False


class CommittedDocument(BaseModel):
    """Whether the artifact was stored, or why what was there stays."""

    stored: bool
    reason: str


class StoredChunk(BaseModel):
    """A chunk is in the store."""

    sha256: Sha256
    size_bytes: int
