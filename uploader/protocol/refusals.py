"""The errors that cross from a server to its clients: the status and the code that stand for each."""

from __future__ import annotations

from uploader.errors import ArtifactMismatch, ChunkMismatch, NotAllowed, NothingFound, StoreDamaged, SymupError
from uploader.values import frozen


@frozen
class Refusal:
    """One error, as a server answers with it."""

    error: type[SymupError]
    status: int
    code: str
    """The member ``error`` of the document. Codes are stable."""


NOT_FOUND = Refusal(error=NothingFound, status=404, code="not_found")
CHUNK_MISMATCH = Refusal(error=ChunkMismatch, status=422, code="chunk_mismatch")
REFUSALS = (
    Refusal(error=NotAllowed, status=403, code="not_allowed"),
    NOT_FOUND,
    CHUNK_MISMATCH,
    Refusal(error=ArtifactMismatch, status=409, code="artifact_mismatch"),
    Refusal(error=StoreDamaged, status=409, code="store_damaged"),
)
