"""extract, merge and encode: from one artifact's files to the bytes of its GSYM file. Pure, so that results don't depend on who asks."""

from __future__ import annotations

from dataclasses import dataclass

from uploader.binary.elf import ElfFile
from uploader.extract.extract import build
from uploader.gsym.encode import encode
from uploader.model import Figures, IdScheme, SymbolId
from uploader.pipeline.artifact import Artifact


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A GSYM file in memory, and what is known of it. ``gsym`` is empty where the sources hold no function at all."""

    gsym: bytes
    figures: Figures
    warnings: tuple[str, ...]


def make(artifact: Artifact, *, dwarf: bool, threads: int) -> Made:
    """Reads the artifact's richest file. Raises `InputError` where nothing sound can be got out of it."""
    with ElfFile.open(artifact.main.path) as elf:
        extracted = build(elf, dwarf=dwarf, threads=threads)
        base_address, little_endian = elf.base_address, elf.little_endian
    gsym = b""
    if len(extracted.table):
        gsym = encode(
            extracted.table,
            base_address=base_address,
            uuid=uuid(artifact.identity.primary),
            little_endian=little_endian,
        )
    return Made(gsym=gsym, figures=extracted.figures, warnings=extracted.warnings)


def uuid(symbol_id: SymbolId) -> bytes:
    """The bytes that a GSYM header carries for an id: those that its hex stands for; none for a Go build id, which is text."""
    return b"" if symbol_id.scheme is IdScheme.GO else bytes.fromhex(symbol_id.value)
