"""Files that reach less than their headers promise: converted once, and again only where there is something new to read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from uploader import __version__
from uploader.errors import InputError
from uploader.model import Figures, Quality, Shortfall
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.identity import file_id
from uploader.pipeline.artifact import Artifact, expected_quality
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.referred import ReferredFiles
from uploader.values import replace

if TYPE_CHECKING:
    from uploader.protocol.words import Answer

MAX_EVIDENCE = 64
DIGITS = 16


def shortfall(
    artifact: Artifact, figures: Figures, *, dwarf: bool, debug: DebugSources, lacks_files: bool
) -> Shortfall | None:
    """How far what came of the artifact's files stays behind what they promise; None where it doesn't."""
    promised = expected_quality(artifact.inputs, dwarf=dwarf)
    if Quality.NONE < figures.quality < promised:
        evidence = _evidence(artifact, dwarf=dwarf, debug=debug, lacks_files=lacks_files)
        return Shortfall(promised=promised, evidence=evidence)
    return None


def nothing_new(artifact: Artifact, answer: Answer, *, dwarf: bool, debug: DebugSources) -> bool:
    """Whether the stored file, poorer than the artifact promises, was made of all that would be read now.

    ``answer`` says that it is poorer. Where a debuginfod server may yet have what was missing, it has to be asked.
    """
    held = answer.stored_shortfall
    if held is None or answer.stored_quality is None:
        return False
    if answer.stored_quality >= artifact.expected_quality or artifact.ask_debuginfod:
        return False
    if answer.stored_lacks_files and debug.debuginfod is not None:
        return False
    try:
        evidence = _evidence(artifact, dwarf=dwarf, debug=debug, lacks_files=answer.stored_lacks_files)
    except InputError:
        return False
    return set(evidence) <= set(held.evidence)


def _evidence(artifact: Artifact, *, dwarf: bool, debug: DebugSources, lacks_files: bool) -> tuple[str, ...]:
    """A digest of each thing that has a say: who reads, every id of the files read, what they hold, the files referred to."""
    told = [f"symup {__version__}", *(f"id {each}" for each in (artifact.identity.primary, *artifact.identity.aliases))]
    told += [f"source {source}" for file in artifact.inputs for source in file.sources]
    if dwarf:
        told.append("with DWARF")
    if lacks_files:
        told.append(f"files {_digest(sorted(_ids_of_referred(artifact, debug)))}")
    return tuple(sorted({_digest([each]) for each in told}))[:MAX_EVIDENCE]


def _ids_of_referred(artifact: Artifact, debug: DebugSources) -> set[str]:
    """The file ids of all that lies where a file may lie that the artifact's DWARF refers to, whether it fits or not."""
    from uploader.sources.dwarf.referred import places

    files = ReferredFiles(artifact, replace(debug, debuginfod=None))
    found = set()
    for input_file in artifact.inputs:
        with ElfFile.of(input_file.input) as elf:
            candidates = places(elf, files)
        for path in candidates:
            try:
                with ElfFile.open(path) as elf:
                    found.add(file_id(elf).value)
            except InputError:
                continue
    return found


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()[:DIGITS]
