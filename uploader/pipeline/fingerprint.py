"""What tells two programs of one id apart, as far as it costs nothing but headers; a program without an id is told by all of its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from uploader.errors import ExitCode, InputError
from uploader.model import Concern, Decision, IdScheme, Outcome, Source
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.input import Input
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.missing import REMEDY_REDACTED
from uploader.protocol.words import differ
from uploader.sources.identify import Identified

_FLAGS = "-Wl,--build-id"
_GO_FLAGS = '-ldflags="-B gobuildid", and neither -buildid= nor the same -B 0x… for several'


def fingerprints(main: Identified) -> tuple[str, ...]:
    """Texts of a kind and a value, as ``code:…``: two of one kind that differ are of two programs.

    A binary, its stripped copy and its debug file have the same code sections, at the same addresses. The file id is made of
    some of a file's bytes: only all of them tell two such files apart. Empty where the file can't be read any more.
    """
    primary = main.identity.primary
    if primary.scheme is IdScheme.FILE:
        try:
            return (f"bytes:{content_sha256(main.input)}",)
        except InputError:
            return ()
    found = [f"go:{one.value}" for one in (primary, *main.identity.aliases) if one.scheme is IdScheme.GO]
    if main.code_sections:
        told = "\n".join(f"{one.name} {one.address:x} {one.size_bytes:x}" for one in main.code_sections)
        found.append(f"code:{hashlib.sha256(told.encode('utf-8', 'surrogateescape')).hexdigest()}")
    return tuple(found)


def conflict(artifact: Artifact, held: tuple[str, ...], *, where: str) -> Outcome | None:
    """The outcome of an artifact whose id another program has in the store ``where``; None where nothing speaks for that."""
    if not held or not differ(fingerprints(artifact.main), held):
        return None
    return artifact.about(
        Outcome(
            path=artifact.path,
            decision=Decision.FAILED,
            reason=f"has the id {artifact.identity} of another program, whose symbols are in {where}",
            remedy=ids_of_their_own([artifact.main], instead="replace what is stored with --force"),
            concern=Concern.CONFLICT,
            exit_code=ExitCode.SOME_FAILED,
        )
    )


def ids_of_their_own(files: Iterable[Identified], *, instead: str) -> str:
    """How programs get ids that differ, since linkers have flags of their own for that; and what to do instead."""
    known = tuple(files)
    if any(file.has_redacted_id for file in known):
        return REMEDY_REDACTED
    flags = _GO_FLAGS if any(Source.GO in file.sources for file in known) else _FLAGS
    return f"Build each with an id of its own ({flags}), or {instead}."


def content_sha256(file: Input) -> str:
    """The digest of all bytes of a file, in hex. Raises `InputError`."""
    digest = hashlib.sha256()
    with ElfFile.of(file, mapped=False) as elf:
        for piece in elf.pieces_at(0, elf.size_bytes):
            digest.update(piece)
    return digest.hexdigest()
