"""Answers matched to what was asked: one that fits another question, however sound, raises `ValueError`.

Networks and proxies repeat and mix up answers. An answer counts only if it names the thing that was asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from uploader.errors import Refused
from uploader.model import SymbolId
from uploader.protocol.wire import artifacts, json_text
from uploader.protocol.wire.json_text import MalformedMessage
from uploader.protocol.wire.kinds import an_array, an_object
from uploader.protocol.wire.pages import ANSWER, QUESTION, STORED_CHUNK, StoredChunk
from uploader.protocol.words import Answer, Manifest, Question
from uploader.values import replace

_ONE_DIGEST_SIZE_BYTES = 64 + 3


def parts(questions: Sequence[Question], room_size_bytes: int) -> list[Question]:
    """The questions, those of too many chunks for one request cut into several about the same artifact. Raises `Refused`."""
    return [part for question in questions for part in _cut(question, room_size_bytes)]


def batch(asked: Sequence[Question], room_size_bytes: int, max_batch: int) -> list[Question] | None:
    """As many of the questions, from the first on, as fit into one request; None where not even one does."""
    taken: list[Question] = []
    for question in asked[:max_batch]:
        room_size_bytes -= _size_bytes(question)
        if room_size_bytes < 0:
            break
        taken.append(question)
    return taken or None


def joined(questions: Sequence[Question], asked: Sequence[Question], answers: Sequence[Answer]) -> list[Answer]:
    """One answer a question, from those to its parts: what is missing of any part is missing."""
    given = iter(zip(asked, answers, strict=True))
    results = []
    for question in questions:
        part, answer = next(given)
        heard, missing = len(part.chunks), list(answer.missing_chunks)
        while heard < len(question.chunks):
            part, more = next(given)
            heard += len(part.chunks)
            missing += more.missing_chunks
            answer = more
        results.append(replace(answer, missing_chunks=tuple(dict.fromkeys(missing))))
    return results


def answers_to(asked: Sequence[Question]) -> Callable[[bytes], list[Answer]]:
    """Reads one answer for each of the questions, in their order, each about that question's artifact and chunks."""

    def read(data: bytes) -> list[Answer]:
        given = an_array(an_object(json_text.loads(data), "answers").get("answers"), "answers")
        if len(given) != len(asked):
            raise MalformedMessage(f"{len(given)} answers to {len(asked)} questions")
        answers = [ANSWER.read(one) for one in given]
        for question, answer in zip(asked, answers, strict=True):
            if answer.identity != question.identity or answer.kind != question.kind:
                raise MalformedMessage(f"an answer about {answer.identity} to a question about {question.identity}")
            if not frozenset(question.chunks).issuperset(answer.missing_chunks):
                raise MalformedMessage(f"an answer about {answer.identity} names chunks that were not asked for")
        return answers

    return read


def stored_chunk(sha256: str, size_bytes: int) -> Callable[[bytes], None]:
    """Reads that this chunk is stored."""

    def read(data: bytes) -> None:
        if STORED_CHUNK.read(json_text.loads(data)) != StoredChunk(sha256=sha256, size_bytes=size_bytes):
            raise MalformedMessage(f"an answer about something else to chunk {sha256}")

    return read


def manifest_of(symbol_id: SymbolId, kind: str) -> Callable[[bytes], Manifest]:
    """Reads the manifest of the artifact that has this id, as its own or as an alias."""

    def read(data: bytes) -> Manifest:
        manifest = artifacts.manifest_from_bytes(data)
        if symbol_id not in (manifest.identity.primary, *manifest.identity.aliases) or manifest.kind != kind:
            raise MalformedMessage(f"the manifest of {manifest.identity} in answer to {symbol_id}")
        return manifest

    return read


def chunk(sha256: str) -> Callable[[bytes], bytes]:
    """Reads the bytes of this chunk."""

    def read(data: bytes) -> bytes:
        if hashlib.sha256(data).hexdigest() != sha256:
            raise MalformedMessage(f"other bytes than those of chunk {sha256}")
        return data

    return read


def _size_bytes(question: Question) -> int:
    return len(json_text.dumps(QUESTION.write(question))) + 1


def _cut(question: Question, room_size_bytes: int) -> list[Question]:
    size_bytes = _size_bytes(question)
    if size_bytes <= room_size_bytes:
        return [question]
    each = (room_size_bytes - _size_bytes(replace(question, chunks=()))) // _ONE_DIGEST_SIZE_BYTES
    if each < 1:
        raise Refused(f"a question of {size_bytes} bytes is over the {room_size_bytes} bytes that are taken at once")
    return [
        replace(question, chunks=question.chunks[first : first + each])
        for first in range(0, len(question.chunks), each)
    ]
