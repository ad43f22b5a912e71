"""extract, merge and encode: from one artifact's files to the bytes of its GSYM file. Pure, so that results don't depend on who asks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from uploader.errors import InputError
from uploader.model import Figures, IdScheme, Quality, Shortfall, Source, SymbolId
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.missing import missing_build_id, missing_debug_info, remedy_of_go_table, remedy_of_lacking
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import USUAL, Conversion, GsymForm
from uploader.pipeline.referred import ReferredFiles
from uploader.pipeline.shortfall import shortfall
from uploader.values import frozen, replace

if TYPE_CHECKING:
    from uploader.sources.extract import Extracted


@frozen
class Made:
    """A GSYM file in memory, and what is known of it. ``gsym`` is empty where the sources hold no function at all."""

    gsym: bytes
    figures: Figures
    warnings: tuple[str, ...]
    remedy: str | None = None
    """How to get more out of it, where that can be told."""
    shortfall: Shortfall | None = None
    lacks_files: bool = False
    """See `Outcome.lacks_files`."""


def make(artifact: Artifact, *, conversion: Conversion = USUAL, threads: int) -> Made:
    """Reads the artifact's files, and first asks debuginfod for what is missing where the artifact says so.

    A companion that can't be read is told in the warnings. Raises `InputError` where nothing sound can be got out of the main file,
    and `UsageError` where the version asked for can't hold it.
    """
    dwarf, debug = conversion.dwarf, conversion.debug
    artifact, unhelped = _fetched(artifact, debug)
    warnings, remedy = missing_debug_info(artifact, debuginfod=unhelped) if dwarf else ((), None)
    unmatched, how_to_match = missing_build_id(artifact)
    left_out: list[str] = []
    with ExitStack() as stack:
        elf = stack.enter_context(ElfFile.of(artifact.main.input))
        companions = []
        for file in artifact.inputs[1:]:
            try:
                companions.append(stack.enter_context(ElfFile.of(file.input)))
            except InputError as error:
                left_out.append(f"its companion was left out: {error.message}")
        if dwarf and threads > 1:
            _inflate_ahead((elf, *companions))
        # The decoder is what takes longest to import: of a single file the largest section is inflated by then.
        from uploader.sources.extract import build

        extracted = build(
            elf,
            companions=companions,
            linked=ReferredFiles(artifact, debug),
            dwarf=dwarf,
            keep_aliases=conversion.form.keep_aliases,
            threads=threads,
        )
        base_address = elf.base_address
    return Made(
        gsym=_encoded(artifact, extracted, base_address, conversion.form, threads),
        figures=extracted.figures,
        warnings=(*warnings, *unmatched, *left_out, *extracted.warnings),
        remedy=remedy
        or remedy_of_go_table(artifact, extracted.unread)
        or remedy_of_lacking(lacks_files=extracted.lacks_files)
        or how_to_match,
        shortfall=shortfall(artifact, extracted.figures, dwarf=dwarf, debug=debug, lacks_files=extracted.lacks_files),
        lacks_files=extracted.lacks_files,
    )


def _fetched(artifact: Artifact, debug: DebugSources) -> tuple[Artifact, str]:
    """The artifact with what a debuginfod server has for it, where one is to be asked; else why none was of help."""
    if debug.debuginfod is None or not artifact.ask_debuginfod:
        return artifact, ""
    fetched = debug.debuginfod.fetch(artifact.main)
    if fetched.file is not None:
        artifact = replace(artifact, inputs=(*artifact.inputs, fetched.file))
    return artifact, fetched.reason


def _encoded(artifact: Artifact, extracted: Extracted, base_address: int, form: GsymForm, threads: int) -> bytes:
    """The GSYM file; empty where there are no symbols of this file, of which stubs alone are none."""
    if not any(count for source, count in extracted.figures.by_source.items() if source != Source.PLT):
        return b""
    from uploader.gsym.encode import encode

    # Little endian for big-endian machines, too: LLVM's readers take either order, others only that of their own host.
    return encode(
        extracted.table,
        base_address=base_address,
        uuid=uuid(artifact.identity.primary),
        little_endian=True,
        version=form.version,
        threads=threads,
    )


def holds_nothing(artifact: Artifact) -> bool:
    """Whether an artifact has no function at all: where its headers promise nothing but symbol tables, these are read."""
    if artifact.expected_quality > Quality.FUNCTIONS or artifact.ask_debuginfod:
        return False
    if artifact.expected_quality is Quality.NONE:
        return True
    try:
        return not make(artifact, conversion=Conversion(dwarf=False), threads=1).gsym
    except InputError:
        return False


def _inflate_ahead(files: Sequence[ElfFile]) -> None:
    """Begins to inflate what the decoder will want first, where that is one section of one file."""
    named = [file for file in files if file.section(".debug_info") is not None]
    if len(named) == 1:
        named[0].inflate_ahead(".debug_info")


def uuid(symbol_id: SymbolId) -> bytes:
    """The bytes that a GSYM header carries for an id: those that its hex stands for; none for a Go build id, which is text."""
    return b"" if symbol_id.scheme is IdScheme.GO else bytes.fromhex(symbol_id.value)
