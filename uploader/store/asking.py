"""Answers what a store lacks of what a client could send, without reading a chunk."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from uploader.errors import Refused
from uploader.model import SymbolId
from uploader.protocol.words import Answer, Holding, Manifest, Question
from uploader.store.chunks import Chunks, Stock
from uploader.store.names import Names
from uploader.values import frozen

# Enough for the questions of one file under several ids; a manifest may take some megabytes of memory.
_ENTRIES_KEPT = 8


@frozen
class Entry:
    """The bytes of a stored manifest, read."""

    manifest: Manifest | None
    """None where they are no manifest."""
    tag: str
    trouble: str | None = None
    """The thing that lies there instead of a file."""
    gone: bool = False
    """It was taken out, and stands for nothing."""


class Asking:
    """One batch of questions: entries and chunks are looked up once, however often they are asked for."""

    def __init__(self, names: Names, chunks: Chunks, entry: Callable[[SymbolId, str], Entry | None]) -> None:
        self._names = names
        self._stock = Stock(chunks)
        self._entry = functools.lru_cache(_ENTRIES_KEPT)(entry)
        self._lost = functools.lru_cache(_ENTRIES_KEPT)(self._look_for)

    def answer(self, question: Question) -> Answer:
        """The answer to a question: the state of its id here, and the chunks to send."""
        try:
            holding, reason, held = self._holding(question)
        except Refused:
            holding, reason, held = Holding.MISSING, "the stored entry can't be read", None
        return Answer(
            identity=question.identity,
            kind=question.kind,
            holding=holding,
            reason=reason,
            stored_quality=None if held is None else held.quality,
            stored_figures=None if held is None else held.figures,
            stored_size_bytes=0 if held is None else held.compressed_size_bytes,
            stored_warnings=() if held is None else held.warnings,
            stored_shortfall=None if held is None else held.shortfall,
            stored_lacks_files=held is not None and held.lacks_files,
            stored_fingerprints=() if held is None else held.fingerprints,
            missing_chunks=() if holding is Holding.PRESENT else self._wanted(question, held),
        )

    def _holding(self, question: Question) -> tuple[Holding, str, Manifest | None]:
        primary, kind = question.identity.primary, question.kind
        rival = self._names.rival(primary, kind)
        entry = self._entry(rival or primary, kind)
        if entry is None or entry.gone:
            return Holding.MISSING, "not in the store yet" if entry is None else "was taken out of the store", None
        manifest = entry.manifest
        if rival is not None:
            return Holding.PRESENT, f"{primary} is another name of {rival}, which keeps it", manifest
        if manifest is None:
            return (
                Holding.MISSING,
                "the stored entry is damaged" + (f": it {entry.trouble}" if entry.trouble else ""),
                None,
            )
        held = manifest.quality
        lost = self._lost(primary, kind)
        if lost:
            return Holding.MISSING, f"the stored entry is damaged: {told_lost(lost, manifest)}", manifest
        if question.force:
            return Holding.POORER, f"quality {held.label} is stored and will be replaced, as forced", manifest
        if held < question.quality:
            return Holding.POORER, f"quality {held.label} is stored, {question.quality.label} is better", manifest
        if held is question.quality and is_new(question.evidence, manifest):
            return Holding.POORER, f"quality {held.label} is stored, made of other files or by another symup", manifest
        for alias in question.identity.aliases:
            if self._names.holder(alias, kind) is None:
                return Holding.POORER, f"the store does not know it as {alias} yet", manifest
        return Holding.PRESENT, f"already stored with quality {held.label}", manifest

    def _wanted(self, question: Question, held: Manifest | None) -> tuple[str, ...]:
        if question.force:
            return tuple(dict.fromkeys(question.chunks))
        lost = frozenset() if held is None else self._lost(question.identity.primary, question.kind)
        wanted = lost.union(self._stock.lacks(question.chunks))
        return tuple(sha256 for sha256 in dict.fromkeys(question.chunks) if sha256 in wanted)

    def _look_for(self, primary: SymbolId, kind: str) -> frozenset[str]:
        entry = self._entry(primary, kind)
        return frozenset() if entry is None or entry.manifest is None else self._stock.lost(entry.manifest)


def is_new(evidence: Sequence[str], held: Manifest) -> bool:
    """Whether any of what a file was made of was not at hand when the stored one was made."""
    return not set(evidence) <= set(held.shortfall.evidence if held.shortfall is not None else ())


def told_lost(lost: frozenset[str], manifest: Manifest) -> str:
    """Says how much of an artifact is lost."""
    return f"{len(lost)} of its {len(set(manifest.chunks))} chunks lost or damaged"
