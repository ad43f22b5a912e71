"""The documents that the pages of the HTTP protocol take and give."""

from __future__ import annotations

from typing import Any

from uploader.protocol.wire.artifacts import BUILD, FIGURES, IDENTITY, MANIFEST, MAX_EVIDENCE, SHORTFALL, WARNINGS
from uploader.protocol.wire.document import Document
from uploader.protocol.wire.json_text import MalformedMessage
from uploader.protocol.wire.kinds import KIND, LIMIT, SHA256, TEXT, Choice, Optional, Several, an_array, an_object
from uploader.protocol.words import Answer, Capabilities, Committed, Holding, Manifest, Question, max_chunks
from uploader.values import frozen

# The largest symbol file has 4 GiB, and compressing never makes a hundredth more of it.
_DIGESTS = Several(SHA256, limit=max_chunks(4 * 1024**3 * 101 // 100))


@frozen
class Negotiation:
    """A batch of questions."""

    questions: tuple[Question, ...] = ()


@frozen
class Answers:
    """The answers in the order of the questions."""

    answers: tuple[Answer, ...]


@frozen
class StoredChunk:
    """A chunk is in the store."""

    sha256: str
    size_bytes: int


@frozen
class Commit:
    """Asks that an artifact become visible."""

    manifest: Manifest
    force: bool = False


@frozen
class Trouble:
    """Every error's document."""

    error: str
    """A stable code."""
    reason: str
    remedy: str | None = None
    limit_size_bytes: int | None = None


@frozen
class Health:
    """The server answers."""

    status: str = "ok"


CAPABILITIES = Document(
    "CapabilitiesDocument",
    Capabilities,
    needed=("max_chunk_size_bytes", "max_batch", "max_request_size_bytes"),
    max_chunk_size_bytes=LIMIT,
    max_batch=LIMIT,
    max_request_size_bytes=LIMIT,
)
QUESTION = Document(
    "QuestionDocument",
    Question,
    identity=IDENTITY,
    kind=KIND,
    chunks=_DIGESTS,
    evidence=Several(TEXT, limit=MAX_EVIDENCE),
)
NEGOTIATION = Document("Negotiation", Negotiation, questions=Several(QUESTION, limit=None))
ANSWER = Document(
    "AnswerDocument",
    Answer,
    identity=IDENTITY,
    kind=KIND,
    holding=Choice(Holding),
    stored_figures=Optional(FIGURES),
    stored_warnings=WARNINGS,
    stored_shortfall=Optional(SHORTFALL),
    missing_chunks=_DIGESTS,
)
ANSWERS = Document("Answers", Answers, answers=Several(ANSWER, limit=None))
STORED_CHUNK = Document("StoredChunk", StoredChunk, sha256=SHA256)
COMMIT = Document("Commit", Commit, manifest=MANIFEST)
COMMITTED = Document("CommittedDocument", Committed)
TROUBLE = Document("Trouble", Trouble)
HEALTH = Document("Health", Health)

DOCUMENTS: tuple[Document[Any], ...] = (
    IDENTITY,
    FIGURES,
    SHORTFALL,
    BUILD,
    MANIFEST,
    CAPABILITIES,
    QUESTION,
    NEGOTIATION,
    ANSWER,
    ANSWERS,
    STORED_CHUNK,
    COMMIT,
    COMMITTED,
    TROUBLE,
    HEALTH,
)


def questions_in(value: object, *, max_batch: int) -> list[Question]:
    """The questions of one request; none is read where they are more than ``max_batch``. Raises `ValueError`."""
    questions = an_array(an_object(value, "negotiation").get("questions", []), "questions")
    if len(questions) > max_batch:
        raise MalformedMessage(f"questions: at most {max_batch} at once")
    return [QUESTION.read(question) for question in questions]
